/* Closing loops at the start: coordinates move until every loop that is closed in u is closed, speeds until it stays so.

   In turn may move what was neither given nor guessed, guesses too, each without modes first, and in the end all; prescribed
   and locked degrees of freedom never do. All but the last move as little as can be in angles, the last by the masses
   (closing_steps.c). Guesses begin to move where the others came nearest to closure, which says what they were meant for.

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

/* What a start value is, in the order in which they may move. */
enum standing { FOUND, GUESSED, KEPT };

/* Of a quaternion what the firmest of its elements is. */
static enum standing standing_at(const mbdy_core *core, int place) {
    const double *marks = core->vector[MBDY_GIVEN];
    int begin = place, end = place + 1;
    for (int i = 0; i < core->model->n_quaternions; i++) {
        const int q = core->model->quaternions[i];
        if (place >= q && place < q + 4) begin = q, end = q + 4;
    }
    enum standing firmest = FOUND;
    for (int i = begin; i < end; i++)
        if (marks[i] > 0.0) firmest = KEPT;
        else if (marks[i] < 0.0 && firmest == FOUND) firmest = GUESSED;
    return firmest;
}

/* Frees the columns that may move: coordinates (or speeds) that are no firmer than that, modes too or not. How many. */
static int released(const mbdy_mechanism *c, int (*place)(const mbdy_mechanism *, int), enum standing firmest, int modes) {
    int count = 0;
    for (int k = 0; k < c->n; k++) {
        c->free[k] = c->movable[k] && (modes || !is_modal(c, k)) && standing_at(c->core, place(c, k)) <= firmest;
        count += c->free[k];
    }
    return count;
}

/* Turns in which columns may move that were not given: bits of what may besides those that are found and no modes. */
enum { MODES = 1, GUESSES = 2, TURNS = 4 };

/* Frees the columns of a turn; how many, or 0 where they are those of one before. */
static int in_turn(const mbdy_mechanism *c, int (*place)(const mbdy_mechanism *, int), int turn) {
    int counts[TURNS];
    for (int i = 0; i <= turn; i++) counts[i] = released(c, place, i & GUESSES ? GUESSED : FOUND, i & MODES);
    for (int bit = 1; bit < TURNS; bit *= 2)
        if (turn & bit && counts[turn ^ bit] == counts[turn]) return 0;
    return counts[turn];
}

/* Sizes of the error of one loop by turning and by moving, the larger of them, of a turn between opposed axes by its
   sine, and the loop's first row. */
struct share {
    double turn, move, residual;
    int row;
};

/* Whether a row turns by more than a right angle; lines that should be at one, by more than half of it. */
static int is_opposed(const mbdy_mechanism *c, int row) { return c->cosine[row] < 0.70710678118654752; }

static struct share share_of(const mbdy_mechanism *c, const double *error, int loop) {
    struct share all = {0.0, 0.0, 0.0, -1};
    int opposed = 0;
    for (int i = 0; i < c->m->n_rows; i++) {
        if (c->m->row_loops[i] != loop) continue;
        if (all.row < 0) all.row = i;
        *(c->m->row_turns[i] ? &all.turn : &all.move) += error[i] * error[i];
        opposed |= is_opposed(c, i);
    }
    all.turn = sqrt(all.turn), all.move = sqrt(all.move);
    all.residual = fmax(opposed ? fabs(mbdy_sin(all.turn)) : all.turn, all.move);
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
        if (mirrored < 0 && is_opposed(c, share.row)) mirrored = share.row;
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
        const int few = released(c, coordinate, KEPT, 0);
        int damped = few && mbdy_search(c, c->damped, least);
        damped = damped || (released(c, coordinate, KEPT, 1) > few && mbdy_search(c, c->damped, least));
        if (damped && !(there && mbdy_distance(c, z, c->pushed) < mbdy_distance(c, z, c->damped))) memcpy(c->pushed, c->damped, size);
        there |= damped;
    }
    if (there) mbdy_keep_bits(c, z, c->pushed), memcpy(z, c->pushed, size);
    return there;
}

static int close_positions(const mbdy_mechanism *c, double *z) {
    if (!isfinite(c->size)) return refused(c, MBDY_BEYOND, c->error);
    if (mbdy_is_closed(c, z, c->error)) return MBDY_OK;
    const size_t size = sizeof(double) * (size_t)c->m->n_x;
    double least = row_norm(c->error, c->m->n_rows);
    memcpy(c->nearest, z, size);
    memcpy(c->damped, z, size);
    for (int turn = 0; turn < TURNS; turn++) {
        if (turn == GUESSES) memcpy(c->damped, c->nearest, size);
        if (!in_turn(c, coordinate, turn) || !mbdy_search(c, c->damped, &least)) continue;
        memcpy(z, c->damped, size);
        return MBDY_OK;
    }
    return moved_least(c, z, &least) ? MBDY_OK : why_open(c);
}

/* Rates of closed loops with the speeds in z, relative to what is large among these; or of these what a latch takes out. */
static double parting(const mbdy_mechanism *c, const double *z, int latched) {
    double size = 1.0;
    for (int k = 0; k < c->n; k++) size = fmax(size, fabs(z[speed(c, k)]) / c->scale[k]);
    mbdy_measure(c->core, z, c->core->vector[MBDY_U], NULL, latched ? c->rate : NULL, NULL, latched ? NULL : c->rate);
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
    if (!(parting(c, c->trial, 0) <= CLOSED)) return 0;
    memcpy(z, c->trial, sizeof(double) * (size_t)c->m->n_x);
    return 1;
}

static int close_speeds(const mbdy_mechanism *c, double *z) {
    mbdy_core *core = c->core;
    if (parting(c, z, 0) <= CLOSED) return MBDY_OK;
    mbdy_slopes(c, z);
    for (int turn = 0; turn < TURNS; turn++)
        if (in_turn(c, speed, turn) && tangent(c, z)) return MBDY_OK;
    double left = INFINITY;
    for (int i = 0; i < LATCHES && !(left <= CLOSED); i++) {
        mbdy_stop(core, z, core->vector[MBDY_U], NULL);
        left = parting(c, z, 1);
    }
    mbdy_errors(c, z, c->error, NULL, c->cosine);
    if (left <= NEARLY_CLOSED) return MBDY_OK;
    int held = 0;
    for (int k = 0; k < c->n; k++) held |= !c->movable[k];
    return refused(c, !isfinite(left) ? MBDY_BEYOND : held ? MBDY_PARTING : MBDY_SINGULAR, c->rate);
}

int mbdy_close(mbdy_core *core) {
    double *z = core->vector[MBDY_S_CLOSED];
    const mbdy_mechanism c = mbdy_mechanism_at(core, z);
    mbdy_errors(&c, z, c.error, NULL, NULL);
    mbdy_note_lines(core, c.error);
    int status = close_positions(&c, z);
    if (status == MBDY_OK) status = close_speeds(&c, z);
    if (status == MBDY_OK) mbdy_note_closed(&c, z);
    return status;
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
    for (int turn = 0; turn < TURNS; turn++) {
        in_turn(&c, of_speeds ? speed : coordinate, turn);
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
    return standing_at(core, place) == KEPT && fabs(core->vector[MBDY_S_CLOSED][place] - mbdy_start_value(core, place)) > TOLD;
}
