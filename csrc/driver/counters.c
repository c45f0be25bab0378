#include "counters.h"

#include <stdio.h>
#include <string.h>

static int fail_refused(const struct counter_refusals *refusals, struct failure *failure)
{
	char all[FAILURE_MESSAGE_BYTES - 64] = "";
	size_t used = 0;

	for (size_t i = 0; i < refusals->count && used < sizeof all; i++)
		used += (size_t)snprintf(all + used, sizeof all - used, "%s%s: %s", i ? "; " : "", refusals->names[i],
		                         refusals->reasons[i].text);
	return fail(failure, FAILURE_COUNTER, "no usable counter: %s", all);
}

int open_counter(struct used_counter *used, const char *name, int cpu, struct counter_refusals *refusals,
                 struct failure *failure)
{
	struct counter_request request = {.name = name, .cpu = cpu};
	int error;

	if (counter_select(&used->counter, &request, refusals))
		return fail_refused(refusals, failure);
	error = counter_measure_overhead(used->counter, &used->overhead);
	if (error)
		return fail(failure, FAILURE_COUNTER, "%s: overhead cannot be measured: %s", counter_name(used->counter),
		            strerror(-error));
	return 0;
}

void write_counter(const struct used_counter *used, struct json *json)
{
	const struct counter *counter = used->counter;

	json_open_object(json, "counter");
	json_string(json, "name", counter_name(counter));
	json_string(json, "unit", counter_unit(counter));
	if (counter_hz(counter))
		json_count(json, "hz", counter_hz(counter));
	json_count(json, "overhead", used->overhead.count);
	json_bool(json, "user_only", counter_user_only(counter));
	json_close_object(json);
}
