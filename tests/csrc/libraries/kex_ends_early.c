/* The first of two passes says that it was the last. */
#define TOY_PASSES 2
#define TOY_CODE(k) 1
#include "toy_kex.h"
