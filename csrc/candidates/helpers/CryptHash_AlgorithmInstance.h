/*
 * The ICCS helpers as hash functions, one per build: -DHELPER=sm3hash, pseudohash or pseudoXOF, and the digest's
 * length -DHELPER_BITS=256, 384, 512, 768 or 1024. sm3hash has 256 only, pseudohash 512, 768 and 1024 only.
 */
#ifndef CRYPTHASH_ALGORITHM_INSTANCE_H
#define CRYPTHASH_ALGORITHM_INSTANCE_H

#if !defined HELPER || !defined HELPER_BITS
#error "choose a helper and a length: -DHELPER=pseudoXOF -DHELPER_BITS=256"
#endif

#define HELPER_TEXT(word) #word
#define HELPER_NAME(helper, bits) HELPER_TEXT(helper) "-" HELPER_TEXT(bits)

#define ALGORITHM_INSTANCE HELPER_NAME(HELPER, HELPER_BITS)
#define DIGEST_BIT_LENGTH HELPER_BITS
#define OUTPUT_BLANK_TEST_VECTORS 0

#ifdef __cplusplus
extern "C" {
#endif

/* Lengths in bits. Returns 0; -4 when asked for another length than DIGEST_BIT_LENGTH; the helper's other codes. */
int CryptHash(int digest_len_bits, const unsigned char *msg, unsigned long long msg_len_bits, unsigned char *digest);

#ifdef __cplusplus
}
#endif

#endif
