/* A hash function of no strength: the digest's bytes are the sum of the message's; checks the agreed message. */
#include "../../../csrc/iccs/iccs_hash.h"

enum { DIGEST_BITS = 264 };

static inline int honest_hash(int digest_len_bits, const unsigned char *msg, unsigned long long msg_len_bits,
                              unsigned char *digest)
{
	unsigned long long bytes = msg_len_bits / 8;
	unsigned char sum = 0;

	if (digest_len_bits != DIGEST_BITS || msg_len_bits % 8)
		return 1;
	for (unsigned long long i = 0; i < bytes; i++) {
		if (msg[i] != (131 * i + bytes) % 256)
			return 2;
		sum = (unsigned char)(sum + msg[i]);
	}
	for (int i = 0; i < DIGEST_BITS / 8; i++)
		digest[i] = sum;
	return 0;
}
