/* The wall clock of all measurements: CLOCK_MONOTONIC_RAW, which no time service slews. */
#ifndef KATALOG_WALL_H
#define KATALOG_WALL_H

#include <stdint.h>
#include <time.h>

static inline uint64_t wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

#endif
