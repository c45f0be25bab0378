/*
 * A key exchange in two passes without long-term keys, over the encapsulation of ring_kem.h. -DRING_N=128 or 256.
 *
 *     m1 = nonce a || public key                 m2 = nonce b || ciphertext || tag
 *     session key || tag = pseudohash(512, encapsulated secret || transcript)
 *     transcript = sm3hash(nonce a || public key || nonce b || ciphertext)
 *
 * A state changes its contents and its length on the way. State of a: nonce a; from pass 1 on nonce a and the
 * secret key. State of b: nonce b; from pass 2 on the encapsulated secret and the transcript.
 *
 * Calls per step:
 *
 *                get_random_number   pseudoXOF   pseudohash   sm3hash
 *     init_a     1                   0           0            0
 *     init_b     1                   0           0            0
 *     pass 1     1                   2           0            0
 *     pass 2     1                   2           2            2
 *     derive_a   0                   3           2            3
 *     derive_b   0                   0           1            0
 *     together   4                   7           5            5
 */
#ifndef KEX_ALGORITHM_INSTANCE_H
#define KEX_ALGORITHM_INSTANCE_H

#define OUTPUT_BLANK_TEST_VECTORS 0

#if RING_N == 128
#define ALGORITHM_INSTANCE "Ephemeral-128"
#elif RING_N == 256
#define ALGORITHM_INSTANCE "Ephemeral-256"
#else
#error "choose a dimension: -DRING_N=128 or 256"
#endif

#ifdef __cplusplus
extern "C" {
#endif

unsigned long long kex_get_passes_num(void);
unsigned long long kex_get_pk_len_bytes(void); /* 0 */
unsigned long long kex_get_sk_len_bytes(void); /* 0 */
unsigned long long kex_get_sta_len_bytes(void);
unsigned long long kex_get_stb_len_bytes(void);
unsigned long long kex_get_ss_len_bytes(void);
unsigned long long kex_get_total_msg_len_bytes(void);

/*
 * Errors are -1 when the other side's tag is wrong, -2 on a wrong length, -3 when memory is short. Otherwise init
 * and derive return 0, pass 1 returns 0 and pass 2, the last, 1.
 */
int kex_init_a(unsigned char *pka, unsigned long long *pka_len_bytes, unsigned char *ska,
               unsigned long long *ska_len_bytes, unsigned char *sta, unsigned long long *sta_len_bytes);
int kex_init_b(unsigned char *pkb, unsigned long long *pkb_len_bytes, unsigned char *skb,
               unsigned long long *skb_len_bytes, unsigned char *stb, unsigned long long *stb_len_bytes);
int kex_generate_pass1_msg_a(unsigned char *ska, unsigned long long ska_len_bytes, unsigned char *pkb,
                             unsigned long long pkb_len_bytes, unsigned char *sta, unsigned long long *sta_len_bytes,
                             unsigned char *m1, unsigned long long *m1_len_bytes);
int kex_generate_pass2_msg_b(unsigned char *skb, unsigned long long skb_len_bytes, unsigned char *pka,
                             unsigned long long pka_len_bytes, unsigned char *m1, unsigned long long m1_len_bytes,
                             unsigned char *stb, unsigned long long *stb_len_bytes, unsigned char *m2,
                             unsigned long long *m2_len_bytes);
int kex_derive_ss_a(unsigned char *ska, unsigned long long ska_len_bytes, unsigned char *pkb,
                    unsigned long long pkb_len_bytes, unsigned char *mb, unsigned long long mb_len_bytes,
                    unsigned char *sta, unsigned long long sta_len_bytes, unsigned char *ssa,
                    unsigned long long *ssa_len_bytes);
int kex_derive_ss_b(unsigned char *skb, unsigned long long skb_len_bytes, unsigned char *pka,
                    unsigned long long pka_len_bytes, unsigned char *ma, unsigned long long ma_len_bytes,
                    unsigned char *stb, unsigned long long stb_len_bytes, unsigned char *ssb,
                    unsigned long long *ssb_len_bytes);

#ifdef __cplusplus
}
#endif

#endif
