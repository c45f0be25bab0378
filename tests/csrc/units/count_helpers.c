/* Counts what a candidate calls; linked with --wrap for each of the four functions. */
#include "../../../csrc/iccs/auxfunc.h"
#include "../../../csrc/iccs/drng.h"

unsigned long long sm3hash_calls, pseudohash_calls, pseudoXOF_calls, get_random_number_calls;

int __real_sm3hash(int digest_len_bits, const unsigned char *msg, unsigned long long msg_len_bits, unsigned char *digest);
int __real_pseudohash(int digest_len_bits, const unsigned char *msg, unsigned long long msg_len_bits,
                      unsigned char *digest);
int __real_pseudoXOF(unsigned long long output_len_bits, const unsigned char *msg, unsigned long long msg_len_bits,
                     unsigned char *output);
int __real_get_random_number(DRNG_ctx *drng, unsigned char *random_number, unsigned long long random_number_len_bits);

int __wrap_sm3hash(int digest_len_bits, const unsigned char *msg, unsigned long long msg_len_bits, unsigned char *digest)
{
	sm3hash_calls++;
	return __real_sm3hash(digest_len_bits, msg, msg_len_bits, digest);
}

int __wrap_pseudohash(int digest_len_bits, const unsigned char *msg, unsigned long long msg_len_bits,
                      unsigned char *digest)
{
	pseudohash_calls++;
	return __real_pseudohash(digest_len_bits, msg, msg_len_bits, digest);
}

int __wrap_pseudoXOF(unsigned long long output_len_bits, const unsigned char *msg, unsigned long long msg_len_bits,
                     unsigned char *output)
{
	pseudoXOF_calls++;
	return __real_pseudoXOF(output_len_bits, msg, msg_len_bits, output);
}

int __wrap_get_random_number(DRNG_ctx *drng, unsigned char *random_number, unsigned long long random_number_len_bits)
{
	get_random_number_calls++;
	return __real_get_random_number(drng, random_number, random_number_len_bits);
}
