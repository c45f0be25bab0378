#include "octets.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Far above any key or signature: a getter beyond it is a fault of the library, not a wish for memory. */
static const unsigned long long CAPACITY_MAX_BYTES = 1ull << 30;

/* Differs from byte to byte, so that no run of equal bytes a candidate writes can pass for it. */
static unsigned char guard_byte(size_t at)
{
	return (unsigned char)(0xa5 + 29 * at);
}

int octets_make(struct octets *octets, const char *name, unsigned long long capacity_bytes, struct failure *failure)
{
	size_t total_bytes = GUARD_BEFORE_BYTES + (size_t)capacity_bytes + GUARD_AFTER_BYTES;

	if (capacity_bytes > CAPACITY_MAX_BYTES)
		return fail(failure, FAILURE_LIBRARY, "length of %s: the library states %llu bytes, allowed are at most %llu", name,
		            capacity_bytes, CAPACITY_MAX_BYTES);
	*octets = (struct octets){.name = name, .capacity_bytes = capacity_bytes, .length_bytes = capacity_bytes};
	total_bytes += -total_bytes % GUARD_BEFORE_BYTES; /* aligned_alloc wants a multiple */
	octets->block = aligned_alloc(GUARD_BEFORE_BYTES, total_bytes);
	if (!octets->block)
		return fail(failure, FAILURE_SYSTEM, "no memory for %llu bytes of %s", capacity_bytes, name);
	octets->bytes = octets->block + GUARD_BEFORE_BYTES;
	memset(octets->bytes, 0, (size_t)capacity_bytes);
	for (size_t i = 0; i < GUARD_BEFORE_BYTES; i++)
		octets->block[i] = guard_byte(i);
	for (size_t i = 0; i < GUARD_AFTER_BYTES; i++)
		octets->bytes[capacity_bytes + i] = guard_byte(i);
	return 0;
}

/* Index of the first changed byte; count if there is none. */
static size_t first_changed(const unsigned char *zone, size_t count)
{
	size_t i = 0;

	while (i < count && zone[i] == guard_byte(i))
		i++;
	return i;
}

int octets_check_guards(const struct octets *octets, struct failure *failure)
{
	size_t before = first_changed(octets->block, GUARD_BEFORE_BYTES);
	size_t after = first_changed(octets->bytes + octets->capacity_bytes, GUARD_AFTER_BYTES);

	if (before < GUARD_BEFORE_BYTES)
		return fail(failure, FAILURE_OVERFLOW, "the library wrote before the buffer %s (%zu bytes before its begin)",
		            octets->name, GUARD_BEFORE_BYTES - before);
	if (after < GUARD_AFTER_BYTES)
		return fail(failure, FAILURE_OVERFLOW, "the library wrote past the buffer %s of %llu bytes (at byte %llu)",
		            octets->name, octets->capacity_bytes, octets->capacity_bytes + after);
	return 0;
}

void octets_free(struct octets *octets)
{
	free(octets->block);
	octets->block = NULL;
}
