#include "timing.h"

#include <errno.h>
#include <string.h>

#include "../counter/wall.h"

static uint64_t divide_up(uint64_t dividend, uint64_t divisor)
{
	return dividend / divisor + (dividend % divisor != 0);
}

static uint64_t at_least(uint64_t value, uint64_t bound)
{
	return value < bound ? bound : value;
}

uint64_t readings_capacity(uint64_t iterations)
{
	return iterations < READINGS_MAX ? iterations : READINGS_MAX;
}

static uint64_t calls_to_hide(uint64_t overhead, uint64_t call)
{
	if (call >= SINGLE_CALL_OVERHEADS * overhead)
		return 1;
	return divide_up(BATCH_OVERHEADS * overhead, at_least(call, 1));
}

/*
 * By count and by wall clock: a read through the kernel counts few user cycles and still takes its time. A
 * slow clock shows an overhead of 0, but a reading is never better than to one tick.
 */
uint64_t choose_batch(uint64_t iterations, const struct cost *call, const struct counter_overhead *overhead)
{
	uint64_t batch_calls = calls_to_hide(at_least(overhead->count, 1), call->count);

	batch_calls = at_least(batch_calls, calls_to_hide(overhead->wall_ns, call->wall_ns));
	batch_calls = at_least(batch_calls, divide_up(iterations, READINGS_MAX));
	return batch_calls < iterations ? batch_calls : iterations;
}

int fail_read(int error, struct failure *failure)
{
	if (error == -ERANGE)
		return fail(failure, FAILURE_COUNT, "the counter went backwards or jumped");
	return fail(failure, FAILURE_COUNTER, "the counter can no longer be read: %s", strerror(-error));
}

void keep_shortest(struct cost *shortest, uint64_t count, uint64_t spent_ns)
{
	shortest->count = count < shortest->count ? count : shortest->count;
	shortest->wall_ns = spent_ns < shortest->wall_ns ? spent_ns : shortest->wall_ns;
}

int time_call(const struct counter *counter, const struct operation *operation, struct subject *subject,
              struct cost *shortest, int *code, struct failure *failure)
{
	uint64_t begin, end, count, begin_ns = wall_ns();
	int error = counter_read(counter, &begin);

	*code = operation->call(subject);
	if (!error)
		error = counter_read(counter, &end);
	if (!error)
		error = counter_difference(begin, end, &count);
	if (error)
		return fail_read(error, failure);
	keep_shortest(shortest, count, wall_ns() - begin_ns);
	return 0;
}

/* A difference is checked after the loop: one that went backwards has wrapped into an impossible value. */
static int run_readings(const struct counter *counter, const struct operation *operation, struct subject *subject,
                        struct timing *timing)
{
	uint64_t begin, end;
	int error = counter_read(counter, &begin);

	for (uint64_t i = 0; i < timing->readings_count && !error; i++) {
		for (uint64_t j = 0; j < timing->batch_calls; j++)
			operation->call(subject);
		error = counter_read(counter, &end);
		timing->readings[i] = end - begin;
		begin = end;
	}
	return error;
}

static void run_rest(const struct operation *operation, struct subject *subject, const struct timing *timing)
{
	for (uint64_t i = timing->readings_count * timing->batch_calls; i < timing->iterations; i++)
		operation->call(subject);
}

static int run_counted(const struct counter *counter, const struct operation *operation, struct subject *subject,
                       struct timing *timing)
{
	uint64_t begin, end, begin_ns = wall_ns();
	int error = counter_read(counter, &begin);

	if (!error)
		error = run_readings(counter, operation, subject, timing);
	if (!error)
		run_rest(operation, subject, timing);
	if (!error)
		error = counter_read(counter, &end);
	timing->wall_ns = wall_ns() - begin_ns;
	return error ? error : counter_difference(begin, end, &timing->count);
}

static int check_readings(const struct timing *timing)
{
	uint64_t difference;
	int error = 0;

	for (uint64_t i = 0; i < timing->readings_count && !error; i++)
		error = counter_difference(0, timing->readings[i], &difference);
	return error;
}

/* The kernel's clocks of the event change only while it is read, so both reads stand outside the loop. */
static int run_with_times(const struct counter *counter, const struct operation *operation, struct subject *subject,
                          struct timing *timing)
{
	uint64_t enabled_ns = 0, running_ns = 0;
	int error;

	timing->is_perf = counter_times(counter, &enabled_ns, &running_ns) == 0;
	error = run_counted(counter, operation, subject, timing);
	if (!error && timing->is_perf)
		error = counter_times(counter, &timing->enabled_ns, &timing->running_ns);
	timing->enabled_ns -= enabled_ns;
	timing->running_ns -= running_ns;
	return error;
}

int time_loop(const struct counter *counter, const struct operation *operation, struct subject *subject,
              struct timing *timing, struct failure *failure)
{
	struct usage begin, end;
	int error;

	timing->readings_count = timing->iterations / timing->batch_calls;
	usage_now(&begin);
	error = run_with_times(counter, operation, subject, timing);
	usage_now(&end);
	timing->usage = usage_between(&begin, &end);
	if (!error)
		error = check_readings(timing);
	return error ? fail_read(error, failure) : 0;
}
