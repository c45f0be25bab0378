#include "subject.h"

static int call_keygen(struct subject *subject)
{
	struct kem *kem = &subject->kem;
	int code;

	octets_offer(&kem->pk);
	octets_offer(&kem->sk);
	code = kem->keygen(kem->pk.bytes, &kem->pk.length_bytes, kem->sk.bytes, &kem->sk.length_bytes);
	octets_take(&kem->pk);
	octets_take(&kem->sk);
	tally_add(&subject->seen.return_codes, code);
	return code;
}

static int call_enc(struct subject *subject)
{
	struct kem *kem = &subject->kem;
	int code;

	octets_offer(&kem->ss);
	octets_offer(&kem->ct);
	code = kem->enc(kem->pk.bytes, kem->pk.length_bytes, kem->ss.bytes, &kem->ss.length_bytes, kem->ct.bytes,
	                &kem->ct.length_bytes);
	octets_take(&kem->ss);
	octets_take(&kem->ct);
	tally_add(&subject->seen.return_codes, code);
	return code;
}

static int call_dec(struct subject *subject)
{
	struct kem *kem = &subject->kem;
	struct octets *ss = &kem->decapsulated_ss;
	int code;

	octets_offer(ss);
	code = kem->dec(kem->sk.bytes, kem->sk.length_bytes, kem->ct.bytes, kem->ct.length_bytes, ss->bytes,
	                &ss->length_bytes);
	octets_take(ss);
	tally_add(&subject->seen.return_codes, code);
	return code;
}

static const struct operation operations[] = {
	{.name = "keygen", .call = call_keygen}, {.name = "enc", .call = call_enc}, {.name = "dec", .call = call_dec}, {.name = NULL},
};

static int load(struct subject *subject, struct failure *failure)
{
	const struct library *library = &subject->library;
	struct kem *kem = &subject->kem;

	subject->operations = operations;
	if (library_find(library, "kem_keygen", &kem->keygen, failure) ||
	    library_find(library, "kem_enc", &kem->enc, failure) || library_find(library, "kem_dec", &kem->dec, failure))
		return -1;
	if (subject_add_declared(subject, &kem->pk, "pk", "kem_get_pk_len_bytes", failure) ||
	    subject_add_declared(subject, &kem->sk, "sk", "kem_get_sk_len_bytes", failure) ||
	    subject_add_declared(subject, &kem->ct, "ct", "kem_get_ct_len_bytes", failure) ||
	    subject_add_declared(subject, &kem->ss, "ss", "kem_get_ss_len_bytes", failure))
		return -1;
	return subject_add_declared(subject, &kem->decapsulated_ss, "decapsulated ss", "kem_get_ss_len_bytes", failure);
}

static bool honest(const struct subject *subject)
{
	return octets_equal(&subject->kem.ss, &subject->kem.decapsulated_ss);
}

static void write_sizes(const struct subject *subject, struct json *json)
{
	const struct kem *kem = &subject->kem;

	json_count(json, "pk_bytes", kem->pk.capacity_bytes);
	json_count(json, "sk_bytes", kem->sk.capacity_bytes);
	json_count(json, "ct_bytes", kem->ct.capacity_bytes);
	json_count(json, "ss_bytes", kem->ss.capacity_bytes);
}

static void write_returned(const struct subject *subject, struct json *json)
{
	const struct kem *kem = &subject->kem;

	json_count(json, "returned_pk_bytes", kem->pk.longest_bytes);
	json_count(json, "returned_sk_bytes", kem->sk.longest_bytes);
	json_count(json, "returned_ct_bytes", kem->ct.longest_bytes);
	json_count(json, "returned_ss_bytes", octets_longest(&kem->ss, &kem->decapsulated_ss));
}

const struct family family_kem = {"kem", load, honest, NULL, write_sizes, write_returned, NULL};
