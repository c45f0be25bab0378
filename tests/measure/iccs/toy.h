/* What the toys of all families share. TOY_FAULT names what goes wrong; each fault suits one family or all. */
#ifndef TOY_H
#define TOY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drng.h"

#define IN(x) unsigned char *x, unsigned long long x##_len
#define OUT(x) unsigned char *x, unsigned long long *x##_len

enum fault {
	none, exits, loops, chatters, crashes, past, too_long, fails, rejects, swaps, other_secret, short_secret,
	pass_two, pass_early, pass_silent, init_one
};

#ifndef TOY_FAULT
#define TOY_FAULT none
#endif

extern DRNG_ctx drng_algorithm;

static inline void draw(unsigned char *out, unsigned long long bytes)
{
	get_random_number(&drng_algorithm, out, 8 * bytes);
}

static inline void misbehave(void)
{
	static volatile int *volatile nowhere;

	switch ((enum fault)TOY_FAULT) {
	case exits: exit(7);
	case loops: for (;;) pause();
	case chatters: for (int i = 0; i < 300000; i++) puts("RESULT sign-toy toy PASS"); fflush(stdout); break;
	case crashes: *nowhere = 1; break;
	default: break;
	}
}

#endif
