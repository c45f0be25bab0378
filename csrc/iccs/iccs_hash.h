/*
 * ICCS hash functions. Both lengths are in bits, messages of any number of bits work, 0 too; a bit string
 * begins at the most significant bit of byte 0. Returns 0, anything else is an error. There is no getter: the
 * digest's length is the macro DIGEST_BIT_LENGTH of the instance's header.
 */
#ifndef KATALOG_ICCS_HASH_H
#define KATALOG_ICCS_HASH_H

typedef int iccs_hash(int digest_len_bits, const unsigned char *msg, unsigned long long msg_len_bits,
                      unsigned char *digest);

iccs_hash CryptHash;

#endif
