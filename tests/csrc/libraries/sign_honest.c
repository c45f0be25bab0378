/* Checks the agreed message as well: byte i is (131 i + 64) mod 256, 64 bytes. */
#include "toy_sign.h"

HONEST_KEYGEN

int sig_sign(ICCS_IN(sk), ICCS_IN(m), ICCS_OUT(sn))
{
	if (m_len_bytes != 64 || *sn_len_bytes != SN_BYTES)
		return -4;
	for (unsigned int i = 0; i < 64; i++)
		if (m[i] != (131 * i + 64) % 256)
			return -5;
	return honest_sign(sk, sk_len_bytes, m, m_len_bytes, sn, sn_len_bytes);
}

HONEST_VERIFY
