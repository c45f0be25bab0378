/*
 * The inner loop of a hash function's KAT_Loop file: a million dependent calls, which would take minutes if each
 * were made from Python. Built beside the random source that the known-answer worker trusts.
 */
#include <string.h>

#include "../iccs/iccs_hash.h"

enum { MESSAGE_BYTES = 1024 };

void katalog_kat_loop(iccs_hash *hash, int digest_bits, unsigned char *message, unsigned char *digest,
                      unsigned long long rounds);

/* The message has 1024 bytes, the digest digest_bits / 8, at most as many. Return codes are not looked at. */
void katalog_kat_loop(iccs_hash *hash, int digest_bits, unsigned char *message, unsigned char *digest,
                      unsigned long long rounds)
{
	const size_t digest_bytes = (size_t)digest_bits / 8;
	unsigned char first[MESSAGE_BYTES];

	for (; rounds; rounds--) {
		memcpy(first, message, digest_bytes);
		memmove(message, message + digest_bytes, MESSAGE_BYTES - digest_bytes);
		memcpy(message + MESSAGE_BYTES - digest_bytes, first, digest_bytes);
		for (size_t i = 0; i < digest_bytes; i++)
			message[i] ^= digest[i];
		hash(digest_bits, message, 8 * MESSAGE_BYTES, digest);
	}
}
