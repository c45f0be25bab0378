/* Two passes. */
#define TOY_PASSES 2
#include "toy_kex.h"
