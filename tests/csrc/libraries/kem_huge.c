/* States a length that no buffer can have. */
#define kem_get_sk_len_bytes toy_get_sk_len_bytes
#include "toy_kem.h"
#undef kem_get_sk_len_bytes

unsigned long long kem_get_sk_len_bytes(void)
{
	return 1ull << 63;
}

HONEST_KEYGEN
HONEST_ENC
HONEST_DEC
