#include "subject.h"

static int call_hash(struct subject *subject)
{
	struct hash *hash = &subject->hash;
	struct broken *broken = &subject->seen.broken;
	int code = hash->hash((int)hash->digest_bits, hash->message.bytes, 8 * hash->message.length_bytes, hash->digest.bytes);

	tally_add(&subject->seen.return_codes, code);
	if (code && !broken->name)
		*broken = (struct broken){"CryptHash", code};
	return code;
}

static const struct operation operations[] = {{.name = "hash", .call = call_hash}, {.name = NULL}};

/* The interface has no getter. A library that was built by katalog states what its header says, else the caller does. */
static int find_digest_bits(struct subject *subject, struct failure *failure)
{
	int (*stated)(void) = NULL;
	struct failure absent;
	int64_t bits = subject->wishes.digest_bits;

	if (bits < 0 && library_find(&subject->library, "katalog_digest_bits", &stated, &absent) == 0)
		bits = stated();
	if (bits <= 0)
		return fail(failure, FAILURE_USAGE, "--digest-bits is missing: the library does not state its digest's length");
	subject->hash.digest_bits = (unsigned int)bits;
	return 0;
}

static int load(struct subject *subject, struct failure *failure)
{
	struct hash *hash = &subject->hash;
	int64_t input_bytes = subject->wishes.input_bytes;

	subject->operations = operations;
	if (library_find(&subject->library, "CryptHash", &hash->hash, failure) || find_digest_bits(subject, failure))
		return -1;
	if (subject_add_message(subject, &hash->message, input_bytes < 0 ? 0 : (unsigned long long)input_bytes, failure))
		return -1;
	return subject_add_octets(subject, &hash->digest, "digest", (hash->digest_bits + 7) / 8, failure);
}

static bool honest(const struct subject *subject)
{
	(void)subject;
	return true;
}

/* A function that refuses its input does no work, so there is nothing to time. */
static int check(const struct subject *subject, const struct operation *operation, struct failure *failure)
{
	const struct broken *broken = &subject->seen.broken;
	const struct hash *hash = &subject->hash;

	(void)operation;
	if (!broken->name)
		return 0;
	return fail(failure, FAILURE_OPERATION, "%s returns %d for a digest of %u bits of %llu bytes", broken->name,
	            broken->code, hash->digest_bits, hash->message.capacity_bytes);
}

static void write_sizes(const struct subject *subject, struct json *json)
{
	if (subject->wishes.input_bytes >= 0)
		json_count(json, "input_bytes", subject->hash.message.capacity_bytes);
	json_count(json, "digest_bytes", subject->hash.digest.capacity_bytes);
}

/* The interface returns no length. */
static void write_returned(const struct subject *subject, struct json *json)
{
	(void)subject;
	(void)json;
}

const struct family family_hash = {"hash", load, honest, check, write_sizes, write_returned, NULL};
