#include "fixed_rate.h"

#include <stdlib.h>
#include <string.h>

#include "wall.h"

enum { WINDOW_NS = 10000000, WINDOWS = 3, ROUNDS = 5, TRIES = 16 };

struct instant {
	uint64_t wall_ns, count, uncertain_ns;
};

int fixed_rate_confirms(uint64_t measured_hz, uint64_t stated_hz)
{
	uint64_t apart = measured_hz > stated_hz ? measured_hz - stated_hz : stated_hz - measured_hz;

	return apart <= measured_hz / 1000;
}

/* An interruption between the two clocks would shift the pair, so the tightest of some tries counts. */
static int read_instant(const struct counter *counter, struct instant *best)
{
	best->uncertain_ns = UINT64_MAX;
	for (int i = 0; i < TRIES; i++) {
		uint64_t count, before_ns = wall_ns(), after_ns;
		int error = counter_read(counter, &count);

		after_ns = wall_ns();
		if (error)
			return error;
		if (after_ns - before_ns < best->uncertain_ns)
			*best = (struct instant){before_ns + (after_ns - before_ns) / 2, count, after_ns - before_ns};
	}
	return 0;
}

static int estimate(const struct counter *counter, uint64_t *hz)
{
	struct instant begin, end;
	int error = read_instant(counter, &begin);

	while (!error && wall_ns() - begin.wall_ns < WINDOW_NS)
		continue;
	if (!error)
		error = read_instant(counter, &end);
	if (!error)
		*hz = (uint64_t)((double)(end.count - begin.count) * 1e9 / (double)(end.wall_ns - begin.wall_ns) + 0.5);
	return error;
}

static int ascending(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

int fixed_rate_measure(const struct counter *counter, uint64_t *hz, struct counter_reason *why)
{
	uint64_t windows[WINDOWS] = {0};

	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < WINDOWS; i++) {
			int error = estimate(counter, &windows[i]);

			if (error)
				return counter_refuse(why, "cannot be read: %s", strerror(-error));
		}
		qsort(windows, WINDOWS, sizeof windows[0], ascending);
		*hz = windows[WINDOWS / 2];
		if (*hz && fixed_rate_confirms(*hz, windows[0]) && fixed_rate_confirms(*hz, windows[WINDOWS - 1]))
			return 0;
	}
	return counter_refuse(why, "its rate is not steady: %llu to %llu Hz", (unsigned long long)windows[0],
	                      (unsigned long long)windows[WINDOWS - 1]);
}
