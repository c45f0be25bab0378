/* Gives a PQClean signature scheme the ICCS interface, and its attached form for the known-answer text. */
#include "pqclean.h"

#include "../iccs/iccs_sig.h"
#include "katalog_attached.h"
#include "../shim/random.h"

int PQCLEAN_randombytes(uint8_t *output, size_t n)
{
	katalog_random(output, n);
	return 0;
}

unsigned long long sig_get_pk_len_bytes(void)
{
	return PQCLEAN(CRYPTO_PUBLICKEYBYTES);
}

unsigned long long sig_get_sk_len_bytes(void)
{
	return PQCLEAN(CRYPTO_SECRETKEYBYTES);
}

unsigned long long sig_get_sn_len_bytes(void)
{
	return PQCLEAN(CRYPTO_BYTES);
}

int sig_keygen(ICCS_OUT(pk), ICCS_OUT(sk))
{
	*pk_len_bytes = sig_get_pk_len_bytes();
	*sk_len_bytes = sig_get_sk_len_bytes();
	return PQCLEAN(crypto_sign_keypair)(pk, sk);
}

int sig_sign(ICCS_IN(sk), ICCS_IN(m), ICCS_OUT(sn))
{
	size_t sn_bytes = (size_t)*sn_len_bytes;
	int code = PQCLEAN(crypto_sign_signature)(sn, &sn_bytes, m, (size_t)m_len_bytes, sk);

	(void)sk_len_bytes;
	*sn_len_bytes = sn_bytes;
	return code;
}

int sig_verify(ICCS_IN(pk), ICCS_IN(sn), ICCS_IN(m))
{
	(void)pk_len_bytes;
	return PQCLEAN(crypto_sign_verify)(sn, (size_t)sn_len_bytes, m, (size_t)m_len_bytes, pk);
}

int katalog_sign_attached(unsigned char *sm, unsigned long long *sm_bytes, const unsigned char *m,
                          unsigned long long m_bytes, const unsigned char *sk)
{
	size_t written_bytes = 0;
	int code = PQCLEAN(crypto_sign)(sm, &written_bytes, m, (size_t)m_bytes, sk);

	*sm_bytes = written_bytes;
	return code;
}

int katalog_open_attached(unsigned char *m, unsigned long long *m_bytes, const unsigned char *sm,
                          unsigned long long sm_bytes, const unsigned char *pk)
{
	size_t written_bytes = 0;
	int code = PQCLEAN(crypto_sign_open)(m, &written_bytes, sm, (size_t)sm_bytes, pk);

	*m_bytes = written_bytes;
	return code;
}
