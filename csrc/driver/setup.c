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

int set_up(struct trial *trial, struct failure *failure)
{
	const struct operation *step;
	int code;

	trial->setup_cost = (struct cost){UINT64_MAX, UINT64_MAX};
	seed(&trial->subject.library);
	for (step = trial->family->operations; step->name; step++) {
		if (run_step(trial, step, &code, failure))
			return -1;
		if (code)
			return judge(trial, step, code, failure);
	}
	if (!trial->family->honest(&trial->subject))
		trial->subject.seen.setup_verify_failed = 1;
	return 0;
}
