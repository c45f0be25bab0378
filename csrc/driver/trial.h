/* Everything one `driver time` holds. */
#ifndef KATALOG_TRIAL_H
#define KATALOG_TRIAL_H

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

#endif
