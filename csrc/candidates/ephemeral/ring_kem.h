/*
 * A key encapsulation over the ring of polynomials modulo x^N + 1 with coefficients modulo 3329, N = 128 or 256
 * (-DRING_N), with the Fujisaki-Okamoto transform and implicit rejection. Every random value comes from the ICCS
 * helpers.
 *
 * It never fails: secrets and errors are -1, 0 or 1, so the error of a decrypted coefficient is at most 2 N + 1 = 513,
 * below the 832 from which a bit would flip. Not for use: the dimension is a toy's and nothing is constant-time.
 *
 * Calls per operation:
 *
 *              get_random_number   pseudoXOF   pseudohash   sm3hash
 *     keygen   1                   2           0            0
 *     enc      1                   2           1            1
 *     dec      0                   3           1            2
 */
#ifndef RING_KEM_H
#define RING_KEM_H

#if RING_N != 128 && RING_N != 256
#error "choose a dimension: -DRING_N=128 or 256"
#endif

enum { RING_SEED_BYTES = 32, RING_SS_BYTES = 32, RING_POLY_BYTES = RING_N * 12 / 8 };
enum { RING_PK_BYTES = RING_SEED_BYTES + RING_POLY_BYTES };     /* seed of a, then b */
enum { RING_SK_BYTES = 2 * RING_SEED_BYTES + RING_PK_BYTES };   /* seed of s and e, rejection secret, public key */
enum { RING_CT_BYTES = 2 * RING_POLY_BYTES };                   /* u, then v */

/* Both return 0, or -1 when memory is short. enc gives the secret first. */
int ring_kem_keygen(unsigned char pk[RING_PK_BYTES], unsigned char sk[RING_SK_BYTES]);
int ring_kem_enc(const unsigned char pk[RING_PK_BYTES], unsigned char ss[RING_SS_BYTES],
                 unsigned char ct[RING_CT_BYTES]);

/* As above. A ciphertext that enc did not make gives another secret, always the same one. */
int ring_kem_dec(const unsigned char sk[RING_SK_BYTES], const unsigned char ct[RING_CT_BYTES],
                 unsigned char ss[RING_SS_BYTES]);

#endif
