#include "setup.h"

#include <stdint.h>

enum { SEED_BYTES = 48 };

static void seed(const struct library *library)
{
	unsigned char bytes[SEED_BYTES];

	for (unsigned int i = 0; i < SEED_BYTES; i++)
		bytes[i] = (unsigned char)i;
	library->seed(bytes, SEED_BYTES);
}

/* The step under measurement is timed: where there are no warm-ups, nothing else tells how long a call takes. */
static int run_step(struct trial *trial, const struct operation *step, int *code, struct failure *failure)
{
	if (step == trial->operation)
		return time_call(trial->used.counter, step, &trial->subject, &trial->setup_cost, code, failure);
	*code = step->call(&trial->subject);
	return 0;
}

/* The operations stand in the order in which each needs what those before it made. */
static int judge(struct trial *trial, const struct operation *failed, int code, struct failure *failure)
{
	trial->subject.seen.setup_verify_failed = 1;
	if (failed < trial->operation)
		return fail(failure, FAILURE_OPERATION, "%s returns %d in the setup, so %s has no input", failed->name, code,
		            trial->operation->name);
	return 0;
}

/* A step of a key exchange that fails and does not break the run leaves enough to time. */
static int run_operation(struct trial *trial, const struct operation *step, struct failure *failure)
{
	int code;

	if (run_step(trial, step, &code, failure))
		return -1;
	if (!code || step->is_step)
		trial->subject.seen.setup_verify_failed |= code != 0;
	else if (judge(trial, step, code, failure))
		return -1;
	return code && !step->is_step ? 1 : 0;
}

static bool is_wanted(const struct trial *trial, const struct operation *step)
{
	return trial->operation->is_whole ? step == trial->operation : !step->is_whole;
}

int set_up(struct trial *trial, struct failure *failure)
{
	int ended = 0;

	trial->setup_cost = (struct cost){UINT64_MAX, UINT64_MAX};
	seed(&trial->subject.library);
	for (const struct operation *step = trial->subject.operations; step->name && !ended; step++)
		if (is_wanted(trial, step) && !trial->subject.seen.broken.name)
			ended = run_operation(trial, step, failure);
	if (!ended && !trial->family->honest(&trial->subject))
		trial->subject.seen.setup_verify_failed = 1;
	return ended < 0 ? -1 : 0;
}
