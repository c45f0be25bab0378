/* Takes no message of 1024 bytes or more; its error code is positive. */
#include "toy_hash.h"

int CryptHash(int digest_len_bits, const unsigned char *msg, unsigned long long msg_len_bits, unsigned char *digest)
{
	return msg_len_bits >= 8192 ? 2 : honest_hash(digest_len_bits, msg, msg_len_bits, digest);
}
