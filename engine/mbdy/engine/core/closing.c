/* Closing loops at the start: coordinates move until every loop that is closed in u is closed, speeds until it stays so.

   In turn may move what was not given and no modes, what was not given, and in the end all; prescribed and locked degrees
   of freedom never do. The first two take Newton's steps of least norm, damped as Levenberg and Marquardt do (J. Fan, Y.
   Yuan, Computing 74 (2005): damping in proportion to the error keeps them quadratic where rows are redundant), also from
   other origins about the start; metres count as radians times the size of the mechanism, or what parts its loops where
   that is more, modes by the root of their strain energy. The last moves all by their masses, as impulses would.

   All is done in start values, which have the shape of states: what an impulse changes of wheels' speeds, or of where an
   attitude root's mass centre is, follows when states are made of them. */

#include "inside.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "rows.h"

/* Errors of closure below this, relative to the size of the mechanism, are rounding and left alone; and part of the
   distance from the inertial origin that rounding is there. */
#define CLOSED 1e-11
#define ROUNDING 1e-14
/* Rates that are left where no step brings them lower. */
#define NEARLY_CLOSED 1e-9
/* Singular values below this, relative to the largest, count as zero; in damped steps, and where it is asked whether any
   motion lessens an error. */
#define RANK 1e-9
#define DAMPED_RANK 1e-12
#define LESSENING_RANK 1e-6
/* Part of an error that some motion must lessen, not to be called a contradiction. */
#define LESSENED 1e-3
/* Coordinates and speeds that move less than this keep their bits. */
#define STILL 1e-13
/* [rad] Longest turn in one step. */
#define LONGEST 0.5
/* Steps from one origin, halvings of one step, and latches of speeds. */
#define STEPS 80
#define HALVINGS 12
#define LATCHES 3
/* Damping at first, at most and at least. */
#define DAMPING 1e-2
#define DAMPED 1e8
#define UNDAMPED 1e-10
/* Modes whose stiffness is below this, relative to the stiffest, have no strain energy to go by. */
#define SOFT 1e-12
/* Residual of a position that is closed but for opposed axes. */
#define MIRRORED 1e-4
/* [rad, m, and in a second] Start values that were given and are moved further are told. */
#define TOLD 1e-6

/* [rad] Standard deviations of the origins that are tried where the start leads nowhere. */
static const double spreads[] = {0.1, 0.3, 0.3, 1.0, 1.0, 2.0};
enum { ORIGINS = sizeof spreads / sizeof spreads[0] };

typedef struct {
    mbdy_core *core;
    const mbdy_model *m;
    int n;       /* columns: speeds of joints, then modal rates */
    double size; /* [m] a length that is typical of what the loops go through */
    double *error, *trial_error, *rate, *cosine;    /* by row; metres by the size */
    double *slope, *rows, *right;                   /* what lessens errors, by row and column; work */
    double *scale, *soft, *step;                    /* by column: what counts as one radian, modes by energy */
    double *pose, *trial, *origin, *nearest, *best, *far, *near; /* like x */
    int *movable, *free, *anchored; /* by column; the last where loops feel how far from the inertial origin it is */
} closing;

static int columns(const mbdy_model *m) { return m->n_speeds + m->n_modes; }

size_t mbdy_closing_reals(const mbdy_model *m) {
    const size_t rows = (size_t)m->n_rows, n = (size_t)columns(m);
    return rows ? rows * (5 + 2 * n) + 3 * n + 7 * (size_t)m->n_x : 0;
}

size_t mbdy_closing_places(const mbdy_model *m) { return m->n_rows ? 3 * (size_t)columns(m) : 0; }

static double *part(double **at, int n) {
    double *const begin = *at;
    *at += n;
    return begin;
}

static int is_modal(const closing *c, int k) { return k >= c->m->n_speeds; }

static int slides(const closing *c, int k) { return !is_modal(c, k) && c->m->motions[k] == MBDY_TRANSLATION; }

/* Places of what a column changes, and of its speed. */
static int coordinate(const closing *c, int k) {
    return is_modal(c, k) ? c->m->n_coordinates + k : c->m->coordinates[k];
}

static int speed(const closing *c, int k) { return c->m->n_coordinates + k + (is_modal(c, k) ? c->m->n_modes : 0); }

static double row_scale(const closing *c, int row) { return c->m->row_turns[row] ? 1.0 : 1.0 / c->size; }

static double largest(const double *values, int n) {
    double most = 0.0;
    for (int i = 0; i < n; i++)
        if (!(fabs(values[i]) <= most)) most = fabs(values[i]); /* NaN stays */
    return most;
}

/* Errors of closure, their rates and cosines at z; not those that are NULL. */
static void evaluate(const closing *c, const double *z, double *error, double *rate, double *cosine) {
    mbdy_core *core = c->core;
    core->arg[0] = z, core->arg[1] = core->vector[MBDY_U], core->arg[2] = core->vector[MBDY_K];
    core->res[0] = error, core->res[1] = rate, core->res[2] = cosine;
    mbdy_evaluate(core, MBDY_APPROACH);
    for (int i = 0; i < c->m->n_rows; i++) {
        if (error) error[i] *= row_scale(c, i);
        if (rate) rate[i] *= row_scale(c, i);
    }
}

/* Errors at z, and whether all loops are closed to rounding, none of them mirrored. */
static int closed(const closing *c, const double *z, double *error) {
    evaluate(c, z, error, NULL, c->cosine);
    double far = 0.0;
    for (int k = 0; k < c->n; k++)
        if (c->anchored[k]) far = fmax(far, fabs(z[coordinate(c, k)]));
    int yes = largest(error, c->m->n_rows) <= CLOSED + ROUNDING * far / c->size;
    for (int i = 0; i < c->m->n_rows; i++) yes &= c->cosine[i] > 0.0;
    return yes;
}

static double norm(const double *values, int n) { return sqrt(row_product(values, values, n)); }

/* What lessens errors at z, by columns. */
static void slopes(const closing *c, const double *z) {
    memcpy(c->pose, z, sizeof(double) * (size_t)c->m->n_x);
    for (int k = 0; k < c->n; k++) c->pose[speed(c, k)] = 0.0;
    for (int k = 0; k < c->n; k++) {
        c->pose[speed(c, k)] = 1.0;
        evaluate(c, c->pose, NULL, c->rate, NULL);
        c->pose[speed(c, k)] = 0.0;
        for (int i = 0; i < c->m->n_rows; i++) c->slope[i * c->n + k] = c->rate[i];
    }
}

/* Work rows: the slopes of the columns that are free, each by what of it counts as one. */
static void weighed(const closing *c, const double *scale, const int *free) {
    for (int i = 0; i < c->m->n_rows; i++)
        for (int k = 0; k < c->n; k++) c->rows[i * c->n + k] = free[k] ? c->slope[i * c->n + k] * scale[k] : 0.0;
}

/* The largest of lengths between places of the loops. */
static double size_of(const mbdy_model *m, const double *p) {
    double size = m->reach;
    for (int i = 0; i < m->n_lengths; i++) size = fmax(size, fabs(p[m->lengths[i]]));
    for (int i = 0; i < m->n_points; i++) size = fmax(size, norm(p + m->points[i], 3));
    return size > 0.0 ? size : 1.0;
}

/* Modes count by the root of their strain energy, the softest as one radian; as they are where one has no stiffness. */
static void soften(closing *c) {
    const double *p = c->core->vector[MBDY_P];
    const int first = c->m->n_speeds;
    double least = INFINITY, most = -INFINITY;
    for (int k = 0; k < c->m->n_modes; k++) least = fmin(least, p[c->m->stiffness[k]]), most = fmax(most, p[c->m->stiffness[k]]);
    memcpy(c->soft, c->scale, sizeof(double) * (size_t)c->n);
    for (int k = 0; k < c->m->n_modes && least > SOFT * most; k++) c->soft[first + k] = sqrt(least / p[c->m->stiffness[k]]);
}

/* What may move at z: neither always prescribed nor prescribed or locked in u. */
static closing opened(mbdy_core *core, const double *z) {
    const mbdy_model *m = core->model;
    const double *u = core->vector[MBDY_U];
    closing c = {.core = core, .m = m, .n = columns(m), .size = size_of(m, core->vector[MBDY_P])};
    double *at = core->closing;
    double **by_row[] = {&c.error, &c.trial_error, &c.rate, &c.cosine, &c.right};
    double **by_column[] = {&c.scale, &c.soft, &c.step};
    double **like_x[] = {&c.pose, &c.trial, &c.origin, &c.nearest, &c.best, &c.far, &c.near};
    for (size_t i = 0; i < sizeof by_row / sizeof by_row[0]; i++) *by_row[i] = part(&at, m->n_rows);
    for (size_t i = 0; i < sizeof by_column / sizeof by_column[0]; i++) *by_column[i] = part(&at, c.n);
    for (size_t i = 0; i < sizeof like_x / sizeof like_x[0]; i++) *like_x[i] = part(&at, m->n_x);
    c.slope = part(&at, m->n_rows * c.n), c.rows = part(&at, m->n_rows * c.n);
    c.movable = core->closing_places, c.free = c.movable + c.n, c.anchored = c.free + c.n;
    for (int k = 0; k < c.n; k++) {
        c.scale[k] = slides(&c, k) ? c.size : 1.0;
        c.movable[k] = is_modal(&c, k) || !m->prescribed[k];
    }
    for (int i = 0; i < m->n_locks; i++)
        c.movable[m->lock_speeds[i] - m->n_coordinates] &= u[m->locks[i]] == 0.0 && u[m->prescriptions[i]] == 0.0;
    soften(&c);
    slopes(&c, z);
    for (int k = 0; k < c.n; k++) {
        c.anchored[k] = 0;
        for (int i = 0; i < m->n_rows; i++) c.anchored[k] |= slides(&c, k) && c.slope[i * c.n + k] != 0.0;
    }
    return c;
}

/* q turned by a rotation vector about outboard axes. */
static void turn(double *q, const double *vector) {
    const double angle = norm(vector, 3), half = angle > 0.0 ? sin(angle / 2.0) / angle : 0.5, w = cos(angle / 2.0);
    const double a = q[0], b[] = {q[1], q[2], q[3]}, v[] = {half * vector[0], half * vector[1], half * vector[2]};
    q[0] = a * w - row_product(b, v, 3);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        q[1 + i] = a * v[i] + w * b[i] + b[j] * v[k] - b[k] * v[j];
    }
    const double length = norm(q, 4);
    for (int i = 0; i < 4; i++) q[i] /= length;
}

/* z after a step by columns. */
static void moved(const closing *c, const double *z, const double *step, double *to) {
    if (to != z) memcpy(to, z, sizeof(double) * (size_t)c->m->n_x);
    for (int k = 0; k < c->n; k++) {
        if (!is_modal(c, k) && c->m->motions[k] == MBDY_QUATERNION) {
            if (step[k] != 0.0 || step[k + 1] != 0.0 || step[k + 2] != 0.0) turn(to + coordinate(c, k), step + k);
            k += 2;
        } else if (step[k] != 0.0) {
            to[coordinate(c, k)] += step[k];
        }
    }
}

/* The damped step of least norm from the orthogonal work rows, cut to the longest turn; of modes counts what they do. */
static void damped_step(const closing *c, double damping, double gap) {
    const int m = c->m->n_rows, n = c->n;
    double longest = 0.0;
    rows_solve(c->rows, c->right, m, n, DAMPED_RANK, damping, c->step);
    for (int k = 0; k < n; k++) {
        if (!is_modal(c, k)) longest = fmax(longest, fabs(c->step[k]));
        c->step[k] *= -c->soft[k] * (slides(c, k) ? gap : 1.0);
    }
    for (int i = 0; i < m; i++) longest = fmax(longest, fabs(row_product(c->slope + i * n + c->m->n_speeds,
                                                                          c->step + c->m->n_speeds, c->m->n_modes)));
    const double cut = longest > LONGEST ? LONGEST / longest : 1.0;
    for (int k = 0; k < n; k++) c->step[k] *= cut;
}

/* The largest gap of the loops, in sizes of the mechanism; one at least. */
static double gap_of(const closing *c) {
    double gap = 1.0;
    for (int i = 0; i < c->m->n_rows; i++)
        if (!c->m->row_turns[i]) gap = fmax(gap, fabs(c->error[i]));
    return gap;
}

/* z moved in the free columns towards closure, as near as steps of descent get; whether that is there. */
static int approach(const closing *c, double *z) {
    const int m = c->m->n_rows;
    double damping = DAMPING, gap = 1.0;
    int there = closed(c, z, c->error), stale = 1;
    for (int i = 0; i < STEPS && !there && damping <= DAMPED; i++) {
        const double size = norm(c->error, m);
        if (stale) {
            gap = gap_of(c);
            for (int k = 0; k < c->n; k++) c->step[k] = c->soft[k] * (slides(c, k) ? gap : 1.0);
            slopes(c, z);
            weighed(c, c->step, c->free);
            memcpy(c->right, c->error, sizeof(double) * (size_t)m);
            rows_orthogonal(c->rows, c->right, m, c->n);
        }
        damped_step(c, damping * size, gap);
        moved(c, z, c->step, c->trial);
        const int trial = closed(c, c->trial, c->trial_error);
        stale = norm(c->trial_error, m) < size;
        if (stale) {
            memcpy(z, c->trial, sizeof(double) * (size_t)c->m->n_x);
            memcpy(c->error, c->trial_error, sizeof(double) * (size_t)m);
            damping = fmax(damping / 5.0, UNDAMPED);
            there = trial;
        } else {
            damping *= 10.0;
        }
    }
    return there;
}

/* Numbers of a normal distribution, always the same ones: splitmix64 (G. L. Steele and others, 2014), Box and Muller. */
static double uniform(uint64_t *seed) {
    uint64_t bits = *seed += 0x9e3779b97f4a7c15u;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return ((double)((bits ^ (bits >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t *seed) {
    const double radius = sqrt(-2.0 * log(uniform(seed)));
    return radius * cos(6.283185307179586 * uniform(seed));
}

/* An origin about z in the columns that may move and are not modal. */
static void scattered(const closing *c, const double *z, double spread, const int *may, uint64_t *seed, double *to) {
    for (int k = 0; k < c->n; k++) {
        const double random = normal(seed);
        c->step[k] = may[k] && !is_modal(c, k) ? spread * c->scale[k] * random : 0.0;
    }
    moved(c, z, c->step, to);
}

/* How far z is from `from` over all columns: of quaternions the whole angle. */
static double distance(const closing *c, const double *from, const double *z) {
    double square = 0.0;
    for (int k = 0; k < c->n; k++) {
        const double *p = from + coordinate(c, k), *q = z + coordinate(c, k);
        if (!is_modal(c, k) && c->m->motions[k] == MBDY_QUATERNION) {
            double near = 0.0, mirror = 0.0;
            for (int i = 0; i < 4; i++) near += (p[i] - q[i]) * (p[i] - q[i]), mirror += (p[i] + q[i]) * (p[i] + q[i]);
            const double angle = 4.0 * asin(fmin(1.0, sqrt(fmin(near, mirror)) / 2.0));
            square += angle * angle;
            k += 2;
        } else {
            square += (*q - *p) * (*q - *p);
        }
    }
    return sqrt(square);
}

/* z with the bits of `from` where it has not moved, if that is closed too. */
static void keep_bits(const closing *c, const double *from, double *z) {
    const size_t size = sizeof(double) * (size_t)c->m->n_x;
    memcpy(c->trial, z, size);
    for (int k = 0; k < c->n; k++) {
        const int at = coordinate(c, k), many = !is_modal(c, k) && c->m->motions[k] == MBDY_QUATERNION ? 4 : 1;
        int still = 1;
        for (int i = at; i < at + many; i++) still &= fabs(z[i] - from[i]) <= STILL * (1.0 + fabs(from[i]));
        if (still) memcpy(c->trial + at, from + at, sizeof(double) * (size_t)many);
    }
    if (closed(c, c->trial, c->trial_error)) memcpy(z, c->trial, size);
}

/* The state nearest to closure so far. */
static void keep_nearest(const closing *c, const double *z, double *least) {
    const double error = norm(c->error, c->m->n_rows);
    if (!(error < *least)) return;
    *least = error;
    memcpy(c->nearest, z, sizeof(double) * (size_t)c->m->n_x);
}

/* z closed by the free columns, from itself or from origins about it, of which the nearest counts; 0 where that leads
   nowhere. */
static int searched(const closing *c, double *z, double *least) {
    const size_t size = sizeof(double) * (size_t)c->m->n_x;
    double shortest = INFINITY;
    uint64_t seed = 0;
    for (int i = 0; i <= ORIGINS; i++) {
        if (i) scattered(c, z, spreads[i - 1], c->free, &seed, c->origin);
        else memcpy(c->origin, z, size);
        const int there = approach(c, c->origin);
        keep_nearest(c, c->origin, least);
        if (!there) continue;
        keep_bits(c, z, c->origin);
        const double length = distance(c, z, c->origin);
        if (length < shortest) shortest = length, memcpy(c->best, c->origin, size);
        if (!i) break;
    }
    if (shortest < INFINITY) memcpy(z, c->best, size);
    return shortest < INFINITY;
}

/* The state one Newton step of all columns by their masses nearer, the turn of which is `*longest`. */
static void impulsive_step(const closing *c, const double *z, double *to, double *longest) {
    mbdy_core *core = c->core;
    const double all = INFINITY;
    core->arg[0] = z, core->arg[1] = core->vector[MBDY_U], core->arg[2] = core->vector[MBDY_K], core->arg[3] = &all;
    core->res[0] = to;
    mbdy_evaluate(core, MBDY_ASSEMBLE);
    *longest = 0.0;
    for (int k = 0; k < c->m->n_speeds; k++) {
        const double *p = z + coordinate(c, k), *q = to + coordinate(c, k);
        if (c->m->motions[k] == MBDY_QUATERNION)
            for (int i = 0; i < 4; i++) *longest = fmax(*longest, 2.0 * fabs(q[i] - p[i]));
        else
            *longest = fmax(*longest, fabs(*q - *p) / c->scale[k]);
    }
}

/* z brought to closure with all that may move, by their masses, whether or not steps had to be `cut`; 0 where they lead
   nowhere. */
static int pushed(const closing *c, double *z, int *cut) {
    const int m = c->m->n_rows, n_x = c->m->n_x;
    int there = closed(c, z, c->error);
    for (int i = 0; i < STEPS && !there; i++) {
        double longest;
        int nearer = 0;
        impulsive_step(c, z, c->best, &longest);
        double share = longest > LONGEST ? LONGEST / longest : 1.0;
        *cut |= share < 1.0;
        for (int halving = 0; halving < HALVINGS && !nearer; halving++, share /= 2.0) {
            *cut |= halving > 0;
            for (int j = 0; j < n_x; j++) c->trial[j] = z[j] + share * (c->best[j] - z[j]);
            mbdy_normalise(c->m, c->trial);
            there = closed(c, c->trial, c->trial_error);
            nearer = norm(c->trial_error, m) < norm(c->error, m);
        }
        if (!nearer) return 0;
        memcpy(z, c->trial, sizeof(double) * (size_t)n_x);
        memcpy(c->error, c->trial_error, sizeof(double) * (size_t)m);
    }
    return there;
}

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
static int released(const closing *c, int (*place)(const closing *, int), int all, int modes) {
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

static struct share share_of(const closing *c, const double *error, int loop) {
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
static int refused(const closing *c, enum mbdy_opening_kind kind, const double *error) {
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
static int lessens(const closing *c, const double *z, const double *error) {
    const int m = c->m->n_rows, n = c->n;
    slopes(c, z);
    weighed(c, c->scale, c->movable);
    memcpy(c->right, error, sizeof(double) * (size_t)m);
    rows_orthogonal(c->rows, c->right, m, n);
    const double least = LESSENING_RANK * LESSENING_RANK * rows_largest(c->rows, m, n);
    double square = 0.0;
    for (int i = 0; i < m; i++)
        if (row_product(c->rows + i * n, c->rows + i * n, n) > least) square += c->right[i] * c->right[i];
    return sqrt(square) > LESSENED * norm(error, m);
}

/* Why the nearest position is not closed. */
static int open(const closing *c) {
    closed(c, c->nearest, c->error);
    if (!isfinite(norm(c->error, c->m->n_rows))) return refused(c, MBDY_BEYOND, c->error);
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
    for (int i = 0; i < ORIGINS && !yields; i++) {
        scattered(c, c->nearest, spreads[i], c->movable, &seed, c->origin);
        yields = lessens(c, c->origin, c->error);
    }
    closed(c, c->nearest, c->error);
    return refused(c, yields ? MBDY_FAR : MBDY_CONTRADICTION, c->error);
}

/* z closed with all that may move, by their masses. Where steps had to be cut short the start is far and the way may have
   led away: then that counts, or what the damped steps find, whichever is nearer. 0 where nothing leads to closure. */
static int moved_least(const closing *c, double *z, double *least) {
    const size_t size = sizeof(double) * (size_t)c->m->n_x;
    int cut = 0;
    memcpy(c->far, z, size);
    int there = pushed(c, c->far, &cut);
    keep_nearest(c, c->far, least);
    if (!there || cut) {
        memcpy(c->near, z, size);
        const int few = released(c, coordinate, 1, 0);
        int damped = few && searched(c, c->near, least);
        damped = damped || (released(c, coordinate, 1, 1) > few && searched(c, c->near, least));
        if (damped && !(there && distance(c, z, c->far) < distance(c, z, c->near))) memcpy(c->far, c->near, size);
        there |= damped;
    }
    if (there) keep_bits(c, z, c->far), memcpy(z, c->far, size);
    return there;
}

static int close_positions(const closing *c, double *z) {
    if (closed(c, z, c->error)) return MBDY_OK;
    double least = norm(c->error, c->m->n_rows);
    memcpy(c->nearest, z, sizeof(double) * (size_t)c->m->n_x);
    const int few = released(c, coordinate, 0, 0);
    if (few && searched(c, z, &least)) return MBDY_OK;
    if (released(c, coordinate, 0, 1) > few && searched(c, z, &least)) return MBDY_OK;
    return moved_least(c, z, &least) ? MBDY_OK : open(c);
}

/* Rates of closed loops with the speeds in z, relative to what is large among these. */
static double parting(const closing *c, const double *z) {
    double size = 1.0;
    for (int k = 0; k < c->n; k++) size = fmax(size, fabs(z[speed(c, k)]) / c->scale[k]);
    evaluate(c, z, NULL, c->rate, NULL);
    return largest(c->rate, c->m->n_rows) / size;
}

/* z with the speeds of least norm in the free columns that keep loops closed; 0 where none do. */
static int tangent(const closing *c, double *z) {
    const int m = c->m->n_rows;
    weighed(c, c->scale, c->free);
    memcpy(c->trial, z, sizeof(double) * (size_t)c->m->n_x);
    evaluate(c, z, NULL, c->right, NULL);
    rows_orthogonal(c->rows, c->right, m, c->n);
    rows_solve(c->rows, c->right, m, c->n, RANK, 0.0, c->step);
    const double still = STILL * largest(c->step, c->n);
    for (int k = 0; k < c->n; k++)
        if (fabs(c->step[k]) > still) c->trial[speed(c, k)] -= c->step[k] * c->scale[k];
    if (!(parting(c, c->trial) <= CLOSED)) return 0;
    memcpy(z, c->trial, sizeof(double) * (size_t)c->m->n_x);
    return 1;
}

static int close_speeds(const closing *c, double *z) {
    mbdy_core *core = c->core;
    if (parting(c, z) <= CLOSED) return MBDY_OK;
    slopes(c, z);
    const int few = released(c, speed, 0, 0);
    if (few && tangent(c, z)) return MBDY_OK;
    if (released(c, speed, 0, 1) > few && tangent(c, z)) return MBDY_OK;
    double left = INFINITY;
    for (int i = 0; i < LATCHES && !(left <= CLOSED); i++) {
        core->arg[0] = z, core->arg[1] = core->vector[MBDY_U], core->arg[2] = core->vector[MBDY_K];
        core->res[0] = c->trial, core->res[1] = NULL;
        mbdy_evaluate(core, MBDY_LATCH);
        memcpy(z, c->trial, sizeof(double) * (size_t)c->m->n_x);
        left = parting(c, z);
    }
    if (left <= NEARLY_CLOSED) return MBDY_OK;
    evaluate(c, z, c->error, NULL, c->cosine);
    return refused(c, isfinite(left) ? MBDY_PARTING : MBDY_BEYOND, c->rate);
}

int mbdy_close(mbdy_core *core) {
    double *z = core->vector[MBDY_S_CLOSED];
    const closing c = opened(core, z);
    const int status = close_positions(&c, z);
    return status == MBDY_OK ? close_speeds(&c, z) : status;
}

int mbdy_freedoms(mbdy_core *core, int *rows, int *rank) {
    const mbdy_model *m = core->model;
    const double *u = core->vector[MBDY_U];
    const closing c = opened(core, core->vector[MBDY_S_CLOSED]);
    int free = 0;
    *rows = 0;
    for (int i = 0; i < m->n_rows; i++) *rows += m->row_switches[i] < 0 || u[m->row_switches[i]] != 0.0;
    for (int k = 0; k < c.n; k++) free += c.movable[k];
    weighed(&c, c.scale, c.movable);
    memset(c.right, 0, sizeof(double) * (size_t)m->n_rows);
    rows_orthogonal(c.rows, c.right, m->n_rows, c.n);
    *rank = rows_solve(c.rows, c.right, m->n_rows, c.n, RANK, 0.0, c.step);
    return free - *rank;
}

/* A start value as it was given, of a quaternion scaled to one and with the sign of what has become of it. */
double mbdy_start_value(const mbdy_core *core, int place) {
    const double *s = core->vector[MBDY_S], *z = core->vector[MBDY_S_CLOSED];
    for (int i = 0; i < core->model->n_quaternions; i++) {
        const int q = core->model->quaternions[i];
        if (place >= q && place < q + 4) return s[place] / copysign(norm(s + q, 4), row_product(s + q, z + q, 4));
    }
    return s[place];
}

int mbdy_moved(const mbdy_core *core, int place) {
    return given_at(core, place) && fabs(core->vector[MBDY_S_CLOSED][place] - mbdy_start_value(core, place)) > TOLD;
}
