/* Four passes, the last message empty. */
#define TOY_PASSES 4
#define TOY_EMPTY 4
#include "toy_kex.h"
