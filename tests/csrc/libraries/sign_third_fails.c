#include "toy_sign.h"

HONEST_KEYGEN

int sig_sign(ICCS_IN(sk), ICCS_IN(m), ICCS_OUT(sn))
{
	static int attempts;

	if (++attempts % 3 == 0)
		return -6;
	return honest_sign(sk, sk_len_bytes, m, m_len_bytes, sn, sn_len_bytes);
}

HONEST_VERIFY
