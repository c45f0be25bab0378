/*
 * SHAKE-256 (FIPS 202) as a stream: begin, absorb any number of times, pad once, squeeze any number of times.
 * Names begin with katalog_ in the object, so that they meet none of a candidate's.
 */
#ifndef KATALOG_KECCAK_H
#define KATALOG_KECCAK_H

#include <stdint.h>

#define shake256_begin katalog_shake256_begin
#define shake256_absorb katalog_shake256_absorb
#define shake256_pad katalog_shake256_pad
#define shake256_squeeze katalog_shake256_squeeze

enum { SHAKE256_RATE_BYTES = 136 };

struct shake256 {
	uint64_t lanes[25];
	uint64_t round_constants[24];
	unsigned int at_byte;
};

void shake256_begin(struct shake256 *stream);
void shake256_absorb(struct shake256 *stream, const unsigned char *in, unsigned long long in_bytes);
void shake256_pad(struct shake256 *stream);
void shake256_squeeze(struct shake256 *stream, unsigned char *out, unsigned long long out_bytes);

#endif
