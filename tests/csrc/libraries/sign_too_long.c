/* Returns a length above that of the getter, without writing there. */
#include "toy_sign.h"

HONEST_KEYGEN

int sig_sign(ICCS_IN(sk), ICCS_IN(m), ICCS_OUT(sn))
{
	int code = honest_sign(sk, sk_len_bytes, m, m_len_bytes, sn, sn_len_bytes);

	*sn_len_bytes = SN_BYTES + 4;
	return code;
}

HONEST_VERIFY
