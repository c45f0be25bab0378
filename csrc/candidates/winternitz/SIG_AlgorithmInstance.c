#include "SIG_AlgorithmInstance.h"

#include <stdlib.h>
#include <string.h>

#include "auxfunc.h"
#include "drng.h"

extern DRNG_ctx drng_algorithm;

enum { VALUE_BYTES = 32, VALUE_BITS = 8 * VALUE_BYTES, DIGEST_BYTES = 64, DIGEST_BITS = 8 * DIGEST_BYTES };
enum { W = 1 << WINTERNITZ_DIGIT_BITS };
enum { MESSAGE_DIGITS = DIGEST_BITS / WINTERNITZ_DIGIT_BITS, CHECKSUM_DIGITS = WINTERNITZ_CHECKSUM_DIGITS };
enum { CHAINS = MESSAGE_DIGITS + CHECKSUM_DIGITS, CHAINS_BYTES = CHAINS * VALUE_BYTES };
enum { PK_BYTES = VALUE_BYTES + DIGEST_BYTES, SK_BYTES = 2 * VALUE_BYTES, SN_BYTES = VALUE_BYTES + CHAINS_BYTES };
enum { ADDRESS_BYTES = 3 };
enum { VALID = 0, INVALID = -1, OUT_OF_MEMORY = -2, WRONG_KEY_LENGTH = -3 };

unsigned long long sig_get_pk_len_bytes(void)
{
	return PK_BYTES;
}

unsigned long long sig_get_sk_len_bytes(void)
{
	return SK_BYTES;
}

unsigned long long sig_get_sn_len_bytes(void)
{
	return SN_BYTES;
}

/* The first value of every chain, by one call. */
static int start_chains(unsigned char chains[CHAINS_BYTES], const unsigned char secret_seed[VALUE_BYTES])
{
	return pseudoXOF(8ULL * CHAINS_BYTES, secret_seed, VALUE_BITS, chains);
}

/* Walks one chain from position begin to position end; a step hashes public seed, chain, position and value. */
static int walk(unsigned char value[VALUE_BYTES], const unsigned char public_seed[VALUE_BYTES], int chain, int begin,
                int end)
{
	unsigned char in[VALUE_BYTES + ADDRESS_BYTES + VALUE_BYTES];

	memcpy(in, public_seed, VALUE_BYTES);
	in[VALUE_BYTES] = (unsigned char)(chain >> 8);
	in[VALUE_BYTES + 1] = (unsigned char)chain;
	for (int position = begin; position < end; position++) {
		in[VALUE_BYTES + 2] = (unsigned char)position;
		memcpy(in + VALUE_BYTES + ADDRESS_BYTES, value, VALUE_BYTES);
		if (pseudoXOF(VALUE_BITS, in, 8 * sizeof in, value))
			return OUT_OF_MEMORY;
	}
	return 0;
}

/* pseudohash of salt, public seed and message. */
static int hash_message(unsigned char digest[DIGEST_BYTES], const unsigned char salt[VALUE_BYTES],
                        const unsigned char public_seed[VALUE_BYTES], const unsigned char *m,
                        unsigned long long m_bytes)
{
	unsigned char *in = malloc(2 * VALUE_BYTES + (size_t)m_bytes);
	int code;

	if (!in)
		return OUT_OF_MEMORY;
	memcpy(in, salt, VALUE_BYTES);
	memcpy(in + VALUE_BYTES, public_seed, VALUE_BYTES);
	if (m_bytes)
		memcpy(in + 2 * VALUE_BYTES, m, (size_t)m_bytes);
	code = pseudohash(DIGEST_BITS, in, 2 * VALUE_BITS + 8 * m_bytes, digest);
	free(in);
	return code ? OUT_OF_MEMORY : 0;
}

static void split_digits(int digits[CHAINS], const unsigned char digest[DIGEST_BYTES])
{
	int checksum = 0;

	for (int i = 0; i < MESSAGE_DIGITS; i++) {
		int at_bit = i * WINTERNITZ_DIGIT_BITS;

		digits[i] = digest[at_bit / 8] >> (8 - WINTERNITZ_DIGIT_BITS - at_bit % 8) & (W - 1);
		checksum += W - 1 - digits[i];
	}
	for (int i = CHAINS - 1; i >= MESSAGE_DIGITS; i--) {
		digits[i] = checksum % W;
		checksum /= W;
	}
}

int sig_keygen(unsigned char *pk, unsigned long long *pk_len_bytes, unsigned char *sk, unsigned long long *sk_len_bytes)
{
	unsigned char *public_seed = sk + VALUE_BYTES, ends[CHAINS_BYTES];

	get_random_number(&drng_algorithm, sk, 8 * SK_BYTES);
	if (start_chains(ends, sk))
		return OUT_OF_MEMORY;
	for (int i = 0; i < CHAINS; i++)
		if (walk(ends + i * VALUE_BYTES, public_seed, i, 0, W - 1))
			return OUT_OF_MEMORY;
	memcpy(pk, public_seed, VALUE_BYTES);
	if (pseudohash(DIGEST_BITS, ends, 8ULL * sizeof ends, pk + VALUE_BYTES))
		return OUT_OF_MEMORY;
	*pk_len_bytes = PK_BYTES;
	*sk_len_bytes = SK_BYTES;
	return 0;
}

int sig_sign(unsigned char *sk, unsigned long long sk_len_bytes, unsigned char *m, unsigned long long m_len_bytes,
             unsigned char *sn, unsigned long long *sn_len_bytes)
{
	const unsigned char *public_seed = sk + VALUE_BYTES;
	unsigned char digest[DIGEST_BYTES], *chains = sn + VALUE_BYTES;
	int digits[CHAINS];

	if (sk_len_bytes != SK_BYTES)
		return WRONG_KEY_LENGTH;
	get_random_number(&drng_algorithm, sn, VALUE_BITS);
	if (hash_message(digest, sn, public_seed, m, m_len_bytes) || start_chains(chains, sk))
		return OUT_OF_MEMORY;
	split_digits(digits, digest);
	for (int i = 0; i < CHAINS; i++)
		if (walk(chains + i * VALUE_BYTES, public_seed, i, 0, digits[i]))
			return OUT_OF_MEMORY;
	*sn_len_bytes = SN_BYTES;
	return 0;
}

int sig_verify(unsigned char *pk, unsigned long long pk_len_bytes, unsigned char *sn, unsigned long long sn_len_bytes,
               unsigned char *m, unsigned long long m_len_bytes)
{
	unsigned char digest[DIGEST_BYTES], ends[CHAINS_BYTES];
	int digits[CHAINS];

	if (pk_len_bytes != PK_BYTES)
		return WRONG_KEY_LENGTH;
	if (sn_len_bytes != SN_BYTES)
		return INVALID;
	if (hash_message(digest, sn, pk, m, m_len_bytes))
		return OUT_OF_MEMORY;
	split_digits(digits, digest);
	memcpy(ends, sn + VALUE_BYTES, sizeof ends);
	for (int i = 0; i < CHAINS; i++)
		if (walk(ends + i * VALUE_BYTES, pk, i, digits[i], W - 1))
			return OUT_OF_MEMORY;
	if (pseudohash(DIGEST_BITS, ends, 8ULL * sizeof ends, digest))
		return OUT_OF_MEMORY;
	return memcmp(digest, pk + VALUE_BYTES, DIGEST_BYTES) == 0 ? VALID : INVALID;
}
