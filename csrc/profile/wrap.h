/* What every wrapper does before and after the function that it wraps. Included by generated files. */
#ifndef KATALOG_PROFILE_WRAP_H
#define KATALOG_PROFILE_WRAP_H

#include "profile.h"

/* Returns whether this call counts: the profile is on and no other helper is under way. */
int katalog_profile_enter(unsigned long long *begin);
void katalog_profile_leave(const char *fn, unsigned long long in_bits, unsigned long long out_bits,
                           unsigned long long begin);

#endif
