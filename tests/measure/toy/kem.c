/*
 * A key encapsulation mechanism that protects nothing: ss = ct xor key. TOY_FAULT names what enc does wrong.
 * It stands for every library that a known-answer test must survive.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#define BYTES 16
#define IN(x) unsigned char *x, unsigned long long x##_bytes
#define OUT(x) unsigned char *x, unsigned long long *x##_bytes

void katalog_random(unsigned char *out, unsigned long long out_bytes);

unsigned long long kem_get_pk_len_bytes(void) { return BYTES; }
unsigned long long kem_get_sk_len_bytes(void) { return BYTES; }
unsigned long long kem_get_ss_len_bytes(void) { return BYTES; }
unsigned long long kem_get_ct_len_bytes(void) { return BYTES; }

enum fault {
	none, abort_itself, segfault, hang, exit_0, exit_3, past, before, too_long, returns_error, other_secret,
	chatter, lies, closes, late_abort, dials
};

#ifndef TOY_FAULT
#define TOY_FAULT none
#endif

#ifndef TOY_PORT
#define TOY_PORT 9
#endif

static void dial(void)
{
	struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(TOY_PORT)};
	int connection = socket(AF_INET, SOCK_STREAM, 0);

	here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	puts(connect(connection, (struct sockaddr *)&here, sizeof here) ? "nobody answers" : "connected");
	fflush(stdout);
}

static void misbehave(unsigned char *ct, unsigned long long *ct_bytes)
{
	static volatile int *volatile nowhere;

	switch ((enum fault)TOY_FAULT) {
	case abort_itself: abort();
	case segfault: *nowhere = 1; break;
	case hang: for (;;) pause();
	case exit_0: exit(0);
	case exit_3: exit(3);
	case past: ct[BYTES] = 0; break;
	case before: ct[-1] = 0; break;
	case too_long: *ct_bytes = BYTES + 1; break;
	case chatter: for (int i = 0; i < 300000; i++) puts("RESULT kem-toy toy PASS"); fflush(stdout); break;
	case lies: fputs("see /home/someone/secret/file.c:7 \033[31m\n", stderr); break;
	case closes: for (int fd = 3; fd < 64; fd++) close(fd); break;
	case dials: dial(); break;
	default: break;
	}
}

int kem_keygen(OUT(pk), OUT(sk))
{
	*pk_bytes = *sk_bytes = BYTES;
	katalog_random(pk, BYTES);
	memcpy(sk, pk, BYTES);
	return 0;
}

int kem_enc(IN(pk), OUT(ss), OUT(ct))
{
	*ss_bytes = *ct_bytes = BYTES;
	katalog_random(ct, BYTES);
	for (unsigned long long i = 0; i < pk_bytes; i++)
		ss[i] = ct[i] ^ pk[i];
	misbehave(ct, ct_bytes);
	return TOY_FAULT == returns_error ? -7 : 0;
}

int kem_dec(IN(sk), IN(ct), OUT(ss))
{
	static int calls;

	if (TOY_FAULT == late_abort && ++calls == 20)
		abort();
	*ss_bytes = BYTES;
	for (unsigned long long i = 0; i < sk_bytes && i < ct_bytes; i++)
		ss[i] = ct[i] ^ sk[i];
	ss[0] ^= TOY_FAULT == other_secret;
	return 0;
}
