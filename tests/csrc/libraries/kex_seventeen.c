/* One pass more than is handled. */
#define TOY_PASSES 17
#include "toy_kex.h"
