/* One pass: a gets no message. */
#define TOY_PASSES 1
#include "toy_kex.h"
