/* Defines a function of the C library's name; the secrets agree only if its own is the one that is called. */
#include "toy_kem.h"

long getrandom(void *out, unsigned long bytes, unsigned int flags);

long getrandom(void *out, unsigned long bytes, unsigned int flags)
{
	(void)flags;
	for (unsigned long i = 0; i < bytes; i++)
		((unsigned char *)out)[i] = 0;
	return (long)bytes;
}

HONEST_KEYGEN
HONEST_ENC

int kem_dec(ICCS_IN(sk), ICCS_IN(ct), ICCS_OUT(ss))
{
	unsigned char drawn[SS_BYTES];
	int code = honest_dec(sk, sk_len_bytes, ct, ct_len_bytes, ss, ss_len_bytes);

	getrandom(drawn, sizeof drawn, 0);
	for (int i = 0; i < SS_BYTES; i++)
		ss[i] ^= drawn[i];
	return code;
}
