/* HQC's known-answer random source: SHAKE-256 over the seed and then the byte 01, squeezed on without gaps. */
#include "random.h"

#include "keccak.h"

static struct shake256 stream;

void katalog_seed(const unsigned char *seed, unsigned long long seed_bytes)
{
	static const unsigned char domain = 1;

	shake256_begin(&stream);
	shake256_absorb(&stream, seed, seed_bytes);
	shake256_absorb(&stream, &domain, 1);
	shake256_pad(&stream);
}

void katalog_random(unsigned char *out, unsigned long long out_bytes)
{
	shake256_squeeze(&stream, out, out_bytes);
}
