#include "quantiles.h"

#include <stdlib.h>

static int ascending(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

double quantile_of_sorted(const uint64_t *sorted, size_t samples, double q)
{
	double at = q * (double)(samples - 1);
	size_t below = (size_t)at;

	if (below + 1 >= samples)
		return (double)sorted[samples - 1];
	return (double)sorted[below] + (at - (double)below) * (double)(sorted[below + 1] - sorted[below]);
}

static void take_off(uint64_t *readings, size_t samples, uint64_t overhead)
{
	for (size_t i = 0; i < samples; i++)
		readings[i] = readings[i] > overhead ? readings[i] - overhead : 0;
}

void quantiles_of(uint64_t *readings, size_t samples, uint64_t overhead, uint64_t batch_calls, struct quantiles *out)
{
	static const double parts[] = {0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1};
	double *const places[] = {&out->min, &out->p01, &out->p05, &out->p25, &out->p50,
	                          &out->p75, &out->p95, &out->p99, &out->max};

	qsort(readings, samples, sizeof readings[0], ascending);
	take_off(readings, samples, overhead);
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		*places[i] = quantile_of_sorted(readings, samples, parts[i]) / (double)batch_calls;
}
