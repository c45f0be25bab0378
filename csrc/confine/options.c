#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

enum { OPTION_CONTROL = LIMITS, OPTION_UID, OPTION_KEEP_READING, OPTION_ISOLATE, OPTION_LANDLOCK, OPTION_READ, OPTION_WRITE };

/* The values of the limits are their places in the table of limits. */
static const struct option known[] = {
	{"as", required_argument, NULL, LIMIT_AS},
	{"cpu", required_argument, NULL, LIMIT_CPU},
	{"fsize", required_argument, NULL, LIMIT_FSIZE},
	{"nproc", required_argument, NULL, LIMIT_NPROC},
	{"nofile", required_argument, NULL, LIMIT_NOFILE},
	{"control", required_argument, NULL, OPTION_CONTROL},
	{"uid", required_argument, NULL, OPTION_UID},
	{"keep-reading", no_argument, NULL, OPTION_KEEP_READING},
	{"isolate", no_argument, NULL, OPTION_ISOLATE},
	{"landlock", no_argument, NULL, OPTION_LANDLOCK},
	{"read", required_argument, NULL, OPTION_READ},
	{"write", required_argument, NULL, OPTION_WRITE},
	{NULL, 0, NULL, 0},
};

static int read_number(const char *text, long long *number)
{
	char *end;

	errno = 0;
	*number = strtoll(text, &end, 10);
	if (!errno && end != text && !*end && *number >= 0)
		return 0;
	fprintf(stderr, "confine: '%s' is no whole number from 0\n", text);
	return -1;
}

static int add_path(struct paths *paths, const char *path)
{
	if (paths->count == PATHS) {
		fprintf(stderr, "confine: more than %d paths\n", PATHS);
		return -1;
	}
	paths->items[paths->count++] = path;
	return 0;
}

static int set_control(const char *text, struct options *options)
{
	long long number;

	if (read_number(text, &number))
		return -1;
	options->control = (int)number;
	return 0;
}

static int set_option(int option, struct options *options)
{
	switch (option) {
	case OPTION_CONTROL:
		return set_control(optarg, options);
	case OPTION_UID:
		return read_number(optarg, &options->uid);
	case OPTION_KEEP_READING:
		options->keep_reading = true;
		return 0;
	case OPTION_ISOLATE:
		options->isolate = true;
		return 0;
	case OPTION_LANDLOCK:
		options->landlock = true;
		return 0;
	case OPTION_READ:
		return add_path(&options->read, optarg);
	case OPTION_WRITE:
		return add_path(&options->write, optarg);
	default:
		return option < LIMITS ? read_number(optarg, &options->limits[option]) : -1;
	}
}

int parse_options(int argc, char *argv[], struct options *options)
{
	int option;

	*options = (struct options){.control = -1, .uid = -1, .limits = {-1, -1, -1, -1, -1}};
	while ((option = getopt_long(argc, argv, "+", known, NULL)) != -1)
		if (set_option(option, options))
			return -1;
	options->program = argv + optind;
	if (options->control >= 0 && *options->program)
		return 0;
	fprintf(stderr, "usage: confine --control FD [options] -- PROGRAM [WORD...]\n");
	return -1;
}
