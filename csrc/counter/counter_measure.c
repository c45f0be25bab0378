#include "backend.h"

#include <errno.h>
#include <stdlib.h>

#include "wall.h"

/* 83 days at 10 GHz: no operation takes that long, and a difference that wrapped is far above it. */
static const uint64_t DIFFERENCE_MAX = UINT64_C(1) << 56;

int counter_difference(uint64_t begin, uint64_t end, uint64_t *difference)
{
	if (end < begin || end - begin > DIFFERENCE_MAX)
		return -ERANGE;
	*difference = end - begin;
	return 0;
}

static int ascending(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

static int read_pair(const struct counter *counter, uint64_t *difference)
{
	uint64_t begin, end;
	int error = counter_read(counter, &begin);

	if (!error)
		error = counter_read(counter, &end);
	return error ? error : counter_difference(begin, end, difference);
}

int counter_measure_overhead(const struct counter *counter, struct counter_overhead *overhead)
{
	uint64_t pairs[COUNTER_OVERHEAD_PAIRS], begin_ns = wall_ns();

	for (size_t i = 0; i < COUNTER_OVERHEAD_PAIRS; i++) {
		int error = read_pair(counter, &pairs[i]);

		if (error)
			return error;
	}
	overhead->wall_ns = (wall_ns() - begin_ns) / (2 * COUNTER_OVERHEAD_PAIRS);
	qsort(pairs, COUNTER_OVERHEAD_PAIRS, sizeof pairs[0], ascending);
	overhead->count = (pairs[COUNTER_OVERHEAD_PAIRS / 2 - 1] + pairs[COUNTER_OVERHEAD_PAIRS / 2]) / 2;
	return 0;
}
