/*
 * The ICCS hash helpers, under the names that submissions include. All lengths are in bits; a bit string
 * begins at the most significant bit of byte 0, and spare low bits of its last byte are ignored on input and
 * zero on output. The output may overlap the message. Stateless.
 *
 * They return 0; -2 when memory is short; -4, and write nothing, when there is no digest of that length. An
 * error also gives a line on stderr.
 */
#ifndef AUXFUNC_H
#define AUXFUNC_H

#ifdef __cplusplus
extern "C" {
#endif

/* SM3; digest_len_bits is 256. */
int sm3hash(int digest_len_bits, const unsigned char *msg, unsigned long long msg_len_bits, unsigned char *digest);

/* SM3 and HMAC-SM3 chained to 512, 768 or 1024 bits. */
int pseudohash(int digest_len_bits, const unsigned char *msg, unsigned long long msg_len_bits, unsigned char *digest);

/* The key derivation function of SM2 (GB/T 32918.4, 5.4.3), for fewer than 2^40 - 2^8 bits; not checked. */
int pseudoXOF(unsigned long long output_len_bits, const unsigned char *msg, unsigned long long msg_len_bits,
              unsigned char *output);

#ifdef __cplusplus
}
#endif

#endif
