/*
 * The ICCS helpers as a program, so that sanitizers and emulators can run them. Each line of the input is a call, its
 * data in hex, "-" for none; each line of the output is "code data".
 *
 *     hash 256 24 616263        sm3hash; likewise mac (pseudohash) and xof (pseudoXOF): output bits, message bits, message
 *     init SEED                 init_random_number; gives the state
 *     load STATE                sets the state; gives it
 *     draw 512                  get_random_number; gives the output, then the state
 *
 * Every buffer is an allocation of just the size that the call may touch.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../csrc/iccs/auxfunc.h"
#include "../../../csrc/iccs/drng.h"

enum { LINE_BYTES = 1 << 21 };

static DRNG_ctx state;

static unsigned char *from_hex(const char *hex, size_t *bytes)
{
	unsigned char *data;

	*bytes = strcmp(hex, "-") == 0 ? 0 : strlen(hex) / 2;
	data = malloc(*bytes);
	for (size_t i = 0; i < *bytes; i++) {
		unsigned int byte;

		if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
			exit(2);
		data[i] = (unsigned char)byte;
	}
	return data;
}

static void print_hex(const void *data, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		printf("%02x", ((const unsigned char *)data)[i]);
}

static void run_hash(char kind, unsigned long long out_bits, unsigned long long in_bits, const char *hex)
{
	size_t in_bytes, out_bytes = (size_t)(out_bits + 7) / 8;
	unsigned char *in = from_hex(hex, &in_bytes), *out = malloc(out_bytes);
	int code;

	if (kind == 'h')
		code = sm3hash((int)out_bits, in, in_bits, out);
	else if (kind == 'm')
		code = pseudohash((int)out_bits, in, in_bits, out);
	else
		code = pseudoXOF(out_bits, in, in_bits, out);
	printf("%d ", code);
	if (code == 0)
		print_hex(out, out_bytes);
	printf("\n");
	free(in);
	free(out);
}

static void run_draw(unsigned long long bits)
{
	size_t bytes = (size_t)(bits + 7) / 8;
	unsigned char *out = malloc(bytes);

	printf("%d ", get_random_number(&state, out, bits));
	print_hex(out, bytes);
	print_hex(&state, sizeof state);
	printf("\n");
	free(out);
}

static void run_state(char kind, const char *hex)
{
	size_t bytes;
	unsigned char *data = from_hex(hex, &bytes);
	int code = 0;

	if (kind == 'i')
		code = init_random_number(&state, data, bytes);
	else
		memcpy(&state, data, sizeof state);
	printf("%d ", code);
	print_hex(&state, sizeof state);
	printf("\n");
	free(data);
}

int main(void)
{
	static char line[LINE_BYTES], word[8], hex[LINE_BYTES];
	unsigned long long first, second;

	while (fgets(line, sizeof line, stdin)) {
		if (sscanf(line, "%7s %llu %llu %s", word, &first, &second, hex) == 4)
			run_hash(word[0], first, second, hex);
		else if (sscanf(line, "draw %llu", &first) == 1)
			run_draw(first);
		else if (sscanf(line, "%7s %s", word, hex) == 2)
			run_state(word[0], hex);
		else
			return 2;
	}
	return 0;
}
