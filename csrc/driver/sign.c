#include "subject.h"

enum { RETRIES_PER_MESSAGE = 16, RETRIES_PER_SIGNATURE = 1000 };

static int call_keygen(struct subject *subject)
{
	struct sign *sign = &subject->sign;
	int code;

	octets_offer(&sign->pk);
	octets_offer(&sign->sk);
	code = sign->keygen(sign->pk.bytes, &sign->pk.length_bytes, sign->sk.bytes, &sign->sk.length_bytes);
	octets_take(&sign->pk);
	octets_take(&sign->sk);
	tally_add(&subject->seen.return_codes, code);
	return code;
}

static int sign_once(struct subject *subject)
{
	struct sign *sign = &subject->sign;
	int code;

	octets_offer(&sign->signature);
	code = sign->sign(sign->sk.bytes, sign->sk.length_bytes, sign->message.bytes, sign->message.length_bytes,
	                  sign->signature.bytes, &sign->signature.length_bytes);
	if (octets_take(&sign->signature))
		subject->seen.signature_length_excess++;
	tally_add(&subject->seen.return_codes, code);
	return code;
}

/* Some signers can never sign one particular message, so after some retries another one is taken. */
static void note_retry(struct subject *subject, unsigned int failures)
{
	subject->seen.sign_failures_retried++;
	if (failures % (RETRIES_PER_MESSAGE + 1) == 0) {
		subject->sign.message.bytes[0]++;
		subject->seen.message_tweaks++;
	}
}

/* An application would try again with fresh randomness, so the retries are part of the work. */
static int call_sign(struct subject *subject)
{
	int code = -1;

	for (unsigned int failures = 1; !subject->seen.signing_given_up; failures++) {
		code = sign_once(subject);
		if (code == 0)
			return 0;
		if (failures > RETRIES_PER_SIGNATURE)
			subject->seen.signing_given_up = true;
		else
			note_retry(subject, failures);
	}
	return code;
}

static int call_verify(struct subject *subject)
{
	struct sign *sign = &subject->sign;
	int code = sign->verify(sign->pk.bytes, sign->pk.length_bytes, sign->signature.bytes, sign->signature.length_bytes,
	                        sign->message.bytes, sign->message.length_bytes);

	subject->seen.verify_rejections += code != 0;
	tally_add(&subject->seen.return_codes, code);
	return code;
}

static const struct operation operations[] = {
	{.name = "keygen", .call = call_keygen}, {.name = "sign", .call = call_sign}, {.name = "verify", .call = call_verify}, {.name = NULL},
};

static int load(struct subject *subject, struct failure *failure)
{
	const struct library *library = &subject->library;
	struct sign *sign = &subject->sign;

	subject->operations = operations;
	if (library_find(library, "sig_keygen", &sign->keygen, failure) ||
	    library_find(library, "sig_sign", &sign->sign, failure) ||
	    library_find(library, "sig_verify", &sign->verify, failure))
		return -1;
	if (subject_add_declared(subject, &sign->pk, "pk", "sig_get_pk_len_bytes", failure) ||
	    subject_add_declared(subject, &sign->sk, "sk", "sig_get_sk_len_bytes", failure) ||
	    subject_add_declared(subject, &sign->signature, "signature", "sig_get_sn_len_bytes", failure))
		return -1;
	return subject_add_message(subject, &sign->message, MESSAGE_BYTES, failure);
}

/* The last operation has verified, there is nothing to compare. */
static bool honest(const struct subject *subject)
{
	(void)subject;
	return true;
}

static int check(const struct subject *subject, const struct operation *operation, struct failure *failure)
{
	if (subject->seen.signing_given_up && operation->call == call_sign)
		return fail(failure, FAILURE_OPERATION, "signing failed more than 1000 times in a row");
	return 0;
}

static void write_sizes(const struct subject *subject, struct json *json)
{
	const struct sign *sign = &subject->sign;

	json_count(json, "pk_bytes", sign->pk.capacity_bytes);
	json_count(json, "sk_bytes", sign->sk.capacity_bytes);
	json_count(json, "signature_bytes", sign->signature.capacity_bytes);
}

static void write_returned(const struct subject *subject, struct json *json)
{
	const struct sign *sign = &subject->sign;

	json_count(json, "returned_pk_bytes", sign->pk.longest_bytes);
	json_count(json, "returned_sk_bytes", sign->sk.longest_bytes);
	json_count(json, "returned_signature_bytes", sign->signature.longest_bytes);
}

const struct family family_sign = {"sign", load, honest, check, write_sizes, write_returned, NULL};
