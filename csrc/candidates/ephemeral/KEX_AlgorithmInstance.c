#include "KEX_AlgorithmInstance.h"

#include <string.h>

#include "auxfunc.h"
#include "drng.h"
#include "ring_kem.h"

extern DRNG_ctx drng_algorithm;

enum { NONCE_BYTES = 32, TRANSCRIPT_BYTES = 32, KEY_BYTES = 32, TAG_BYTES = 32 };
enum { M1_BYTES = NONCE_BYTES + RING_PK_BYTES };
enum { M2_BYTES = NONCE_BYTES + RING_CT_BYTES + TAG_BYTES, M2_UNTAGGED_BYTES = M2_BYTES - TAG_BYTES };
enum { STA_BYTES = NONCE_BYTES + RING_SK_BYTES, STB_BYTES = RING_SS_BYTES + TRANSCRIPT_BYTES };
enum { NOT_LAST = 0, LAST = 1, WRONG_TAG = -1, WRONG_LENGTH = -2, OUT_OF_MEMORY = -3 };

unsigned long long kex_get_passes_num(void)
{
	return 2;
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
	return STA_BYTES;
}

unsigned long long kex_get_stb_len_bytes(void)
{
	return STB_BYTES;
}

unsigned long long kex_get_ss_len_bytes(void)
{
	return KEY_BYTES;
}

unsigned long long kex_get_total_msg_len_bytes(void)
{
	return M1_BYTES + M2_BYTES;
}

static int init(unsigned long long *pk_len_bytes, unsigned long long *sk_len_bytes, unsigned char *st,
                unsigned long long *st_len_bytes)
{
	*pk_len_bytes = 0;
	*sk_len_bytes = 0;
	*st_len_bytes = NONCE_BYTES;
	get_random_number(&drng_algorithm, st, 8 * NONCE_BYTES);
	return 0;
}

static int hash_transcript(unsigned char transcript[TRANSCRIPT_BYTES], const unsigned char m1[M1_BYTES],
                           const unsigned char m2[M2_UNTAGGED_BYTES])
{
	unsigned char in[M1_BYTES + M2_UNTAGGED_BYTES];

	memcpy(in, m1, M1_BYTES);
	memcpy(in + M1_BYTES, m2, M2_UNTAGGED_BYTES);
	return sm3hash(8 * TRANSCRIPT_BYTES, in, 8 * sizeof in, transcript);
}

/* The state of b after its message is all that this needs, in that order. */
static int derive(unsigned char key_and_tag[KEY_BYTES + TAG_BYTES], const unsigned char secret_and_transcript[STB_BYTES])
{
	return pseudohash(8 * (KEY_BYTES + TAG_BYTES), secret_and_transcript, 8 * STB_BYTES, key_and_tag);
}

int kex_init_a(unsigned char *pka, unsigned long long *pka_len_bytes, unsigned char *ska,
               unsigned long long *ska_len_bytes, unsigned char *sta, unsigned long long *sta_len_bytes)
{
	(void)pka;
	(void)ska;
	return init(pka_len_bytes, ska_len_bytes, sta, sta_len_bytes);
}

int kex_init_b(unsigned char *pkb, unsigned long long *pkb_len_bytes, unsigned char *skb,
               unsigned long long *skb_len_bytes, unsigned char *stb, unsigned long long *stb_len_bytes)
{
	(void)pkb;
	(void)skb;
	return init(pkb_len_bytes, skb_len_bytes, stb, stb_len_bytes);
}

int kex_generate_pass1_msg_a(unsigned char *ska, unsigned long long ska_len_bytes, unsigned char *pkb,
                             unsigned long long pkb_len_bytes, unsigned char *sta, unsigned long long *sta_len_bytes,
                             unsigned char *m1, unsigned long long *m1_len_bytes)
{
	(void)ska;
	(void)pkb;
	if (ska_len_bytes || pkb_len_bytes || *sta_len_bytes != NONCE_BYTES)
		return WRONG_LENGTH;
	memcpy(m1, sta, NONCE_BYTES);
	if (ring_kem_keygen(m1 + NONCE_BYTES, sta + NONCE_BYTES))
		return OUT_OF_MEMORY;
	*sta_len_bytes = STA_BYTES;
	*m1_len_bytes = M1_BYTES;
	return NOT_LAST;
}

int kex_generate_pass2_msg_b(unsigned char *skb, unsigned long long skb_len_bytes, unsigned char *pka,
                             unsigned long long pka_len_bytes, unsigned char *m1, unsigned long long m1_len_bytes,
                             unsigned char *stb, unsigned long long *stb_len_bytes, unsigned char *m2,
                             unsigned long long *m2_len_bytes)
{
	unsigned char key_and_tag[KEY_BYTES + TAG_BYTES];

	(void)skb;
	(void)pka;
	if (skb_len_bytes || pka_len_bytes || m1_len_bytes != M1_BYTES || *stb_len_bytes != NONCE_BYTES)
		return WRONG_LENGTH;
	memcpy(m2, stb, NONCE_BYTES);
	if (ring_kem_enc(m1 + NONCE_BYTES, stb, m2 + NONCE_BYTES) || hash_transcript(stb + RING_SS_BYTES, m1, m2) ||
	    derive(key_and_tag, stb))
		return OUT_OF_MEMORY;
	memcpy(m2 + M2_UNTAGGED_BYTES, key_and_tag + KEY_BYTES, TAG_BYTES);
	*stb_len_bytes = STB_BYTES;
	*m2_len_bytes = M2_BYTES;
	return LAST;
}

/* Message 1 again: the state holds the nonce, and the public key at the end of the secret key. */
static void rebuild_m1(unsigned char m1[M1_BYTES], const unsigned char sta[STA_BYTES])
{
	memcpy(m1, sta, NONCE_BYTES);
	memcpy(m1 + NONCE_BYTES, sta + STA_BYTES - RING_PK_BYTES, RING_PK_BYTES);
}

int kex_derive_ss_a(unsigned char *ska, unsigned long long ska_len_bytes, unsigned char *pkb,
                    unsigned long long pkb_len_bytes, unsigned char *mb, unsigned long long mb_len_bytes,
                    unsigned char *sta, unsigned long long sta_len_bytes, unsigned char *ssa,
                    unsigned long long *ssa_len_bytes)
{
	unsigned char m1[M1_BYTES], secret_and_transcript[STB_BYTES], key_and_tag[KEY_BYTES + TAG_BYTES];

	(void)ska;
	(void)pkb;
	if (ska_len_bytes || pkb_len_bytes || mb_len_bytes != M2_BYTES || sta_len_bytes != STA_BYTES)
		return WRONG_LENGTH;
	rebuild_m1(m1, sta);
	if (ring_kem_dec(sta + NONCE_BYTES, mb + NONCE_BYTES, secret_and_transcript) ||
	    hash_transcript(secret_and_transcript + RING_SS_BYTES, m1, mb) || derive(key_and_tag, secret_and_transcript))
		return OUT_OF_MEMORY;
	if (memcmp(key_and_tag + KEY_BYTES, mb + M2_UNTAGGED_BYTES, TAG_BYTES) != 0)
		return WRONG_TAG;
	memcpy(ssa, key_and_tag, KEY_BYTES);
	*ssa_len_bytes = KEY_BYTES;
	return 0;
}

int kex_derive_ss_b(unsigned char *skb, unsigned long long skb_len_bytes, unsigned char *pka,
                    unsigned long long pka_len_bytes, unsigned char *ma, unsigned long long ma_len_bytes,
                    unsigned char *stb, unsigned long long stb_len_bytes, unsigned char *ssb,
                    unsigned long long *ssb_len_bytes)
{
	unsigned char key_and_tag[KEY_BYTES + TAG_BYTES];

	(void)skb;
	(void)pka;
	(void)ma;
	if (skb_len_bytes || pka_len_bytes || ma_len_bytes != M1_BYTES || stb_len_bytes != STB_BYTES)
		return WRONG_LENGTH;
	if (derive(key_and_tag, stb))
		return OUT_OF_MEMORY;
	memcpy(ssb, key_and_tag, KEY_BYTES);
	*ssb_len_bytes = KEY_BYTES;
	return 0;
}
