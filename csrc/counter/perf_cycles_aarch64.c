#include "perf_event.h"

#include <linux/perf_event.h>

enum { ARMV8_CPU_CYCLES = 0x11, WIDE = 1, USER_READABLE = 2 };

/*
 * PMUs of cores are named after the architecture (armv8_pmuv3_0, armv9_cortex_a510), others begin with arm_.
 * Without a PMU type of its own the generic event goes to whichever kind of core registered first.
 */
struct perf_event_choice perf_core_cycles(const char *devices, int cpu)
{
	long pmu = perf_pmu_type(devices, "armv", cpu);
	struct perf_event_choice event = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, WIDE | USER_READABLE};

	if (pmu >= 0) {
		event.type = (uint32_t)pmu;
		event.config = ARMV8_CPU_CYCLES;
	}
	return event;
}
