#include "backend.h"

#include <setjmp.h>
#include <signal.h>
#include <string.h>

#include "wall.h"

enum { PROBE_READS = 1000, MOVING_WITHIN_MS = 20 };

static const int caught[] = {SIGILL, SIGSEGV, SIGBUS};
enum { CAUGHT = sizeof caught / sizeof caught[0] };

/* A signal handler gets no argument, so the place to return to has to be global. Only a probe uses it. */
static sigjmp_buf back_to_probe;

static void on_fault(int number)
{
	siglongjmp(back_to_probe, number);
}

static void install(struct sigaction old[CAUGHT])
{
	struct sigaction action;

	memset(&action, 0, sizeof action);
	action.sa_handler = on_fault;
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < CAUGHT; i++)
		sigaction(caught[i], &action, &old[i]);
}

static void restore(const struct sigaction old[CAUGHT])
{
	for (size_t i = 0; i < CAUGHT; i++)
		sigaction(caught[i], &old[i], NULL);
}

static int read_forward(const struct counter *counter, uint64_t *last, struct counter_reason *why)
{
	uint64_t now;
	int error = counter_read(counter, &now);

	if (error)
		return counter_refuse(why, "cannot be read: %s", strerror(-error));
	if (now < *last)
		return counter_refuse(why, "went back from %llu to %llu", (unsigned long long)*last, (unsigned long long)now);
	*last = now;
	return 0;
}

static int check_reads(const struct counter *counter, struct counter_reason *why)
{
	uint64_t first, last, deadline_ns = wall_ns() + MOVING_WITHIN_MS * UINT64_C(1000000);
	int error = counter_read(counter, &first);

	if (error)
		return counter_refuse(why, "cannot be read: %s", strerror(-error));
	last = first;
	for (int i = 0; i < PROBE_READS || (last == first && wall_ns() < deadline_ns); i++)
		if (read_forward(counter, &last, why))
			return -1;
	if (last == first)
		return counter_refuse(why, "stands still at %llu", (unsigned long long)first);
	return 0;
}

int counter_probe(const struct counter *counter, struct counter_reason *why)
{
	struct sigaction old[CAUGHT];
	volatile int result = -1;
	int number;

	install(old);
	number = sigsetjmp(back_to_probe, 1);
	if (number == 0)
		result = check_reads(counter, why);
	restore(old);
	if (number)
		return counter_refuse(why, "reading it raises %s", number == SIGILL ? "SIGILL" : number == SIGBUS ? "SIGBUS" : "SIGSEGV");
	return result;
}
