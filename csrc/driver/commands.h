/* What the driver can do: each command fills the document in, or fails and leaves it to be thrown away. */
#ifndef KATALOG_COMMANDS_H
#define KATALOG_COMMANDS_H

#include "arguments.h"
#include "failure.h"
#include "json.h"

struct command {
	const char *name;
	int (*run)(const struct arguments *arguments, struct json *json, struct failure *failure);
	const char *const *required;
};

extern const struct command command_clock, command_time, command_probe, command_sizes, command_profile;

#endif
