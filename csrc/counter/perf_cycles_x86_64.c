#include "perf_event.h"

#include <linux/perf_event.h>

/* On hybrid processors (cpu_core, cpu_atom) the upper half of config names the PMU; elsewhere it is 0. */
struct perf_event_choice perf_core_cycles(const char *devices, int cpu)
{
	long pmu = perf_pmu_type(devices, "cpu_", cpu);

	return (struct perf_event_choice){
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES | (pmu > 0 ? (uint64_t)pmu << 32 : 0),
	};
}
