/*
 * The library under measurement, its inputs and outputs, and what its calls were seen to do.
 *
 * A family (kem, sign) is a table of operations in the order in which the honest case runs them. Each
 * operation prepares nothing: its inputs are what the operations before it left.
 */
#ifndef KATALOG_SUBJECT_H
#define KATALOG_SUBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "../iccs/iccs_kem.h"
#include "../iccs/iccs_sig.h"
#include "failure.h"
#include "json.h"
#include "library.h"
#include "octets.h"
#include "tally.h"

enum { MESSAGE_BYTES = 64, OCTETS_MAX = 6 };

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

struct observations {
	uint64_t sign_failures_retried, message_tweaks, setup_verify_failed, signature_length_excess, verify_rejections;
	bool signing_given_up;
	struct tally return_codes; /* of all calls of the process */
};

struct subject {
	struct library library;
	struct kem kem;
	struct sign sign;
	struct octets *octets[OCTETS_MAX]; /* all in use, for the guards; NULL-ended */
	struct observations seen;
};

struct operation {
	const char *name;
	int (*call)(struct subject *subject); /* the API's return code */
};

struct family {
	const char *name;
	const struct operation *operations; /* ends with a NULL name */
	int (*load)(struct subject *subject, struct failure *failure);
	bool (*honest)(const struct subject *subject); /* after each operation has returned 0 once */
	void (*write_sizes)(const struct subject *subject, struct json *json);
	void (*write_returned)(const struct subject *subject, struct json *json);
};

extern const struct family family_kem, family_sign;

/* An unknown name is a usage failure that lists the known ones. */
int find_family(const char *name, const struct family **family, struct failure *failure);
int find_operation(const struct family *family, const char *name, const struct operation **operation,
                   struct failure *failure);

int subject_add_octets(struct subject *subject, struct octets *octets, const char *name, unsigned long long bytes,
                       struct failure *failure);
int subject_check_guards(const struct subject *subject, struct failure *failure);

#endif
