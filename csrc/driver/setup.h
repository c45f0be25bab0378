/* The honest case, run once before anything is measured. */
#ifndef KATALOG_SETUP_H
#define KATALOG_SETUP_H

#include "failure.h"
#include "trial.h"

/* Seeds the library and runs its operations in order. What goes wrong is data, unless nothing is left to time. */
int set_up(struct trial *trial, struct failure *failure);

#endif
