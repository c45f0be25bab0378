/* What the driver asks of the kernel, apart from counters: placement, memory, page faults. */
#ifndef KATALOG_SYSTEM_H
#define KATALOG_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "failure.h"

struct usage {
	uint64_t minor_page_faults, major_page_faults, voluntary_context_switches, involuntary_context_switches;
};

/* Whether another program (qemu-user) runs this one's instructions. */
bool is_emulated(void);

int pin_to_cpu(int cpu, struct failure *failure);

/* Resident memory now (VmRSS), and its high-water mark (VmHWM) since the last reset. */
int rss_bytes(uint64_t *now_bytes, uint64_t *peak_bytes, struct failure *failure);
/* 0, or -1 where the kernel does not allow it; getrusage's mark cannot be reset and survives exec. */
int reset_peak_rss(void);

void usage_now(struct usage *usage);
struct usage usage_between(const struct usage *begin, const struct usage *end);

int write_all(int descriptor, const void *data, size_t bytes, struct failure *failure);

#endif
