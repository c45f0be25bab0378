/* As many passes as are handled. */
#define TOY_PASSES 16
#include "toy_kex.h"
