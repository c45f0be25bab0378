/* The driver's side of the counter: opened with its overhead, refusals as a failure, facts as JSON. */
#ifndef KATALOG_COUNTERS_H
#define KATALOG_COUNTERS_H

#include "../counter/counter.h"
#include "failure.h"
#include "json.h"

struct used_counter {
	struct counter *counter;
	struct counter_overhead overhead;
};

/* name NULL: the first that works. Refusals are filled in either case. */
int open_counter(struct used_counter *used, const char *name, int cpu, struct counter_refusals *refusals,
                 struct failure *failure);

void write_counter(const struct used_counter *used, struct json *json);

#endif
