/*
 * The NIST known-answer random source: CTR_DRBG of SP 800-90A over AES-256, no derivation function, no
 * reseeding. It takes exactly 48 bytes of entropy: a shorter seed is filled up with zeros, a longer one cut.
 */
#include "random.h"

#include "aes256.h"

#include <string.h>

enum { KEY_BYTES = 32, SEED_BYTES = KEY_BYTES + AES_BLOCK_BYTES };

static struct aes256 cipher;
static unsigned char counter[AES_BLOCK_BYTES];

static void next_block(unsigned char out[AES_BLOCK_BYTES])
{
	for (int i = AES_BLOCK_BYTES - 1; i >= 0 && ++counter[i] == 0; i--)
		continue;
	aes256_encrypt(&cipher, counter, out);
}

/* A NULL entropy is the update after a request: nothing is mixed in. */
static void update(const unsigned char *entropy)
{
	unsigned char state[SEED_BYTES];

	for (int at = 0; at < SEED_BYTES; at += AES_BLOCK_BYTES)
		next_block(state + at);
	for (int i = 0; entropy && i < SEED_BYTES; i++)
		state[i] ^= entropy[i];
	aes256_set_key(&cipher, state);
	memcpy(counter, state + KEY_BYTES, sizeof counter);
}

void katalog_seed(const unsigned char *seed, unsigned long long seed_bytes)
{
	static const unsigned char zero_key[KEY_BYTES];
	unsigned char entropy[SEED_BYTES] = {0};

	memcpy(entropy, seed, seed_bytes < SEED_BYTES ? (size_t)seed_bytes : SEED_BYTES);
	aes256_make_tables();
	aes256_set_key(&cipher, zero_key);
	memset(counter, 0, sizeof counter);
	update(entropy);
}

void katalog_random(unsigned char *out, unsigned long long out_bytes)
{
	unsigned char last[AES_BLOCK_BYTES];

	for (; out_bytes >= AES_BLOCK_BYTES; out_bytes -= AES_BLOCK_BYTES, out += AES_BLOCK_BYTES)
		next_block(out);
	if (out_bytes) {
		next_block(last);
		memcpy(out, last, (size_t)out_bytes);
	}
	update(NULL);
}
