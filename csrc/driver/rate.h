/* Whether a trial's count can be true, judged by the wall clock. */
#ifndef KATALOG_RATE_H
#define KATALOG_RATE_H

#include <stdint.h>

#include "../counter/counter.h"
#include "failure.h"

/*
 * A count of zero is refused. Where the loop took at least RATE_CHECKED_FROM_NS, so is a rate outside half to
 * twice the known clock: that of a fixed-rate counter, or clock_hz for cycles. Without clock_hz (0), cycles
 * must come at 0.1 to 10 GHz. Below that time the reads themselves would decide the rate.
 */
enum { RATE_CHECKED_FROM_NS = 20000 };

int check_rate(const char *unit, uint64_t counter_hz, uint64_t clock_hz, uint64_t count, uint64_t spent_ns,
               struct failure *failure);

#endif
