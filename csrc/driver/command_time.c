#include "commands.h"
#include "rate.h"
#include "report.h"
#include "setup.h"
#include "system.h"
#include "trial.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

static int find_names(const struct arguments *arguments, struct trial *trial, struct failure *failure)
{
	if (find_family(arguments->family, &trial->family, failure))
		return -1;
	return find_operation(trial->family, arguments->operation, &trial->operation, failure);
}

/* Before the baseline is taken, so that it is not counted as the operation's memory. */
static int make_readings(struct timing *timing, struct failure *failure)
{
	uint64_t capacity = readings_capacity(timing->iterations);

	timing->readings = malloc(capacity * sizeof timing->readings[0]);
	if (!timing->readings)
		return fail(failure, FAILURE_SYSTEM, "no memory for the readings");
	for (uint64_t i = 0; i < capacity; i++)
		((volatile uint64_t *)timing->readings)[i] = 0;
	return 0;
}

static int open_all(const struct arguments *arguments, struct trial *trial, struct failure *failure)
{
	struct counter_refusals refusals;
	struct subject *subject = &trial->subject;

	if (pin_to_cpu((int)arguments->cpu, failure) ||
	    open_counter(&trial->used, arguments->counter, (int)arguments->cpu, &refusals, failure) ||
	    make_readings(&trial->timing, failure))
		return -1;
	if (library_load(&subject->library, arguments->library, failure) || trial->family->load(subject, failure))
		return -1;
	return 0;
}

static int check_subject(const struct trial *trial, struct failure *failure)
{
	if (subject_check_guards(&trial->subject, failure))
		return -1;
	if (trial->subject.seen.signing_given_up && strcmp(trial->operation->name, "sign") == 0)
		return fail(failure, FAILURE_OPERATION, "signing failed more than 1000 times in a row");
	return 0;
}

static int begin_memory(struct memory *memory, struct failure *failure)
{
	uint64_t peak_bytes;

	if (rss_bytes(&memory->baseline_rss_bytes, &peak_bytes, failure))
		return -1;
	memory->peak_rss_reset = reset_peak_rss() == 0;
	return 0;
}

static int end_memory(struct memory *memory, struct failure *failure)
{
	uint64_t now_bytes;

	return rss_bytes(&now_bytes, &memory->peak_rss_bytes, failure);
}

static int warm_up(struct trial *trial, struct failure *failure)
{
	struct cost shortest = trial->setup_cost;
	int code;

	for (uint64_t i = 0; i < trial->warmups; i++)
		if (time_call(trial->used.counter, trial->operation, &trial->subject, &shortest, &code, failure))
			return -1;
	trial->timing.batch_calls = choose_batch(trial->timing.iterations, &shortest, &trial->used.overhead);
	return 0;
}

/* The peak is read before anything else can add to it. */
static int measure(struct trial *trial, struct failure *failure)
{
	trial->subject.seen.verify_rejections = 0; /* that of the setup is setup_verify_failed */
	if (begin_memory(&trial->memory, failure) || warm_up(trial, failure) ||
	    time_loop(trial->used.counter, trial->operation, &trial->subject, &trial->timing, failure))
		return -1;
	return end_memory(&trial->memory, failure);
}

/* Guards are checked even after a failure: behind an overflow, no other finding can be trusted. */
static int checked(const struct trial *trial, int result, struct failure *failure)
{
	return check_subject(trial, failure) ? -1 : result;
}

static int check_count(const struct arguments *arguments, const struct trial *trial, struct failure *failure)
{
	const struct counter *counter = trial->used.counter;
	uint64_t clock_hz = arguments->clock_hz < 0 ? 0 : (uint64_t)arguments->clock_hz;

	return check_rate(counter_unit(counter), counter_hz(counter), clock_hz, trial->timing.count, trial->timing.wall_ns,
	                  failure);
}

static int write_samples(int64_t descriptor, const struct timing *timing, struct failure *failure)
{
	if (descriptor < 0)
		return 0;
	for (uint64_t i = 0; i < timing->readings_count; i++)
		timing->readings[i] = htole64(timing->readings[i]);
	if (write_all((int)descriptor, timing->readings, timing->readings_count * sizeof timing->readings[0], failure))
		return -1;
	for (uint64_t i = 0; i < timing->readings_count; i++)
		timing->readings[i] = le64toh(timing->readings[i]);
	return 0;
}

static int run(const struct arguments *arguments, struct json *json, struct failure *failure)
{
	static struct trial trial; /* zeroed, and off the stack that the candidate uses */

	trial.timing.iterations = (uint64_t)arguments->iterations;
	trial.warmups = (uint64_t)arguments->warmups;
	if (find_names(arguments, &trial, failure) || open_all(arguments, &trial, failure) ||
	    checked(&trial, set_up(&trial, failure), failure) || checked(&trial, measure(&trial, failure), failure))
		return -1;
	if (check_count(arguments, &trial, failure) || write_samples(arguments->samples_fd, &trial.timing, failure))
		return -1;
	write_report(&trial, json);
	return 0;
}

static const char *const required[] = {"--library", "--family", "--operation", "--iterations", "--warmups", "--cpu",
                                       "--result-fd", NULL};

const struct command command_time = {"time", run, required};
