/*
 * The deterministic random source of one library: the random bytes a candidate asks for depend on the seed
 * and on the sequence of requests only. Seed before the first request. Each library links one implementation
 * and keeps its own state, so use one thread at a time. Not a source of secrets.
 */
#ifndef KATALOG_RANDOM_H
#define KATALOG_RANDOM_H

void katalog_seed(const unsigned char *seed, unsigned long long seed_bytes);
void katalog_random(unsigned char *out, unsigned long long out_bytes);

#endif
