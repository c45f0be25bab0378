/*
 * Agrees on both public keys, in TOY_PASSES passes. State a grows by a byte a pass; message K has K random bytes,
 * but for the last one, which is empty and whose length is left alone. Each side says how it finds its NULL.
 */
#include "toy.h"

#ifndef TOY_PASSES
#define TOY_PASSES 2
#endif

enum { KEY = 8, STATE = 40, TOTAL = 16 * 17 / 2 };

unsigned long long kex_get_passes_num(void) { return TOY_PASSES; }
unsigned long long kex_get_pk_len_bytes(void) { return KEY; }
unsigned long long kex_get_sk_len_bytes(void) { return KEY; }
unsigned long long kex_get_sta_len_bytes(void) { return STATE; }
unsigned long long kex_get_stb_len_bytes(void) { return 0; }
unsigned long long kex_get_ss_len_bytes(void) { return KEY; }
unsigned long long kex_get_total_msg_len_bytes(void) { return TOTAL; }

static int keys(OUT(pk), OUT(sk))
{
	draw(sk, *sk_len);
	for (unsigned long long i = 0; i < *pk_len; i++)
		pk[i] = sk[i] ^ 0xa5;
	return 0;
}

int kex_init_a(OUT(pk), OUT(sk), OUT(st))
{
	*st_len = 4;
	keys(pk, pk_len, sk, sk_len);
	draw(st, 4);
	return TOY_FAULT == init_one;
}

int kex_init_b(OUT(pk), OUT(sk), OUT(st))
{
	st[0] = 1; /* there must be something behind the pointer */
	*st_len = 0;
	return keys(pk, pk_len, sk, sk_len);
}

static int pass(int number, OUT(st), OUT(m))
{
	misbehave();
	if (number % 2)
		st[(*st_len)++] = (unsigned char)number;
	if (number < TOY_PASSES) {
		draw(m, (unsigned long long)number);
		*m_len = (unsigned long long)number;
	}
	if (TOY_FAULT == past)
		m[TOTAL] = 1;
	if (TOY_FAULT == pass_two)
		return 2;
	if (TOY_FAULT == pass_early)
		return 1;
	return number == TOY_PASSES && TOY_FAULT != pass_silent;
}

#define FIRST(x) int x(IN(sk), IN(pk), OUT(st), OUT(m)) \
	{ (void)sk, (void)pk, (void)sk_len, (void)pk_len; return pass(1, st, st_len, m, m_len); }
#define NEXT(number, x) int x(IN(sk), IN(pk), IN(r), OUT(st), OUT(m)) \
	{ (void)sk, (void)pk, (void)sk_len, (void)pk_len; \
	return !r || r_len != number - 1 ? -30 : pass(number, st, st_len, m, m_len); }

#if TOY_PASSES > 0 || defined(TOY_STUBS)
FIRST(kex_generate_pass1_msg_a)
#endif
#if TOY_PASSES > 1 || defined(TOY_STUBS)
NEXT(2, kex_generate_pass2_msg_b)
#endif
#if TOY_PASSES > 2
NEXT(3, kex_generate_pass3_msg_a)
NEXT(4, kex_generate_pass4_msg_b)
NEXT(5, kex_generate_pass5_msg_a)
NEXT(6, kex_generate_pass6_msg_b)
NEXT(7, kex_generate_pass7_msg_a)
NEXT(8, kex_generate_pass8_msg_b)
NEXT(9, kex_generate_pass9_msg_a)
NEXT(10, kex_generate_pass10_msg_b)
NEXT(11, kex_generate_pass11_msg_a)
NEXT(12, kex_generate_pass12_msg_b)
NEXT(13, kex_generate_pass13_msg_a)
NEXT(14, kex_generate_pass14_msg_b)
NEXT(15, kex_generate_pass15_msg_a)
NEXT(16, kex_generate_pass16_msg_b)
#endif

/* The last message is NULL only where there was none; an empty one has an address. */
static int derive(int last_number, IN(sk), IN(pk), IN(m), OUT(ss))
{
	const unsigned long long expected = last_number < TOY_PASSES ? (unsigned long long)last_number : 0;

	if ((last_number == 0) != (m == NULL) || m_len != expected)
		return -31;
	for (unsigned long long i = 0; i < pk_len && i < sk_len; i++)
		ss[i] = pk[i] ^ sk[i] ^ 0xa5;
	return 0;
}

int kex_derive_ss_a(IN(sk), IN(pk), IN(m), IN(st), OUT(ss))
{
	(void)st, (void)st_len;
	return derive(TOY_PASSES / 2 * 2, sk, sk_len, pk, pk_len, m, m_len, ss, ss_len);
}

int kex_derive_ss_b(IN(sk), IN(pk), IN(m), IN(st), OUT(ss))
{
	(void)st, (void)st_len;
	derive((TOY_PASSES + 1) / 2 * 2 - 1 < 0 ? 0 : (TOY_PASSES + 1) / 2 * 2 - 1, sk, sk_len, pk, pk_len, m, m_len, ss,
	       ss_len);
	ss[0] ^= TOY_FAULT == other_secret;
	*ss_len -= TOY_FAULT == short_secret;
	return 0;
}
