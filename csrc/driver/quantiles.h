/* Quantiles of a set of readings. No file, no clock, no allocation beyond qsort's. */
#ifndef KATALOG_QUANTILES_H
#define KATALOG_QUANTILES_H

#include <stddef.h>
#include <stdint.h>

struct quantiles {
	double min, p01, p05, p25, p50, p75, p95, p99, max;
};

/*
 * Linear between order statistics: with n sorted values x[0..n-1] the quantile q lies at h = q (n - 1), and is
 * x[i] + (h - i)(x[i+1] - x[i]) for i = floor(h). This is numpy's default.
 */
double quantile_of_sorted(const uint64_t *sorted, size_t samples, double q);

/*
 * Sorts the readings in place, takes the overhead off each (not below 0: a reading shorter than the overhead
 * says no more than that the call was very short) and divides by the calls of one reading.
 */
void quantiles_of(uint64_t *readings, size_t samples, uint64_t overhead, uint64_t batch_calls, struct quantiles *out);

#endif
