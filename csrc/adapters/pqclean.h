/* Names of one PQClean scheme, from its namespace: the build defines PQCLEAN_NAMESPACE and the scheme's folder. */
#ifndef KATALOG_PQCLEAN_H
#define KATALOG_PQCLEAN_H

#include <stddef.h>
#include <stdint.h>

#include "api.h"

#define PQCLEAN_JOIN(namespace, name) namespace##_##name
#define PQCLEAN_EXPAND(namespace, name) PQCLEAN_JOIN(namespace, name)
#define PQCLEAN(name) PQCLEAN_EXPAND(PQCLEAN_NAMESPACE, name)

/* Under this name PQClean's schemes ask for random bytes; an adapter supplies it. */
int PQCLEAN_randombytes(uint8_t *output, size_t n);

#endif
