/* The cycle event of this thread, read by a system call: works wherever perf does, and costs more. */
#include "perf_event.h"

static int perf_read_count(const struct counter *counter, uint64_t *count)
{
	struct perf_event_value value;
	int error = perf_read_value(counter->perf_fd, &value);

	if (!error)
		*count = value.count;
	return error;
}

const struct counter_backend counter_perf_read = {
	.name = "perf-read", .unit = "cycles", .user_only = 1, .open = perf_open, .read = perf_read_count,
};
