#include "ring_kem.h"

#include <stdint.h>
#include <string.h>

#include "auxfunc.h"
#include "drng.h"

extern DRNG_ctx drng_algorithm;

enum { Q = 3329, ONE = (Q + 1) / 2, N = RING_N, MESSAGE_BYTES = N / 8 };
enum { WORD_BYTES = 4, NOISE_BYTES = 2 * N / 8, MAX_NOISES = 3 };
enum { DIGEST_BYTES = 32, COINS_BYTES = 32, KEY_AND_COINS_BYTES = RING_SS_BYTES + COINS_BYTES };

/* Reduced coefficients are 0 to Q - 1; noise is -1, 0 or 1. */
struct poly {
	int32_t at[N];
};

static void reduce(struct poly *poly)
{
	for (int i = 0; i < N; i++) {
		poly->at[i] %= Q;
		poly->at[i] += poly->at[i] < 0 ? Q : 0;
	}
}

static void add(struct poly *sum, const struct poly *more)
{
	for (int i = 0; i < N; i++)
		sum->at[i] += more->at[i];
	reduce(sum);
}

/* x^N is -1. */
static void multiply(struct poly *product, const struct poly *reduced, const struct poly *noise)
{
	memset(product, 0, sizeof *product);
	for (int i = 0; i < N; i++) {
		for (int j = 0; j < N - i; j++)
			product->at[i + j] += reduced->at[i] * noise->at[j];
		for (int j = N - i; j < N; j++)
			product->at[i + j - N] -= reduced->at[i] * noise->at[j];
	}
	reduce(product);
}

/* A uniform polynomial: 32 bits modulo Q for each coefficient, so that the number of calls is fixed. */
static int expand(struct poly *poly, const unsigned char seed[RING_SEED_BYTES])
{
	unsigned char words[WORD_BYTES * N];

	if (pseudoXOF(8 * sizeof words, seed, 8 * RING_SEED_BYTES, words))
		return -1;
	for (int i = 0; i < N; i++) {
		const unsigned char *word = words + WORD_BYTES * i;
		uint32_t value = (uint32_t)word[0] << 24 | (uint32_t)word[1] << 16 | (uint32_t)word[2] << 8 | word[3];

		poly->at[i] = (int32_t)(value % Q);
	}
	return 0;
}

static int bit(const unsigned char *bits, int index)
{
	return bits[index / 8] >> (7 - index % 8) & 1;
}

/* Polynomials of small coefficients: the difference of two bits each. The first ones do not depend on count. */
static int draw_noise(struct poly *polys, int count, const unsigned char seed[RING_SEED_BYTES])
{
	unsigned char bits[MAX_NOISES * NOISE_BYTES];

	if (pseudoXOF(8ULL * NOISE_BYTES * (unsigned int)count, seed, 8 * RING_SEED_BYTES, bits))
		return -1;
	for (int i = 0; i < count * N; i++)
		polys[i / N].at[i % N] = bit(bits, 2 * i) - bit(bits, 2 * i + 1);
	return 0;
}

/* Two coefficients of 12 bits in three bytes, high bits first. */
static void pack(unsigned char out[RING_POLY_BYTES], const struct poly *poly)
{
	for (int i = 0; i < N; i += 2, out += 3) {
		out[0] = (unsigned char)(poly->at[i] >> 4);
		out[1] = (unsigned char)(poly->at[i] << 4 | poly->at[i + 1] >> 8);
		out[2] = (unsigned char)poly->at[i + 1];
	}
}

static void unpack(struct poly *poly, const unsigned char in[RING_POLY_BYTES])
{
	for (int i = 0; i < N; i += 2, in += 3) {
		poly->at[i] = in[0] << 4 | in[1] >> 4;
		poly->at[i + 1] = (in[1] & 15) << 8 | in[2];
	}
	reduce(poly);
}

int ring_kem_keygen(unsigned char pk[RING_PK_BYTES], unsigned char sk[RING_SK_BYTES])
{
	unsigned char seeds[3 * RING_SEED_BYTES];
	struct poly a, b, secret_and_error[2];

	get_random_number(&drng_algorithm, seeds, 8 * sizeof seeds);
	if (expand(&a, seeds) || draw_noise(secret_and_error, 2, seeds + RING_SEED_BYTES))
		return -1;
	multiply(&b, &a, &secret_and_error[0]);
	add(&b, &secret_and_error[1]);
	memcpy(pk, seeds, RING_SEED_BYTES);
	pack(pk + RING_SEED_BYTES, &b);
	memcpy(sk, seeds + RING_SEED_BYTES, 2 * RING_SEED_BYTES);
	memcpy(sk + 2 * RING_SEED_BYTES, pk, RING_PK_BYTES);
	return 0;
}

/* Shared secret, then coins: pseudohash of the message and the public key's digest. */
static int derive(unsigned char key_and_coins[KEY_AND_COINS_BYTES], const unsigned char message[MESSAGE_BYTES],
                  const unsigned char pk[RING_PK_BYTES])
{
	unsigned char in[MESSAGE_BYTES + DIGEST_BYTES];

	memcpy(in, message, MESSAGE_BYTES);
	if (sm3hash(8 * DIGEST_BYTES, pk, 8 * RING_PK_BYTES, in + MESSAGE_BYTES))
		return -1;
	return pseudohash(8 * KEY_AND_COINS_BYTES, in, 8 * sizeof in, key_and_coins) ? -1 : 0;
}

/* u = a r + e1 and v = b r + e2 + message; r, e1 and e2 come from the coins. */
static int encrypt(unsigned char ct[RING_CT_BYTES], const unsigned char message[MESSAGE_BYTES],
                   const unsigned char pk[RING_PK_BYTES], const unsigned char coins[COINS_BYTES])
{
	struct poly a, b, u, v, noise[3];

	if (expand(&a, pk) || draw_noise(noise, 3, coins))
		return -1;
	unpack(&b, pk + RING_SEED_BYTES);
	multiply(&u, &a, &noise[0]);
	add(&u, &noise[1]);
	multiply(&v, &b, &noise[0]);
	for (int i = 0; i < N; i++)
		v.at[i] += bit(message, i) * ONE;
	add(&v, &noise[2]);
	pack(ct, &u);
	pack(ct + RING_POLY_BYTES, &v);
	return 0;
}

/* A bit is 1 where v - u s is nearer to Q / 2 than to 0. */
static int decrypt(unsigned char message[MESSAGE_BYTES], const unsigned char secret_seed[RING_SEED_BYTES],
                   const unsigned char ct[RING_CT_BYTES])
{
	struct poly u, v, us, secret;

	if (draw_noise(&secret, 1, secret_seed))
		return -1;
	unpack(&u, ct);
	unpack(&v, ct + RING_POLY_BYTES);
	multiply(&us, &u, &secret);
	memset(message, 0, MESSAGE_BYTES);
	for (int i = 0; i < N; i++) {
		int32_t value = (v.at[i] - us.at[i] + Q) % Q;

		message[i / 8] |= (unsigned char)((4 * value > Q && 4 * value < 3 * Q) << (7 - i % 8));
	}
	return 0;
}

int ring_kem_enc(const unsigned char pk[RING_PK_BYTES], unsigned char ss[RING_SS_BYTES],
                 unsigned char ct[RING_CT_BYTES])
{
	unsigned char message[MESSAGE_BYTES], key_and_coins[KEY_AND_COINS_BYTES];

	get_random_number(&drng_algorithm, message, 8 * MESSAGE_BYTES);
	if (derive(key_and_coins, message, pk) || encrypt(ct, message, pk, key_and_coins + RING_SS_BYTES))
		return -1;
	memcpy(ss, key_and_coins, RING_SS_BYTES);
	return 0;
}

/* What a wrong ciphertext gives: the digest of the rejection secret and the ciphertext. */
static int reject(unsigned char ss[RING_SS_BYTES], const unsigned char rejection_secret[RING_SEED_BYTES],
                  const unsigned char ct[RING_CT_BYTES])
{
	unsigned char in[RING_SEED_BYTES + RING_CT_BYTES];

	memcpy(in, rejection_secret, RING_SEED_BYTES);
	memcpy(in + RING_SEED_BYTES, ct, RING_CT_BYTES);
	return sm3hash(8 * RING_SS_BYTES, in, 8 * sizeof in, ss) ? -1 : 0;
}

int ring_kem_dec(const unsigned char sk[RING_SK_BYTES], const unsigned char ct[RING_CT_BYTES],
                 unsigned char ss[RING_SS_BYTES])
{
	const unsigned char *pk = sk + 2 * RING_SEED_BYTES;
	unsigned char message[MESSAGE_BYTES], key_and_coins[KEY_AND_COINS_BYTES], again[RING_CT_BYTES];

	if (decrypt(message, sk, ct) || derive(key_and_coins, message, pk) ||
	    encrypt(again, message, pk, key_and_coins + RING_SS_BYTES) || reject(ss, sk + RING_SEED_BYTES, ct))
		return -1;
	if (memcmp(again, ct, RING_CT_BYTES) == 0)
		memcpy(ss, key_and_coins, RING_SS_BYTES);
	return 0;
}
