/*
 * A buffer that a candidate reads or writes, with a guard zone on both sides.
 *
 * The writable part is exactly as long as the getter says; a getter of 0 still gives a pointer. The zone
 * after it is wide because some candidates read on past an input; reading there is allowed, writing is not.
 * Everything is touched when it is made, so none of it appears later as the operation's memory.
 */
#ifndef KATALOG_OCTETS_H
#define KATALOG_OCTETS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

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

/* Contents and length; both have the same capacity. */
static inline void octets_copy(struct octets *to, const struct octets *from)
{
	memcpy(to->bytes, from->bytes, (size_t)from->capacity_bytes);
	to->length_bytes = from->length_bytes;
}

static inline bool octets_equal(const struct octets *left, const struct octets *right)
{
	return left->length_bytes == right->length_bytes &&
	       memcmp(left->bytes, right->bytes, (size_t)left->length_bytes) == 0;
}

/* The largest length that a call returned for either. */
static inline unsigned long long octets_longest(const struct octets *left, const struct octets *right)
{
	return left->longest_bytes > right->longest_bytes ? left->longest_bytes : right->longest_bytes;
}

#endif
