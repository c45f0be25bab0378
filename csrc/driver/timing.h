/*
 * The timed loop. Readings follow each other without a gap: the read that ends one begins the next, so each
 * reading holds one overhead, and so does the whole loop per reading.
 */
#ifndef KATALOG_TIMING_H
#define KATALOG_TIMING_H

#include <stdint.h>

#include "../counter/counter.h"
#include "failure.h"
#include "subject.h"
#include "system.h"

enum {
	READINGS_MAX = 20000,
	SINGLE_CALL_OVERHEADS = 20, /* a call this much longer than a read is counted alone */
	BATCH_OVERHEADS = 100,      /* shorter ones in batches this long, so that reads add 1 % at most */
};

struct cost {
	uint64_t count, wall_ns; /* of one call, in the counter's unit and by the wall clock */
};

struct timing {
	uint64_t iterations, batch_calls, readings_count;
	uint64_t *readings; /* in order of time, overhead included */
	uint64_t wall_ns, count;
	uint64_t runs_wall_ns; /* of a step: the runs around its calls */
	bool is_perf;
	uint64_t enabled_ns, running_ns; /* of the loop; perf only */
	struct usage usage;
};

/* Readings that a loop of so many iterations needs at most. */
uint64_t readings_capacity(uint64_t iterations);

/* How many calls make one reading, given what one call costs. */
uint64_t choose_batch(uint64_t iterations, const struct cost *call, const struct counter_overhead *overhead);

void keep_shortest(struct cost *shortest, uint64_t count, uint64_t spent_ns);

/* What a negative errno value of the counter means for the trial. */
int fail_read(int error, struct failure *failure);

/* Times one call and gives its return code; in *shortest remains the smaller of both costs. */
int time_call(const struct counter *counter, const struct operation *operation, struct subject *subject,
              struct cost *shortest, int *code, struct failure *failure);

/* Runs timing->iterations calls; batch_calls and readings are set before. */
int time_loop(const struct counter *counter, const struct operation *operation, struct subject *subject,
              struct timing *timing, struct failure *failure);

#endif
