/*
 * AES-256 encryption of single blocks, by tables computed at run time: once aes256_make_tables, then a key,
 * then blocks. Its time depends on key and data, which is fine for known-answer randomness and for nothing
 * else. Names begin with katalog_ in the object, so that they meet none of a candidate's.
 */
#ifndef KATALOG_AES256_H
#define KATALOG_AES256_H

#include <stdint.h>

#define aes256_make_tables katalog_aes256_make_tables
#define aes256_set_key katalog_aes256_set_key
#define aes256_encrypt katalog_aes256_encrypt

enum { AES_BLOCK_BYTES = 16, AES_KEY_WORDS = 8, AES_ROUNDS = 14 };

struct aes256 {
	uint32_t round_keys[4 * (AES_ROUNDS + 1)];
};

void aes256_make_tables(void);
void aes256_set_key(struct aes256 *cipher, const unsigned char key[32]);
void aes256_encrypt(const struct aes256 *cipher, const unsigned char in[16], unsigned char out[16]);

#endif
