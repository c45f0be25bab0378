/*
 * ICCS signatures. keygen and sign return 0, or -1 to -99 by the submission's choice. verify returns 0 for a
 * valid signature, -1 for an invalid one, -2 to -99 for another error. Lengths are in bytes; the getter of
 * the signature may be an upper bound.
 */
#ifndef KATALOG_ICCS_SIG_H
#define KATALOG_ICCS_SIG_H

#include "iccs_types.h"

typedef int iccs_sig_keygen(ICCS_OUT(pk), ICCS_OUT(sk));
typedef int iccs_sig_sign(ICCS_IN(sk), ICCS_IN(m), ICCS_OUT(sn));
typedef int iccs_sig_verify(ICCS_IN(pk), ICCS_IN(sn), ICCS_IN(m));

iccs_length sig_get_pk_len_bytes, sig_get_sk_len_bytes, sig_get_sn_len_bytes;
iccs_sig_keygen sig_keygen;
iccs_sig_sign sig_sign;
iccs_sig_verify sig_verify;

#endif
