/*
 * How fast the core runs, window by window: by the counter where it counts core cycles, else by a chain of
 * additions, each of which waits one cycle for the one before. Additions of a register: some cores make those of
 * a constant take no time.
 */
#include <string.h>

#include "../counter/wall.h"
#include "commands.h"
#include "counters.h"
#include "system.h"

enum { WINDOWS = 25, WINDOW_NS = 2000000, CHAIN_CALLS = 1000, CHAIN_LINKS = 16 };

static void run_chain(void)
{
	uint64_t sum = 0, addend = 1;

	for (int i = 0; i < CHAIN_CALLS; i++) {
#if defined __x86_64__
#define LINK "add %1, %0\n\t"
#elif defined __aarch64__ || (defined __riscv && __riscv_xlen == 64)
#define LINK "add %0, %0, %1\n\t"
#else
#define LINK "" /* reported as a rate of 0, which nobody takes for a clock */
#endif
#define FOUR_LINKS LINK LINK LINK LINK
		__asm__ volatile(FOUR_LINKS FOUR_LINKS FOUR_LINKS FOUR_LINKS : "+r"(sum) : "r"(addend));
	}
}

/* Returns the cycles of one window per second. */
static int measure_window(const struct counter *counter, uint64_t *hz, struct failure *failure)
{
	uint64_t begin = 0, end = 0, cycles = 0, begin_ns = wall_ns(), spent_ns;
	int counted = strcmp(counter_unit(counter), "cycles") == 0;

	if (counted && counter_read(counter, &begin))
		return fail(failure, FAILURE_COUNTER, "%s cannot be read", counter_name(counter));
	do {
		run_chain();
		cycles += sizeof LINK > 1 ? CHAIN_CALLS * CHAIN_LINKS : 0;
		spent_ns = wall_ns() - begin_ns;
	} while (spent_ns < WINDOW_NS);
	if (counted && (counter_read(counter, &end) || counter_difference(begin, end, &cycles)))
		return fail(failure, FAILURE_COUNTER, "%s cannot be read", counter_name(counter));
	*hz = (uint64_t)((double)cycles * 1e9 / (double)spent_ns);
	return 0;
}

static int write_windows(const struct counter *counter, struct json *json, struct failure *failure)
{
	uint64_t hz = 0;

	json_open_array(json, "clock_hz");
	for (int i = 0; i < WINDOWS; i++) {
		if (measure_window(counter, &hz, failure))
			return -1;
		json_count(json, NULL, hz);
	}
	json_close_array(json);
	return 0;
}

static int clock_rates(const struct arguments *arguments, struct json *json, struct failure *failure)
{
	struct counter_refusals refusals;
	struct used_counter used;
	int failed;

	if (pin_to_cpu((int)arguments->cpu, failure) ||
	    open_counter(&used, arguments->counter, (int)arguments->cpu, &refusals, failure))
		return -1;
	write_counter(&used, json);
	failed = write_windows(used.counter, json, failure);
	counter_close(used.counter);
	return failed;
}

static const char *const required[] = {"--cpu", "--result-fd", NULL};

const struct command command_clock = {"clock", clock_rates, required};
