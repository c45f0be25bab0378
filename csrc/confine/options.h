/* The command line of confine: what a program may do, and how to start it. */
#ifndef KATALOG_CONFINE_OPTIONS_H
#define KATALOG_CONFINE_OPTIONS_H

#include <stdbool.h>

enum limit { LIMIT_AS, LIMIT_CPU, LIMIT_FSIZE, LIMIT_NPROC, LIMIT_NOFILE, LIMITS };
enum { PATHS = 64 };

struct paths {
	const char *items[PATHS];
	int count;
};

struct options {
	int control;              /* socket to the parent */
	long long limits[LIMITS]; /* bytes, seconds or a number; -1 where there is none */
	long long uid;            /* to become, with the group of the same number; -1 to stay */
	bool keep_reading;        /* keep the right to read every file, given up otherwise with all other rights */
	bool isolate;             /* own network and IPC name spaces, where the kernel allows it */
	bool landlock;            /* no file but these paths, and no TCP */
	struct paths read, write;
	char **program;           /* ends with NULL */
};

/* Returns 0, or -1 after one line on stderr. */
int parse_options(int argc, char *argv[], struct options *options);

#endif
