/* A function of vectors as a schedule: which kernels run, where each reads and writes, and what is moved at the end.

   Memory is in segments: constants, then each argument, each result, and work. A kernel is called with the bases of the
   segments, those of its pieces, and rows of offsets, one row a call. Generated code (model.c and the like) has such
   tables, of rows only how they follow from each other (folded.h); kernels are files of their own, which models share. */

#ifndef MBDY_SCHEDULE_H
#define MBDY_SCHEDULE_H

#include "folded.h"
#include "prefix.h"
#include "real.h"

enum { MBDY_SEGMENTS = 24 };

typedef void mbdy_kernel(real *const *bases, const int *segments, const int *rows, int n);

/* Rows of whole numbers, as tables have them. */
typedef struct {
    int kernel, segments, rows, n;  /* the first three are places in the schedule's */
    int guard_segment, guard, when; /* runs only where the number there is not zero (when 1) or zero (0); -1 always */
} mbdy_run_of_kernel;

typedef struct {
    int to_segment, to, from_segment, from, n;
} mbdy_transfer;

typedef struct {
    int n_arg, n_res;
    const int *arg_sizes, *res_sizes;
    const real *constants;
    mbdy_kernel *const *kernels;
    const int *segments, *folded; /* tables of the rows of kernels, of runs, of transfers, and one of no width */
    int *rows, *filled;           /* all of these rows */
    int n_runs, runs, n_transfers, transfers; /* how many, and where they begin in `rows` */
    int work; /* reals, those that stand for arguments and results that are left out among them */
} mbdy_schedule;

/* Fills the rows of a schedule, before it is played: once for all who play it. */
void mbdy_unfold(const mbdy_schedule *schedule);

/* Results of arguments, with reals of work; an argument that is NULL is zero, a result that is NULL is not wanted.
   No argument lies where a result does. */
void mbdy_play(const mbdy_schedule *schedule, const real *const *arg, real *const *res, real *work);

#endif
