/* The build gives the three strings as macros, so a library can be told from its neighbours without its path. */
#include "metadata.h"

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
