/* AArch64 virtual counter: a fixed-rate clock, often of a few ten MHz. */
#include "backend.h"

#include "fixed_rate.h"

static int cntvct_read(const struct counter *counter, uint64_t *count)
{
	uint64_t value;

	(void)counter;
	__asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(value) : : "memory");
	*count = value;
	return 0;
}

/* The register holds what firmware wrote there, so it counts only when a measurement confirms it. */
static int cntvct_rate(struct counter *counter, struct counter_reason *why)
{
	uint64_t stated_hz, measured_hz;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(stated_hz));
	if (fixed_rate_measure(counter, &measured_hz, why))
		return -1;
	if (!fixed_rate_confirms(measured_hz, stated_hz))
		return counter_refuse(why, "CNTFRQ_EL0 states %llu Hz, measured are %llu Hz", (unsigned long long)stated_hz,
		                      (unsigned long long)measured_hz);
	counter->hz = stated_hz;
	return 0;
}

const struct counter_backend counter_cntvct = {
	.name = "cntvct", .unit = "ticks", .read = cntvct_read, .rate = cntvct_rate,
};
