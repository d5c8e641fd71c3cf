/* What closing loops did that is doubtful though nothing is wrong: noted where it happens, told afterwards. */

#include "mechanism.h"

#include <math.h>
#include <stdio.h>

#include "rows.h"

/* [rad] Lines that were nearer than this to a right angle had no choice of positions. */
#define TAKEN 1e-6
/* Singular values between these, relative to the largest, are levers whose squares rounding spoils; below lie rows that
   only repeat others. */
#define LEVER 1e-5
#define RANK 1e-9
/* [rad, sizes of the mechanism] Bending of a loop's row beyond which it is not small. */
#define BENT 0.25
#define DEGREES 57.29577951308232

void mbdy_note_lines(mbdy_core *core, const double *error) {
    const mbdy_model *m = core->model;
    for (int i = 0, begin = 0, turning = 0; i < m->n_rows - m->linear_rows; i++) {
        if (m->row_loops[i] != m->row_loops[begin]) begin = i, turning = 0;
        turning += m->row_turns[i];
        if (m->row_turns[i]) core->taken[begin] = fabs(error[i]) > TAKEN ? fabs(error[i]) : 0.0;
        if (turning > 1) core->taken[begin] = 0.0;
    }
}

/* The least singular value of the rows that is one, relative to the largest; *place says which row has it then. */
static double least_of(const mbdy_mechanism *c, int *place) {
    const double largest = rows_largest_square(c->rows, c->m->n_rows, c->n);
    double least = largest;
    for (int i = 0; i < c->m->n_rows; i++) {
        const double square = row_product(c->rows + i * c->n, c->rows + i * c->n, c->n);
        if (square > RANK * RANK * largest && square <= least) least = square, *place = i;
    }
    return largest > 0.0 ? sqrt(least / largest) : 1.0;
}

/* The work rows made orthogonal, with a right-hand side that is one in one row. */
static void orthogonal(const mbdy_mechanism *c, int one) {
    for (int i = 0; i < c->m->n_rows; i++) c->right[i] = i == one;
    mbdy_weigh(c, c->scale, c->movable);
    rows_orthogonal(c->rows, c->right, c->m->n_rows, c->n);
}

void mbdy_note_closed(const mbdy_mechanism *c, const double *z) {
    mbdy_core *core = c->core;
    const int m = c->m->n_rows, first = c->m->n_speeds;
    int place = 0;
    core->lever = core->bend = 0.0;
    mbdy_slopes(c, z);
    orthogonal(c, -1);
    const double least = least_of(c, &place);
    double part = 0.0;
    if (least < LEVER) core->lever = least * c->size;
    for (int i = 0; least < LEVER && i < m; i++) {
        orthogonal(c, i);
        if (fabs(c->right[place]) > part) part = fabs(c->right[place]), core->lever_row = i;
    }
    for (int i = 0; i < m; i++) {
        const double bend = fabs(row_product(c->slope + i * c->n + first, z + coordinate(c, first), c->m->n_modes));
        if (bend > BENT && bend > core->bend) core->bend = bend, core->bend_row = i;
    }
    if (core->bend > 0.0) core->bend *= c->m->row_turns[core->bend_row] ? DEGREES : c->size;
}

int mbdy_refuse_bending(mbdy_core *core) {
    core->opening = (struct mbdy_opening){MBDY_BENT, core->model->row_turns[core->bend_row], core->bend};
    core->fault = core->bend_row;
    core->bend = 0.0;
    return MBDY_UNCLOSED;
}

int mbdy_tell_lines(mbdy_core *core, const mbdy_names *names, char *text) {
    for (int i = 0; i < core->model->n_rows; i++) {
        const double angle = core->taken[i] * DEGREES;
        core->taken[i] = 0.0;
        if (angle == 0.0) continue;
        snprintf(text, MBDY_TEXT,
                 "%s: two lines are at a right angle in two positions; the nearer was taken, %.4g deg from where it was (the "
                 "other is %.4g deg away); begin nearer to the other if that is meant",
                 names->rows[i], angle, 180.0 - angle);
        return 1;
    }
    return 0;
}

int mbdy_tell_closed(mbdy_core *core, const mbdy_names *names, char *text) {
    if (core->lever > 0.0) {
        snprintf(text, MBDY_TEXT,
                 "%s: with others it holds a motion by a lever of some %.1g m, too short for its forces to be told from "
                 "rounding; set their places further apart, or let one loop hold the turning (kind pin or weld)",
                 names->rows[core->lever_row], core->lever);
        core->lever = 0.0;
        return 1;
    }
    if (core->bend > 0.0) {
        snprintf(text, MBDY_TEXT,
                 "%s: is closed by bending that moves its place by %.3g %s, for which modes are not made; check lengths, at "
                 "and start values",
                 names->rows[core->bend_row], core->bend, core->model->row_turns[core->bend_row] ? "deg" : "m");
        core->bend = 0.0;
        return 1;
    }
    return 0;
}
