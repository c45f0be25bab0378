/* Everything one `driver time` or `driver profile` holds, and what both do with it. */
#ifndef KATALOG_TRIAL_H
#define KATALOG_TRIAL_H

#include "arguments.h"
#include "counters.h"
#include "subject.h"
#include "timing.h"

struct memory {
	uint64_t baseline_rss_bytes, peak_rss_bytes;
	bool peak_rss_reset; /* if not, the peak is that of the whole process and says nothing */
};

struct trial {
	const struct family *family;
	const struct operation *operation;
	struct used_counter used;
	struct subject subject;
	struct cost setup_cost; /* of the operation's call in the setup */
	uint64_t warmups;
	struct memory memory;
	struct timing timing;
};

/*
 * Pins the process, opens the counter (NULL: the first that works), makes room, loads the library and finds the
 * operation. make_room comes before the library is loaded; NULL: none is needed.
 */
int trial_open(struct trial *trial, const struct arguments *arguments, const char *counter,
               int (*make_room)(struct trial *trial, struct failure *failure), struct failure *failure);

/* Guards are checked even after a failure: behind an overflow, no other finding can be trusted. */
int trial_checked(const struct trial *trial, int result, struct failure *failure);

/* In *shortest remains the smallest cost of a call. */
int trial_warm_up(struct trial *trial, struct cost *shortest, struct failure *failure);

#endif
