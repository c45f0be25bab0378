/* The last pass does not say that it was the last. */
#define TOY_PASSES 2
#define TOY_CODE(k) 0
#include "toy_kex.h"
