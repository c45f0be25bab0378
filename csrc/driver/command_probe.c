#include "commands.h"
#include "counters.h"
#include "system.h"

static void write_refusals(const struct counter_refusals *refusals, struct json *json)
{
	json_open_array(json, "refused");
	for (size_t i = 0; i < refusals->count; i++) {
		json_open_object(json, NULL);
		json_string(json, "name", refusals->names[i]);
		json_string(json, "reason", refusals->reasons[i].text);
		json_close_object(json);
	}
	json_close_array(json);
}

static int probe(const struct arguments *arguments, struct json *json, struct failure *failure)
{
	struct counter_refusals refusals;
	struct used_counter used;

	if (pin_to_cpu((int)arguments->cpu, failure))
		return -1;
	if (open_counter(&used, arguments->counter, (int)arguments->cpu, &refusals, failure))
		return -1;
	write_counter(&used, json);
	write_refusals(&refusals, json);
	json_bool(json, "emulated", is_emulated());
	counter_close(used.counter);
	return 0;
}

static const char *const required[] = {"--cpu", "--result-fd", NULL};

const struct command command_probe = {"probe", probe, required};
