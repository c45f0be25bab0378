#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { STATUS_BYTES = 8192, PATH_BYTES = 4096 };

/* An emulator shows its guest as /proc/self/exe; it does not think of the thread's own link. */
bool is_emulated(void)
{
	char process[PATH_BYTES], thread[PATH_BYTES];
	ssize_t process_bytes = readlink("/proc/self/exe", process, sizeof process);
	ssize_t thread_bytes = readlink("/proc/thread-self/exe", thread, sizeof thread);

	if (process_bytes < 0 || thread_bytes < 0)
		return false;
	return process_bytes != thread_bytes || memcmp(process, thread, (size_t)process_bytes) != 0;
}

int pin_to_cpu(int cpu, struct failure *failure)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (cpu < CPU_SETSIZE)
		CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof set, &set))
		return fail(failure, FAILURE_SYSTEM, "cannot run on CPU %d: %s", cpu, strerror(errno));
	return 0;
}

/* Without stdio, whose buffers would be part of what is measured. */
static int read_status(char text[STATUS_BYTES])
{
	int descriptor = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (descriptor < 0)
		return -1;
	got = read(descriptor, text, STATUS_BYTES - 1);
	close(descriptor);
	text[got > 0 ? got : 0] = '\0';
	return got > 0 ? 0 : -1;
}

static int find_kib(const char *status, const char *line, uint64_t *bytes)
{
	const char *at = strstr(status, line);

	if (!at)
		return -1;
	*bytes = strtoull(at + strlen(line), NULL, 10) * 1024;
	return 0;
}

int rss_bytes(uint64_t *now_bytes, uint64_t *peak_bytes, struct failure *failure)
{
	char status[STATUS_BYTES];

	if (read_status(status) || find_kib(status, "\nVmRSS:", now_bytes) || find_kib(status, "\nVmHWM:", peak_bytes))
		return fail(failure, FAILURE_SYSTEM, "/proc/self/status does not tell the resident memory");
	return 0;
}

int reset_peak_rss(void)
{
	int descriptor = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
	ssize_t written;

	if (descriptor < 0)
		return -1;
	written = write(descriptor, "5", 1);
	close(descriptor);
	return written == 1 ? 0 : -1;
}

void usage_now(struct usage *usage)
{
	struct rusage now;

	getrusage(RUSAGE_SELF, &now);
	*usage = (struct usage){(uint64_t)now.ru_minflt, (uint64_t)now.ru_majflt, (uint64_t)now.ru_nvcsw,
	                        (uint64_t)now.ru_nivcsw};
}

struct usage usage_between(const struct usage *begin, const struct usage *end)
{
	return (struct usage){
		end->minor_page_faults - begin->minor_page_faults,
		end->major_page_faults - begin->major_page_faults,
		end->voluntary_context_switches - begin->voluntary_context_switches,
		end->involuntary_context_switches - begin->involuntary_context_switches,
	};
}

int write_all(int descriptor, const void *data, size_t bytes, struct failure *failure)
{
	const char *at = data;

	while (bytes) {
		ssize_t written = write(descriptor, at, bytes);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return fail(failure, FAILURE_SYSTEM, "cannot write to descriptor %d: %s", descriptor, strerror(errno));
		at += written;
		bytes -= (size_t)written;
	}
	return 0;
}
