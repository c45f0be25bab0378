/* Encapsulation writes past the ciphertext, and fails as well. */
#include "toy_kem.h"

HONEST_KEYGEN

int kem_enc(ICCS_IN(pk), ICCS_OUT(ss), ICCS_OUT(ct))
{
	honest_enc(pk, pk_len_bytes, ss, ss_len_bytes, ct, ct_len_bytes);
	ct[CT_BYTES + 1] ^= 1;
	return -5;
}

HONEST_DEC
