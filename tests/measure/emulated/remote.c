/*
 * Calls into one library on behalf of another process, so that a library of a foreign architecture can be driven
 * under an emulator. Reads requests from one descriptor and answers on another, all integers 8 bytes in the byte
 * order of the machine (both sides run on one). A request: name, number of arguments, arguments. An argument is its
 * kind and a count: 'v' a value, 'i' input bytes that follow, 'o' an output of so many bytes, 'l' an output whose
 * length the function may set, passed as a pair of pointers. An answer: returned value, then each output's length
 * and bytes.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 10, NAME_BYTES = 64 };

struct argument {
	uint64_t kind, count;
	unsigned char *bytes;
	unsigned long long length;
};

static void die(const char *what)
{
	fprintf(stderr, "remote: %s\n", what);
	exit(2);
}

static int requests, answers;

static int get(void *bytes, size_t count)
{
	for (size_t done = 0; done < count;) {
		ssize_t got = read(requests, (char *)bytes + done, count - done);

		if (got <= 0)
			return -1;
		done += (size_t)got;
	}
	return 0;
}

static void put(const void *bytes, size_t count)
{
	for (size_t done = 0; done < count;) {
		ssize_t put = write(answers, (const char *)bytes + done, count - done);

		if (put <= 0)
			die("the answer cannot be written");
		done += (size_t)put;
	}
}

static void get_argument(struct argument *argument)
{
	if (get(&argument->kind, 8) || get(&argument->count, 8))
		die("a request ends early");
	if (argument->kind == 'v')
		return;
	argument->length = argument->count;
	argument->bytes = calloc(argument->count + 1, 1);
	if (!argument->bytes || (argument->kind == 'i' && get(argument->bytes, argument->count)))
		die("no memory, or a request ends early");
}

/* The words of a call: one for each argument, two for an output with its length. */
static size_t words_of(const struct argument *arguments, size_t count, uintptr_t words[2 * ARGUMENTS_MAX])
{
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		const struct argument *argument = &arguments[i];

		words[used++] = argument->kind == 'v' ? (uintptr_t)argument->count : (uintptr_t)argument->bytes;
		if (argument->kind == 'l')
			words[used++] = (uintptr_t)&argument->length;
	}
	return used;
}

static uint64_t call(void *function, const uintptr_t *w, size_t words)
{
	union {
		void *address;
		uint64_t (*zero)(void);
		uint64_t (*ten)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
		                uintptr_t);
	} f = {function};

	if (words == 0)
		return f.zero();
	/* Words beyond those that the function takes do no harm in the calling conventions of both machines. */
	return f.ten(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9]);
}

static int serve(void *library)
{
	static struct argument arguments[ARGUMENTS_MAX];
	uintptr_t words[2 * ARGUMENTS_MAX] = {0};
	char name[NAME_BYTES];
	uint64_t count, returned;
	void *function;

	if (get(name, sizeof name))
		return -1;
	if (get(&count, 8) || count > ARGUMENTS_MAX)
		die("a request has too many arguments");
	for (size_t i = 0; i < count; i++)
		get_argument(&arguments[i]);
	function = dlsym(library, name);
	if (!function)
		die(name);
	returned = call(function, words, words_of(arguments, count, words));
	put(&returned, 8);
	for (size_t i = 0; i < count; i++) {
		struct argument *argument = &arguments[i];
		uint64_t length = argument->length;

		if (argument->kind == 'o' || argument->kind == 'l') {
			put(&length, 8);
			put(argument->bytes, length <= argument->count ? length : 0);
		}
		if (argument->kind != 'v')
			free(argument->bytes);
	}
	return 0;
}

int main(int argc, char **argv)
{
	void *library = argc == 4 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;

	if (!library)
		die(argc == 4 ? dlerror() : "usage: remote LIBRARY REQUESTS ANSWERS");
	requests = atoi(argv[2]);
	answers = atoi(argv[3]);
	while (serve(library) == 0)
		continue;
	return 0;
}
