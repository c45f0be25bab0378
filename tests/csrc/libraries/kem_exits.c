/* Ends its process with success in the middle of the measurement. */
#include <stdlib.h>

#include "toy_kem.h"

HONEST_KEYGEN
HONEST_ENC

int kem_dec(ICCS_IN(sk), ICCS_IN(ct), ICCS_OUT(ss))
{
	static int calls;

	if (++calls == 5)
		exit(0);
	return honest_dec(sk, sk_len_bytes, ct, ct_len_bytes, ss, ss_len_bytes);
}
