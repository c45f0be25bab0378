/*
 * Reading a perf event through its mapped page. The kernel raises page->lock around each change, so a read
 * is good only when the lock was the same before and after. read_pmc reads the register of one index.
 */
#ifndef KATALOG_PERF_PAGE_H
#define KATALOG_PERF_PAGE_H

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>

typedef int perf_read_pmc(uint32_t index, uint64_t *value);

static inline void perf_page_barrier(void)
{
	__asm__ volatile("" : : : "memory");
}

/* The register has pmc_width bits and counts on from a negative start. */
static inline int64_t perf_sign_extend(uint64_t value, unsigned int width)
{
	unsigned int shift = 64 - width;

	return (int64_t)(value << shift) >> shift;
}

static inline int perf_page_try(const volatile struct perf_event_mmap_page *page, perf_read_pmc *read_pmc,
                                uint64_t *count)
{
	uint32_t index = page->index;
	uint64_t offset = (uint64_t)page->offset, value;
	int error;

	if (!page->cap_user_rdpmc)
		return -EPERM;
	if (index == 0) { /* not on a register now: the offset is the whole count */
		*count = offset;
		return 0;
	}
	error = read_pmc(index - 1, &value);
	if (!error)
		*count = offset + (uint64_t)perf_sign_extend(value, page->pmc_width);
	return error;
}

static inline int perf_page_read(const volatile struct perf_event_mmap_page *page, perf_read_pmc *read_pmc,
                                 uint64_t *count)
{
	uint32_t lock;
	int error;

	do {
		lock = page->lock;
		perf_page_barrier();
		error = perf_page_try(page, read_pmc, count);
		perf_page_barrier();
	} while (page->lock != lock);
	return error;
}

#endif
