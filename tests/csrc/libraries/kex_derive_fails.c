/* b gets no secret. */
#define TOY_PASSES 2
#define TOY_DERIVED(side) ((side) == 'b' ? -4 : 0)
#include "toy_kex.h"
