/* AArch64: the cycle event of this thread, read from PMCCNTR_EL0 without entering the kernel. */
#include "perf_event.h"

#include "perf_page.h"

enum { CYCLE_COUNTER_INDEX = 31 };

/* The kernel may put the event on a general register instead; PMCCNTR_EL0 would then count something else. */
static inline int read_pmc(uint32_t index, uint64_t *value)
{
	uint64_t cycles;

	if (index != CYCLE_COUNTER_INDEX)
		return -ENODATA;
	__asm__ volatile("isb\n\tmrs %0, pmccntr_el0\n\tisb" : "=r"(cycles) : : "memory");
	*value = cycles;
	return 0;
}

static int pmccntr_read(const struct counter *counter, uint64_t *count)
{
	return perf_page_read(counter->perf_page, read_pmc, count);
}

const struct counter_backend counter_perf_pmccntr = {
	.name = "perf-pmccntr", .unit = "cycles", .user_only = 1, .open = perf_open_mapped, .read = pmccntr_read,
};
