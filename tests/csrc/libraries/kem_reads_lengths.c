/* Takes every length given in at its word, and returns a shorter ciphertext each time. */
#include "toy_kem.h"

int kem_keygen(ICCS_OUT(pk), ICCS_OUT(sk))
{
	if (*pk_len_bytes != PK_BYTES || *sk_len_bytes != SK_BYTES)
		return -7;
	return honest_keygen(pk, pk_len_bytes, sk, sk_len_bytes);
}

static unsigned long long sent_bytes;

int kem_enc(ICCS_IN(pk), ICCS_OUT(ss), ICCS_OUT(ct))
{
	if (pk_len_bytes != PK_BYTES || *ss_len_bytes != SS_BYTES || *ct_len_bytes != CT_BYTES)
		return -8;
	honest_enc(pk, pk_len_bytes, ss, ss_len_bytes, ct, ct_len_bytes);
	*ct_len_bytes = sent_bytes = CT_BYTES - 3;
	return 0;
}

int kem_dec(ICCS_IN(sk), ICCS_IN(ct), ICCS_OUT(ss))
{
	if (sk_len_bytes != SK_BYTES || ct_len_bytes != sent_bytes || *ss_len_bytes != SS_BYTES)
		return -9;
	return honest_dec(sk, sk_len_bytes, ct, ct_len_bytes, ss, ss_len_bytes);
}
