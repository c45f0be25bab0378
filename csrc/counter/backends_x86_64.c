#include "backend.h"

const struct counter_backend *const counter_backends[] = {
	&counter_perf_rdpmc, &counter_perf_read, &counter_tsc, &counter_clock, NULL,
};
