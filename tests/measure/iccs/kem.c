/* Hides nothing: the secret is the ciphertext masked by the key. */
#include "toy.h"

enum { KEY = 16, CT = 20, SS = 16 };

unsigned long long kem_get_pk_len_bytes(void) { return KEY; }
unsigned long long kem_get_sk_len_bytes(void) { return KEY; }
unsigned long long kem_get_ct_len_bytes(void) { return CT; }
unsigned long long kem_get_ss_len_bytes(void) { return SS; }

int kem_keygen(OUT(pk), OUT(sk))
{
	*pk_len = *sk_len = KEY;
	draw(pk, KEY);
	memcpy(sk, pk, KEY);
	return 0;
}

int kem_enc(IN(pk), OUT(ss), OUT(ct))
{
	misbehave();
	*ss_len = SS;
	*ct_len = CT;
	draw(ct, CT);
	for (unsigned long long i = 0; i < pk_len; i++)
		ss[i] = ct[i] ^ pk[i];
	return 0;
}

/* Leaves the length alone: it still is what enc set. */
int kem_dec(IN(sk), IN(ct), OUT(ss))
{
	if (*ss_len != SS || ct_len != CT)
		return -4;
	for (unsigned long long i = 0; i < sk_len; i++)
		ss[i] = ct[i] ^ sk[i];
	ss[0] ^= TOY_FAULT == other_secret;
	*ss_len -= TOY_FAULT == short_secret;
	return 0;
}
