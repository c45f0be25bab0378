/* An honest signature scheme of no strength: the signature is the message's first bytes xor the key. */
#include "../../../csrc/iccs/iccs_sig.h"
#include "../../../csrc/shim/random.h"

enum { PK_BYTES = 16, SK_BYTES = 16, SN_BYTES = 16 };

unsigned long long sig_get_pk_len_bytes(void)
{
	return PK_BYTES;
}

unsigned long long sig_get_sk_len_bytes(void)
{
	return SK_BYTES;
}

unsigned long long sig_get_sn_len_bytes(void)
{
	return SN_BYTES;
}

static inline int honest_keygen(ICCS_OUT(pk), ICCS_OUT(sk))
{
	for (int i = 0; i < PK_BYTES; i++)
		pk[i] = sk[i] = (unsigned char)(5 * i + 2);
	*pk_len_bytes = PK_BYTES;
	*sk_len_bytes = SK_BYTES;
	return 0;
}

static inline int honest_sign(ICCS_IN(sk), ICCS_IN(m), ICCS_OUT(sn))
{
	(void)sk_len_bytes;
	(void)m_len_bytes;
	for (int i = 0; i < SN_BYTES; i++)
		sn[i] = m[i] ^ sk[i];
	*sn_len_bytes = SN_BYTES;
	return 0;
}

static inline int honest_verify(ICCS_IN(pk), ICCS_IN(sn), ICCS_IN(m))
{
	if (pk_len_bytes != PK_BYTES || sn_len_bytes != SN_BYTES || m_len_bytes < SN_BYTES)
		return -2;
	for (int i = 0; i < SN_BYTES; i++)
		if (sn[i] != (m[i] ^ pk[i]))
			return -1;
	return 0;
}

#define HONEST_KEYGEN                                                                  \
	int sig_keygen(ICCS_OUT(pk), ICCS_OUT(sk))                                         \
	{                                                                                  \
		return honest_keygen(pk, pk_len_bytes, sk, sk_len_bytes);                      \
	}

#define HONEST_SIGN                                                                    \
	int sig_sign(ICCS_IN(sk), ICCS_IN(m), ICCS_OUT(sn))                                \
	{                                                                                  \
		return honest_sign(sk, sk_len_bytes, m, m_len_bytes, sn, sn_len_bytes);        \
	}

#define HONEST_VERIFY                                                                  \
	int sig_verify(ICCS_IN(pk), ICCS_IN(sn), ICCS_IN(m))                               \
	{                                                                                  \
		return honest_verify(pk, pk_len_bytes, sn, sn_len_bytes, m, m_len_bytes);      \
	}
