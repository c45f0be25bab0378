/*
 * The ICCS deterministic random source, under the name that submissions include: Hash_DRBG of NIST SP 800-90A
 * over SM3, the seed being all of its entropy, never reseeded. Not a source of secrets.
 *
 * The harness owns a DRNG_ctx named drng_algorithm and seeds it; a submission declares that extern. Both
 * functions return 0.
 */
#ifndef DRNG_H
#define DRNG_H

#define SEEDLEN (55) /* bytes; the name is part of the interface */

#ifdef __cplusplus
extern "C" {
#endif

/* Three numbers of 440 bits, big-endian; 165 bytes without gaps. */
typedef struct {
	unsigned char V[SEEDLEN];
	unsigned char C[SEEDLEN];
	unsigned char reseed_counter[SEEDLEN];
} DRNG_ctx;

/* The seed's length is in bytes; any length is accepted, 0 too. */
int init_random_number(DRNG_ctx *drng, const unsigned char *seed, unsigned long long seed_len_bytes);

/* The output's length is in bits. Bits left over are thrown away; a request of 0 bits is a request too. */
int get_random_number(DRNG_ctx *drng, unsigned char *random_number, unsigned long long random_number_len_bits);

#ifdef __cplusplus
}
#endif

#endif
