/* An honest key encapsulation mechanism of no strength: the secret is the key xor the ciphertext. */
#include "../../../csrc/iccs/iccs_kem.h"
#include "../../../csrc/shim/random.h"

enum { PK_BYTES = 16, SK_BYTES = 24, CT_BYTES = 32, SS_BYTES = 8 };

unsigned long long kem_get_pk_len_bytes(void)
{
	return PK_BYTES;
}

unsigned long long kem_get_sk_len_bytes(void)
{
	return SK_BYTES;
}

unsigned long long kem_get_ct_len_bytes(void)
{
	return CT_BYTES;
}

unsigned long long kem_get_ss_len_bytes(void)
{
	return SS_BYTES;
}

static inline int honest_keygen(ICCS_OUT(pk), ICCS_OUT(sk))
{
	for (int i = 0; i < SK_BYTES; i++)
		sk[i] = (unsigned char)(3 * i + 1);
	for (int i = 0; i < PK_BYTES; i++)
		pk[i] = sk[i];
	*pk_len_bytes = PK_BYTES;
	*sk_len_bytes = SK_BYTES;
	return 0;
}

static inline int honest_enc(ICCS_IN(pk), ICCS_OUT(ss), ICCS_OUT(ct))
{
	(void)pk_len_bytes;
	for (int i = 0; i < CT_BYTES; i++)
		ct[i] = (unsigned char)(7 * i);
	for (int i = 0; i < SS_BYTES; i++)
		ss[i] = pk[i] ^ ct[i];
	*ss_len_bytes = SS_BYTES;
	*ct_len_bytes = CT_BYTES;
	return 0;
}

static inline int honest_dec(ICCS_IN(sk), ICCS_IN(ct), ICCS_OUT(ss))
{
	(void)sk_len_bytes;
	(void)ct_len_bytes;
	for (int i = 0; i < SS_BYTES; i++)
		ss[i] = sk[i] ^ ct[i];
	*ss_len_bytes = SS_BYTES;
	return 0;
}

#define HONEST_KEYGEN                                                                  \
	int kem_keygen(ICCS_OUT(pk), ICCS_OUT(sk))                                         \
	{                                                                                  \
		return honest_keygen(pk, pk_len_bytes, sk, sk_len_bytes);                      \
	}

#define HONEST_ENC                                                                     \
	int kem_enc(ICCS_IN(pk), ICCS_OUT(ss), ICCS_OUT(ct))                               \
	{                                                                                  \
		return honest_enc(pk, pk_len_bytes, ss, ss_len_bytes, ct, ct_len_bytes);       \
	}

#define HONEST_DEC                                                                     \
	int kem_dec(ICCS_IN(sk), ICCS_IN(ct), ICCS_OUT(ss))                                \
	{                                                                                  \
		return honest_dec(sk, sk_len_bytes, ct, ct_len_bytes, ss, ss_len_bytes);       \
	}
