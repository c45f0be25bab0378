#include "toy_sign.h"

HONEST_KEYGEN

int sig_sign(ICCS_IN(sk), ICCS_IN(m), ICCS_OUT(sn))
{
	(void)sk, (void)sk_len_bytes, (void)m, (void)m_len_bytes, (void)sn, (void)sn_len_bytes;
	return -6;
}

HONEST_VERIFY
