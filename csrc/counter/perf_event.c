#include "perf_event.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char DEVICES[] = "/sys/bus/event_source/devices";

static int open_event(const struct perf_event_choice *event)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof attr);
	attr.size = sizeof attr;
	attr.type = event->type;
	attr.config = event->config;
	attr.config1 = event->config1;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static const char *remedy(int error)
{
	if (error == EACCES || error == EPERM)
		return " (sysctl kernel.perf_event_paranoid=2 or lower is needed)";
	return error == ENOENT ? " (this machine offers no such event)" : "";
}

int perf_open(struct counter *counter, const struct counter_request *request, struct counter_reason *why)
{
	struct perf_event_choice event;

	event = request->event ? *request->event : perf_core_cycles(DEVICES, request->cpu);
	counter->perf_fd = open_event(&event);
	if (counter->perf_fd < 0)
		return counter_refuse(why, "perf_event_open: %s%s", strerror(errno), remedy(errno));
	return 0;
}

int perf_open_mapped(struct counter *counter, const struct counter_request *request, struct counter_reason *why)
{
	void *page;

	if (perf_open(counter, request, why))
		return -1;
	page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, counter->perf_fd, 0);
	if (page == MAP_FAILED)
		return counter_refuse(why, "mmap of the perf event: %s", strerror(errno));
	counter->perf_page = page;
	if (!((struct perf_event_mmap_page *)page)->cap_user_rdpmc)
		return counter_refuse(why, "the kernel does not let this event be read from user mode"
		                           " (AArch64: sysctl kernel.perf_user_access=1 is needed)");
	return 0;
}

int perf_read_value(int perf_fd, struct perf_event_value *value)
{
	ssize_t got = read(perf_fd, value, sizeof *value);

	if (got < 0)
		return -errno;
	return got == (ssize_t)sizeof *value ? 0 : -EIO;
}

int counter_times(const struct counter *counter, uint64_t *enabled_ns, uint64_t *running_ns)
{
	struct perf_event_value value;
	int error = counter->perf_fd < 0 ? -ENOTSUP : perf_read_value(counter->perf_fd, &value);

	if (error)
		return error;
	*enabled_ns = value.enabled_ns;
	*running_ns = value.running_ns;
	return 0;
}
