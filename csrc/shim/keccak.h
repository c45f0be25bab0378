/*
 * SHAKE-256 (FIPS 202) as a stream: begin, absorb any number of times, pad once, squeeze any number of times.
 * All of it is static and included by one file, so that no name meets one of a candidate's.
 */
#ifndef KATALOG_KECCAK_H
#define KATALOG_KECCAK_H

#include <stdint.h>
#include <string.h>

enum { SHAKE256_RATE_BYTES = 136 };

struct shake256 {
	uint64_t lanes[25];
	uint64_t round_constants[24];
	unsigned int at_byte;
};

/* Keccak-f[1600]; the constants of FIPS 202 are computed from their definitions. Lane (x, y) is lanes[x + 5y]. */
enum { ROUNDS = 24 };

static uint64_t rotate_left(uint64_t x, unsigned int bits)
{
	return bits ? x << bits | x >> (64 - bits) : x;
}

static void theta(uint64_t a[25])
{
	uint64_t column[5];

	for (int x = 0; x < 5; x++)
		column[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
	for (int i = 0; i < 25; i++)
		a[i] ^= column[(i + 4) % 5] ^ rotate_left(column[(i + 1) % 5], 1);
}

/* One walk does both steps: the t-th lane visited is rotated by the t-th triangular number. */
static void rho_and_pi(uint64_t a[25])
{
	uint64_t moving = a[1];
	int x = 1, y = 0;

	for (unsigned int t = 1, offset = 0; t <= 24; t++) {
		int next_y = (2 * x + 3 * y) % 5;
		uint64_t held;

		x = y;
		y = next_y;
		offset += t;
		held = a[x + 5 * y];
		a[x + 5 * y] = rotate_left(moving, offset % 64);
		moving = held;
	}
}

static void chi(uint64_t a[25])
{
	for (int y = 0; y < 25; y += 5) {
		uint64_t row[5];

		memcpy(row, a + y, sizeof row);
		for (int x = 0; x < 5; x++)
			a[y + x] = row[x] ^ (~row[(x + 1) % 5] & row[(x + 2) % 5]);
	}
}

static void permute(struct shake256 *stream)
{
	for (int round = 0; round < ROUNDS; round++) {
		theta(stream->lanes);
		rho_and_pi(stream->lanes);
		chi(stream->lanes);
		stream->lanes[0] ^= stream->round_constants[round];
	}
	stream->at_byte = 0;
}

/* Bit 2^j - 1 of a round's constant is the next output of a shift register over x^8 + x^6 + x^5 + x^4 + 1. */
static void make_round_constants(uint64_t constants[ROUNDS])
{
	unsigned int lfsr = 1;

	for (int round = 0; round < ROUNDS; round++) {
		constants[round] = 0;
		for (int j = 0; j <= 6; j++) {
			constants[round] |= (uint64_t)(lfsr & 1) << ((1 << j) - 1);
			lfsr = lfsr << 1 ^ (lfsr & 0x80 ? 0x171 : 0);
		}
	}
}

static void add_byte(struct shake256 *stream, unsigned int at_byte, unsigned char byte)
{
	stream->lanes[at_byte / 8] ^= (uint64_t)byte << 8 * (at_byte % 8);
}

static void shake256_begin(struct shake256 *stream)
{
	memset(stream, 0, sizeof *stream);
	make_round_constants(stream->round_constants);
}

static void shake256_absorb(struct shake256 *stream, const unsigned char *in, unsigned long long in_bytes)
{
	for (; in_bytes; in_bytes--) {
		add_byte(stream, stream->at_byte++, *in++);
		if (stream->at_byte == SHAKE256_RATE_BYTES)
			permute(stream);
	}
}

static void shake256_pad(struct shake256 *stream)
{
	add_byte(stream, stream->at_byte, 0x1f);
	add_byte(stream, SHAKE256_RATE_BYTES - 1, 0x80);
	permute(stream);
}

static void shake256_squeeze(struct shake256 *stream, unsigned char *out, unsigned long long out_bytes)
{
	for (; out_bytes; out_bytes--) {
		if (stream->at_byte == SHAKE256_RATE_BYTES)
			permute(stream);
		*out++ = (unsigned char)(stream->lanes[stream->at_byte / 8] >> 8 * (stream->at_byte % 8));
		stream->at_byte++;
	}
}

#endif
