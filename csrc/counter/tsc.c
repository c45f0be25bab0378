/* x86-64 time stamp counter: a fixed-rate clock, whatever the core's clock does. */
#include "backend.h"

#include <cpuid.h>

#include "fixed_rate.h"

enum { EDX_RDTSCP = 1u << 27, EDX_INVARIANT_TSC = 1u << 8 };

static unsigned int leaf_edx(unsigned int leaf)
{
	unsigned int eax, ebx, ecx, edx;

	return __get_cpuid(leaf, &eax, &ebx, &ecx, &edx) ? edx : 0;
}

/* A TSC that follows the core's clock or stops in sleep states is neither cycles nor time. */
static int tsc_open(struct counter *counter, const struct counter_request *request, struct counter_reason *why)
{
	(void)counter;
	(void)request;
	if (!(leaf_edx(0x80000001u) & EDX_RDTSCP))
		return counter_refuse(why, "this processor has no rdtscp");
	if (!(leaf_edx(0x80000007u) & EDX_INVARIANT_TSC))
		return counter_refuse(why, "its rate is not invariant (cpuid 80000007h)");
	return 0;
}

/* rdtscp waits for what stands before it, the fence holds back what follows. */
static int tsc_read(const struct counter *counter, uint64_t *count)
{
	uint32_t low, high, aux;

	(void)counter;
	__asm__ volatile("rdtscp\n\tlfence" : "=a"(low), "=d"(high), "=c"(aux) : : "memory");
	*count = (uint64_t)high << 32 | low;
	return 0;
}

/* 0: the processor does not say. */
static uint64_t stated_hz(void)
{
	unsigned int denominator, numerator, crystal_hz, edx;

	if (!__get_cpuid(0x15, &denominator, &numerator, &crystal_hz, &edx) || !denominator)
		return 0;
	return (uint64_t)crystal_hz * numerator / denominator;
}

/* The stated rate is exact where it holds, but some machines state a wrong one. */
static int tsc_rate(struct counter *counter, struct counter_reason *why)
{
	uint64_t stated = stated_hz();

	if (fixed_rate_measure(counter, &counter->hz, why))
		return -1;
	if (fixed_rate_confirms(counter->hz, stated))
		counter->hz = stated;
	return 0;
}

const struct counter_backend counter_tsc = {
	.name = "tsc", .unit = "ticks", .open = tsc_open, .read = tsc_read, .rate = tsc_rate,
};
