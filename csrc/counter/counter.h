/*
 * One counter per process: opened once, named in every result, never exchanged for another.
 *
 * Order of calls: counter_select, then counter_read and counter_times as often as wanted, then
 * counter_close. Pin the thread first: a counter belongs to the thread and to the kind of core it was
 * opened on. The caller owns the counter and the refusals; strings are static.
 *
 * Units: "cycles" are core cycles, "ticks" are those of a fixed-rate clock and never core cycles,
 * "ns" are nanoseconds. counter_hz is 0 unless the unit is ticks.
 *
 * Errors: 0 is success. counter_select returns -1 and a sentence for each back end that refused;
 * counter_read and counter_difference return a negative errno value and leave the result alone.
 *
 * What it is not: no profiler, no sum over threads (other threads of a candidate are not counted), no
 * conversion between ticks, cycles and seconds, and no guess at a clock rate nobody measured.
 */
#ifndef KATALOG_COUNTER_H
#define KATALOG_COUNTER_H

#include <stddef.h>
#include <stdint.h>

enum { COUNTER_BACKENDS_MAX = 8, COUNTER_REASON_BYTES = 160, COUNTER_OVERHEAD_PAIRS = 1000 };

struct counter;
struct perf_event_choice;

struct counter_request {
	const char *name;                      /* NULL: the first back end that works */
	int cpu;                               /* the pinned one; chooses the PMU on hybrid machines */
	const struct perf_event_choice *event; /* NULL: core cycles; a test passes another event */
};

struct counter_reason { char text[COUNTER_REASON_BYTES]; };

struct counter_refusals {
	size_t count;
	const char *names[COUNTER_BACKENDS_MAX];
	struct counter_reason reasons[COUNTER_BACKENDS_MAX];
};

struct counter_overhead {
	uint64_t count;   /* distance of two reads in a row, in the counter's unit: median of 1000 */
	uint64_t wall_ns; /* what one read takes by the wall clock: mean of 1000 */
};

int counter_select(struct counter **out, const struct counter_request *request, struct counter_refusals *refusals);
void counter_close(struct counter *counter);

int counter_read(const struct counter *counter, uint64_t *count);
/* -ERANGE when the count went backwards or moved by more than any operation can take. */
int counter_difference(uint64_t begin, uint64_t end, uint64_t *difference);
/* How long the event was wanted and how long it counted; -ENOTSUP unless it is a perf event. */
int counter_times(const struct counter *counter, uint64_t *enabled_ns, uint64_t *running_ns);
int counter_measure_overhead(const struct counter *counter, struct counter_overhead *overhead);

const char *counter_name(const struct counter *counter);
const char *counter_unit(const struct counter *counter);
uint64_t counter_hz(const struct counter *counter);
int counter_user_only(const struct counter *counter);
const char *counter_known_name(size_t index); /* in order of preference; NULL after the last */

#endif
