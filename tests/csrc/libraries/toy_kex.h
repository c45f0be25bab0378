/*
 * A key exchange of no strength and TOY_PASSES passes that checks everything it is given. Message k has k bytes, all k;
 * with TOY_EMPTY = k it has none, and its length is left alone. The state of a side has 8 bytes after init and one more
 * after each of its passes; its last byte counts them. There are no long-term keys.
 */
#include <string.h>

#include "../../../csrc/iccs/iccs_kex.h"
#include "../../../csrc/shim/random.h"

#ifndef TOY_EMPTY
#define TOY_EMPTY 0
#endif
#ifndef TOY_CODE /* what pass k returns */
#define TOY_CODE(k) ((k) == TOY_PASSES)
#endif
#ifndef TOY_SECRET /* what derive gives, by the side's letter */
#define TOY_SECRET(side) 7
#endif
#ifndef TOY_DERIVED /* what derive returns */
#define TOY_DERIVED(side) 0
#endif

enum { STATE_BYTES = 8 + 9, SS_BYTES = 16, TOTAL_BYTES = 17 * 8 };

unsigned long long kex_get_passes_num(void)
{
	return TOY_PASSES;
}

unsigned long long kex_get_pk_len_bytes(void)
{
	return 0;
}

unsigned long long kex_get_sk_len_bytes(void)
{
	return 0;
}

unsigned long long kex_get_sta_len_bytes(void)
{
	return STATE_BYTES;
}

unsigned long long kex_get_stb_len_bytes(void)
{
	return STATE_BYTES + 1;
}

unsigned long long kex_get_ss_len_bytes(void)
{
	return SS_BYTES;
}

unsigned long long kex_get_total_msg_len_bytes(void)
{
	return TOTAL_BYTES;
}

static inline int init(ICCS_OUT(pk), ICCS_OUT(sk), ICCS_OUT(st), unsigned long long bytes)
{
	if (!pk || !sk || !st || *pk_len_bytes || *sk_len_bytes || *st_len_bytes != bytes)
		return -20;
	memset(st, 0, 8);
	*st_len_bytes = 8;
	return 0;
}

int kex_init_a(ICCS_OUT(pk), ICCS_OUT(sk), ICCS_OUT(st))
{
	return init(pk, pk_len_bytes, sk, sk_len_bytes, st, st_len_bytes, STATE_BYTES);
}

int kex_init_b(ICCS_OUT(pk), ICCS_OUT(sk), ICCS_OUT(st))
{
	return init(pk, pk_len_bytes, sk, sk_len_bytes, st, st_len_bytes, STATE_BYTES + 1);
}

static inline unsigned long long message_bytes(int k)
{
	return k == TOY_EMPTY ? 0 : (unsigned long long)k;
}

static inline int is_message(const unsigned char *m, unsigned long long m_len_bytes, int k)
{
	if (k <= 0)
		return !m && !m_len_bytes;
	if (!m || m_len_bytes != message_bytes(k))
		return 0;
	for (unsigned long long i = 0; i < m_len_bytes; i++)
		if (m[i] != k)
			return 0;
	return 1;
}

/* The state's side has had so many passes. */
static inline int is_state(const unsigned char *st, unsigned long long st_len_bytes, int passes)
{
	return st && st_len_bytes == 8 + (unsigned long long)passes && st[st_len_bytes - 1] == passes;
}

static inline int pass(int k, const unsigned char *m, unsigned long long m_len_bytes, ICCS_OUT(st), ICCS_OUT(out))
{
	if (!is_message(m, m_len_bytes, k - 1) || !is_state(st, *st_len_bytes, (k - 1) / 2) || *out_len_bytes)
		return -21;
	st[(*st_len_bytes)++] = (unsigned char)((k + 1) / 2);
	memset(out, k, message_bytes(k));
	if (k != TOY_EMPTY)
		*out_len_bytes = message_bytes(k);
	return TOY_CODE(k);
}

int kex_generate_pass1_msg_a(ICCS_IN(sk), ICCS_IN(peer_pk), ICCS_OUT(st), ICCS_OUT(m))
{
	return !sk || sk_len_bytes || !peer_pk || peer_pk_len_bytes ? -22 : pass(1, NULL, 0, st, st_len_bytes, m, m_len_bytes);
}

#define TOY_PASS(K, SIDE)                                                                                        \
	int kex_generate_pass##K##_msg_##SIDE(ICCS_IN(sk), ICCS_IN(peer_pk), ICCS_IN(peer_m), ICCS_OUT(st),          \
	                                      ICCS_OUT(m))                                                           \
	{                                                                                                            \
		(void)sk, (void)sk_len_bytes, (void)peer_pk, (void)peer_pk_len_bytes;                                    \
		return pass(K, peer_m, peer_m_len_bytes, st, st_len_bytes, m, m_len_bytes);                              \
	}
#define TOY_PROTOTYPE(K, SIDE) iccs_kex_next_pass kex_generate_pass##K##_msg_##SIDE;

#if TOY_PASSES >= 2 && !defined TOY_LACKS_PASS_2
TOY_PASS(2, b)
#endif
#if TOY_PASSES >= 3
TOY_PASS(3, a)
#endif
#if TOY_PASSES >= 4
TOY_PASS(4, b)
#endif
#if TOY_PASSES >= 16
TOY_PROTOTYPE(5, a) TOY_PASS(5, a) TOY_PROTOTYPE(6, b) TOY_PASS(6, b) TOY_PROTOTYPE(7, a) TOY_PASS(7, a)
TOY_PROTOTYPE(8, b) TOY_PASS(8, b) TOY_PROTOTYPE(9, a) TOY_PASS(9, a) TOY_PROTOTYPE(10, b) TOY_PASS(10, b)
TOY_PROTOTYPE(11, a) TOY_PASS(11, a) TOY_PROTOTYPE(12, b) TOY_PASS(12, b) TOY_PROTOTYPE(13, a) TOY_PASS(13, a)
TOY_PROTOTYPE(14, b) TOY_PASS(14, b) TOY_PROTOTYPE(15, a) TOY_PASS(15, a) TOY_PROTOTYPE(16, b) TOY_PASS(16, b)
#endif

static inline int derive(int last_from_peer, int my_passes, const unsigned char *m, unsigned long long m_len_bytes,
                         const unsigned char *st, unsigned long long st_len_bytes, ICCS_OUT(ss), int value)
{
	if (!is_message(m, m_len_bytes, last_from_peer) || !is_state(st, st_len_bytes, my_passes) ||
	    *ss_len_bytes != SS_BYTES)
		return -23;
	memset(ss, value, SS_BYTES);
	return 0;
}

int kex_derive_ss_a(ICCS_IN(sk), ICCS_IN(peer_pk), ICCS_IN(peer_m), ICCS_IN(st), ICCS_OUT(ss))
{
	int code = derive(TOY_PASSES / 2 * 2, (TOY_PASSES + 1) / 2, peer_m, peer_m_len_bytes, st, st_len_bytes, ss,
	                  ss_len_bytes, TOY_SECRET('a'));

	(void)sk, (void)sk_len_bytes, (void)peer_pk, (void)peer_pk_len_bytes;
	return code ? code : TOY_DERIVED('a');
}

int kex_derive_ss_b(ICCS_IN(sk), ICCS_IN(peer_pk), ICCS_IN(peer_m), ICCS_IN(st), ICCS_OUT(ss))
{
	int code = derive((TOY_PASSES + 1) / 2 * 2 - 1, TOY_PASSES / 2, peer_m, peer_m_len_bytes, st, st_len_bytes, ss,
	                  ss_len_bytes, TOY_SECRET('b'));

	(void)sk, (void)sk_len_bytes, (void)peer_pk, (void)peer_pk_len_bytes;
	return code ? code : TOY_DERIVED('b');
}
