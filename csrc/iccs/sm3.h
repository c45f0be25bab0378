/*
 * SM3 (GB/T 32905) over bit strings: begin, absorb whole bytes any number of times, finish once with the bits
 * that are left. All of it is static and included by each file that needs it, because the helpers are objects
 * that a submission may replace one by one, and export no hash of their own.
 *
 * Differs from the standard as the ICCS helpers do: bits 32 to 40 of the encoded length are lost, which shows
 * in messages of 2^32 bits (512 MiB) and more.
 */
#ifndef KATALOG_SM3_H
#define KATALOG_SM3_H

#include <stdint.h>
#include <string.h>

enum { SM3_BLOCK_BYTES = 64, SM3_DIGEST_BYTES = 32, SM3_DIGEST_BITS = 256 };
enum { SM3_LENGTH_BYTES = 8, SM3_SCHEDULE_WORDS = 68 };

struct sm3 {
	uint32_t state[8];
	unsigned char block[SM3_BLOCK_BYTES];
	size_t block_bytes; /* absorbed, and not yet compressed; always less than a block */
	unsigned long long total_bytes;
};

/* The last bits of a bit string, fewer than eight, at the high end; the low bits of the byte are zero. */
struct sm3_tail {
	unsigned char byte;
	unsigned int bits;
};

/* Only by 1 to 31: a shift by the width of the word has no meaning in C. */
static inline uint32_t sm3_rotate(uint32_t x, int bits)
{
	return x << bits | x >> (32 - bits);
}

static inline uint32_t sm3_load_word(const unsigned char in[4])
{
	return (uint32_t)in[0] << 24 | (uint32_t)in[1] << 16 | (uint32_t)in[2] << 8 | in[3];
}

static inline void sm3_store_word(unsigned char out[4], uint32_t word)
{
	for (int i = 0; i < 4; i++)
		out[i] = (unsigned char)(word >> (24 - 8 * i));
}

static inline uint32_t sm3_p0(uint32_t x)
{
	return x ^ sm3_rotate(x, 9) ^ sm3_rotate(x, 17);
}

static inline uint32_t sm3_p1(uint32_t x)
{
	return x ^ sm3_rotate(x, 15) ^ sm3_rotate(x, 23);
}

static inline uint32_t sm3_parity(uint32_t x, uint32_t y, uint32_t z)
{
	return x ^ y ^ z;
}

static inline uint32_t sm3_majority(uint32_t x, uint32_t y, uint32_t z)
{
	return (x & y) | ((x | y) & z);
}

static inline uint32_t sm3_choose(uint32_t x, uint32_t y, uint32_t z)
{
	return z ^ (x & (y ^ z));
}

static inline void sm3_expand(uint32_t w[SM3_SCHEDULE_WORDS], const unsigned char block[SM3_BLOCK_BYTES])
{
	for (int j = 0; j < 16; j++)
		w[j] = sm3_load_word(block + 4 * j);
	for (int j = 16; j < SM3_SCHEDULE_WORDS; j++)
		w[j] = sm3_p1(w[j - 16] ^ w[j - 9] ^ sm3_rotate(w[j - 3], 15)) ^ sm3_rotate(w[j - 13], 7) ^ w[j - 6];
}

static inline void sm3_feed_forward(uint32_t state[8], const uint32_t words[8])
{
	for (int i = 0; i < 8; i++)
		state[i] ^= words[i];
}

/*
 * A round leaves its results where they are and the caller gives the words new names: four rounds bring every
 * name home. Macros, because a round has too many operands to be inlined everywhere.
 */
#define SM3_ROUND(FF, GG, a, b, c, d, e, f, g, h, j)                                                               \
	do {                                                                                                           \
		uint32_t a12 = sm3_rotate(a, 12), ss1 = sm3_rotate(a12 + (e) + constant, 7);                               \
                                                                                                                   \
		d += FF(a, b, c) + (ss1 ^ a12) + (w[j] ^ w[(j) + 4]);                                                      \
		h = sm3_p0(h + GG(e, f, g) + ss1 + w[j]);                                                                  \
		b = sm3_rotate(b, 9);                                                                                      \
		f = sm3_rotate(f, 19);                                                                                     \
		constant = sm3_rotate(constant, 1);                                                                        \
	} while (0)

#define SM3_FOUR_ROUNDS(FF, GG, j)                                                                                 \
	do {                                                                                                           \
		SM3_ROUND(FF, GG, a, b, c, d, e, f, g, h, j);                                                              \
		SM3_ROUND(FF, GG, d, a, b, c, h, e, f, g, (j) + 1);                                                        \
		SM3_ROUND(FF, GG, c, d, a, b, g, h, e, f, (j) + 2);                                                        \
		SM3_ROUND(FF, GG, b, c, d, a, f, g, h, e, (j) + 3);                                                        \
	} while (0)

static inline void sm3_compress(uint32_t state[8], const unsigned char block[SM3_BLOCK_BYTES])
{
	uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
	uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
	uint32_t w[SM3_SCHEDULE_WORDS], constant = 0x79cc4519;

	sm3_expand(w, block);
	for (int j = 0; j < 16; j += 4)
		SM3_FOUR_ROUNDS(sm3_parity, sm3_parity, j);
	constant = sm3_rotate(0x7a879d8a, 16);
	for (int j = 16; j < 64; j += 4)
		SM3_FOUR_ROUNDS(sm3_majority, sm3_choose, j);
	sm3_feed_forward(state, (const uint32_t[8]){a, b, c, d, e, f, g, h});
}

static inline void sm3_begin(struct sm3 *hash)
{
	static const uint32_t initial[8] = {0x7380166f, 0x4914b2b9, 0x172442d7, 0xda8a0600,
	                                    0xa96f30bc, 0x163138aa, 0xe38dee4d, 0xb0fb0e4e};

	memcpy(hash->state, initial, sizeof initial);
	hash->block_bytes = 0;
	hash->total_bytes = 0;
}

/* Takes in at most what completes the block that is under way; returns how much. */
static inline size_t sm3_fill_block(struct sm3 *hash, const unsigned char *in, unsigned long long in_bytes)
{
	size_t room_bytes = SM3_BLOCK_BYTES - hash->block_bytes;
	size_t taken_bytes = in_bytes < room_bytes ? (size_t)in_bytes : room_bytes;

	memcpy(hash->block + hash->block_bytes, in, taken_bytes);
	hash->block_bytes += taken_bytes;
	if (hash->block_bytes == SM3_BLOCK_BYTES) {
		sm3_compress(hash->state, hash->block);
		hash->block_bytes = 0;
	}
	return taken_bytes;
}

static inline void sm3_absorb(struct sm3 *hash, const unsigned char *in, unsigned long long in_bytes)
{
	hash->total_bytes += in_bytes;
	while (in_bytes) {
		size_t taken_bytes = SM3_BLOCK_BYTES;

		if (hash->block_bytes == 0 && in_bytes >= SM3_BLOCK_BYTES)
			sm3_compress(hash->state, in);
		else
			taken_bytes = sm3_fill_block(hash, in, in_bytes);
		in += taken_bytes;
		in_bytes -= taken_bytes;
	}
}

/* Absorbs the whole bytes of a bit string and returns the bits that are left. */
static inline struct sm3_tail sm3_absorb_bits(struct sm3 *hash, const unsigned char *in, unsigned long long in_bits)
{
	struct sm3_tail tail = {0, (unsigned int)(in_bits % 8)};

	sm3_absorb(hash, in, in_bits / 8);
	if (tail.bits)
		tail.byte = (unsigned char)(in[in_bits / 8] & (0xff00 >> tail.bits));
	return tail;
}

/* Goes on with whole bytes behind a tail, and no padding in between; the new tail has as many bits. */
static inline void sm3_absorb_behind(struct sm3 *hash, struct sm3_tail *tail, const unsigned char *in, size_t in_bytes)
{
	for (size_t i = 0; i < in_bytes; i++) {
		unsigned char joined = (unsigned char)(tail->byte | in[i] >> tail->bits);

		sm3_absorb(hash, &joined, 1);
		tail->byte = (unsigned char)(in[i] << (8 - tail->bits));
	}
}

static inline void sm3_finish(struct sm3 *hash, struct sm3_tail tail, unsigned char digest[SM3_DIGEST_BYTES])
{
	static const unsigned long long lost_bits = 0x1ffULL << 32;
	unsigned long long length_bits = (8 * hash->total_bytes + tail.bits) & ~lost_bits;

	hash->block[hash->block_bytes++] = (unsigned char)(tail.byte | 0x80 >> tail.bits);
	memset(hash->block + hash->block_bytes, 0, SM3_BLOCK_BYTES - hash->block_bytes);
	if (hash->block_bytes > SM3_BLOCK_BYTES - SM3_LENGTH_BYTES) {
		sm3_compress(hash->state, hash->block);
		memset(hash->block, 0, SM3_BLOCK_BYTES);
	}
	sm3_store_word(hash->block + SM3_BLOCK_BYTES - 8, (uint32_t)(length_bits >> 32));
	sm3_store_word(hash->block + SM3_BLOCK_BYTES - 4, (uint32_t)length_bits);
	sm3_compress(hash->state, hash->block);
	for (int i = 0; i < 8; i++)
		sm3_store_word(digest + 4 * i, hash->state[i]);
}

static inline void sm3_finish_bytes(struct sm3 *hash, unsigned char digest[SM3_DIGEST_BYTES])
{
	sm3_finish(hash, (struct sm3_tail){0, 0}, digest);
}

#endif
