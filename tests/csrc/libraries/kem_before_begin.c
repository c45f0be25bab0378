/* Key generation writes one byte before the secret key. */
#include "toy_kem.h"

int kem_keygen(ICCS_OUT(pk), ICCS_OUT(sk))
{
	sk[-1] ^= 1;
	return honest_keygen(pk, pk_len_bytes, sk, sk_len_bytes);
}

HONEST_ENC
HONEST_DEC
