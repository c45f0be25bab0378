/*
 * The ICCS random source: drng_algorithm, which the harness owns and a submission draws from under that name,
 * by the drng that is linked in, the submission's own or ours. Every library has one of its own; load it
 * with RTLD_LOCAL, as all libraries export the same names.
 */
#include "random.h"

#include "../iccs/drng.h"

DRNG_ctx drng_algorithm;

void katalog_seed(const unsigned char *seed, unsigned long long seed_bytes)
{
	init_random_number(&drng_algorithm, seed, seed_bytes);
}

void katalog_random(unsigned char *out, unsigned long long out_bytes)
{
	get_random_number(&drng_algorithm, out, 8 * out_bytes);
}
