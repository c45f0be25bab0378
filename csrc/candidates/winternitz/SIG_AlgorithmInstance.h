/*
 * A Winternitz one-time signature over the ICCS helpers, in three parameter sets: -DWINTERNITZ_DIGIT_BITS=2, 4 or 8.
 *
 * It exists because the number of helper calls is known exactly. A digest of 512 bits is cut into M digits in
 * base w = 2^DIGIT_BITS, most significant first; the C digits of the checksum, sum of (w - 1 - digit), follow.
 * L = M + C chains. Let S be the sum of all L digits of a message. Calls per operation:
 *
 *              get_random_number   pseudoXOF          pseudohash
 *     keygen   1                   1 + L (w - 1)      1
 *     sign     1                   1 + S              1
 *     verify   0                   L (w - 1) - S      2
 *
 * sm3hash is never called. So sign and verify together make 1 + L (w - 1) calls of pseudoXOF, whatever the
 * message. With B the sum of the M message digits, S = B + digit sum of (M (w - 1) - B) in base w.
 *
 *     DIGIT_BITS   w     M     C   L     L (w - 1)
 *     2            4     256   5   261   783
 *     4            16    128   3   131   1965
 *     8            256   64    2   66    16830
 *
 * One key signs one message. Not for use: nothing here is constant-time or reviewed.
 */
#ifndef SIG_ALGORITHM_INSTANCE_H
#define SIG_ALGORITHM_INSTANCE_H

#define OUTPUT_BLANK_TEST_VECTORS 0

#if WINTERNITZ_DIGIT_BITS == 2
#define ALGORITHM_INSTANCE "Winternitz-W4"
#define WINTERNITZ_CHECKSUM_DIGITS 5
#elif WINTERNITZ_DIGIT_BITS == 4
#define ALGORITHM_INSTANCE "Winternitz-W16"
#define WINTERNITZ_CHECKSUM_DIGITS 3
#elif WINTERNITZ_DIGIT_BITS == 8
#define ALGORITHM_INSTANCE "Winternitz-W256"
#define WINTERNITZ_CHECKSUM_DIGITS 2
#else
#error "choose a parameter set: -DWINTERNITZ_DIGIT_BITS=2, 4 or 8"
#endif

#ifdef __cplusplus
extern "C" {
#endif

unsigned long long sig_get_pk_len_bytes(void); /* 96: public seed, then pseudohash of the chains' ends */
unsigned long long sig_get_sk_len_bytes(void); /* 64: secret seed, then public seed */
unsigned long long sig_get_sn_len_bytes(void); /* 32 (1 + L): salt, then a value of each chain */

/* All return 0 on success, -2 when memory is short, -3 on a wrong key length; verify -1 on a wrong signature. */
int sig_keygen(unsigned char *pk, unsigned long long *pk_len_bytes, unsigned char *sk,
               unsigned long long *sk_len_bytes);
int sig_sign(unsigned char *sk, unsigned long long sk_len_bytes, unsigned char *m, unsigned long long m_len_bytes,
             unsigned char *sn, unsigned long long *sn_len_bytes);
int sig_verify(unsigned char *pk, unsigned long long pk_len_bytes, unsigned char *sn, unsigned long long sn_len_bytes,
               unsigned char *m, unsigned long long m_len_bytes);

#ifdef __cplusplus
}
#endif

#endif
