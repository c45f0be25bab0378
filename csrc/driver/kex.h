/*
 * A key exchange between a and b, from the first call to the last: init_a, init_b, the passes in turn, derive_a,
 * derive_b. Both share messages and public keys as the official driver lets them; what a call hands on is the
 * length that it returned.
 */
#ifndef KATALOG_KEX_H
#define KATALOG_KEX_H

#include "../iccs/iccs_kex.h"
#include "failure.h"
#include "octets.h"
#include "operation.h"

enum { SIDE_A, SIDE_B, SIDES };
enum { KEX_PASSES_MAX = 16, KEX_OPERATIONS_MAX = KEX_PASSES_MAX + 6, KEX_COPIES = 64 };
enum { KEX_STATES_MAX = 1 + KEX_PASSES_MAX / 2 }; /* of one side: after init, then after each of its passes */

struct kex_party {
	iccs_kex_init *init;
	iccs_kex_derive *derive;
	struct octets pk, sk, state, ss;
	struct octets *live; /* the state that calls work on: &state, or a copy of it */
	unsigned long long state_bytes[KEX_STATES_MAX]; /* largest returned ones */
};

struct kex {
	unsigned int passes;
	unsigned long long total_message_bytes;
	iccs_kex_first_pass *first_pass;
	iccs_kex_next_pass *next_passes[KEX_PASSES_MAX];
	struct kex_party parties[SIDES];
	struct octets messages[KEX_PASSES_MAX];
	struct octets copies[KEX_COPIES]; /* of one side's state */
	struct operation operations[KEX_OPERATIONS_MAX];
};

struct subject;

/* Fills the table of operations in for the number of passes. */
void kex_list_operations(struct subject *subject);

/* Makes room for copies of the state of the side that makes a step. */
int kex_make_copies(struct subject *subject, const struct operation *step, struct failure *failure);

/* Runs the steps from one up to another, that one left out; stops and returns its code where a step breaks the run. */
int kex_run(struct subject *subject, const struct operation *from, const struct operation *to);
const struct operation *kex_first_step(const struct subject *subject);
const struct operation *kex_end(const struct subject *subject); /* behind the last step */

/* Copies the state of a step's side so many times, at most KEX_COPIES; calls then work on the one chosen. */
void kex_copy_state(struct subject *subject, const struct operation *step, unsigned int copies);
void kex_choose_copy(struct subject *subject, const struct operation *step, unsigned int copy);
/* The chosen copy becomes the state. */
void kex_keep_copy(struct subject *subject, const struct operation *step);

#endif
