/*
 * The attached form of a signature scheme, for known answers that are stated over it: signature and message
 * in one string, in the scheme's own order. Lengths are in bytes; 0 is success. The message that opening
 * gives back is at most as long as the signed one.
 */
#ifndef KATALOG_ATTACHED_H
#define KATALOG_ATTACHED_H

int katalog_sign_attached(unsigned char *sm, unsigned long long *sm_bytes, const unsigned char *m,
                          unsigned long long m_bytes, const unsigned char *sk);
int katalog_open_attached(unsigned char *m, unsigned long long *m_bytes, const unsigned char *sm,
                          unsigned long long sm_bytes, const unsigned char *pk);

#endif
