/* The ICCS hash helpers. T, k1 to k4 and h1 to h4 are the names of their definition; || joins without padding. */
#include "auxfunc.h"

#include "sm3.h"

#include <stdio.h>
#include <stdlib.h>

enum { SUCCESS = 0, OUT_OF_MEMORY = -2, NO_SUCH_DIGEST = -4 };
enum { LENGTH_TAG_BYTES = 2, COUNTER_BYTES = 4, WIDEST_DIGESTS = 4 };
enum { INNER_PAD = 0x36, OUTER_PAD = 0x5c };

/* SM3 of "3.14159265358979", then of "2.71828182845904". Exactly a block, so HMAC takes it as it is. */
static const unsigned char mac_key[SM3_BLOCK_BYTES] = {
	0x53, 0x07, 0xf6, 0xd5, 0xeb, 0x6a, 0x3c, 0xed, 0x3d, 0x24, 0xc5, 0x3c, 0xc9, 0xc8, 0x2c, 0xce,
	0x2f, 0x89, 0x36, 0x39, 0x70, 0x23, 0xf0, 0x69, 0x5c, 0x26, 0xc8, 0x0c, 0x1a, 0xb1, 0x82, 0xa7,
	0x1d, 0xb0, 0x2b, 0xa9, 0x2f, 0x54, 0x40, 0x18, 0x11, 0x5a, 0x96, 0xe7, 0x19, 0x66, 0x2c, 0xa3,
	0x2b, 0x7c, 0x7e, 0xfc, 0x0a, 0x6d, 0x24, 0x82, 0x15, 0x07, 0x66, 0xba, 0x6f, 0x65, 0x5b, 0x8e,
};

static int refuse(int code, const char *why)
{
	fprintf(stderr, "ERROR: %s\n", why);
	return code;
}

/* SM3(msg || suffix). */
static void hash_with_suffix(const unsigned char *msg, unsigned long long msg_bits, const unsigned char *suffix,
                             size_t suffix_bytes, unsigned char digest[SM3_DIGEST_BYTES])
{
	struct sm3 hash;
	struct sm3_tail tail;

	sm3_begin(&hash);
	tail = sm3_absorb_bits(&hash, msg, msg_bits);
	sm3_absorb_behind(&hash, &tail, suffix, suffix_bytes);
	sm3_finish(&hash, tail, digest);
}

/* SM3 of digests that stand one after the other. */
static void hash_digests(const unsigned char *digests, unsigned int count, unsigned char digest[SM3_DIGEST_BYTES])
{
	hash_with_suffix(digests, (unsigned long long)count * SM3_DIGEST_BITS, NULL, 0, digest);
}

static void begin_mac_half(struct sm3 *hash, unsigned char pad)
{
	unsigned char padded_key[SM3_BLOCK_BYTES];

	for (int i = 0; i < SM3_BLOCK_BYTES; i++)
		padded_key[i] = mac_key[i] ^ pad;
	sm3_begin(hash);
	sm3_absorb(hash, padded_key, sizeof padded_key);
}

/* HMAC-SM3(prefix || msg). */
static void mac_with_prefix(const unsigned char *prefix, size_t prefix_bytes, const unsigned char *msg,
                            unsigned long long msg_bits, unsigned char digest[SM3_DIGEST_BYTES])
{
	struct sm3 hash;
	struct sm3_tail tail;

	begin_mac_half(&hash, INNER_PAD);
	sm3_absorb(&hash, prefix, prefix_bytes);
	tail = sm3_absorb_bits(&hash, msg, msg_bits);
	sm3_finish(&hash, tail, digest);
	begin_mac_half(&hash, OUTER_PAD);
	sm3_absorb(&hash, digest, SM3_DIGEST_BYTES);
	sm3_finish_bytes(&hash, digest);
}

static void mac_digest(const unsigned char in[SM3_DIGEST_BYTES], unsigned char digest[SM3_DIGEST_BYTES])
{
	mac_with_prefix(NULL, 0, in, SM3_DIGEST_BITS, digest);
}

/* h2 = SM3(k1 || h1), with k1 = MAC(T || msg). */
static void make_h2(const unsigned char tag[LENGTH_TAG_BYTES], const unsigned char *msg, unsigned long long msg_bits,
                    const unsigned char h1[SM3_DIGEST_BYTES], unsigned char h2[SM3_DIGEST_BYTES])
{
	unsigned char k1_h1[2 * SM3_DIGEST_BYTES];

	mac_with_prefix(tag, LENGTH_TAG_BYTES, msg, msg_bits, k1_h1);
	memcpy(k1_h1 + SM3_DIGEST_BYTES, h1, SM3_DIGEST_BYTES);
	hash_digests(k1_h1, 2, h2);
}

/* h3 = SM3(h2 || k2), with k2 = MAC(h1). */
static void make_h3(const unsigned char h1[SM3_DIGEST_BYTES], const unsigned char h2[SM3_DIGEST_BYTES],
                    unsigned char h3[SM3_DIGEST_BYTES])
{
	unsigned char h2_k2[2 * SM3_DIGEST_BYTES];

	memcpy(h2_k2, h2, SM3_DIGEST_BYTES);
	mac_digest(h1, h2_k2 + SM3_DIGEST_BYTES);
	hash_digests(h2_k2, 2, h3);
}

/* h4 = SM3(k3 || h3 || k4), with k3 = MAC(h2) and k4 = MAC(h3). */
static void make_h4(const unsigned char h2[SM3_DIGEST_BYTES], const unsigned char h3[SM3_DIGEST_BYTES],
                    unsigned char h4[SM3_DIGEST_BYTES])
{
	unsigned char k3_h3_k4[3 * SM3_DIGEST_BYTES];

	mac_digest(h2, k3_h3_k4);
	memcpy(k3_h3_k4 + SM3_DIGEST_BYTES, h3, SM3_DIGEST_BYTES);
	mac_digest(h3, k3_h3_k4 + 2 * SM3_DIGEST_BYTES);
	hash_digests(k3_h3_k4, 3, h4);
}

int sm3hash(int digest_len_bits, const unsigned char *msg, unsigned long long msg_len_bits, unsigned char *digest)
{
	if (digest_len_bits != SM3_DIGEST_BITS)
		return refuse(NO_SUCH_DIGEST, "sm3hash has a digest of 256 bits only");
	hash_with_suffix(msg, msg_len_bits, NULL, 0, digest);
	return SUCCESS;
}

int pseudohash(int digest_len_bits, const unsigned char *msg, unsigned long long msg_len_bits, unsigned char *digest)
{
	const unsigned char tag[LENGTH_TAG_BYTES] = {(unsigned char)(digest_len_bits >> 8), (unsigned char)digest_len_bits};
	unsigned char h[WIDEST_DIGESTS][SM3_DIGEST_BYTES];

	if (digest_len_bits != 512 && digest_len_bits != 768 && digest_len_bits != 1024)
		return refuse(NO_SUCH_DIGEST, "pseudohash has digests of 512, 768 and 1024 bits only");
	hash_with_suffix(msg, msg_len_bits, tag, sizeof tag, h[0]);
	make_h2(tag, msg, msg_len_bits, h[0], h[1]);
	if (digest_len_bits >= 768)
		make_h3(h[0], h[1], h[2]);
	if (digest_len_bits >= 1024)
		make_h4(h[1], h[2], h[3]);
	memcpy(digest, h, (size_t)digest_len_bits / 8);
	return SUCCESS;
}

/*
 * SM3(msg || 1) || SM3(msg || 2) || ... The message is hashed anew for every counter: this function is the
 * yardstick that hashes are compared with, so it does the work that its definition names and no less.
 */
static void fill_blocks(unsigned char *blocks, unsigned long long count, const unsigned char *msg,
                        unsigned long long msg_bits)
{
	for (unsigned long long i = 0; i < count; i++) {
		unsigned char counter[COUNTER_BYTES];

		sm3_store_word(counter, (uint32_t)(i + 1));
		hash_with_suffix(msg, msg_bits, counter, sizeof counter, blocks + i * SM3_DIGEST_BYTES);
	}
}

int pseudoXOF(unsigned long long output_len_bits, const unsigned char *msg, unsigned long long msg_len_bits,
              unsigned char *output)
{
	unsigned long long count = output_len_bits / SM3_DIGEST_BITS + (output_len_bits % SM3_DIGEST_BITS != 0);
	size_t output_bytes = (size_t)(output_len_bits / 8 + (output_len_bits % 8 != 0));
	unsigned char *blocks;

	if (count == 0)
		return SUCCESS;
	blocks = malloc((size_t)count * SM3_DIGEST_BYTES);
	if (!blocks)
		return refuse(OUT_OF_MEMORY, "no memory for the output of pseudoXOF");
	fill_blocks(blocks, count, msg, msg_len_bits);
	if (output_len_bits % 8)
		blocks[output_bytes - 1] &= (unsigned char)(0xff00 >> output_len_bits % 8);
	memcpy(output, blocks, output_bytes);
	free(blocks);
	return SUCCESS;
}
