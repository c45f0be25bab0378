/* What a back end provides. Internal to counter/: others include counter.h. */
#ifndef KATALOG_COUNTER_BACKEND_H
#define KATALOG_COUNTER_BACKEND_H

#include "counter.h"

struct counter_backend {
	const char *name;
	const char *unit;
	int user_only;
	/* Take resources; nothing here may fault. NULL: there are none. */
	int (*open)(struct counter *counter, const struct counter_request *request, struct counter_reason *why);
	/* One read. The only hook that may run an instruction this machine forbids. */
	int (*read)(const struct counter *counter, uint64_t *count);
	/* Find the fixed rate, after the probe has shown that reading works. NULL: not a fixed-rate counter. */
	int (*rate)(struct counter *counter, struct counter_reason *why);
};

struct counter {
	const struct counter_backend *backend;
	uint64_t hz;
	int perf_fd;     /* -1: no perf event */
	void *perf_page; /* NULL: not mapped */
};

extern const struct counter_backend *const counter_backends[]; /* in order of preference, NULL-ended */

extern const struct counter_backend counter_perf_rdpmc;
extern const struct counter_backend counter_perf_pmccntr;
extern const struct counter_backend counter_perf_read;
extern const struct counter_backend counter_tsc;
extern const struct counter_backend counter_cntvct;
extern const struct counter_backend counter_clock;

/* Write the reason and return -1, so that a refusal is one statement. */
int counter_refuse(struct counter_reason *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Read a thousand times under signal handlers: must not fault, must not go back, must move. */
int counter_probe(const struct counter *counter, struct counter_reason *why);

#endif
