#include "subject.h"

#include <stdio.h>
#include <string.h>

static const struct family *const families[] = {&family_kem, &family_sign, &family_kex, &family_hash};
enum { FAMILIES = sizeof families / sizeof families[0] };

int find_family(const char *name, const struct family **family, struct failure *failure)
{
	char known[128] = "";
	size_t used = 0;

	for (size_t i = 0; i < FAMILIES; i++) {
		*family = families[i];
		if (strcmp(name, families[i]->name) == 0)
			return 0;
		used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", families[i]->name);
	}
	return fail(failure, FAILURE_USAGE, "unknown family '%s'; known: %s", name, known);
}

int find_operation(const struct family *family, const struct subject *subject, const char *name,
                   const struct operation **operation, struct failure *failure)
{
	char known[256] = "";
	size_t used = 0;

	for (*operation = subject->operations; (*operation)->name; ++*operation) {
		if (strcmp(name, (*operation)->name) == 0)
			return 0;
		used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", (*operation)->name);
	}
	return fail(failure, FAILURE_USAGE, "unknown operation '%s' of family %s; known: %s", name, family->name, known);
}

int subject_add_octets(struct subject *subject, struct octets *octets, const char *name, unsigned long long bytes,
                       struct failure *failure)
{
	size_t free_place = 0;

	while (subject->octets[free_place])
		free_place++;
	if (octets_make(octets, name, bytes, failure))
		return -1;
	subject->octets[free_place] = octets;
	return 0;
}

int subject_add_declared(struct subject *subject, struct octets *octets, const char *name, const char *getter,
                         struct failure *failure)
{
	unsigned long long bytes;

	if (library_length(&subject->library, getter, &bytes, failure))
		return -1;
	return subject_add_octets(subject, octets, name, bytes, failure);
}

int subject_add_message(struct subject *subject, struct octets *message, unsigned long long bytes,
                        struct failure *failure)
{
	if (subject_add_octets(subject, message, "message", bytes, failure))
		return -1;
	for (unsigned long long i = 0; i < bytes; i++)
		message->bytes[i] = (unsigned char)(131 * i + bytes);
	return 0;
}

int subject_check_guards(const struct subject *subject, struct failure *failure)
{
	for (size_t i = 0; subject->octets[i]; i++)
		if (octets_check_guards(subject->octets[i], failure))
			return -1;
	return 0;
}
