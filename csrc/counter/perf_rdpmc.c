/* x86-64: the cycle event of this thread, read by rdpmc without entering the kernel. */
#include "perf_event.h"

#include "perf_page.h"

static inline int read_pmc(uint32_t index, uint64_t *value)
{
	uint32_t low, high;

	__asm__ volatile("lfence\n\trdpmc\n\tlfence" : "=a"(low), "=d"(high) : "c"(index) : "memory");
	*value = (uint64_t)high << 32 | low;
	return 0;
}

static int rdpmc_read(const struct counter *counter, uint64_t *count)
{
	return perf_page_read(counter->perf_page, read_pmc, count);
}

const struct counter_backend counter_perf_rdpmc = {
	.name = "perf-rdpmc", .unit = "cycles", .user_only = 1, .open = perf_open_mapped, .read = rdpmc_read,
};
