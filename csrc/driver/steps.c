#include "steps.h"

#include "../counter/wall.h"

uint64_t choose_step_batch(uint64_t iterations, const struct cost *call, const struct counter_overhead *overhead)
{
	uint64_t batch_calls = choose_batch(iterations, call, overhead);

	return batch_calls < KEX_COPIES ? batch_calls : KEX_COPIES;
}

static int read_calls(const struct counter *counter, const struct operation *step, struct subject *subject,
                      unsigned int calls, struct cost *spent)
{
	uint64_t begin, end, begin_ns = wall_ns();
	int error = counter_read(counter, &begin);

	for (unsigned int i = 0; i < calls; i++) {
		kex_choose_copy(subject, step, i);
		step->call(subject);
	}
	if (!error)
		error = counter_read(counter, &end);
	spent->wall_ns = wall_ns() - begin_ns;
	return error ? error : counter_difference(begin, end, &spent->count);
}

/* One complete run with one reading in it. */
static int run_once(const struct counter *counter, const struct operation *step, struct subject *subject,
                    unsigned int calls, struct cost *spent)
{
	int error;

	kex_run(subject, kex_first_step(subject), step);
	if (subject->seen.broken.name)
		return 0;
	kex_copy_state(subject, step, calls);
	error = read_calls(counter, step, subject, calls, spent);
	kex_keep_copy(subject, step);
	kex_run(subject, step + 1, kex_end(subject));
	return error;
}

int time_step(const struct counter *counter, const struct operation *step, struct subject *subject,
              struct cost *shortest, struct failure *failure)
{
	struct cost spent = *shortest;
	int error = run_once(counter, step, subject, 1, &spent);

	if (error)
		return fail_read(error, failure);
	keep_shortest(shortest, spent.count, spent.wall_ns);
	return 0;
}

static void add(struct timing *timing, const struct cost *spent, uint64_t reading)
{
	timing->count += spent->count;
	timing->wall_ns += spent->wall_ns;
	if (reading < timing->readings_count)
		timing->readings[reading] = spent->count;
}

static int run_all(const struct counter *counter, const struct operation *step, struct subject *subject,
                   struct timing *timing)
{
	int error = 0;

	for (uint64_t done = 0, reading = 0; done < timing->iterations && !error; reading++) {
		uint64_t left = timing->iterations - done, calls = left < timing->batch_calls ? left : timing->batch_calls;
		struct cost spent = {0, 0};

		error = run_once(counter, step, subject, (unsigned int)calls, &spent);
		if (subject->seen.broken.name)
			return error;
		add(timing, &spent, reading);
		done += calls;
	}
	return error;
}

int time_steps(const struct counter *counter, const struct operation *step, struct subject *subject,
               struct timing *timing, struct failure *failure)
{
	uint64_t enabled_ns = 0, running_ns = 0, begin_ns;
	struct usage begin, end;
	int error;

	timing->readings_count = timing->iterations / timing->batch_calls;
	timing->is_perf = counter_times(counter, &enabled_ns, &running_ns) == 0;
	usage_now(&begin);
	begin_ns = wall_ns();
	error = run_all(counter, step, subject, timing);
	timing->runs_wall_ns = wall_ns() - begin_ns;
	usage_now(&end);
	timing->usage = usage_between(&begin, &end);
	if (!error && timing->is_perf)
		error = counter_times(counter, &timing->enabled_ns, &timing->running_ns);
	timing->enabled_ns -= enabled_ns;
	timing->running_ns -= running_ns;
	return error ? fail_read(error, failure) : 0;
}
