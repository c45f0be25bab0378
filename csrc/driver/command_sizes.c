#include "commands.h"
#include "subject.h"

static int sizes(const struct arguments *arguments, struct json *json, struct failure *failure)
{
	static struct subject subject;
	const struct family *family;

	subject.wishes = (struct wishes){arguments->input_bytes, arguments->digest_bits};
	if (find_family(arguments->family, &family, failure) ||
	    library_load(&subject.library, arguments->library, failure) || family->load(&subject, failure))
		return -1;
	json_string(json, "family", family->name);
	json_string(json, "candidate", subject.library.candidate);
	json_string(json, "instance", subject.library.instance);
	json_string(json, "build_flags", subject.library.build_flags);
	json_open_object(json, "sizes");
	family->write_sizes(&subject, json);
	json_close_object(json);
	if (family->write_more)
		family->write_more(&subject, json);
	return 0;
}

static const char *const required[] = {"--library", "--family", "--result-fd", NULL};

const struct command command_sizes = {"sizes", sizes, required};
