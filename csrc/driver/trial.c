#include "trial.h"

#include <string.h>

#include "steps.h"
#include "system.h"

/* A step's readings are single calls inside whole runs, of which nobody makes a million. */
static int check_iterations(const struct arguments *arguments, const struct trial *trial, struct failure *failure)
{
	if (trial->operation->is_step && arguments->iterations > READINGS_MAX)
		return fail(failure, FAILURE_USAGE, "--iterations of a step are at most %d", READINGS_MAX);
	return 0;
}

static int check_input(const struct arguments *arguments, const struct trial *trial, struct failure *failure)
{
	if (trial->family == &family_hash && arguments->input_bytes < 0)
		return fail(failure, FAILURE_USAGE, "--input-bytes is missing");
	return 0;
}

static int load_library(const struct arguments *arguments, struct trial *trial, struct failure *failure)
{
	struct subject *subject = &trial->subject;

	subject->wishes = (struct wishes){arguments->input_bytes, arguments->digest_bits};
	if (library_load(&subject->library, arguments->library, failure) || trial->family->load(subject, failure) ||
	    find_operation(trial->family, subject, arguments->operation, &trial->operation, failure))
		return -1;
	if (check_iterations(arguments, trial, failure))
		return -1;
	return trial->operation->is_step ? kex_make_copies(subject, trial->operation, failure) : 0;
}

int trial_open(struct trial *trial, const struct arguments *arguments, const char *counter,
               int (*make_room)(struct trial *trial, struct failure *failure), struct failure *failure)
{
	struct counter_refusals refusals;

	trial->timing.iterations = (uint64_t)arguments->iterations;
	trial->warmups = (uint64_t)arguments->warmups;
	if (find_family(arguments->family, &trial->family, failure) || check_input(arguments, trial, failure) ||
	    pin_to_cpu((int)arguments->cpu, failure) ||
	    open_counter(&trial->used, counter, (int)arguments->cpu, &refusals, failure))
		return -1;
	if (make_room && make_room(trial, failure))
		return -1;
	return load_library(arguments, trial, failure);
}

int trial_checked(const struct trial *trial, int result, struct failure *failure)
{
	if (subject_check_guards(&trial->subject, failure))
		return -1;
	if (trial->family->check && trial->family->check(&trial->subject, trial->operation, failure))
		return -1;
	return result;
}

int trial_warm_up(struct trial *trial, struct cost *shortest, struct failure *failure)
{
	const struct counter *counter = trial->used.counter;
	int code, error = 0;

	for (uint64_t i = 0; i < trial->warmups && !error; i++)
		error = trial->operation->is_step
		            ? time_step(counter, trial->operation, &trial->subject, shortest, failure)
		            : time_call(counter, trial->operation, &trial->subject, shortest, &code, failure);
	return error;
}
