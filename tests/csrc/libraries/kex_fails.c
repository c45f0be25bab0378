/* The second pass fails. */
#define TOY_PASSES 2
#define TOY_CODE(k) ((k) == 2 ? -7 : 0)
#include "toy_kex.h"
