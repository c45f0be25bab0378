#include "failure.h"

#include <stdarg.h>
#include <stdio.h>

static const struct {
	const char *name;
	int exit_status;
} kinds[] = {
	[FAILURE_USAGE] = {"usage", 2},         [FAILURE_LIBRARY] = {"library", 10},
	[FAILURE_COUNTER] = {"counter", 11},    [FAILURE_COUNT] = {"count", 12},
	[FAILURE_OVERFLOW] = {"overflow", 13},  [FAILURE_OPERATION] = {"operation", 14},
	[FAILURE_SYSTEM] = {"system", 15},
};

/* A candidate's text (a loader message, a symbol) must not break the one line. */
static void keep_one_line(char *message)
{
	for (; *message; message++)
		if (*message == '\n' || *message == '\r')
			*message = ' ';
}

int fail(struct failure *failure, enum failure_kind kind, const char *format, ...)
{
	va_list arguments;

	failure->kind = kind;
	va_start(arguments, format);
	vsnprintf(failure->message, sizeof failure->message, format, arguments);
	va_end(arguments);
	keep_one_line(failure->message);
	return -1;
}

const char *failure_kind_name(enum failure_kind kind)
{
	return kinds[kind].name;
}

int failure_exit_status(enum failure_kind kind)
{
	return kinds[kind].exit_status;
}
