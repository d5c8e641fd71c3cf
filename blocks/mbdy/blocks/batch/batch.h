/* Many plants of one structure, stepped together: in lanes where the library has them (lanes.h), each alone where not; both
   give the same bits. A run that fails stays where it was and takes no further steps; the others go on.

   Calls for groups that do not meet may come from several threads at once, each with a number of its own. */

#ifndef MBDY_BATCH_H
#define MBDY_BATCH_H

#include "lanes.h"
#include "plant.h"

typedef struct batch batch;

/* `runs` new plants, whose logger has the number of the run for its owner; NULL without memory. `lanes` may be NULL. */
batch *batch_new(const plant_model *own, int runs, unsigned manner, plant_logger *logger, const mbdy_lanes *lanes, int threads);
void batch_free(batch *it);
plant *batch_plant(batch *it, int run);

/* Groups of runs that step together: how many there are. */
int batch_groups(const batch *it);

/* By run: PLANT_OK, or the status with which it failed. */
int *batch_status(batch *it);

/* All runs are at the start again (plant_rewind), none failed. */
void batch_rewind(batch *it);

/* Sets `n` values of variables in every run; `values` has those of one run after the other. The first run that refuses its
   own, having said why, and -1 where none does. Where values cannot be used none is set. */
int batch_set(batch *it, const unsigned refs[], size_t n, const double values[], int boolean);

/* Constants, starts and outputs of the groups from `from` to before `to` follow what was set; runs where they cannot, fail. */
void batch_refresh(batch *it, int from, int to);

/* `rows` communication steps of H [s] of these groups, as plant_run has them: `inputs` has rows + 1 rows of inputs for each run,
   `out` `picked` outputs for each row of each run, not numbers after a run has failed. */
void batch_run(batch *it, int from, int to, int thread, int rows, double H, int order, const double *inputs, const int *pick,
               int picked, double *out);

#endif
