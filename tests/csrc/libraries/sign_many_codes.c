/* Verification returns 0, -1, ... -19 in turn. */
#include "toy_sign.h"

HONEST_KEYGEN
HONEST_SIGN

int sig_verify(ICCS_IN(pk), ICCS_IN(sn), ICCS_IN(m))
{
	static int calls;

	(void)pk, (void)pk_len_bytes, (void)sn, (void)sn_len_bytes, (void)m, (void)m_len_bytes;
	return -(calls++ % 20);
}
