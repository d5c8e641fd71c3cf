/* Closing loops at the start: coordinates move until every loop that is closed in u is closed, speeds until it stays so.

   In turn may move what was not given and no modes, what was not given, and in the end all; prescribed and locked degrees
   of freedom never do. The first two move as little as can be in angles, the last by the masses (closing_steps.c).

   All is done in start values, which have the shape of states: what an impulse changes of wheels' speeds, or of where an
   attitude root's mass centre is, follows when states are made of them. */

#include "mechanism.h"

#include <math.h>
#include <string.h>

#include "rows.h"

/* Relative rates of closed loops that are rounding, and that are left where no latch brings them lower. */
#define CLOSED 1e-11
#define NEARLY_CLOSED 1e-9
/* Singular values below this, relative to the largest, count as zero; and where it is asked what lessens an error. */
#define RANK 1e-9
#define LESSENING_RANK 1e-6
/* Part of an error that some motion must lessen, not to be called a contradiction. */
#define LESSENED 1e-3
/* Speeds that change by less than this part of the largest change keep their bits. */
#define STILL 1e-13
/* Most latches of speeds. */
#define LATCHES 3
/* Residual of a position that is closed but for opposed axes. */
#define MIRRORED 1e-4
/* [rad, m, and in a second] Start values that were given and are moved further are told. */
#define TOLD 1e-6

/* Whether a start value was given, of a quaternion any element. */
static int given_at(const mbdy_core *core, int place) {
    const double *marks = core->vector[MBDY_GIVEN];
    for (int i = 0; i < core->model->n_quaternions; i++) {
        const int q = core->model->quaternions[i];
        if (place >= q && place < q + 4) return marks[q] != 0.0 || marks[q + 1] != 0.0 || marks[q + 2] != 0.0 || marks[q + 3] != 0.0;
    }
    return marks[place] != 0.0;
}

/* Frees the columns that may move: coordinates (or speeds) given too or not, modes too or not. How many. */
static int released(const mbdy_mechanism *c, int (*place)(const mbdy_mechanism *, int), int all, int modes) {
    int count = 0;
    for (int k = 0; k < c->n; k++) {
        c->free[k] = c->movable[k] && (modes || !is_modal(c, k)) && (all || !given_at(c->core, place(c, k)));
        count += c->free[k];
    }
    return count;
}

/* Sizes of the error of one loop by turning and by moving, the larger of them, of a turn between opposed axes by its
   sine, and the loop's first row. */
struct share {
    double turn, move, residual;
    int row;
};

static struct share share_of(const mbdy_mechanism *c, const double *error, int loop) {
    struct share all = {0.0, 0.0, 0.0, -1};
    int opposed = 0;
    for (int i = 0; i < c->m->n_rows; i++) {
        if (c->m->row_loops[i] != loop) continue;
        if (all.row < 0) all.row = i;
        *(c->m->row_turns[i] ? &all.turn : &all.move) += error[i] * error[i];
        opposed |= !(c->cosine[i] > 0.0);
    }
    all.turn = sqrt(all.turn), all.move = sqrt(all.move);
    all.residual = fmax(opposed ? fabs(sin(all.turn)) : all.turn, all.move);
    return all;
}

/* MBDY_UNCLOSED with the loop of the largest error, and that with its unit. */
static int refused(const mbdy_mechanism *c, enum mbdy_opening_kind kind, const double *error) {
    mbdy_core *core = c->core;
    double worst = -1.0;
    core->fault = 0;
    core->opening = (struct mbdy_opening){.kind = kind};
    for (int loop = 0; loop <= c->m->row_loops[c->m->n_rows - 1]; loop++) {
        const struct share share = share_of(c, error, loop);
        const double most = fmax(share.turn, share.move);
        if (!(most > worst)) continue;
        worst = most;
        core->fault = share.row;
        core->opening.turning = share.turn >= share.move;
        core->opening.amount = core->opening.turning ? share.turn * 57.29577951308232 : share.move * c->size;
    }
    return MBDY_UNCLOSED;
}

/* Whether some motion about z changes an error. */
static int lessens(const mbdy_mechanism *c, const double *z, const double *error) {
    const int m = c->m->n_rows, n = c->n;
    mbdy_slopes(c, z);
    mbdy_weigh(c, c->scale, c->movable);
    memcpy(c->right, error, sizeof(double) * (size_t)m);
    rows_orthogonal(c->rows, c->right, m, n);
    const double least = LESSENING_RANK * LESSENING_RANK * rows_largest_square(c->rows, m, n);
    double square = 0.0;
    for (int i = 0; i < m; i++)
        if (row_product(c->rows + i * n, c->rows + i * n, n) > least) square += c->right[i] * c->right[i];
    return sqrt(square) > LESSENED * row_norm(error, m);
}

/* Why the nearest position is not closed. */
static int why_open(const mbdy_mechanism *c) {
    mbdy_is_closed(c, c->nearest, c->error);
    if (!isfinite(row_norm(c->error, c->m->n_rows))) return refused(c, MBDY_BEYOND, c->error);
    double residual = 0.0;
    int mirrored = -1;
    for (int loop = 0; loop <= c->m->row_loops[c->m->n_rows - 1]; loop++) {
        const struct share share = share_of(c, c->error, loop);
        residual = fmax(residual, share.residual);
        if (mirrored < 0 && !(c->cosine[share.row] > 0.0)) mirrored = share.row;
    }
    if (mirrored >= 0 && residual < MIRRORED) {
        refused(c, MBDY_MIRRORED, c->error);
        c->core->fault = mirrored;
        return MBDY_UNCLOSED;
    }
    uint64_t seed = 0;
    int yields = lessens(c, c->nearest, c->error);
    for (int i = 0; i < MBDY_ORIGINS && !yields; i++) {
        mbdy_scatter(c, c->nearest, i, c->movable, &seed, c->origin);
        yields = lessens(c, c->origin, c->error);
    }
    mbdy_is_closed(c, c->nearest, c->error);
    return refused(c, yields ? MBDY_FAR : MBDY_CONTRADICTION, c->error);
}

/* z closed with all that may move, by their masses. Where steps had to be cut short the start is far and the way may have
   led away: then that counts, or what the damped steps find, whichever is nearer. 0 where nothing leads to closure. */
static int moved_least(const mbdy_mechanism *c, double *z, double *least) {
    const size_t size = sizeof(double) * (size_t)c->m->n_x;
    int cut = 0;
    memcpy(c->pushed, z, size);
    int there = mbdy_push(c, c->pushed, &cut);
    mbdy_keep_nearest(c, c->pushed, least);
    if (!there || cut) {
        memcpy(c->damped, z, size);
        const int few = released(c, coordinate, 1, 0);
        int damped = few && mbdy_search(c, c->damped, least);
        damped = damped || (released(c, coordinate, 1, 1) > few && mbdy_search(c, c->damped, least));
        if (damped && !(there && mbdy_distance(c, z, c->pushed) < mbdy_distance(c, z, c->damped))) memcpy(c->pushed, c->damped, size);
        there |= damped;
    }
    if (there) mbdy_keep_bits(c, z, c->pushed), memcpy(z, c->pushed, size);
    return there;
}

static int close_positions(const mbdy_mechanism *c, double *z) {
    if (!isfinite(c->size)) return refused(c, MBDY_BEYOND, c->error);
    if (mbdy_is_closed(c, z, c->error)) return MBDY_OK;
    double least = row_norm(c->error, c->m->n_rows);
    memcpy(c->nearest, z, sizeof(double) * (size_t)c->m->n_x);
    const int few = released(c, coordinate, 0, 0);
    if (few && mbdy_search(c, z, &least)) return MBDY_OK;
    if (released(c, coordinate, 0, 1) > few && mbdy_search(c, z, &least)) return MBDY_OK;
    return moved_least(c, z, &least) ? MBDY_OK : why_open(c);
}

/* Rates of closed loops with the speeds in z, relative to what is large among these: those that APPROACH has, or GAPS, which
   a latch takes out. */
static double parting(const mbdy_mechanism *c, const double *z, int equation) {
    mbdy_core *core = c->core;
    double size = 1.0;
    for (int k = 0; k < c->n; k++) size = fmax(size, fabs(z[speed(c, k)]) / c->scale[k]);
    core->arg[0] = z, core->arg[1] = core->vector[MBDY_U], core->arg[2] = core->vector[MBDY_K];
    core->res[0] = NULL, core->res[1] = c->rate, core->res[2] = NULL;
    mbdy_evaluate(core, equation);
    for (int i = 0; i < c->m->n_rows; i++) c->rate[i] *= row_scale(c, i);
    return row_largest(c->rate, c->m->n_rows) / size;
}

/* c.step of least norm in the free columns, scaled, that makes the right-hand side; the rank of the rows there. */
static int weighed_rank(const mbdy_mechanism *c, const double *scale, const int *free) {
    mbdy_weigh(c, scale, free);
    rows_orthogonal(c->rows, c->right, c->m->n_rows, c->n);
    return rows_solve(c->rows, c->right, c->m->n_rows, c->n, RANK, 0.0, c->step);
}

/* z with the speeds of least norm in the free columns that keep loops closed; 0 where none do. */
static int tangent(const mbdy_mechanism *c, double *z) {
    memcpy(c->trial, z, sizeof(double) * (size_t)c->m->n_x);
    mbdy_errors(c, z, NULL, c->right, NULL);
    weighed_rank(c, c->scale, c->free);
    const double still = STILL * row_largest(c->step, c->n);
    for (int k = 0; k < c->n; k++)
        if (fabs(c->step[k]) > still) c->trial[speed(c, k)] -= c->step[k] * c->scale[k];
    if (!(parting(c, c->trial, MBDY_APPROACH) <= CLOSED)) return 0;
    memcpy(z, c->trial, sizeof(double) * (size_t)c->m->n_x);
    return 1;
}

static int close_speeds(const mbdy_mechanism *c, double *z) {
    mbdy_core *core = c->core;
    if (parting(c, z, MBDY_APPROACH) <= CLOSED) return MBDY_OK;
    mbdy_slopes(c, z);
    const int few = released(c, speed, 0, 0);
    if (few && tangent(c, z)) return MBDY_OK;
    if (released(c, speed, 0, 1) > few && tangent(c, z)) return MBDY_OK;
    double left = INFINITY;
    for (int i = 0; i < LATCHES && !(left <= CLOSED); i++) {
        mbdy_stop(core, z, core->vector[MBDY_U], NULL);
        left = parting(c, z, MBDY_GAPS);
    }
    mbdy_errors(c, z, c->error, NULL, c->cosine);
    if (left <= NEARLY_CLOSED) return MBDY_OK;
    return refused(c, isfinite(left) ? MBDY_PARTING : MBDY_BEYOND, c->rate);
}

int mbdy_close(mbdy_core *core) {
    double *z = core->vector[MBDY_S_CLOSED];
    const mbdy_mechanism c = mbdy_mechanism_at(core, z);
    const int status = close_positions(&c, z);
    return status == MBDY_OK ? close_speeds(&c, z) : status;
}

int mbdy_freedoms(mbdy_core *core, int *rows, int *rank) {
    const mbdy_model *m = core->model;
    const double *u = core->vector[MBDY_U];
    const mbdy_mechanism c = mbdy_mechanism_at(core, core->vector[MBDY_S_CLOSED]);
    int free = 0;
    *rows = 0;
    for (int i = 0; i < m->n_rows; i++) *rows += m->row_switches[i] < 0 ? m->row_switches[i] == -1 : u[m->row_switches[i]] != 0.0;
    for (int k = 0; k < c.n; k++) free += c.movable[k];
    memset(c.right, 0, sizeof(double) * (size_t)m->n_rows);
    *rank = weighed_rank(&c, c.scale, c.movable);
    return free - *rank;
}

/* As weighed_rank, of the step that takes `residual` out. */
static int correcting_rank(const mbdy_mechanism *c, const double *residual, const double *scale, const int *free) {
    for (int i = 0; i < c->m->n_rows; i++) c->right[i] = -residual[i] * row_scale(c, i);
    return weighed_rank(c, scale, free);
}

/* c.step, scaled, added to coordinates or speeds. */
static void take_step(const mbdy_mechanism *c, const double *scale, int of_speeds, double *change) {
    const double *z = c->core->vector[MBDY_S_CLOSED];
    for (int k = 0; k < c->n; k++) c->step[k] *= scale[k];
    for (int k = 0; k < c->n; k++) {
        if (of_speeds || is_modal(c, k) || c->m->motions[k] != MBDY_QUATERNION) {
            change[of_speeds ? speed(c, k) : coordinate(c, k)] += c->step[k];
            continue;
        }
        const double *q = z + coordinate(c, k), *v = c->step + k; /* half of q times (0, v) */
        double *d = change + coordinate(c, k);
        d[0] -= 0.5 * (q[1] * v[0] + q[2] * v[1] + q[3] * v[2]);
        d[1] += 0.5 * (q[0] * v[0] + q[2] * v[2] - q[3] * v[1]);
        d[2] += 0.5 * (q[0] * v[1] + q[3] * v[0] - q[1] * v[2]);
        d[3] += 0.5 * (q[0] * v[2] + q[1] * v[1] - q[2] * v[0]);
        k += 2;
    }
}

/* c.step, which takes the errors out, becomes what all that may move would do by their masses, as a latch does. */
static void by_masses(const mbdy_mechanism *c, const double *scale) {
    mbdy_core *core = c->core;
    const size_t size = sizeof(double) * (size_t)c->m->n_x;
    memcpy(c->trial, core->vector[MBDY_S_CLOSED], size);
    for (int k = 0; k < c->n; k++) c->trial[speed(c, k)] -= c->step[k] * scale[k];
    memcpy(c->origin, c->trial, size);
    for (int i = 0; i < LATCHES; i++) mbdy_stop(core, c->trial, core->vector[MBDY_U], NULL);
    for (int k = 0; k < c->n; k++) c->step[k] = (c->trial[speed(c, k)] - c->origin[speed(c, k)]) / scale[k];
}

/* The columns that may move are those that closing would take: with them all rows are held that can be at all. */
int mbdy_correct(mbdy_core *core, int of_speeds, const double *residual, double *change) {
    const mbdy_mechanism c = mbdy_mechanism_at(core, core->vector[MBDY_S_CLOSED]);
    const double *scale = of_speeds ? c.scale : c.soft;
    const int rank = correcting_rank(&c, residual, scale, c.movable);
    for (int modes = 0; modes < 2; modes++) {
        released(&c, of_speeds ? speed : coordinate, 0, modes);
        if (correcting_rank(&c, residual, scale, c.free) < rank) continue;
        take_step(&c, scale, of_speeds, change);
        return 1;
    }
    for (int i = 0; i < c.m->n_x; i++)
        if (mbdy_moved(core, i)) return 0;
    correcting_rank(&c, residual, c.scale, c.movable);
    by_masses(&c, c.scale);
    take_step(&c, c.scale, of_speeds, change);
    return 1;
}

/* A start value as it was given, of a quaternion scaled to one and with the sign of what has become of it. */
double mbdy_start_value(const mbdy_core *core, int place) {
    const double *s = core->vector[MBDY_S], *z = core->vector[MBDY_S_CLOSED];
    for (int i = 0; i < core->model->n_quaternions; i++) {
        const int q = core->model->quaternions[i];
        if (place >= q && place < q + 4) return s[place] / copysign(row_norm(s + q, 4), row_product(s + q, z + q, 4));
    }
    return s[place];
}

int mbdy_moved(const mbdy_core *core, int place) {
    return given_at(core, place) && fabs(core->vector[MBDY_S_CLOSED][place] - mbdy_start_value(core, place)) > TOLD;
}
