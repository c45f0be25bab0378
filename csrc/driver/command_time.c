#include "commands.h"
#include "rate.h"
#include "report.h"
#include "setup.h"
#include "steps.h"
#include "system.h"
#include "trial.h"

#include <endian.h>
#include <stdlib.h>

/* Before the baseline is taken, so that it is not counted as the operation's memory. */
static int make_readings(struct trial *trial, struct failure *failure)
{
	struct timing *timing = &trial->timing;
	uint64_t capacity = readings_capacity(timing->iterations);

	timing->readings = malloc(capacity * sizeof timing->readings[0]);
	if (!timing->readings)
		return fail(failure, FAILURE_SYSTEM, "no memory for the readings");
	for (uint64_t i = 0; i < capacity; i++)
		((volatile uint64_t *)timing->readings)[i] = 0;
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
	struct timing *timing = &trial->timing;

	if (trial_warm_up(trial, &shortest, failure))
		return -1;
	timing->batch_calls = (trial->operation->is_step ? choose_step_batch : choose_batch)(timing->iterations, &shortest,
	                                                                                     &trial->used.overhead);
	return 0;
}

static int run_loop(struct trial *trial, struct failure *failure)
{
	return (trial->operation->is_step ? time_steps : time_loop)(trial->used.counter, trial->operation, &trial->subject,
	                                                            &trial->timing, failure);
}

/* The peak is read before anything else can add to it. */
static int measure(struct trial *trial, struct failure *failure)
{
	trial->subject.seen.verify_rejections = 0; /* that of the setup is setup_verify_failed */
	if (begin_memory(&trial->memory, failure) || warm_up(trial, failure) || run_loop(trial, failure))
		return -1;
	return end_memory(&trial->memory, failure);
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

	if (trial_open(&trial, arguments, arguments->counter, make_readings, failure) ||
	    trial_checked(&trial, set_up(&trial, failure), failure) ||
	    trial_checked(&trial, measure(&trial, failure), failure))
		return -1;
	if (check_count(arguments, &trial, failure) || write_samples(arguments->samples_fd, &trial.timing, failure))
		return -1;
	write_report(&trial, json);
	return 0;
}

static const char *const required[] = {"--library", "--family", "--operation", "--iterations", "--warmups", "--cpu",
                                       "--result-fd", NULL};

const struct command command_time = {"time", run, required};
