#include "backend.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int counter_refuse(struct counter_reason *why, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(why->text, sizeof why->text, format, arguments);
	va_end(arguments);
	return -1;
}

static void release(struct counter *counter)
{
	if (counter->perf_page)
		munmap(counter->perf_page, (size_t)sysconf(_SC_PAGESIZE));
	if (counter->perf_fd >= 0)
		close(counter->perf_fd);
}

/* The order matters: an instruction that may fault runs first inside the probe. */
static int try_backend(struct counter *counter, const struct counter_backend *backend,
                       const struct counter_request *request, struct counter_reason *why)
{
	*counter = (struct counter){.backend = backend, .perf_fd = -1};
	if (backend->open && backend->open(counter, request, why))
		goto refused;
	if (counter_probe(counter, why))
		goto refused;
	if (backend->rate && backend->rate(counter, why))
		goto refused;
	return 0;
refused:
	release(counter);
	return -1;
}

static int wanted(const struct counter_backend *backend, const struct counter_request *request)
{
	return !request->name || strcmp(request->name, backend->name) == 0;
}

static struct counter_reason *add_refusal(struct counter_refusals *refusals, const char *name)
{
	refusals->names[refusals->count] = name;
	return &refusals->reasons[refusals->count++];
}

static void refuse_unknown(const char *name, struct counter_refusals *refusals)
{
	struct counter_reason *why = add_refusal(refusals, name);
	size_t used;

	counter_refuse(why, "unknown counter; known here:");
	for (size_t i = 0; counter_backends[i]; i++) {
		used = strlen(why->text);
		snprintf(why->text + used, sizeof why->text - used, "%s %s", i ? "," : "", counter_backends[i]->name);
	}
}

int counter_select(struct counter **out, const struct counter_request *request, struct counter_refusals *refusals)
{
	struct counter *counter = malloc(sizeof *counter);

	refusals->count = 0;
	if (!counter) {
		counter_refuse(add_refusal(refusals, "memory"), "%s", strerror(ENOMEM));
		return -1;
	}
	for (size_t i = 0; counter_backends[i]; i++) {
		struct counter_reason why;

		if (!wanted(counter_backends[i], request))
			continue;
		if (try_backend(counter, counter_backends[i], request, &why) == 0) {
			*out = counter;
			return 0;
		}
		*add_refusal(refusals, counter_backends[i]->name) = why;
	}
	if (refusals->count == 0)
		refuse_unknown(request->name, refusals);
	free(counter);
	return -1;
}

void counter_close(struct counter *counter)
{
	release(counter);
	free(counter);
}

int counter_read(const struct counter *counter, uint64_t *count)
{
	return counter->backend->read(counter, count);
}

const char *counter_name(const struct counter *counter)
{
	return counter->backend->name;
}

const char *counter_unit(const struct counter *counter)
{
	return counter->backend->unit;
}

uint64_t counter_hz(const struct counter *counter)
{
	return counter->hz;
}

int counter_user_only(const struct counter *counter)
{
	return counter->backend->user_only;
}

const char *counter_known_name(size_t index)
{
	return counter_backends[index] ? counter_backends[index]->name : NULL;
}
