/* Counts calls of helper functions in a table of bounded size. The time to find a row is not the function's. */
#include "wrap.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

enum { SLOTS = 2 * KATALOG_PROFILE_SHAPES, FUNCTIONS_MAX = 128, ROWS_MAX = KATALOG_PROFILE_SHAPES + FUNCTIONS_MAX };

static struct {
	int on, inside, by_clock;
	unsigned long long merged_calls;
	unsigned long rows;
	struct katalog_profile_row *last;           /* the row of the latest call: most often that of the next, too */
	struct katalog_profile_row table[ROWS_MAX]; /* shapes, in order of appearance, and rows without a shape */
	unsigned short slots[SLOTS];                /* by hash: index of a shape, plus one */
	unsigned long shapes;
} profile;

static unsigned long long clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (unsigned long long)now.tv_sec * 1000000000u + (unsigned long long)now.tv_nsec;
}

/*
 * The end is read when what stands before it is done. The begin does not wait: that would stop the caller's work for as
 * long as the read itself takes, and there are operations with a hundred thousand calls.
 */
#if defined __x86_64__
static const char hardware_ticks[] = "tsc";

static unsigned long long begin_ticks(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (unsigned long long)high << 32 | low;
}

static unsigned long long end_ticks(void)
{
	uint32_t low, high, aux;

	__asm__ volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(aux) : : "memory");
	return (unsigned long long)high << 32 | low;
}
#elif defined __aarch64__
static const char hardware_ticks[] = "cntvct";

static unsigned long long begin_ticks(void)
{
	uint64_t value;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value) : : "memory");
	return value;
}

static unsigned long long end_ticks(void)
{
	uint64_t value;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(value) : : "memory");
	return value;
}
#else
static const char hardware_ticks[] = "";

static unsigned long long begin_ticks(void)
{
	return clock_ns();
}

static unsigned long long end_ticks(void)
{
	return clock_ns();
}
#endif

int katalog_profile_use(const char *tick_source)
{
	profile.by_clock = strcmp(tick_source, "clock") == 0;
	return profile.by_clock || strcmp(tick_source, hardware_ticks) == 0 ? 0 : -1;
}

void katalog_profile_start(void)
{
	profile.on = 1;
}

void katalog_profile_stop(void)
{
	profile.on = 0;
}

void katalog_profile_reset(void)
{
	memset(profile.table, 0, sizeof profile.table);
	memset(profile.slots, 0, sizeof profile.slots);
	profile.rows = profile.shapes = 0;
	profile.merged_calls = 0;
	profile.last = NULL;
}

unsigned long katalog_profile_rows(const struct katalog_profile_row **rows)
{
	*rows = profile.table;
	return profile.rows;
}

unsigned long long katalog_profile_merged_calls(void)
{
	return profile.merged_calls;
}

static int is_row(const struct katalog_profile_row *row, const char *fn, unsigned long long in_bits,
                  unsigned long long out_bits)
{
	return row->fn == fn && row->in_bits == in_bits && row->out_bits == out_bits;
}

static struct katalog_profile_row *add_row(const char *fn, unsigned long long in_bits, unsigned long long out_bits)
{
	struct katalog_profile_row *row = &profile.table[profile.rows++];

	row->fn = fn;
	row->in_bits = in_bits;
	row->out_bits = out_bits;
	return row;
}

/* Once the table is full, what is new goes to its function's row without a shape; there is one for each function. */
static struct katalog_profile_row *merged_row(const char *fn)
{
	profile.merged_calls++;
	for (unsigned long i = 0; i < profile.rows; i++)
		if (is_row(&profile.table[i], fn, KATALOG_PROFILE_UNKNOWN, KATALOG_PROFILE_UNKNOWN))
			return &profile.table[i];
	return add_row(fn, KATALOG_PROFILE_UNKNOWN, KATALOG_PROFILE_UNKNOWN);
}

static unsigned long slot_of(const char *fn, unsigned long long in_bits, unsigned long long out_bits)
{
	unsigned long long mixed = ((unsigned long long)(uintptr_t)fn ^ in_bits << 20 ^ out_bits) * 0x9e3779b97f4a7c15ull;

	return (unsigned long)(mixed >> 40) % SLOTS;
}

static struct katalog_profile_row *find_row(const char *fn, unsigned long long in_bits, unsigned long long out_bits)
{
	unsigned long slot = slot_of(fn, in_bits, out_bits);

	for (; profile.slots[slot]; slot = (slot + 1) % SLOTS)
		if (is_row(&profile.table[profile.slots[slot] - 1], fn, in_bits, out_bits))
			return &profile.table[profile.slots[slot] - 1];
	if (profile.shapes == KATALOG_PROFILE_SHAPES)
		return merged_row(fn);
	profile.shapes++;
	profile.slots[slot] = (unsigned short)(profile.rows + 1);
	return add_row(fn, in_bits, out_bits);
}

int katalog_profile_enter(unsigned long long *begin)
{
	if (!profile.on || profile.inside)
		return 0;
	profile.inside = 1;
	*begin = profile.by_clock ? clock_ns() : begin_ticks();
	return 1;
}

void katalog_profile_leave(const char *fn, unsigned long long in_bits, unsigned long long out_bits,
                           unsigned long long begin)
{
	unsigned long long ticks = (profile.by_clock ? clock_ns() : end_ticks()) - begin;
	struct katalog_profile_row *row = profile.last;

	if (!row || !is_row(row, fn, in_bits, out_bits))
		row = profile.last = find_row(fn, in_bits, out_bits);
	row->calls++;
	row->ticks += ticks;
	profile.inside = 0;
}

/* The compiler must neither inline it nor see that it does nothing. */
static __attribute__((noinline)) int empty(int value)
{
	__asm__ volatile("" : "+r"(value) : : "memory");
	return value;
}

static const char empty_name[] = "empty";

static __attribute__((noinline)) int wrapped_empty(int value)
{
	unsigned long long begin = 0;
	int counts = katalog_profile_enter(&begin), result = empty(value);

	if (counts)
		katalog_profile_leave(empty_name, 0, 0, begin);
	return result;
}

void katalog_profile_call_empty(unsigned long calls, int wrapped)
{
	for (unsigned long i = 0; i < calls; i++)
		(wrapped ? wrapped_empty : empty)(0);
}
