/* The one place that prints, writes the result and chooses the exit status. */
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "system.h"

enum { DOCUMENT_BYTES = 131072, DRIVER_VERSION = 1 };

static const struct command *const commands[] = {&command_time, &command_probe, &command_clock, &command_sizes,
                                                 &command_profile};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; name && i < COMMANDS; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

static int run(int argc, char *argv[], struct arguments *arguments, struct json *json, struct failure *failure)
{
	const struct command *command;
	int wrong = parse_arguments(argc, argv, arguments, failure);

	command = find_command(argc > 1 ? argv[1] : NULL);
	if (!command)
		return fail(failure, FAILURE_USAGE, "first word must be one of time, probe, clock, sizes, profile");
	if (wrong || require_options(arguments, command->required, failure))
		return -1;
	json_open_object(json, NULL);
	json_count(json, "driver", DRIVER_VERSION);
	if (command->run(arguments, json, failure))
		return -1;
	json_close_object(json);
	if (!json_complete(json))
		return fail(failure, FAILURE_SYSTEM, "the result does not fit its document");
	return 0;
}

static void write_failure(struct json *json, const struct failure *failure)
{
	json_open_object(json, NULL);
	json_count(json, "driver", DRIVER_VERSION);
	json_open_object(json, "error");
	json_string(json, "kind", failure_kind_name(failure->kind));
	json_string(json, "message", failure->message);
	json_close_object(json);
	json_close_object(json);
}

/* A document that cannot be delivered is worth no more than none. */
static int deliver(const struct arguments *arguments, const struct json *json, struct failure *failure)
{
	if (arguments->result_fd < 0 || fcntl((int)arguments->result_fd, F_GETFD) < 0)
		return 0;
	return write_all((int)arguments->result_fd, json->text, json->used_bytes, failure);
}

int main(int argc, char *argv[])
{
	static char text[DOCUMENT_BYTES];
	struct arguments arguments;
	struct failure failure;
	struct json json;
	int failed;

	json_begin(&json, text, sizeof text);
	failed = run(argc, argv, &arguments, &json, &failure);
	setlocale(LC_ALL, "C"); /* a candidate may have changed it */
	if (failed) {
		json_begin(&json, text, sizeof text);
		write_failure(&json, &failure);
	}
	if (deliver(&arguments, &json, &failure))
		failed = 1;
	if (failed)
		fprintf(stderr, "driver: %s\n", failure.message);
	/* A candidate's exit handlers must not change the status of a finished run. */
	fflush(NULL);
	_exit(failed ? failure_exit_status(failure.kind) : 0);
}
