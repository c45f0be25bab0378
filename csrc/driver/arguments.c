#include "arguments.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Text options have no largest value. */
static const struct option_kind {
	const char *name;
	size_t offset;
	int64_t least, largest;
} options[] = {
	{"--library", offsetof(struct arguments, library), 0, 0},
	{"--family", offsetof(struct arguments, family), 0, 0},
	{"--operation", offsetof(struct arguments, operation), 0, 0},
	{"--counter", offsetof(struct arguments, counter), 0, 0},
	{"--iterations", offsetof(struct arguments, iterations), 1, 1000000000},
	{"--warmups", offsetof(struct arguments, warmups), 0, 1000000000},
	{"--cpu", offsetof(struct arguments, cpu), 0, INT_MAX},
	{"--result-fd", offsetof(struct arguments, result_fd), 0, INT_MAX},
	{"--samples-fd", offsetof(struct arguments, samples_fd), 0, INT_MAX},
	{"--clock-hz", offsetof(struct arguments, clock_hz), 1, 1000000000000},
	{"--input-bytes", offsetof(struct arguments, input_bytes), 0, 1 << 30},
	{"--digest-bits", offsetof(struct arguments, digest_bits), 1, 1 << 20},
};
enum { OPTIONS = sizeof options / sizeof options[0] };

static const struct option_kind *find_option(const char *name)
{
	for (size_t i = 0; i < OPTIONS; i++)
		if (strcmp(options[i].name, name) == 0)
			return &options[i];
	return NULL;
}

static void *place_of(const struct option_kind *option, const struct arguments *arguments)
{
	return (char *)arguments + option->offset;
}

static int set_number(const struct option_kind *option, const char *text, int64_t *place, struct failure *failure)
{
	char *end;
	long long value;

	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno || end == text || *end || value < option->least || value > option->largest)
		return fail(failure, FAILURE_USAGE, "%s wants a whole number from %lld to %lld, got '%s'", option->name,
		            (long long)option->least, (long long)option->largest, text);
	*place = value;
	return 0;
}

static int set_option(const char *name, const char *value, struct arguments *arguments, struct failure *failure)
{
	const struct option_kind *option = find_option(name);

	if (!option)
		return fail(failure, FAILURE_USAGE, "unknown option '%s'", name);
	if (!value)
		return fail(failure, FAILURE_USAGE, "%s wants a value", name);
	if (option->largest)
		return set_number(option, value, place_of(option, arguments), failure);
	*(const char **)place_of(option, arguments) = value;
	return 0;
}

/* Looked for first, so that a failure anywhere else on the command line reaches the parent as a document. */
static void find_result_fd(int argc, char *argv[], struct arguments *arguments)
{
	struct failure ignored;

	for (int i = 1; i + 1 < argc; i++)
		if (strcmp(argv[i], "--result-fd") == 0)
			set_option(argv[i], argv[i + 1], arguments, &ignored);
	if (fcntl((int)arguments->result_fd, F_GETFD) < 0)
		arguments->result_fd = -1;
}

static int check_descriptor(const char *name, int64_t descriptor, struct failure *failure)
{
	if (descriptor >= 0 && fcntl((int)descriptor, F_GETFD) < 0)
		return fail(failure, FAILURE_USAGE, "%s %lld is not open", name, (long long)descriptor);
	return 0;
}

int parse_arguments(int argc, char *argv[], struct arguments *arguments, struct failure *failure)
{
	*arguments = (struct arguments){NULL, NULL, NULL, NULL, -1, -1, -1, -1, -1, -1, -1, -1};
	find_result_fd(argc, argv, arguments);
	for (int i = 2; i < argc; i += 2)
		if (set_option(argv[i], i + 1 < argc ? argv[i + 1] : NULL, arguments, failure))
			return -1;
	if (check_descriptor("--result-fd", arguments->result_fd, failure))
		return -1;
	return check_descriptor("--samples-fd", arguments->samples_fd, failure);
}

static int is_given(const struct option_kind *option, const struct arguments *arguments)
{
	const void *place = place_of(option, arguments);

	return option->largest ? *(const int64_t *)place >= 0 : *(const char *const *)place != NULL;
}

int require_options(const struct arguments *arguments, const char *const names[], struct failure *failure)
{
	for (; *names; names++)
		if (!is_given(find_option(*names), arguments))
			return fail(failure, FAILURE_USAGE, "%s is missing", *names);
	return 0;
}
