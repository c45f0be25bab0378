/* Writes one byte past the digest. */
#include "toy_hash.h"

int CryptHash(int digest_len_bits, const unsigned char *msg, unsigned long long msg_len_bits, unsigned char *digest)
{
	digest[DIGEST_BITS / 8] = 0;
	return honest_hash(digest_len_bits, msg, msg_len_bits, digest);
}
