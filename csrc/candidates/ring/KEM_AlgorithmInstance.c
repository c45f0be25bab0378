#include "KEM_AlgorithmInstance.h"

#include "ring_kem.h"

enum { WRONG_LENGTH = -2, OUT_OF_MEMORY = -3 };

unsigned long long kem_get_pk_len_bytes(void)
{
	return RING_PK_BYTES;
}

unsigned long long kem_get_sk_len_bytes(void)
{
	return RING_SK_BYTES;
}

unsigned long long kem_get_ss_len_bytes(void)
{
	return RING_SS_BYTES;
}

unsigned long long kem_get_ct_len_bytes(void)
{
	return RING_CT_BYTES;
}

int kem_keygen(unsigned char *pk, unsigned long long *pk_len_bytes, unsigned char *sk, unsigned long long *sk_len_bytes)
{
	*pk_len_bytes = RING_PK_BYTES;
	*sk_len_bytes = RING_SK_BYTES;
	return ring_kem_keygen(pk, sk) ? OUT_OF_MEMORY : 0;
}

int kem_enc(unsigned char *pk, unsigned long long pk_len_bytes, unsigned char *ss, unsigned long long *ss_len_bytes,
            unsigned char *ct, unsigned long long *ct_len_bytes)
{
	if (pk_len_bytes != RING_PK_BYTES)
		return WRONG_LENGTH;
	*ss_len_bytes = RING_SS_BYTES;
	*ct_len_bytes = RING_CT_BYTES;
	return ring_kem_enc(pk, ss, ct) ? OUT_OF_MEMORY : 0;
}

int kem_dec(unsigned char *sk, unsigned long long sk_len_bytes, unsigned char *ct, unsigned long long ct_len_bytes,
            unsigned char *ss, unsigned long long *ss_len_bytes)
{
	if (sk_len_bytes != RING_SK_BYTES || ct_len_bytes != RING_CT_BYTES)
		return WRONG_LENGTH;
	*ss_len_bytes = RING_SS_BYTES;
	return ring_kem_dec(sk, ct, ss) ? OUT_OF_MEMORY : 0;
}
