/* The rate of a fixed-rate counter, measured against the wall clock. */
#ifndef KATALOG_FIXED_RATE_H
#define KATALOG_FIXED_RATE_H

#include "backend.h"

/* Several windows of 10 ms, which must agree to 0.1 %; their median in Hz. */
int fixed_rate_measure(const struct counter *counter, uint64_t *hz, struct counter_reason *why);

/* Whether a stated rate lies within 0.1 % of the measured one. */
int fixed_rate_confirms(uint64_t measured_hz, uint64_t stated_hz);

#endif
