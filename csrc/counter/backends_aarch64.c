#include "backend.h"

const struct counter_backend *const counter_backends[] = {
	&counter_perf_pmccntr, &counter_perf_read, &counter_cntvct, &counter_clock, NULL,
};
