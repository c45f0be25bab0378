/* Which PMU serves a CPU: machines with two kinds of cores have one PMU for each kind. */
#include "perf_event.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 512, TEXT_BYTES = 256 };

int perf_cpu_listed(const char *list, int cpu)
{
	while (*list) {
		char *end;
		long first = strtol(list, &end, 10), last = first;

		if (end == list)
			return 0;
		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		if (first <= cpu && cpu <= last)
			return 1;
		list = end + (*end == ',');
	}
	return 0;
}

static int read_text(const char *devices, const char *pmu, const char *file, char text[TEXT_BYTES])
{
	char path[PATH_BYTES];
	ssize_t got;
	int descriptor;

	if (snprintf(path, sizeof path, "%s/%s/%s", devices, pmu, file) >= (int)sizeof path)
		return -1;
	descriptor = open(path, O_RDONLY | O_CLOEXEC);
	if (descriptor < 0)
		return -1;
	got = read(descriptor, text, TEXT_BYTES - 1);
	close(descriptor);
	text[got > 0 ? got : 0] = '\0';
	return got > 0 ? 0 : -1;
}

static long type_if_serving(const char *devices, const char *pmu, int cpu)
{
	char text[TEXT_BYTES];

	if (read_text(devices, pmu, "cpus", text) || !perf_cpu_listed(text, cpu))
		return -1;
	return read_text(devices, pmu, "type", text) ? -1 : strtol(text, NULL, 10);
}

long perf_pmu_type(const char *devices, const char *prefix, int cpu)
{
	DIR *folder = opendir(devices);
	struct dirent *entry;
	long type = -1;

	if (!folder)
		return -1;
	while (type < 0 && (entry = readdir(folder)))
		if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
			type = type_if_serving(devices, entry->d_name, cpu);
	closedir(folder);
	return type;
}
