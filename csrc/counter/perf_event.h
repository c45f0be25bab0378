/* Opening and reading a perf event of the calling thread, user mode only. Internal to counter/. */
#ifndef KATALOG_PERF_EVENT_H
#define KATALOG_PERF_EVENT_H

#include "backend.h"

struct perf_event_choice {
	uint32_t type;
	uint64_t config;
	uint64_t config1;
};

struct perf_event_value {
	uint64_t count, enabled_ns, running_ns;
};

/* Core cycles on the given CPU: one file per architecture. */
struct perf_event_choice perf_core_cycles(const char *devices, int cpu);

/* Kernel's number for the PMU that serves the CPU, among those whose name begins with prefix; -1: none. */
long perf_pmu_type(const char *devices, const char *prefix, int cpu);

/* Whether a kernel CPU list such as "0-3,8" names the CPU. */
int perf_cpu_listed(const char *list, int cpu);

int perf_open(struct counter *counter, const struct counter_request *request, struct counter_reason *why);
int perf_open_mapped(struct counter *counter, const struct counter_request *request, struct counter_reason *why);
int perf_read_value(int perf_fd, struct perf_event_value *value);

#endif
