/* The mechanism that closing loops at the start moves: what may move, how far its loops are from closed at start values z,
   and what lessens that. */

#ifndef MBDY_MECHANISM_H
#define MBDY_MECHANISM_H

#include <stdint.h>

#include "inside.h"

/* How many other origins are tried where the start leads nowhere. */
enum { MBDY_ORIGINS = 6 };

typedef struct {
    mbdy_core *core;
    const mbdy_model *m;
    int n;       /* columns: speeds of joints, then modal rates */
    double size; /* [m] a length that is typical of what the loops go through */
    double *error, *trial_error, *rate, *cosine;    /* by row; metres by the size */
    double *slope, *rows, *right;                   /* what lessens errors, by row and column; work */
    double *scale, *soft, *step;                    /* by column: what counts as one radian, modes by energy */
    double *pose, *trial, *origin, *nearest, *best, *pushed, *damped; /* like x */
    int *movable, *free; /* by column */
    int *anchored, *bent; /* by column: where loops feel how far from the inertial origin it is; 0 where all rows are linear in it */
} mbdy_mechanism;

static inline int is_modal(const mbdy_mechanism *c, int k) { return k >= c->m->n_speeds; }

static inline int slides(const mbdy_mechanism *c, int k) { return !is_modal(c, k) && c->m->motions[k] == MBDY_TRANSLATION; }

/* Places of what a column changes, and of its speed. */
static inline int coordinate(const mbdy_mechanism *c, int k) {
    return is_modal(c, k) ? c->m->n_coordinates + k : c->m->coordinates[k];
}

static inline int speed(const mbdy_mechanism *c, int k) { return c->m->n_coordinates + k + (is_modal(c, k) ? c->m->n_modes : 0); }

/* What a row is multiplied with to be compared: radians, and metres by the size. */
static inline double row_scale(const mbdy_mechanism *c, int row) { return c->m->row_turns[row] ? 1.0 : 1.0 / c->size; }

/* At z, with what may move there: neither what is always prescribed nor what u prescribes or locks. */
mbdy_mechanism mbdy_mechanism_at(mbdy_core *core, const double *z);

/* Errors of closure, their rates and cosines at z; not those that are NULL. */
void mbdy_errors(const mbdy_mechanism *c, const double *z, double *error, double *rate, double *cosine);

/* Errors at z, and whether all loops are closed to rounding, none of them mirrored. */
int mbdy_is_closed(const mbdy_mechanism *c, const double *z, double *error);

/* What lessens errors at z, by columns. */
void mbdy_slopes(const mbdy_mechanism *c, const double *z);

/* Work rows: the slopes of the columns that are free, each by what of it counts as one. */
void mbdy_weigh(const mbdy_mechanism *c, const double *scale, const int *free);

/* z after a step by columns. */
void mbdy_move(const mbdy_mechanism *c, const double *z, const double *step, double *to);

/* How far z is from `from` over all columns: of quaternions the whole angle. */
double mbdy_distance(const mbdy_mechanism *c, const double *from, const double *z);

/* One of the other origins about z, in the columns that may move and are not modal. */
void mbdy_scatter(const mbdy_mechanism *c, const double *z, int origin, const int *may, uint64_t *seed, double *to);

/* The state nearest to closure so far. */
void mbdy_keep_nearest(const mbdy_mechanism *c, const double *z, double *least);

/* z with the bits of `from` where it has not moved, if that is closed too. */
void mbdy_keep_bits(const mbdy_mechanism *c, const double *from, double *z);

/* z closed by the free columns, from itself or from origins about it, of which the nearest counts; 0 where that leads
   nowhere. */
int mbdy_search(const mbdy_mechanism *c, double *z, double *least);

/* Notes what is doubtful at z, which is closed: levers that are almost none, and bending that is not small. */
void mbdy_note_closed(const mbdy_mechanism *c, const double *z);

/* z brought to closure with all that may move, by their masses, whether or not steps had to be `cut`; 0 where they lead
   nowhere. */
int mbdy_push(const mbdy_mechanism *c, double *z, int *cut);

#endif
