/* SM3 with a total length of the caller's choice, so that half a gigabyte need not be hashed to see its padding. */
#include "../../../csrc/iccs/sm3.h"

void hook_finish(unsigned long long total_bytes, unsigned char tail_byte, unsigned int tail_bits, unsigned char *digest)
{
	struct sm3 hash;

	sm3_begin(&hash);
	hash.total_bytes = total_bytes;
	sm3_finish(&hash, (struct sm3_tail){tail_byte, tail_bits}, digest);
}
