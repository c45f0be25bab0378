/*
 * How a run of the driver fails: a kind, which decides the exit status, and one line of text.
 *
 * Functions that can fail return 0 or -1 and fill the failure in; `return fail(failure, KIND, ...)` does
 * both. Only main prints it.
 */
#ifndef KATALOG_FAILURE_H
#define KATALOG_FAILURE_H

enum failure_kind {
	FAILURE_USAGE,     /* the command line */
	FAILURE_LIBRARY,   /* does not load, or lacks a symbol */
	FAILURE_COUNTER,   /* no counter, or not the one asked for */
	FAILURE_COUNT,     /* what the counter says cannot be */
	FAILURE_OVERFLOW,  /* the library wrote outside a buffer */
	FAILURE_OPERATION, /* the operation cannot be carried out */
	FAILURE_SYSTEM,    /* a system call failed */
};

enum { FAILURE_MESSAGE_BYTES = 1024 };

struct failure {
	enum failure_kind kind;
	char message[FAILURE_MESSAGE_BYTES];
};

int fail(struct failure *failure, enum failure_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

const char *failure_kind_name(enum failure_kind kind);
int failure_exit_status(enum failure_kind kind);

#endif
