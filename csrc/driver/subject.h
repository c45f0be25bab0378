/*
 * The library under measurement, its inputs and outputs, and what its calls were seen to do.
 *
 * A family (kem, sign, kex, hash) is a table of operations in the order in which the honest case runs them. Each
 * operation prepares nothing: its inputs are what the operations before it left. The operations of a key exchange
 * depend on the library, so the table belongs to the subject and is there once the library is loaded.
 */
#ifndef KATALOG_SUBJECT_H
#define KATALOG_SUBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "../iccs/iccs_hash.h"
#include "../iccs/iccs_kem.h"
#include "../iccs/iccs_sig.h"
#include "failure.h"
#include "json.h"
#include "kex.h"
#include "library.h"
#include "octets.h"
#include "operation.h"
#include "tally.h"

enum { MESSAGE_BYTES = 64, OCTETS_MAX = 128 };

struct kem {
	iccs_kem_keygen *keygen;
	iccs_kem_enc *enc;
	iccs_kem_dec *dec;
	struct octets pk, sk, ct, ss, decapsulated_ss;
};

struct sign {
	iccs_sig_keygen *keygen;
	iccs_sig_sign *sign;
	iccs_sig_verify *verify;
	struct octets pk, sk, signature, message;
};

struct hash {
	iccs_hash *hash;
	unsigned int digest_bits;
	struct octets message, digest;
};

/* What the command line asks of a hash function; -1: nothing was said. */
struct wishes {
	int64_t input_bytes, digest_bits;
};

/* The first call after which nothing can be timed: what it returned, and a name, NULL if all is well. */
struct broken {
	const char *name;
	int code;
};

struct observations {
	uint64_t sign_failures_retried, message_tweaks, setup_verify_failed, signature_length_excess, verify_rejections;
	bool signing_given_up;
	struct broken broken;
	struct tally return_codes; /* of all calls of the process */
};

struct subject {
	struct library library;
	struct wishes wishes;
	const struct operation *operations; /* ends with a NULL name */
	struct kem kem;
	struct sign sign;
	struct kex kex;
	struct hash hash;
	struct octets *octets[OCTETS_MAX]; /* all in use, for the guards; NULL-ended */
	struct observations seen;
};

struct family {
	const char *name;
	int (*load)(struct subject *subject, struct failure *failure);
	bool (*honest)(const struct subject *subject); /* after each operation has returned 0 once */
	/* Fails where what was seen leaves nothing to time; NULL: all is data. */
	int (*check)(const struct subject *subject, const struct operation *operation, struct failure *failure);
	void (*write_sizes)(const struct subject *subject, struct json *json);
	void (*write_returned)(const struct subject *subject, struct json *json);
	void (*write_more)(const struct subject *subject, struct json *json); /* further members; NULL: none */
};

extern const struct family family_kem, family_sign, family_kex, family_hash;

/* An unknown name is a usage failure that lists the known ones. */
int find_family(const char *name, const struct family **family, struct failure *failure);
int find_operation(const struct family *family, const struct subject *subject, const char *name,
                   const struct operation **operation, struct failure *failure);

int subject_add_octets(struct subject *subject, struct octets *octets, const char *name, unsigned long long bytes,
                       struct failure *failure);
/* As long as a getter of the library says. */
int subject_add_declared(struct subject *subject, struct octets *octets, const char *name, const char *getter,
                         struct failure *failure);
/* Byte i of a message is (131 i + length) mod 256. */
int subject_add_message(struct subject *subject, struct octets *message, unsigned long long bytes,
                        struct failure *failure);
int subject_check_guards(const struct subject *subject, struct failure *failure);

#endif
