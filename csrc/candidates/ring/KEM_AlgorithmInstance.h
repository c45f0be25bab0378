/* The key encapsulation of the ephemeral key exchange by itself; ring_kem.h says what it is. -DRING_N=128 or 256. */
#ifndef KEM_ALGORITHM_INSTANCE_H
#define KEM_ALGORITHM_INSTANCE_H

#define OUTPUT_BLANK_TEST_VECTORS 0

#if RING_N == 128
#define ALGORITHM_INSTANCE "Ring-128"
#elif RING_N == 256
#define ALGORITHM_INSTANCE "Ring-256"
#else
#error "choose a dimension: -DRING_N=128 or 256"
#endif

#ifdef __cplusplus
extern "C" {
#endif

unsigned long long kem_get_pk_len_bytes(void);
unsigned long long kem_get_sk_len_bytes(void);
unsigned long long kem_get_ss_len_bytes(void);
unsigned long long kem_get_ct_len_bytes(void);

/* All return 0; -2 on a wrong length, -3 when memory is short. dec rejects implicitly. */
int kem_keygen(unsigned char *pk, unsigned long long *pk_len_bytes, unsigned char *sk,
               unsigned long long *sk_len_bytes);
int kem_enc(unsigned char *pk, unsigned long long pk_len_bytes, unsigned char *ss, unsigned long long *ss_len_bytes,
            unsigned char *ct, unsigned long long *ct_len_bytes);
int kem_dec(unsigned char *sk, unsigned long long sk_len_bytes, unsigned char *ct, unsigned long long ct_len_bytes,
            unsigned char *ss, unsigned long long *ss_len_bytes);

#ifdef __cplusplus
}
#endif

#endif
