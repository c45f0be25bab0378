/*
 * ICCS key exchange between a (initiator, odd passes) and b (responder, even passes). Lengths are in bytes.
 *
 * Order of calls: init_a, init_b, pass 1, pass 2, ..., derive_a, derive_b; both sides draw from one random
 * source, so another order gives other bytes. init and derive return 0, or -1 to -99. A pass returns 1 when its
 * message was the last, 0 when it was not, -1 to -99 for an error; pass K + 1 exists only if pass K can return 0.
 *
 * A state's getter is its largest size: init writes the state, each pass may rewrite it and change its length,
 * derive takes it as it then is. Keys may have length 0. The last message from the other side is NULL with length 0
 * where there was none. The getter of the messages counts all of them together.
 */
#ifndef KATALOG_ICCS_KEX_H
#define KATALOG_ICCS_KEX_H

#include "iccs_types.h"

typedef int iccs_kex_init(ICCS_OUT(pk), ICCS_OUT(sk), ICCS_OUT(st));
typedef int iccs_kex_first_pass(ICCS_IN(sk), ICCS_IN(peer_pk), ICCS_OUT(st), ICCS_OUT(m));
typedef int iccs_kex_next_pass(ICCS_IN(sk), ICCS_IN(peer_pk), ICCS_IN(peer_m), ICCS_OUT(st), ICCS_OUT(m));
typedef int iccs_kex_derive(ICCS_IN(sk), ICCS_IN(peer_pk), ICCS_IN(peer_m), ICCS_IN(st), ICCS_OUT(ss));

iccs_length kex_get_passes_num;
iccs_length kex_get_pk_len_bytes, kex_get_sk_len_bytes, kex_get_sta_len_bytes, kex_get_stb_len_bytes;
iccs_length kex_get_ss_len_bytes, kex_get_total_msg_len_bytes;
iccs_kex_init kex_init_a, kex_init_b;
iccs_kex_first_pass kex_generate_pass1_msg_a;
iccs_kex_next_pass kex_generate_pass2_msg_b, kex_generate_pass3_msg_a, kex_generate_pass4_msg_b;
iccs_kex_derive kex_derive_ss_a, kex_derive_ss_b;

#endif
