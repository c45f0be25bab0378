/*
 * A buffer that a candidate reads or writes, with a guard zone on both sides.
 *
 * The writable part is exactly as long as the getter says; a getter of 0 still gives a pointer. The zone
 * after it is wide because some candidates read on past an input; reading there is allowed, writing is not.
 * Everything is touched when it is made, so none of it appears later as the operation's memory.
 */
#ifndef KATALOG_OCTETS_H
#define KATALOG_OCTETS_H

#include <stddef.h>

#include "failure.h"

enum { GUARD_BEFORE_BYTES = 64, GUARD_AFTER_BYTES = 4096 };

struct octets {
	const char *name;
	unsigned char *bytes;
	unsigned long long capacity_bytes; /* what the getter says */
	unsigned long long length_bytes;   /* passed in and out of the calls */
	unsigned long long longest_bytes;  /* largest length a call returned */
	unsigned char *block;
};

int octets_make(struct octets *octets, const char *name, unsigned long long capacity_bytes, struct failure *failure);
int octets_check_guards(const struct octets *octets, struct failure *failure);
void octets_free(struct octets *octets);

/* Before a call that writes here: some candidates take the length for the capacity. */
static inline void octets_offer(struct octets *octets)
{
	octets->length_bytes = octets->capacity_bytes;
}

/* After it: note the returned length, and never hand on more than there is. Returns whether it was too long. */
static inline int octets_take(struct octets *octets)
{
	int excess = octets->length_bytes > octets->capacity_bytes;

	if (octets->length_bytes > octets->longest_bytes)
		octets->longest_bytes = octets->length_bytes;
	if (excess)
		octets->length_bytes = octets->capacity_bytes;
	return excess;
}

#endif
