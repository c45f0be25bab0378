/* One shared library, loaded with all its symbols resolved and none of them visible to others. Never unloaded. */
#ifndef KATALOG_LIBRARY_H
#define KATALOG_LIBRARY_H

#include "failure.h"

struct library {
	void *handle;
	const char *candidate, *instance, *build_flags; /* as the library states them; its memory */
	void (*seed)(const unsigned char *seed, unsigned long long seed_bytes);
};

int library_load(struct library *library, const char *path, struct failure *failure);

/* place: address of a function pointer, which receives the symbol. */
int library_find(const struct library *library, const char *symbol, void *place, struct failure *failure);

/* Calls a getter of the ICCS interface by name. */
int library_length(const struct library *library, const char *getter, unsigned long long *bytes,
                   struct failure *failure);

#endif
