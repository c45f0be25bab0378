/* What a key exchange library holds, and what is told of it. kex.c has the calls. */
#include <stdio.h>
#include <string.h>

#include "subject.h"

static unsigned char letter_of_pass(unsigned int pass)
{
	return pass % 2 ? 'a' : 'b';
}

/* Only what the claimed number of passes needs: a library has no more. */
static int find_passes(struct subject *subject, struct failure *failure)
{
	struct kex *kex = &subject->kex;
	char symbol[48];

	if (kex->passes && library_find(&subject->library, "kex_generate_pass1_msg_a", &kex->first_pass, failure))
		return -1;
	for (unsigned int pass = 2; pass <= kex->passes; pass++) {
		snprintf(symbol, sizeof symbol, "kex_generate_pass%u_msg_%c", pass, letter_of_pass(pass));
		if (library_find(&subject->library, symbol, &kex->next_passes[pass - 1], failure))
			return -1;
	}
	return 0;
}

static int count_passes(struct subject *subject, struct failure *failure)
{
	unsigned long long stated;

	if (library_length(&subject->library, "kex_get_passes_num", &stated, failure))
		return -1;
	if (stated > KEX_PASSES_MAX)
		return fail(failure, FAILURE_LIBRARY, "kex_get_passes_num: the library states %llu passes, allowed are at most %d",
		            stated, KEX_PASSES_MAX);
	subject->kex.passes = (unsigned int)stated;
	return find_passes(subject, failure);
}

static int find_parties(struct subject *subject, struct failure *failure)
{
	const struct library *library = &subject->library;
	struct kex_party *a = &subject->kex.parties[SIDE_A], *b = &subject->kex.parties[SIDE_B];

	if (library_find(library, "kex_init_a", &a->init, failure) || library_find(library, "kex_init_b", &b->init, failure))
		return -1;
	if (library_find(library, "kex_derive_ss_a", &a->derive, failure) ||
	    library_find(library, "kex_derive_ss_b", &b->derive, failure))
		return -1;
	return 0;
}

static int make_party(struct subject *subject, unsigned int side, struct failure *failure)
{
	static const struct {
		const char *pk, *sk, *state, *state_getter, *ss;
	} names[SIDES] = {
		{"pk of a", "sk of a", "state of a", "kex_get_sta_len_bytes", "ss of a"},
		{"pk of b", "sk of b", "state of b", "kex_get_stb_len_bytes", "ss of b"},
	};
	struct kex_party *party = &subject->kex.parties[side];

	party->live = &party->state;
	if (subject_add_declared(subject, &party->pk, names[side].pk, "kex_get_pk_len_bytes", failure) ||
	    subject_add_declared(subject, &party->sk, names[side].sk, "kex_get_sk_len_bytes", failure) ||
	    subject_add_declared(subject, &party->state, names[side].state, names[side].state_getter, failure))
		return -1;
	return subject_add_declared(subject, &party->ss, names[side].ss, "kex_get_ss_len_bytes", failure);
}

/* Only the sum of all messages is known beforehand, so each may be as long. */
static int make_messages(struct subject *subject, struct failure *failure)
{
	static const char *const names[KEX_PASSES_MAX] = {
		"message 1", "message 2",  "message 3",  "message 4",  "message 5",  "message 6",  "message 7",  "message 8",
		"message 9", "message 10", "message 11", "message 12", "message 13", "message 14", "message 15", "message 16",
	};
	struct kex *kex = &subject->kex;

	if (library_length(&subject->library, "kex_get_total_msg_len_bytes", &kex->total_message_bytes, failure))
		return -1;
	for (unsigned int i = 0; i < kex->passes; i++)
		if (subject_add_octets(subject, &kex->messages[i], names[i], kex->total_message_bytes, failure))
			return -1;
	return 0;
}

static int load(struct subject *subject, struct failure *failure)
{
	if (count_passes(subject, failure) || find_parties(subject, failure) || make_party(subject, SIDE_A, failure) ||
	    make_party(subject, SIDE_B, failure) || make_messages(subject, failure))
		return -1;
	kex_list_operations(subject);
	return 0;
}

static bool honest(const struct subject *subject)
{
	return octets_equal(&subject->kex.parties[SIDE_A].ss, &subject->kex.parties[SIDE_B].ss);
}

static int check(const struct subject *subject, const struct operation *operation, struct failure *failure)
{
	const struct broken *broken = &subject->seen.broken;
	const struct kex *kex = &subject->kex;

	(void)operation;
	if (!broken->name)
		return 0;
	if (strncmp(broken->name, "pass", 4) != 0)
		return fail(failure, FAILURE_OPERATION, "%s returns %d, so the protocol does not run", broken->name, broken->code);
	return fail(failure, FAILURE_OPERATION,
	            "%s returns %d, so the protocol does not run: of %u passes the last returns 1, each other one 0",
	            broken->name, broken->code, kex->passes);
}

static void write_sizes(const struct subject *subject, struct json *json)
{
	const struct kex_party *a = &subject->kex.parties[SIDE_A];

	json_count(json, "pk_bytes", a->pk.capacity_bytes);
	json_count(json, "sk_bytes", a->sk.capacity_bytes);
	json_count(json, "ss_bytes", a->ss.capacity_bytes);
}

static void write_returned(const struct subject *subject, struct json *json)
{
	const struct kex_party *a = &subject->kex.parties[SIDE_A], *b = &subject->kex.parties[SIDE_B];

	json_count(json, "returned_pk_bytes", octets_longest(&a->pk, &b->pk));
	json_count(json, "returned_sk_bytes", octets_longest(&a->sk, &b->sk));
	json_count(json, "returned_ss_bytes", octets_longest(&a->ss, &b->ss));
}

static void write_states(const struct kex_party *party, unsigned int states, const char *key, struct json *json)
{
	json_open_array(json, key);
	for (unsigned int i = 0; i < states; i++)
		json_count(json, NULL, party->state_bytes[i]);
	json_close_array(json);
}

static void write_lengths(const struct kex *kex, struct json *json)
{
	json_open_array(json, "message_bytes");
	for (unsigned int i = 0; i < kex->passes; i++)
		json_count(json, NULL, kex->messages[i].longest_bytes);
	json_close_array(json);
	write_states(&kex->parties[SIDE_A], 1 + (kex->passes + 1) / 2, "state_a_bytes", json);
	write_states(&kex->parties[SIDE_B], 1 + kex->passes / 2, "state_b_bytes", json);
}

static void write_more(const struct subject *subject, struct json *json)
{
	const struct kex *kex = &subject->kex;

	json_open_object(json, "kex");
	json_count(json, "passes", kex->passes);
	json_count(json, "declared_messages_bytes", kex->total_message_bytes);
	json_count(json, "declared_state_a_bytes", kex->parties[SIDE_A].state.capacity_bytes);
	json_count(json, "declared_state_b_bytes", kex->parties[SIDE_B].state.capacity_bytes);
	if (subject->seen.return_codes.distinct) /* else nothing was called */
		write_lengths(kex, json);
	json_close_object(json);
}

const struct family family_kex = {"kex", load, honest, check, write_sizes, write_returned, write_more};
