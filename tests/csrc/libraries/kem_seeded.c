/* Fails unless its first random bytes are those of the agreed seed 00 01 ... 2f. */
#include <string.h>

#include "toy_kem.h"

int kem_keygen(ICCS_OUT(pk), ICCS_OUT(sk))
{
	static const unsigned char expected[] = {0x06, 0x15, 0x50, 0x23, 0x4d, 0x15, 0x8c, 0x5e};
	static int calls;
	unsigned char got[sizeof expected];

	katalog_random(got, sizeof got);
	if (calls++ == 0 && memcmp(got, expected, sizeof got) != 0)
		return -3;
	return honest_keygen(pk, pk_len_bytes, sk, sk_len_bytes);
}

HONEST_ENC
HONEST_DEC
