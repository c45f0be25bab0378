/* Hashes nothing: the first 16 bytes as a number, times the bit length plus an odd constant. */
#include "hash.h"
#include "toy.h"

__extension__ typedef unsigned __int128 number;

int CryptHash(int digest_len_bits, const unsigned char *msg, unsigned long long msg_len_bits, unsigned char *digest)
{
	const unsigned long long bits = msg_len_bits < 128 ? msg_len_bits : 128;
	number value = 0;

	if (digest_len_bits != DIGEST_BIT_LENGTH || !msg)
		return 2;
	if (msg_len_bits == 1000)
		misbehave();
	for (unsigned long long i = 0; i < 16; i++)
		value = value << 8 | (8 * i < bits ? msg[i] : 0);
	if (bits % 8)
		value = value >> (128 - bits) << (128 - bits);
	value = (value + msg_len_bits + 1) * 0x9e3779b97f4a7c15;
	for (int i = 15; i >= 0; i--, value >>= 8)
		digest[i] = (unsigned char)value;
	if (TOY_FAULT == past)
		digest[16] = 1;
	return TOY_FAULT == fails && msg_len_bits == 77 ? 1 : 0;
}
