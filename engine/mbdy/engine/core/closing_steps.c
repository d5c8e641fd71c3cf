/* Steps that close the loops of a mechanism, as far as they lead.

   Newton's of least norm, damped as Levenberg and Marquardt do (J. Fan, Y. Yuan, Computing 74 (2005): damping in proportion
   to the error keeps them quadratic where rows are redundant), also from other origins; metres count as radians times the
   size of the mechanism, or what parts its loops where that is more, modes by the root of their strain energy. And Newton's
   by the masses, as impulses would move it. */

#include "mechanism.h"

#include <math.h>
#include <string.h>

#include "rows.h"

/* Singular values below this, relative to the largest, count as zero. */
#define STEP_RANK 1e-12
/* Coordinates that move less than this keep their bits. */
#define STILL 1e-13
/* [rad] Longest turn in one step. */
#define LONGEST 0.5
/* Steps from one origin, and halvings of one step. */
#define STEPS 80
#define HALVINGS 12
/* Damping at first, at most and at least. */
#define DAMPING 1e-2
#define MOST_DAMPING 1e8
#define LEAST_DAMPING 1e-10

/* [rad] Standard deviations of the origins that are tried where the start leads nowhere. */
static const double spreads[MBDY_ORIGINS] = {0.1, 0.3, 0.3, 1.0, 1.0, 2.0};

/* The damped step of least norm from the orthogonal work rows, cut to the longest turn; of modes counts what they do. */
static void damped_step(const mbdy_mechanism *c, double damping, double gap) {
    const int m = c->m->n_rows, n = c->n;
    double longest = 0.0;
    rows_solve(c->rows, c->right, m, n, STEP_RANK, damping, c->step);
    for (int k = 0; k < n; k++) {
        if (!is_modal(c, k) && c->bent[k]) longest = fmax(longest, fabs(c->step[k]));
        c->step[k] *= -c->soft[k] * (slides(c, k) ? gap : 1.0);
    }
    for (int i = 0; i < m; i++) longest = fmax(longest, fabs(row_product(c->slope + i * n + c->m->n_speeds,
                                                                          c->step + c->m->n_speeds, c->m->n_modes)));
    const double cut = longest > LONGEST ? LONGEST / longest : 1.0;
    for (int k = 0; k < n; k++) c->step[k] *= cut;
}

/* The largest gap of the loops, in sizes of the mechanism; one at least. */
static double gap_of(const mbdy_mechanism *c) {
    double gap = 1.0;
    for (int i = 0; i < c->m->n_rows; i++)
        if (!c->m->row_turns[i]) gap = fmax(gap, fabs(c->error[i]));
    return gap;
}

/* z moved in the free columns towards closure, as near as steps of descent get; whether that is there. One step more than
   it takes leaves rounding alone. */
static int approach(const mbdy_mechanism *c, double *z) {
    const int m = c->m->n_rows;
    double damping = DAMPING, gap = 1.0;
    int there = mbdy_is_closed(c, z, c->error), stale = 1;
    for (int i = 0, last = there; i < STEPS && !last && damping <= MOST_DAMPING; i++) {
        const double size = row_norm(c->error, m);
        if (stale) {
            gap = gap_of(c);
            for (int k = 0; k < c->n; k++) c->step[k] = c->soft[k] * (slides(c, k) ? gap : 1.0);
            mbdy_slopes(c, z);
            mbdy_weigh(c, c->step, c->free);
            memcpy(c->right, c->error, sizeof(double) * (size_t)m);
            rows_orthogonal(c->rows, c->right, m, c->n);
        }
        damped_step(c, damping * size, gap);
        mbdy_move(c, z, c->step, c->trial);
        const int trial = mbdy_is_closed(c, c->trial, c->trial_error);
        last = there;
        stale = row_norm(c->trial_error, m) < size && (trial || !there);
        if (stale) {
            memcpy(z, c->trial, sizeof(double) * (size_t)c->m->n_x);
            memcpy(c->error, c->trial_error, sizeof(double) * (size_t)m);
            damping = fmax(damping / 5.0, LEAST_DAMPING);
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
    const double radius = sqrt(-2.0 * mbdy_log(uniform(seed)));
    return radius * mbdy_cos(6.283185307179586 * uniform(seed));
}

void mbdy_scatter(const mbdy_mechanism *c, const double *z, int origin, const int *may, uint64_t *seed, double *to) {
    for (int k = 0; k < c->n; k++) {
        const double random = normal(seed);
        c->step[k] = may[k] && !is_modal(c, k) ? spreads[origin] * c->scale[k] * random : 0.0;
    }
    mbdy_move(c, z, c->step, to);
}

void mbdy_keep_bits(const mbdy_mechanism *c, const double *from, double *z) {
    const size_t size = sizeof(double) * (size_t)c->m->n_x;
    memcpy(c->trial, z, size);
    for (int k = 0; k < c->n; k++) {
        const int at = coordinate(c, k), many = !is_modal(c, k) && c->m->motions[k] == MBDY_QUATERNION ? 4 : 1;
        int still = 1;
        for (int i = at; i < at + many; i++) still &= fabs(z[i] - from[i]) <= STILL * (1.0 + fabs(from[i]));
        if (still) memcpy(c->trial + at, from + at, sizeof(double) * (size_t)many);
    }
    if (mbdy_is_closed(c, c->trial, c->trial_error)) memcpy(z, c->trial, size);
}

void mbdy_keep_nearest(const mbdy_mechanism *c, const double *z, double *least) {
    const double error = row_norm(c->error, c->m->n_rows);
    if (!(error < *least)) return;
    *least = error;
    memcpy(c->nearest, z, sizeof(double) * (size_t)c->m->n_x);
}

int mbdy_search(const mbdy_mechanism *c, double *z, double *least) {
    const size_t size = sizeof(double) * (size_t)c->m->n_x;
    double shortest = INFINITY;
    uint64_t seed = 0;
    for (int i = 0; i <= MBDY_ORIGINS; i++) {
        if (i) mbdy_scatter(c, z, i - 1, c->free, &seed, c->origin);
        else memcpy(c->origin, z, size);
        const int there = approach(c, c->origin);
        mbdy_keep_nearest(c, c->origin, least);
        if (!there) continue;
        mbdy_keep_bits(c, z, c->origin);
        const double length = mbdy_distance(c, z, c->origin);
        if (length < shortest) shortest = length, memcpy(c->best, c->origin, size);
        if (!i) break;
    }
    if (shortest < INFINITY) memcpy(z, c->best, size);
    return shortest < INFINITY;
}

/* The state one Newton step of all columns by their masses nearer, the turn of which is `*longest`. */
static void impulsive_step(const mbdy_mechanism *c, const double *z, double *to, double *longest) {
    mbdy_core *core = c->core;
    const double all = INFINITY;
    core->arg[0] = z, core->arg[1] = core->vector[MBDY_U], core->arg[2] = core->vector[MBDY_K], core->arg[3] = &all;
    core->res[0] = to;
    mbdy_evaluate(core, MBDY_ASSEMBLE);
    *longest = 0.0;
    for (int k = 0; k < c->m->n_speeds; k++) {
        if (!c->bent[k]) continue;
        const double *p = z + coordinate(c, k), *q = to + coordinate(c, k);
        if (c->m->motions[k] == MBDY_QUATERNION)
            for (int i = 0; i < 4; i++) *longest = fmax(*longest, 2.0 * fabs(q[i] - p[i]));
        else
            *longest = fmax(*longest, fabs(*q - *p) / c->scale[k]);
    }
}

int mbdy_push(const mbdy_mechanism *c, double *z, int *cut) {
    const int m = c->m->n_rows, n_x = c->m->n_x;
    int there = mbdy_is_closed(c, z, c->error);
    for (int i = 0, last = there; i < STEPS && !last; i++) {
        double longest;
        int nearer = 0, trial = 0;
        last = there;
        impulsive_step(c, z, c->best, &longest);
        double share = longest > LONGEST ? LONGEST / longest : 1.0;
        *cut |= share < 1.0;
        for (int halving = 0; halving < (last ? 1 : HALVINGS) && !nearer; halving++, share /= 2.0) {
            *cut |= halving > 0;
            for (int j = 0; j < n_x; j++) c->trial[j] = z[j] + share * (c->best[j] - z[j]);
            mbdy_normalise(c->m, c->trial);
            trial = mbdy_is_closed(c, c->trial, c->trial_error);
            nearer = row_norm(c->trial_error, m) < row_norm(c->error, m) && (trial || !there);
        }
        if (!nearer) break;
        there = trial;
        memcpy(z, c->trial, sizeof(double) * (size_t)n_x);
        memcpy(c->error, c->trial_error, sizeof(double) * (size_t)m);
    }
    return there;
}
