#include "rate.h"

#include <inttypes.h>
#include <string.h>

struct bounds {
	double low_hz, high_hz;
};

static struct bounds bounds_of(const char *unit, uint64_t counter_hz, uint64_t clock_hz)
{
	uint64_t known_hz = counter_hz;

	if (strcmp(unit, "ns") == 0)
		known_hz = 1000000000;
	else if (strcmp(unit, "cycles") == 0)
		known_hz = clock_hz;
	return known_hz ? (struct bounds){(double)known_hz / 2, (double)known_hz * 2} : (struct bounds){1e8, 1e10};
}

int check_rate(const char *unit, uint64_t counter_hz, uint64_t clock_hz, uint64_t count, uint64_t spent_ns,
               struct failure *failure)
{
	struct bounds bounds = bounds_of(unit, counter_hz, clock_hz);
	double rate_hz;

	if (count == 0)
		return fail(failure, FAILURE_COUNT, "the counter counted 0 %s in %" PRIu64 " ns", unit, spent_ns);
	if (spent_ns < RATE_CHECKED_FROM_NS)
		return 0;
	rate_hz = (double)count * 1e9 / (double)spent_ns;
	if (rate_hz < bounds.low_hz || rate_hz > bounds.high_hz)
		return fail(failure, FAILURE_COUNT,
		            "%" PRIu64 " %s in %" PRIu64 " ns are %.0f a second; expected are %.0f to %.0f", count, unit,
		            spent_ns, rate_hz, bounds.low_hz, bounds.high_hz);
	return 0;
}
