/* The build gives all of this as macros, so a library can be told from its neighbours without its path. */
#include "metadata.h"

#ifndef KATALOG_DIGEST_BITS
#define KATALOG_DIGEST_BITS 0
#endif

const char *katalog_candidate(void)
{
	return KATALOG_CANDIDATE;
}

const char *katalog_instance(void)
{
	return KATALOG_INSTANCE;
}

const char *katalog_build_flags(void)
{
	return KATALOG_BUILD_FLAGS;
}

int katalog_digest_bits(void)
{
	return KATALOG_DIGEST_BITS;
}
