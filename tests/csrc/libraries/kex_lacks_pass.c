/* Claims two passes and has one. */
#define TOY_PASSES 2
#define TOY_LACKS_PASS_2
#include "toy_kex.h"
