/* The second pass writes one byte past the state of b. */
#define TOY_PASSES 2
#define TOY_CODE(k) ((k) == 2 ? (st[STATE_BYTES + 1] = 1) : 0)
#include "toy_kex.h"
