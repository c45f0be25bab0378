/* The ICCS deterministic random source. All sums are modulo 2^440. */
#include "drng.h"

#include "sm3.h"

enum { ADD_DIGEST = 3 }; /* first byte of what is hashed to step the state */

static void hash_after(const unsigned char *prefix, size_t prefix_bytes, const unsigned char *in,
                       unsigned long long in_bytes, unsigned char digest[SM3_DIGEST_BYTES])
{
	struct sm3 hash;

	sm3_begin(&hash);
	sm3_absorb(&hash, prefix, prefix_bytes);
	sm3_absorb(&hash, in, in_bytes);
	sm3_finish_bytes(&hash, digest);
}

/* The derivation function: two digests, each after its number and the wanted length of 440 bits; then cut. */
static void derive(unsigned char out[SEEDLEN], const unsigned char *in, unsigned long long in_bytes)
{
	unsigned char digests[2 * SM3_DIGEST_BYTES];

	for (unsigned char i = 0; i < 2; i++) {
		const unsigned char prefix[5] = {(unsigned char)(i + 1), 0, 0, 8 * SEEDLEN >> 8, 8 * SEEDLEN & 0xff};

		hash_after(prefix, sizeof prefix, in, in_bytes, digests + i * SM3_DIGEST_BYTES);
	}
	memcpy(out, digests, SEEDLEN);
}

static void add(unsigned char sum[SEEDLEN], const unsigned char *number, int number_bytes)
{
	unsigned int carry = 0;

	for (int i = 1; i <= SEEDLEN; i++) {
		carry += sum[SEEDLEN - i] + (i <= number_bytes ? number[number_bytes - i] : 0U);
		sum[SEEDLEN - i] = (unsigned char)carry;
		carry >>= 8;
	}
}

static void increment(unsigned char number[SEEDLEN])
{
	for (int i = SEEDLEN - 1; i >= 0 && ++number[i] == 0; i--)
		continue;
}

static void step(DRNG_ctx *drng)
{
	static const unsigned char prefix = ADD_DIGEST;
	unsigned char digest[SM3_DIGEST_BYTES];

	hash_after(&prefix, 1, drng->V, SEEDLEN, digest);
	add(drng->V, digest, SM3_DIGEST_BYTES);
	add(drng->V, drng->C, SEEDLEN);
	add(drng->V, drng->reseed_counter, SEEDLEN);
	increment(drng->reseed_counter);
}

int init_random_number(DRNG_ctx *drng, const unsigned char *seed, unsigned long long seed_len_bytes)
{
	unsigned char zero_and_v[1 + SEEDLEN] = {0};

	derive(drng->V, seed, seed_len_bytes);
	memcpy(zero_and_v + 1, drng->V, SEEDLEN);
	derive(drng->C, zero_and_v, sizeof zero_and_v);
	memset(drng->reseed_counter, 0, SEEDLEN);
	drng->reseed_counter[SEEDLEN - 1] = 1;
	return 0;
}

int get_random_number(DRNG_ctx *drng, unsigned char *random_number, unsigned long long random_number_len_bits)
{
	unsigned char counter[SEEDLEN], digest[SM3_DIGEST_BYTES];
	unsigned long long left_bits = random_number_len_bits;

	memcpy(counter, drng->V, SEEDLEN);
	for (; left_bits >= SM3_DIGEST_BITS; left_bits -= SM3_DIGEST_BITS, random_number += SM3_DIGEST_BYTES) {
		hash_after(NULL, 0, counter, SEEDLEN, random_number);
		increment(counter);
	}
	if (left_bits) {
		hash_after(NULL, 0, counter, SEEDLEN, digest);
		memcpy(random_number, digest, (size_t)(left_bits + 7) / 8);
		if (left_bits % 8)
			random_number[left_bits / 8] &= (unsigned char)(0xff00 >> left_bits % 8);
	}
	step(drng);
	return 0;
}
