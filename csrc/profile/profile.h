/*
 * What a profiled library exports beside the ICCS interface: calls and ticks of its helper functions, by shape.
 *
 * Order of calls: katalog_profile_use once, then start and stop around each piece of work, then rows. Between stop and
 * start nothing is counted. One thread; a helper that calls another helper counts once, as the outer one.
 */
#ifndef KATALOG_PROFILE_H
#define KATALOG_PROFILE_H

/* Of a shape whose length is not known from the arguments, and of the rows that took what found no place. */
#define KATALOG_PROFILE_UNKNOWN (~0ull)

enum { KATALOG_PROFILE_SHAPES = 512 };

struct katalog_profile_row {
	const char *fn; /* name in evidence; static */
	unsigned long long in_bits, out_bits, calls, ticks;
};

/* "tsc" (x86-64), "cntvct" (AArch64) or "clock" (nanoseconds); 0, or -1 where this library has no such clock. */
int katalog_profile_use(const char *tick_source);
void katalog_profile_start(void);
void katalog_profile_stop(void);
void katalog_profile_reset(void);

/* How many rows there are; *rows is valid until the next call of a helper. */
unsigned long katalog_profile_rows(const struct katalog_profile_row **rows);

/* Calls that found the table full: they stand in one row per function, without a shape. */
unsigned long long katalog_profile_merged_calls(void);

/* Calls an empty function so many times, directly or through a wrapper like any other (fn "empty"). */
void katalog_profile_call_empty(unsigned long calls, int wrapped);

#endif
