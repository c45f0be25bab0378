#include "CryptHash_AlgorithmInstance.h"

#include "auxfunc.h"

enum { NO_SUCH_DIGEST = -4 };

int CryptHash(int digest_len_bits, const unsigned char *msg, unsigned long long msg_len_bits, unsigned char *digest)
{
	if (digest_len_bits != DIGEST_BIT_LENGTH)
		return NO_SUCH_DIGEST;
	return HELPER(digest_len_bits, msg, msg_len_bits, digest);
}
