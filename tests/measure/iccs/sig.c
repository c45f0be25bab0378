/* Signs nothing: r, then the message's first bytes masked by r and the key. Lengths of signatures vary. */
#include "toy.h"

enum { PK = 16, SK = 24, SN = 16 };

unsigned long long sig_get_pk_len_bytes(void) { return PK; }
unsigned long long sig_get_sk_len_bytes(void) { return SK; }
unsigned long long sig_get_sn_len_bytes() { return SN; }

int sig_keygen(OUT(pk), OUT(sk))
{
	if (*pk_len != PK || *sk_len != SK)
		return -11;
	if (TOY_FAULT == swaps) { /* the same bytes, drawn in another order */
		draw(sk + SK / 2, SK / 2);
		draw(sk, SK / 2);
	} else {
		draw(sk, SK);
	}
	for (int i = 0; i < PK; i++)
		pk[i] = sk[i] ^ 0x5a;
	return TOY_FAULT == fails ? -3 : 0;
}

int sig_sign(IN(sk), IN(m), OUT(sn))
{
	const unsigned long long length = 8 + m_len / 8 % 5;

	misbehave();
	if (sk_len != SK)
		return -12;
	draw(sn, 8);
	for (unsigned long long i = 8; i < length; i++)
		sn[i] = sn[i % 8] ^ m[i] ^ sk[i];
	if (TOY_FAULT == past)
		sn[SN] = 0;
	*sn_len = TOY_FAULT == too_long ? SN + 1 : length;
	return 0;
}

int sig_verify(IN(pk), IN(sn), IN(m))
{
	if (pk_len != PK || sn_len != 8 + m_len / 8 % 5)
		return -13;
	for (unsigned long long i = 8; i < sn_len; i++)
		if (sn[i] != (sn[i % 8] ^ m[i] ^ pk[i] ^ 0x5a))
			return -1;
	return TOY_FAULT == rejects ? 1 : 0;
}
