/* Decapsulation returns success and another secret. */
#include "toy_kem.h"

HONEST_KEYGEN
HONEST_ENC

int kem_dec(ICCS_IN(sk), ICCS_IN(ct), ICCS_OUT(ss))
{
	int code = honest_dec(sk, sk_len_bytes, ct, ct_len_bytes, ss, ss_len_bytes);

	ss[0] ^= 1;
	return code;
}
