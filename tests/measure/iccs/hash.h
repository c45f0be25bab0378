#ifndef TOY_HASH_H
#define TOY_HASH_H
#define ALGORITHM_INSTANCE "Toy-Hash"
#define HALF (64)
#define DIGEST_BIT_LENGTH (2 * HALF)
#endif
