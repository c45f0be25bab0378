/* Counters that misbehave on purpose, and static functions made callable for the tests. */
#include <signal.h>

#include "../../../csrc/counter/backend.h"
#include "../../../csrc/counter/perf_page.h"
#include "../../../csrc/shim/aes256.h"

static uint64_t steps;

static int read_frozen(const struct counter *counter, uint64_t *count)
{
	(void)counter;
	*count = 42;
	return 0;
}

static int read_backwards(const struct counter *counter, uint64_t *count)
{
	(void)counter;
	*count = 1000000 - steps++;
	return 0;
}

static int read_by_seven(const struct counter *counter, uint64_t *count)
{
	(void)counter;
	*count = steps += 7;
	return 0;
}

static int read_failing(const struct counter *counter, uint64_t *count)
{
	(void)counter;
	(void)count;
	return -EIO;
}

static int read_illegal(const struct counter *counter, uint64_t *count)
{
	(void)counter;
	(void)count;
	return raise(SIGILL);
}

static int read_unmapped(const struct counter *counter, uint64_t *count)
{
	uint64_t *volatile nowhere = NULL; /* volatile: the compiler must not see what this comes to */

	(void)counter;
	*count = *nowhere;
	return 0;
}

static int read_bus(const struct counter *counter, uint64_t *count)
{
	(void)counter;
	(void)count;
	return raise(SIGBUS);
}

static const struct counter_backend toys[] = {
	{.name = "frozen", .read = read_frozen},   {.name = "backwards", .read = read_backwards},
	{.name = "seven", .read = read_by_seven},  {.name = "failing", .read = read_failing},
	{.name = "illegal", .read = read_illegal}, {.name = "unmapped", .read = read_unmapped},
	{.name = "bus", .read = read_bus},
};

int hook_probe(int toy, struct counter_reason *why)
{
	struct counter counter = {.backend = &toys[toy], .perf_fd = -1};

	why->text[0] = '\0';
	return counter_probe(&counter, why);
}

int hook_overhead(int toy, struct counter_overhead *overhead)
{
	struct counter counter = {.backend = &toys[toy], .perf_fd = -1};

	return counter_measure_overhead(&counter, overhead);
}

static uint64_t fake_register;
static uint32_t asked_index;

static int read_fake_register(uint32_t index, uint64_t *value)
{
	asked_index = index;
	*value = fake_register;
	return 0;
}

/* Reads a made-up page; returns the error, and the index that was asked for. */
int hook_page_read(uint32_t index, int64_t offset, uint16_t width, int readable, uint64_t value, uint64_t *count,
                   uint32_t *asked)
{
	struct perf_event_mmap_page page = {.index = index, .offset = offset, .pmc_width = width};
	int error;

	page.cap_user_rdpmc = readable != 0;
	fake_register = value;
	asked_index = UINT32_MAX;
	error = perf_page_read(&page, read_fake_register, count);
	*asked = asked_index;
	return error;
}

void hook_aes256(const unsigned char key[32], const unsigned char in[16], unsigned char out[16])
{
	struct aes256 cipher;

	aes256_make_tables();
	aes256_set_key(&cipher, key);
	aes256_encrypt(&cipher, in, out);
}
