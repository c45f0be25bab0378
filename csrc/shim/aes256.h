/*
 * AES-256 encryption of single blocks, by tables computed at run time: once aes256_make_tables, then a key,
 * then blocks. Its time depends on key and data, which is fine for known-answer randomness and for nothing
 * else. All of it is static and included by one file, so that no name meets one of a candidate's.
 */
#ifndef KATALOG_AES256_H
#define KATALOG_AES256_H

#include <stdint.h>

enum { AES_BLOCK_BYTES = 16, AES_KEY_WORDS = 8, AES_ROUNDS = 14 };

struct aes256 {
	uint32_t round_keys[4 * (AES_ROUNDS + 1)];
};

/* FIPS 197. A column is a 32-bit word with its first byte on top. */
static uint8_t sbox[256];
static uint32_t mixed[256]; /* column (2s, s, s, 3s) of MixColumns for the byte s = sbox[x] */

static uint32_t rotate_right(uint32_t x, int bits)
{
	return x >> bits | x << (32 - bits);
}

static uint8_t rotate_left8(uint8_t x, int bits)
{
	return (uint8_t)(x << bits | x >> (8 - bits));
}

static uint8_t times2(uint8_t x)
{
	return (uint8_t)(x << 1 ^ (x & 0x80 ? 0x1b : 0));
}

static void set_entry(uint8_t x, uint8_t inverse)
{
	uint8_t s = (uint8_t)(inverse ^ rotate_left8(inverse, 1) ^ rotate_left8(inverse, 2) ^ rotate_left8(inverse, 3) ^
	                      rotate_left8(inverse, 4) ^ 0x63);
	uint8_t s2 = times2(s);

	sbox[x] = s;
	mixed[x] = (uint32_t)s2 << 24 | (uint32_t)s << 16 | (uint32_t)s << 8 | (uint32_t)(s2 ^ s);
}

/* 3 generates the field's 255 units: the inverse of its i-th power is the (255 - i)-th. */
static void aes256_make_tables(void)
{
	uint8_t powers[256];
	uint8_t x = 1;

	for (int i = 0; i < 256; i++) {
		powers[i] = x;
		x = (uint8_t)(x ^ times2(x));
	}
	set_entry(0, 0);
	for (int i = 0; i < 255; i++)
		set_entry(powers[i], powers[255 - i]);
}

static uint32_t load(const unsigned char *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void store(unsigned char *bytes, uint32_t word)
{
	for (int i = 0; i < 4; i++)
		bytes[i] = (unsigned char)(word >> (24 - 8 * i));
}

static uint32_t substitute(uint32_t word)
{
	return (uint32_t)sbox[word >> 24] << 24 | (uint32_t)sbox[word >> 16 & 255] << 16 |
	       (uint32_t)sbox[word >> 8 & 255] << 8 | sbox[word & 255];
}

static void aes256_set_key(struct aes256 *cipher, const unsigned char key[32])
{
	uint32_t *w = cipher->round_keys;
	uint8_t constant = 1;

	for (int i = 0; i < AES_KEY_WORDS; i++)
		w[i] = load(key + 4 * i);
	for (int i = AES_KEY_WORDS; i < 4 * (AES_ROUNDS + 1); i++) {
		uint32_t word = w[i - 1];

		if (i % AES_KEY_WORDS == 0) {
			word = substitute(rotate_right(word, 24)) ^ (uint32_t)constant << 24;
			constant = times2(constant);
		} else if (i % AES_KEY_WORDS == 4) {
			word = substitute(word);
		}
		w[i] = w[i - AES_KEY_WORDS] ^ word;
	}
}

/* ShiftRows takes the four bytes of a new column from four neighbouring columns. */
static uint32_t round_column(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t key)
{
	return mixed[a >> 24] ^ rotate_right(mixed[b >> 16 & 255], 8) ^ rotate_right(mixed[c >> 8 & 255], 16) ^
	       rotate_right(mixed[d & 255], 24) ^ key;
}

static uint32_t last_column(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t key)
{
	return ((uint32_t)sbox[a >> 24] << 24 | (uint32_t)sbox[b >> 16 & 255] << 16 | (uint32_t)sbox[c >> 8 & 255] << 8 |
	        sbox[d & 255]) ^
	       key;
}

static void aes256_encrypt(const struct aes256 *cipher, const unsigned char in[16], unsigned char out[16])
{
	const uint32_t *key = cipher->round_keys;
	uint32_t a = load(in) ^ key[0], b = load(in + 4) ^ key[1], c = load(in + 8) ^ key[2], d = load(in + 12) ^ key[3];

	for (int i = 1; i < AES_ROUNDS; i++) {
		uint32_t e, f, g;

		key += 4;
		e = round_column(a, b, c, d, key[0]);
		f = round_column(b, c, d, a, key[1]);
		g = round_column(c, d, a, b, key[2]);
		d = round_column(d, a, b, c, key[3]);
		a = e, b = f, c = g;
	}
	key += 4;
	store(out, last_column(a, b, c, d, key[0]));
	store(out + 4, last_column(b, c, d, a, key[1]));
	store(out + 8, last_column(c, d, a, b, key[2]));
	store(out + 12, last_column(d, a, b, c, key[3]));
}

#endif
