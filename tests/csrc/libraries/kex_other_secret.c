/* The sides do not agree. */
#define TOY_PASSES 2
#define TOY_SECRET(side) (side)
#include "toy_kex.h"
