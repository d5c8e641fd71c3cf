/* Internal steps and outputs of many cores at once, in lanes of one that is compiled for as many (real.h).

   What each run does for itself (starts, latches, closing of loops, events) stays with its own core; lanes serve where all
   do the same. The library that has the lanes is built apart from that of the cores. */

#ifndef MBDY_LANES_H
#define MBDY_LANES_H

#include "inside.h"

/* Of how many runs; NULL from `make` for an integrator that has no lanes, or without memory. Vectors of the runs are given by
   number (core.h) and lane, NULL for a lane without a run. `constants` takes a run's constants into the lane of a block of n_k times `width` doubles, aligned to their size;
   `steps` makes the internal steps of a course, and adds the work of each to `work`; `outputs` gives y and the energy. */
typedef struct mbdy_lanes {
    int width;
    mbdy_core *(*make)(int integrator);
    void (*drop)(mbdy_core *wide);
    void (*constants)(double *block, int lane, const double *k);
    void (*steps)(mbdy_core *wide, double *block, double *const *const vectors[], const struct mbdy_course *by, double *work);
    void (*outputs)(mbdy_core *wide, double *block, double *const *const vectors[], double *energy);
} mbdy_lanes;

const mbdy_lanes *mbdy_these_lanes(void);

#endif
