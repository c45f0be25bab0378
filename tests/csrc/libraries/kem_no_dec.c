#include "toy_kem.h"

HONEST_KEYGEN
HONEST_ENC
