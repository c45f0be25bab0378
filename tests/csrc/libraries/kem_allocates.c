/* Decapsulation touches 6 MiB more than it holds when it is done, mapped anew each time. */
#define _DEFAULT_SOURCE
#include <sys/mman.h>

#include "toy_kem.h"

enum { EXTRA_BYTES = 6 << 20 };

HONEST_KEYGEN
HONEST_ENC

int kem_dec(ICCS_IN(sk), ICCS_IN(ct), ICCS_OUT(ss))
{
	volatile unsigned char *extra = mmap(0, EXTRA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < EXTRA_BYTES; i += 1024)
		extra[i] = 1;
	munmap((void *)extra, EXTRA_BYTES);
	return honest_dec(sk, sk_len_bytes, ct, ct_len_bytes, ss, ss_len_bytes);
}
