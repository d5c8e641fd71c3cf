/* How fast a system is where it stands, and what makes it so: the fastest eigenvalue of its linear system, with each law of
   effort as steep as it can be, against what steps of the integrator follow. */

#include "inside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* States of systems whose matrix is made: those of more are iterated with alone, which finds no more than the fastest eigenvalue
   and less where others are almost as fast. */
#define LARGEST 400
/* Iterations of such, and how many of the last ones say how fast. */
#define ITERATIONS 120
#define LAST 40
/* Times the matrix is squared: the size of its 4096th power says that of its fastest eigenvalue. */
#define SQUARINGS 12
/* Damping shortens the steps that are stable by no more than this. */
#define DAMPED_BY 2.5
/* Steps of differences, of states of size one. */
#define NUDGE 1e-6
/* What makes less of a motion than this, in squares, is no cause of it. */
#define SHARE 1e-3
/* Time constants of loops have at least as many steps: explicit integrators are unstable below a third of one, and the
   implicit one is no longer accurate. */
#define LOOP_STEPS 3.0

/* What is looked at: constants with steep laws, and derivatives at x with them; memory of a look. */
struct look {
    mbdy_core *core;
    int n;
    double *k, *p, *still, *x, *dx, *swing, *along, *nudged, *whole; /* dx and whole with room for two */
    double *matrix, *power, *product;                        /* NULL where there is no matrix */
    int steep;
};

static void rates(struct look *it, const double *x, double *dx) {
    mbdy_core *core = it->core;
    core->arg[0] = x, core->arg[1] = core->vector[MBDY_U], core->arg[2] = it->k, core->arg[3] = it->p;
    core->res[0] = dx, core->res[1] = NULL;
    mbdy_evaluate(core, MBDY_DERIVATIVES);
}

/* Constants of the parameters in it->p, and the derivatives where it stands. */
static void stand(struct look *it) {
    mbdy_core *core = it->core;
    const mbdy_model *m = core->model;
    core->arg[0] = it->p, core->res[0] = it->k;
    mbdy_evaluate(core, MBDY_PREPARE);
    if (it->steep) {
        core->arg[0] = it->k, core->res[0] = core->k_new;
        mbdy_evaluate(core, MBDY_STEEPEST);
        memcpy(it->k, core->k_new, sizeof(double) * (size_t)m->n_k);
    }
    for (int i = 0; i < m->n_loops; i++) it->k[m->decays[i]] = 0.0;
    rates(it, core->vector[MBDY_X], it->still);
}

/* The change of the derivatives along v, from differences. */
static void differ(struct look *it, const double *v, double *out) {
    const double *x = it->core->vector[MBDY_X];
    double most = 0.0;
    for (int i = 0; i < it->n; i++) most = fmax(most, fabs(v[i]));
    const double step = NUDGE / most;
    for (int i = 0; i < it->n; i++) it->nudged[i] = x[i] + step * v[i];
    rates(it, it->nudged, out);
    for (int i = 0; i < it->n; i++) out[i] = (out[i] - it->still[i]) / step;
}

static void times(struct look *it, const double *v, double *out) {
    if (!it->matrix) {
        differ(it, v, out);
        return;
    }
    for (int i = 0; i < it->n; i++) {
        out[i] = 0.0;
        for (int j = 0; j < it->n; j++) out[i] += it->matrix[i * it->n + j] * v[j];
    }
}

/* Largest sum of a row; the matrix is divided by it. */
static double scaled(double *matrix, int n) {
    double most = 0.0;
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int j = 0; j < n; j++) sum += fabs(matrix[i * n + j]);
        if (!(sum <= most)) most = sum;
    }
    for (int i = 0; most > 0.0 && i < n * n; i++) matrix[i] /= most;
    return most;
}

/* An estimate from above of the size of the fastest eigenvalue [1/s], good where it is more than `enough`; the last power
   is in it->power. */
static double fastest(struct look *it, double enough) {
    const int n = it->n;
    const double *x = it->core->vector[MBDY_X];
    for (int j = 0; j < n; j++) {
        const double step = NUDGE * fmax(1.0, fabs(x[j]));
        memcpy(it->x, x, sizeof(double) * (size_t)n);
        it->x[j] += step;
        rates(it, it->x, it->dx);
        for (int i = 0; i < n; i++) it->matrix[i * n + j] = (it->dx[i] - it->still[i]) / step;
    }
    memcpy(it->power, it->matrix, sizeof(double) * (size_t)n * (size_t)n);
    double logarithm = mbdy_log(scaled(it->power, n)), exponent = 1.0, size = mbdy_exp(logarithm);
    for (int s = 0; s < SQUARINGS && size > enough; s++) {
        memset(it->product, 0, sizeof(double) * (size_t)n * (size_t)n);
        for (int i = 0; i < n; i++)
            for (int k = 0; k < n; k++) {
                const double factor = it->power[i * n + k], *row = it->power + k * n;
                double *sum = it->product + i * n;
                if (factor != 0.0)
                    for (int j = 0; j < n; j++) sum[j] += factor * row[j];
            }
        double *exchanged = it->power;
        it->power = it->product, it->product = exchanged;
        logarithm = 2.0 * logarithm + mbdy_log(scaled(it->power, n));
        exponent *= 2.0;
        size = mbdy_exp(logarithm / exponent);
    }
    return size;
}

/* The same from below, of a large system, with the motion in it->swing. */
static double iterated(struct look *it) {
    double logarithm = 0.0;
    unsigned seed = 1;
    for (int i = 0; i < it->n; i++) {
        seed = seed * 1664525u + 1013904223u;
        it->swing[i] = (double)(seed >> 8) / 16777216.0 - 0.5;
    }
    for (int at = 0; at < ITERATIONS; at++) {
        double square = 0.0;
        times(it, it->swing, it->dx);
        for (int i = 0; i < it->n; i++) square += it->dx[i] * it->dx[i];
        if (!(square > 0.0)) return square;
        for (int i = 0; i < it->n; i++) it->swing[i] = it->dx[i] / sqrt(square);
        if (at >= ITERATIONS - LAST) logarithm += 0.5 * mbdy_log(square) / LAST;
    }
    return mbdy_exp(logarithm);
}

/* Of a motion that decays without a swing: how much of it comes of positions, against all. It is the eigenvalue of the slower
   of the two motions of such an overdamped swing over the faster one's. */
static double restored(struct look *it) {
    const mbdy_model *m = it->core->model;
    double part = 0.0, all = 0.0;
    for (int i = 0; i < it->n; i++) it->x[i] = mbdy_is_position(m, i) ? it->swing[i] : 0.0;
    times(it, it->x, it->dx);
    times(it, it->swing, it->x);
    for (int i = 0; i < it->n; i++)
        if (!mbdy_is_position(m, i)) part += it->dx[i] * it->x[i], all += it->x[i] * it->x[i];
    return all > 0.0 ? fmin(1.0, fmax(0.0, -part / all)) : 0.0;
}

/* The motion of the fastest eigenvalue, in it->swing, and what it is: its rate [1/s], whether it swings, and the longest step
   that the integrator follows it with. Of the size of the eigenvalue and the last power, or the last iterate. */
static void describe(struct look *it, double size, struct mbdy_pace *pace) {
    const int n = it->n;
    int column = 0;
    double most = -1.0;
    for (int j = 0; it->matrix && j < n; j++) {
        double sum = 0.0;
        for (int i = 0; i < n; i++) sum += fabs(it->power[i * n + j]);
        if (sum > most) most = sum, column = j;
    }
    double *v = it->swing, *once = it->along, *twice = it->dx;
    for (int i = 0; it->matrix && i < n; i++) v[i] = it->power[i * n + column];
    times(it, v, once);
    for (int i = 0; i < n; i++) once[i] /= size;
    times(it, once, twice);
    /* twice = a once + b v in the plane of a pair of eigenvalues, in units of their size; positions weigh as speeds do */
    double oo = 0.0, ov = 0.0, vv = 0.0, to = 0.0, tv = 0.0;
    for (int i = 0; i < n; i++) {
        const double weight = mbdy_is_position(it->core->model, i) ? size : 1.0;
        const double first = weight * v[i], second = weight * once[i], third = weight * twice[i] / size;
        oo += second * second, ov += second * first, vv += first * first, to += third * second, tv += third * first;
    }
    const double det = oo * vv - ov * ov;
    double a = to / oo, b = 0.0;
    if (det > 1e-8 * oo * vv) a = (to * vv - tv * ov) / det, b = (tv * oo - to * ov) / det;
    const double square = 0.25 * a * a + b;
    pace->swings = square < 0.0;
    pace->rate = size * (pace->swings ? sqrt(-b) : 0.5 * fabs(a) + sqrt(square));
    const double slower = pace->swings ? 0.0 : pace->rate * restored(it);
    const double decay = pace->swings ? fmax(0.0, -0.5 * a * size) : 0.5 * (pace->rate + slower);
    pace->longest = it->core->integrator->longest(
        mbdy_limits[it->core->method].stability, pace->swings ? pace->rate : sqrt(pace->rate * slower), decay);
}

/* What drives the fastest motion in two phases of it, into `two` (2 n), without a group of parameters. */
static void driven(struct look *it, int group, double *two) {
    const mbdy_model *m = it->core->model;
    memcpy(it->p, it->core->vector[MBDY_P], sizeof(double) * (size_t)m->n_p);
    for (int i = 0; i < m->n_strengths; i++)
        if (m->strength_groups[i] == group) it->p[m->strengths[i]] = 0.0;
    stand(it);
    differ(it, it->swing, two);
    differ(it, it->along, two + it->n);
}

static void blame(struct look *it, struct mbdy_pace *pace) {
    const mbdy_model *m = it->core->model;
    double *whole = it->whole, *less = it->dx, most = 0.0;
    driven(it, -1, whole);
    for (int i = 0; i < 2 * it->n; i++)
        if (!mbdy_is_position(m, i % it->n)) most += SHARE * whole[i] * whole[i];
    for (int at = 0, last = -1; at < m->n_strengths; at++) {
        const int group = m->strength_groups[at];
        if (group == last) continue;
        last = group;
        double lost = 0.0;
        driven(it, group, less);
        for (int i = 0; i < 2 * it->n; i++)
            if (!mbdy_is_position(m, i % it->n)) lost += (whole[i] - less[i]) * (whole[i] - less[i]);
        if (lost > most) most = lost, pace->group = group;
    }
}

int mbdy_pace(mbdy_core *core, double h, struct mbdy_pace *pace) {
    const mbdy_model *m = core->model;
    const size_t n = (size_t)m->n_x;
    *pace = (struct mbdy_pace){.group = -1, .longest = INFINITY};
    if (!core->integrator->longest || !n) return 0;
    const size_t square = n > LARGEST ? 0 : n * n;
    double *memory = malloc(sizeof(double) * (9 * n + (size_t)m->n_k + (size_t)m->n_p + 3 * square));
    if (!memory) return 0;
    struct look it = {.core = core, .n = m->n_x, .steep = 0};
    it.steep = m->functions[MBDY_STEEPEST] && !core->derivatives;
    it.still = memory, it.x = it.still + n, it.dx = it.x + n, it.swing = it.dx + 2 * n, it.along = it.swing + n;
    it.nudged = it.along + n, it.whole = it.nudged + n, it.k = it.whole + 2 * n, it.p = it.k + m->n_k;
    if (square) it.matrix = it.p + m->n_p, it.power = it.matrix + square, it.product = it.power + square;
    memcpy(it.p, core->vector[MBDY_P], sizeof(double) * (size_t)m->n_p);
    stand(&it);
    const double enough = mbdy_limits[core->method].stability / (DAMPED_BY * h), size = square ? fastest(&it, enough) : iterated(&it);
    if (isfinite(size) && size > enough) {
        describe(&it, size, pace);
        if (h > pace->longest) blame(&it, pace);
    }
    free(memory);
    return pace->group >= 0;
}

/* A number rounded down to three figures. */
static double rounded_down(double value) {
    const double unit = mbdy_pow(10.0, floor(mbdy_log(value) / mbdy_log(10.0)) - 2.0);
    return floor(value / unit * (1.0 + 1e-12)) * unit;
}

static int of_mode(const mbdy_names *names, const struct mbdy_pace *pace) {
    return strchr(names->strengths[pace->group], ':') != NULL;
}

static void describe_loop(const mbdy_core *core, const char *loop, int i, double h, char *text) {
    const double time = 1.0 / core->vector[MBDY_K][core->model->decays[i]];
    snprintf(text, MBDY_TEXT,
             "%s.time_constant = %g s: too short for internal steps of %g s, in which errors of closure would grow; take "
             "steps of %.3g s or less, or a longer time constant",
             loop, time, h, time / LOOP_STEPS);
}

void mbdy_name_stable(char *text, size_t size) {
    *text = '\0';
    for (int i = 0; i < mbdy_n_integrators; i++)
        if (!mbdy_limits[i].stability && !mbdy_integrators[i]->strides) {
            const size_t used = strlen(text);
            snprintf(text + used, size - used, " or integrator=\"%s\"", mbdy_limits[i].name);
        }
}

void mbdy_tell_pace(const mbdy_core *core, const mbdy_names *names, const struct mbdy_pace *pace, double h, char *text,
                    size_t size) {
    const mbdy_model *m = core->model;
    char cause[MBDY_TEXT / 4], others[MBDY_TEXT / 4] = "";
    const int mode = of_mode(names, pace);
    if (mode) {
        snprintf(cause, sizeof cause, "%s", names->strengths[pace->group]);
    } else {
        int count = 0, place = 0;
        for (int i = 0; i < m->n_strengths; i++)
            if (m->strength_groups[i] == pace->group) count++, place = m->strengths[i];
        if (count == 1)
            snprintf(cause, sizeof cause, "%s = %g makes a motion that", names->strengths[pace->group], core->vector[MBDY_P][place]);
        else
            snprintf(cause, sizeof cause, "%s makes a motion that", names->strengths[pace->group]);
    }
    mbdy_name_stable(others, sizeof others);
    char fast[64];
    if (pace->swings)
        snprintf(fast, sizeof fast, "swings at %.4g Hz", pace->rate / (2.0 * mbdy_acos(-1.0)));
    else
        snprintf(fast, sizeof fast, "decays at %.4g 1/s", pace->rate);
    snprintf(text, size, "%s %s, for which %s needs steps of %g s or less, not %g s; take a shorter internal step, %s,%s", cause, fast,
             mbdy_limits[core->method].name, rounded_down(pace->longest), h, mode ? "fewer modes" : "a smaller value", others);
}

void mbdy_tell_fast(mbdy_core *core, const mbdy_names *names, double h, mbdy_teller *tell, void *owner) {
    const mbdy_model *m = core->model;
    struct mbdy_pace *pace = &core->pace;
    char text[MBDY_TEXT];
    for (int i = 0; i < m->n_loops && !core->integrator->strides; i++) {
        const double decay = core->vector[MBDY_K][m->decays[i]];
        int row = 0;
        while (m->row_loops[row] != i) row++;
        if (decay > 0.0 && 1.0 / decay < LOOP_STEPS * h) {
            describe_loop(core, names->rows[row], i, h, text);
            tell(owner, MBDY_FAST_LOOP, text);
        }
    }
    if (!mbdy_pace(core, h, pace)) return;
    mbdy_tell_pace(core, names, pace, h, text, sizeof text);
    tell(owner, of_mode(names, pace) ? MBDY_FAST_MODE : MBDY_FAST_MOTION, text);
}
