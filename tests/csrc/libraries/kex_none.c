/* No passes: both derive from their states alone. */
#define TOY_PASSES 0
#include "toy_kex.h"
