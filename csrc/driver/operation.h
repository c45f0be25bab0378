/* One operation of a family. */
#ifndef KATALOG_OPERATION_H
#define KATALOG_OPERATION_H

#include <stdbool.h>

struct subject;

struct operation {
	const char *name;
	int (*call)(struct subject *subject); /* the API's return code; a key exchange's pass: 0 for the right one */
	bool is_whole;                        /* runs all the others: the setup needs no other */
	bool is_step;                         /* works only inside a complete run of the others */
	unsigned char side;                   /* of a step: who makes it */
};

#endif
