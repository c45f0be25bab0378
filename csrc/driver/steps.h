/*
 * Timing of one step of a key exchange: every reading stands inside a complete run of the protocol, which is not
 * timed. A short step is called several times over within one run, each time on a copy of its side's state; the run
 * goes on from the last copy.
 */
#ifndef KATALOG_STEPS_H
#define KATALOG_STEPS_H

#include "timing.h"

/* As choose_batch, and no more calls than there are copies. */
uint64_t choose_step_batch(uint64_t iterations, const struct cost *call, const struct counter_overhead *overhead);

/* Times one call within one run; in *shortest remains the smaller of both costs. */
int time_step(const struct counter *counter, const struct operation *step, struct subject *subject,
              struct cost *shortest, struct failure *failure);

/* As time_loop: timing->iterations calls in all. Ends early where a run breaks, which subject->seen tells. */
int time_steps(const struct counter *counter, const struct operation *step, struct subject *subject,
               struct timing *timing, struct failure *failure);

#endif
