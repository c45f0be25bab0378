/* Gives a PQClean key encapsulation mechanism the ICCS interface. Lengths are fixed, those given in are not read. */
#include "pqclean.h"

#include "../iccs/iccs_kem.h"
#include "../shim/random.h"

int PQCLEAN_randombytes(uint8_t *output, size_t n)
{
	katalog_random(output, n);
	return 0;
}

unsigned long long kem_get_pk_len_bytes(void)
{
	return PQCLEAN(CRYPTO_PUBLICKEYBYTES);
}

unsigned long long kem_get_sk_len_bytes(void)
{
	return PQCLEAN(CRYPTO_SECRETKEYBYTES);
}

unsigned long long kem_get_ss_len_bytes(void)
{
	return PQCLEAN(CRYPTO_BYTES);
}

unsigned long long kem_get_ct_len_bytes(void)
{
	return PQCLEAN(CRYPTO_CIPHERTEXTBYTES);
}

int kem_keygen(ICCS_OUT(pk), ICCS_OUT(sk))
{
	*pk_len_bytes = kem_get_pk_len_bytes();
	*sk_len_bytes = kem_get_sk_len_bytes();
	return PQCLEAN(crypto_kem_keypair)(pk, sk);
}

int kem_enc(ICCS_IN(pk), ICCS_OUT(ss), ICCS_OUT(ct))
{
	(void)pk_len_bytes;
	*ss_len_bytes = kem_get_ss_len_bytes();
	*ct_len_bytes = kem_get_ct_len_bytes();
	return PQCLEAN(crypto_kem_enc)(ct, ss, pk);
}

int kem_dec(ICCS_IN(sk), ICCS_IN(ct), ICCS_OUT(ss))
{
	(void)sk_len_bytes;
	(void)ct_len_bytes;
	*ss_len_bytes = kem_get_ss_len_bytes();
	return PQCLEAN(crypto_kem_dec)(ss, ct, sk);
}
