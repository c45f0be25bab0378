/*
 * ICCS key encapsulation. keygen and enc return 0, or -1 to -99 by the submission's choice. dec returns 0, -1
 * when decapsulation failed, -2 to -99 for another error; rejection may also be implicit (0 and another
 * secret). enc gives the secret first, then the ciphertext. Lengths are in bytes.
 */
#ifndef KATALOG_ICCS_KEM_H
#define KATALOG_ICCS_KEM_H

#include "iccs_types.h"

typedef int iccs_kem_keygen(ICCS_OUT(pk), ICCS_OUT(sk));
typedef int iccs_kem_enc(ICCS_IN(pk), ICCS_OUT(ss), ICCS_OUT(ct));
typedef int iccs_kem_dec(ICCS_IN(sk), ICCS_IN(ct), ICCS_OUT(ss));

iccs_length kem_get_pk_len_bytes, kem_get_sk_len_bytes, kem_get_ss_len_bytes, kem_get_ct_len_bytes;
iccs_kem_keygen kem_keygen;
iccs_kem_enc kem_enc;
iccs_kem_dec kem_dec;

#endif
