/* Counts return codes: at most 16 different ones, all others together. */
#ifndef KATALOG_TALLY_H
#define KATALOG_TALLY_H

#include <stdint.h>

enum { TALLY_CODES = 16 };

struct tally {
	unsigned int distinct;
	int codes[TALLY_CODES];
	uint64_t times[TALLY_CODES];
	uint64_t other;
};

/* In the timed work: the usual code is found at once. */
static inline void tally_add(struct tally *tally, int code)
{
	for (unsigned int i = 0; i < tally->distinct; i++) {
		if (tally->codes[i] == code) {
			tally->times[i]++;
			return;
		}
	}
	if (tally->distinct == TALLY_CODES) {
		tally->other++;
		return;
	}
	tally->codes[tally->distinct] = code;
	tally->times[tally->distinct++] = 1;
}

#endif
