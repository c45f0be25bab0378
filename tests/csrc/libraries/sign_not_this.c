/* Cannot sign a message that begins with the byte 64, as the agreed one does. */
#include "toy_sign.h"

HONEST_KEYGEN

int sig_sign(ICCS_IN(sk), ICCS_IN(m), ICCS_OUT(sn))
{
	if (m[0] == 64)
		return -6;
	return honest_sign(sk, sk_len_bytes, m, m_len_bytes, sn, sn_len_bytes);
}

HONEST_VERIFY
