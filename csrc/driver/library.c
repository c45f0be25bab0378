#include "library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "../iccs/iccs_types.h"

enum { PATH_BYTES = 4096 };

/* A candidate may define a name that libc has, too: within its library that name is its own. */
enum { LOAD_FLAGS = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND };

/* Without a slash the loader would search the system's folders for the name. */
static int open_file(struct library *library, const char *path, struct failure *failure)
{
	char here[PATH_BYTES];

	if (snprintf(here, sizeof here, "%s%s", strchr(path, '/') ? "" : "./", path) >= (int)sizeof here)
		return fail(failure, FAILURE_LIBRARY, "the path of the library is too long");
	library->handle = dlopen(here, LOAD_FLAGS);
	if (!library->handle)
		return fail(failure, FAILURE_LIBRARY, "cannot load the library: %s", dlerror());
	return 0;
}

int library_find(const struct library *library, const char *symbol, void *place, struct failure *failure)
{
	void *address = dlsym(library->handle, symbol);

	if (!address)
		return fail(failure, FAILURE_LIBRARY, "the library does not export %s", symbol);
	memcpy(place, &address, sizeof address); /* C converts no object pointer to a function pointer */
	return 0;
}

static int find_text(const struct library *library, const char *symbol, const char **text, struct failure *failure)
{
	const char *(*state)(void) = NULL;

	if (library_find(library, symbol, &state, failure))
		return -1;
	*text = state();
	return *text ? 0 : fail(failure, FAILURE_LIBRARY, "%s returns NULL", symbol);
}

int library_load(struct library *library, const char *path, struct failure *failure)
{
	if (open_file(library, path, failure))
		return -1;
	if (find_text(library, "katalog_candidate", &library->candidate, failure) ||
	    find_text(library, "katalog_instance", &library->instance, failure) ||
	    find_text(library, "katalog_build_flags", &library->build_flags, failure))
		return -1;
	return library_find(library, "katalog_seed", &library->seed, failure);
}

int library_length(const struct library *library, const char *getter, unsigned long long *bytes,
                   struct failure *failure)
{
	iccs_length *length = NULL;

	if (library_find(library, getter, &length, failure))
		return -1;
	*bytes = length();
	return 0;
}
