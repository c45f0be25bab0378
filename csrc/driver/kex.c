#include "kex.h"

#include <string.h>

#include "subject.h"

enum { ALWAYS = 0 }; /* what init and derive return when all is well */

static unsigned char side_of_pass(unsigned int pass)
{
	return pass % 2 ? SIDE_A : SIDE_B;
}

/* The step's state, as often as the side has had one: 0 after init. */
static void take_state(struct kex_party *party, unsigned int times)
{
	unsigned long long bytes = party->live->length_bytes;

	octets_take(party->live);
	if (bytes > party->state_bytes[times])
		party->state_bytes[times] = bytes;
}

/* Nothing can follow a call that did not do its part; the first such call is the one to tell. */
static int expect(struct subject *subject, const char *name, int code, int expected)
{
	struct broken *broken = &subject->seen.broken;

	tally_add(&subject->seen.return_codes, code);
	if (code == expected)
		return 0;
	if (!broken->name)
		*broken = (struct broken){name, code};
	return code ? code : -1;
}

static int call_init(struct subject *subject, unsigned int side, const char *name)
{
	struct kex_party *me = &subject->kex.parties[side];
	int code;

	octets_offer(&me->pk);
	octets_offer(&me->sk);
	octets_offer(me->live);
	code = me->init(me->pk.bytes, &me->pk.length_bytes, me->sk.bytes, &me->sk.length_bytes, me->live->bytes,
	                &me->live->length_bytes);
	octets_take(&me->pk);
	octets_take(&me->sk);
	take_state(me, 0);
	return expect(subject, name, code, ALWAYS);
}

static int call_pass(struct subject *subject, unsigned int pass, const char *name)
{
	struct kex *kex = &subject->kex;
	struct kex_party *me = &kex->parties[side_of_pass(pass)], *peer = &kex->parties[!side_of_pass(pass)];
	struct octets *sent = &kex->messages[pass - 1], *got = pass > 1 ? sent - 1 : NULL;
	int code;

	sent->length_bytes = 0;
	if (!got)
		code = kex->first_pass(me->sk.bytes, me->sk.length_bytes, peer->pk.bytes, peer->pk.length_bytes,
		                       me->live->bytes, &me->live->length_bytes, sent->bytes, &sent->length_bytes);
	else
		code = kex->next_passes[pass - 1](me->sk.bytes, me->sk.length_bytes, peer->pk.bytes, peer->pk.length_bytes,
		                                  got->bytes, got->length_bytes, me->live->bytes, &me->live->length_bytes,
		                                  sent->bytes, &sent->length_bytes);
	octets_take(sent);
	take_state(me, (pass + 1) / 2);
	return expect(subject, name, code, pass == kex->passes);
}

/* The last message from the other side; NULL where there was none. */
static const struct octets *last_message(const struct kex *kex, unsigned int from)
{
	unsigned int pass = kex->passes;

	if (pass && side_of_pass(pass) != from)
		pass--;
	return pass ? &kex->messages[pass - 1] : NULL;
}

/* A failing derive spoils no run: it is data. */
static int call_derive(struct subject *subject, unsigned int side)
{
	struct kex *kex = &subject->kex;
	struct kex_party *me = &kex->parties[side], *peer = &kex->parties[!side];
	const struct octets *m = last_message(kex, !side);
	int code;

	octets_offer(&me->ss);
	code = me->derive(me->sk.bytes, me->sk.length_bytes, peer->pk.bytes, peer->pk.length_bytes, m ? m->bytes : NULL,
	                  m ? m->length_bytes : 0, me->live->bytes, me->live->length_bytes, me->ss.bytes,
	                  &me->ss.length_bytes);
	octets_take(&me->ss);
	tally_add(&subject->seen.return_codes, code);
	return code;
}

static int call_init_a(struct subject *subject)
{
	return call_init(subject, SIDE_A, "init_a");
}

static int call_init_b(struct subject *subject)
{
	return call_init(subject, SIDE_B, "init_b");
}

static int call_derive_a(struct subject *subject)
{
	return call_derive(subject, SIDE_A);
}

static int call_derive_b(struct subject *subject)
{
	return call_derive(subject, SIDE_B);
}

#define CALL_PASS(K)                                         \
	static int call_pass##K(struct subject *subject)         \
	{                                                        \
		return call_pass(subject, K, "pass" #K);             \
	}

CALL_PASS(1) CALL_PASS(2) CALL_PASS(3) CALL_PASS(4) CALL_PASS(5) CALL_PASS(6) CALL_PASS(7) CALL_PASS(8)
CALL_PASS(9) CALL_PASS(10) CALL_PASS(11) CALL_PASS(12) CALL_PASS(13) CALL_PASS(14) CALL_PASS(15) CALL_PASS(16)

const struct operation *kex_first_step(const struct subject *subject)
{
	return subject->kex.operations + 1;
}

const struct operation *kex_end(const struct subject *subject)
{
	const struct operation *end = subject->kex.operations;

	while (end->name)
		end++;
	return end;
}

int kex_run(struct subject *subject, const struct operation *from, const struct operation *to)
{
	int first_code = 0;

	for (; from != to && !subject->seen.broken.name; from++) {
		int code = from->call(subject);

		first_code = first_code ? first_code : code;
	}
	return first_code;
}

static int call_exchange(struct subject *subject)
{
	return kex_run(subject, kex_first_step(subject), kex_end(subject));
}

#define PASS(K, SIDE) {"pass" #K, call_pass##K, false, true, SIDE}
static const struct operation before_passes[] = {
	{"exchange", call_exchange, true, false, SIDE_A},
	{"init_a", call_init_a, false, true, SIDE_A},
	{"init_b", call_init_b, false, true, SIDE_B},
};
static const struct operation passes[KEX_PASSES_MAX] = {
	PASS(1, SIDE_A),  PASS(2, SIDE_B),  PASS(3, SIDE_A),  PASS(4, SIDE_B),  PASS(5, SIDE_A),  PASS(6, SIDE_B),
	PASS(7, SIDE_A),  PASS(8, SIDE_B),  PASS(9, SIDE_A),  PASS(10, SIDE_B), PASS(11, SIDE_A), PASS(12, SIDE_B),
	PASS(13, SIDE_A), PASS(14, SIDE_B), PASS(15, SIDE_A), PASS(16, SIDE_B),
};
static const struct operation after_passes[] = {
	{"derive_a", call_derive_a, false, true, SIDE_A},
	{"derive_b", call_derive_b, false, true, SIDE_B},
	{NULL, NULL, false, false, 0},
};
enum { BEFORE_PASSES = sizeof before_passes / sizeof before_passes[0] };

void kex_list_operations(struct subject *subject)
{
	struct kex *kex = &subject->kex;

	memcpy(kex->operations, before_passes, sizeof before_passes);
	memcpy(kex->operations + BEFORE_PASSES, passes, kex->passes * sizeof passes[0]);
	memcpy(kex->operations + BEFORE_PASSES + kex->passes, after_passes, sizeof after_passes);
	subject->operations = kex->operations;
}

static struct kex_party *party_of(struct subject *subject, const struct operation *step)
{
	return &subject->kex.parties[step->side];
}

int kex_make_copies(struct subject *subject, const struct operation *step, struct failure *failure)
{
	static const char *const names[SIDES] = {"copied state of a", "copied state of b"};
	unsigned long long bytes = party_of(subject, step)->state.capacity_bytes;

	for (unsigned int i = 0; i < KEX_COPIES; i++)
		if (subject_add_octets(subject, &subject->kex.copies[i], names[step->side], bytes, failure))
			return -1;
	return 0;
}

void kex_copy_state(struct subject *subject, const struct operation *step, unsigned int copies)
{
	const struct octets *state = &party_of(subject, step)->state;

	for (unsigned int i = 0; i < copies; i++)
		octets_copy(&subject->kex.copies[i], state);
}

void kex_choose_copy(struct subject *subject, const struct operation *step, unsigned int copy)
{
	party_of(subject, step)->live = &subject->kex.copies[copy];
}

void kex_keep_copy(struct subject *subject, const struct operation *step)
{
	struct kex_party *party = party_of(subject, step);

	octets_copy(&party->state, party->live);
	party->live = &party->state;
}
