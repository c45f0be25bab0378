/* Prints some megabytes to both streams, part of which is still in the buffer at the end. */
#include <stdio.h>

#include "toy_kem.h"

int kem_keygen(ICCS_OUT(pk), ICCS_OUT(sk))
{
	for (int i = 0; i < 10000; i++)
		printf("{\"driver\":1,\"trial\":%d}\n", i);
	fprintf(stderr, "a candidate's complaint\n");
	return honest_keygen(pk, pk_len_bytes, sk, sk_len_bytes);
}

HONEST_ENC
HONEST_DEC
