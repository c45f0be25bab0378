/*
 * The driver's measure: the same library, the same counter, and nothing around the calls but a loop.
 *
 *     bare_loop LIBRARY CPU ITERATIONS
 *
 * prints the counter, the median of single key generations and their plain mean.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../counter/counter.h"
#include "../driver/quantiles.h"
#include "../iccs/iccs_kem.h"

struct keys {
	unsigned char *pk, *sk;
	unsigned long long pk_bytes, sk_bytes;
};

static void stop(const char *reason)
{
	fprintf(stderr, "bare_loop: %s\n", reason);
	exit(1);
}

static void find(void *library, const char *symbol, void *place)
{
	void *address = dlsym(library, symbol);

	if (!address)
		stop(symbol);
	memcpy(place, &address, sizeof address);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof set, &set))
		stop("cannot pin to the CPU");
}

static unsigned long long length_of(void *library, const char *getter)
{
	iccs_length *length;

	find(library, getter, &length);
	return length();
}

static struct keys make_keys(void *library)
{
	struct keys keys = {NULL, NULL, length_of(library, "kem_get_pk_len_bytes"),
	                    length_of(library, "kem_get_sk_len_bytes")};

	keys.pk = calloc(1, keys.pk_bytes + 1);
	keys.sk = calloc(1, keys.sk_bytes + 1);
	if (!keys.pk || !keys.sk)
		stop("no memory");
	return keys;
}

static void seed(void *library)
{
	void (*set_seed)(const unsigned char *seed, unsigned long long seed_bytes);
	unsigned char bytes[48];

	find(library, "katalog_seed", &set_seed);
	for (unsigned int i = 0; i < sizeof bytes; i++)
		bytes[i] = (unsigned char)i;
	set_seed(bytes, sizeof bytes);
}

static uint64_t time_loop(iccs_kem_keygen *keygen, struct keys *keys, const struct counter *counter,
                          uint64_t *readings, size_t iterations)
{
	uint64_t first, begin, end = 0;

	if (counter_read(counter, &first))
		stop("the counter cannot be read");
	begin = first;
	for (size_t i = 0; i < iterations; i++) {
		unsigned long long pk_bytes = keys->pk_bytes, sk_bytes = keys->sk_bytes;

		keygen(keys->pk, &pk_bytes, keys->sk, &sk_bytes);
		counter_read(counter, &end);
		readings[i] = end - begin;
		begin = end;
	}
	return end - first;
}

static void run(void *library, const struct counter *counter, size_t iterations)
{
	struct keys keys = make_keys(library);
	uint64_t *readings = calloc(iterations, sizeof *readings), total;
	struct counter_overhead overhead;
	struct quantiles quantiles;
	iccs_kem_keygen *keygen;

	if (!readings || counter_measure_overhead(counter, &overhead))
		stop("no memory, or the counter cannot be read");
	find(library, "kem_keygen", &keygen);
	seed(library);
	time_loop(keygen, &keys, counter, readings, iterations < 10 ? iterations : 10);
	total = time_loop(keygen, &keys, counter, readings, iterations);
	quantiles_of(readings, iterations, overhead.count, 1, &quantiles);
	printf("{\"counter\":\"%s\",\"median\":%.1f,\"mean\":%.1f}\n", counter_name(counter), quantiles.p50,
	       (double)total / (double)iterations);
}

int main(int argc, char *argv[])
{
	struct counter_refusals refusals;
	struct counter_request request = {0};
	struct counter *counter;
	void *library;
	long iterations;

	if (argc != 4)
		stop("usage: bare_loop LIBRARY CPU ITERATIONS");
	request.cpu = atoi(argv[2]);
	iterations = atol(argv[3]);
	pin(request.cpu);
	library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	if (!library)
		stop(dlerror());
	if (iterations < 1 || counter_select(&counter, &request, &refusals))
		stop("no iterations, or no counter");
	run(library, counter, (size_t)iterations);
	return 0;
}
