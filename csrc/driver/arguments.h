/* The command line. */
#ifndef KATALOG_ARGUMENTS_H
#define KATALOG_ARGUMENTS_H

#include <stdint.h>

#include "failure.h"

struct arguments {
	const char *library, *family, *operation, *counter; /* NULL: not given */
	int64_t iterations, warmups, cpu, result_fd, samples_fd, clock_hz, input_bytes, digest_bits; /* -1: not given */
};

/* Reads the options of one command, from argv[2] on. */
int parse_arguments(int argc, char *argv[], struct arguments *arguments, struct failure *failure);

/* Fails unless each named option was given; names end with NULL. */
int require_options(const struct arguments *arguments, const char *const names[], struct failure *failure);

#endif
