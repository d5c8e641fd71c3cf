/* What closing loops may move, how far loops are from closed, and how that changes. */

#include "mechanism.h"

#include <math.h>
#include <string.h>

#include "rows.h"

/* Errors of closure below this, relative to the size of the mechanism, are rounding and left alone; and part of the
   distance from the inertial origin that rounding is there. */
#define CLOSED 1e-11
#define ROUNDING 1e-14
/* Modes whose stiffness is below this, relative to the stiffest, have no strain energy to go by. */
#define SOFT 1e-12

static int columns(const mbdy_model *m) { return m->n_speeds + m->n_modes; }

size_t mbdy_closing_reals(const mbdy_model *m) {
    const size_t rows = (size_t)m->n_rows, n = (size_t)columns(m);
    return rows ? rows * (5 + 2 * n) + 3 * n + 7 * (size_t)m->n_x : 0;
}

size_t mbdy_closing_places(const mbdy_model *m) { return m->n_rows ? 4 * (size_t)columns(m) : 0; }

static double *part(double **at, int n) {
    double *const begin = *at;
    *at += n;
    return begin;
}

void mbdy_errors(const mbdy_mechanism *c, const double *z, double *error, double *rate, double *cosine) {
    mbdy_measure(c->core, z, c->core->vector[MBDY_U], error, NULL, cosine, rate);
    for (int i = 0; i < c->m->n_rows; i++) {
        if (error) error[i] *= row_scale(c, i);
        if (rate) rate[i] *= row_scale(c, i);
    }
}

int mbdy_is_closed(const mbdy_mechanism *c, const double *z, double *error) {
    mbdy_errors(c, z, error, NULL, c->cosine);
    double far = 0.0;
    for (int k = 0; k < c->n; k++)
        if (c->anchored[k]) far = fmax(far, fabs(z[coordinate(c, k)]));
    for (int i = c->m->n_rows - c->m->linear_rows; i < c->m->n_rows; i++)
        for (int k = 0; k < c->n; k++) far = fmax(far, fabs(c->slope[i * c->n + k] * z[coordinate(c, k)]) * c->size);
    return row_largest(error, c->m->n_rows) <= CLOSED + ROUNDING * far / c->size;
}

void mbdy_slopes(const mbdy_mechanism *c, const double *z) {
    memcpy(c->pose, z, sizeof(double) * (size_t)c->m->n_x);
    for (int k = 0; k < c->n; k++) c->pose[speed(c, k)] = 0.0;
    for (int k = 0; k < c->n; k++) {
        c->pose[speed(c, k)] = 1.0;
        mbdy_errors(c, c->pose, NULL, c->rate, NULL);
        c->pose[speed(c, k)] = 0.0;
        for (int i = 0; i < c->m->n_rows; i++) c->slope[i * c->n + k] = c->rate[i];
    }
}

void mbdy_weigh(const mbdy_mechanism *c, const double *scale, const int *free) {
    for (int i = 0; i < c->m->n_rows; i++)
        for (int k = 0; k < c->n; k++) c->rows[i * c->n + k] = free[k] ? c->slope[i * c->n + k] * scale[k] : 0.0;
}

/* The largest of lengths between places of the loops. */
static double size_of(const mbdy_model *m, const double *p) {
    double size = m->reach;
    for (int i = 0; i < m->n_lengths; i++) size = fmax(size, fabs(p[m->lengths[i]]));
    for (int i = 0; i < m->n_points; i++) size = fmax(size, row_norm(p + m->points[i], 3));
    return size > 0.0 ? size : 1.0;
}

/* Modes count by the root of their strain energy, the softest as one radian; as they are where one has no stiffness. */
static void soften(mbdy_mechanism *c) {
    const double *p = c->core->vector[MBDY_P];
    const int first = c->m->n_speeds;
    double least = INFINITY, most = -INFINITY;
    for (int k = 0; k < c->m->n_modes; k++) least = fmin(least, p[c->m->stiffness[k]]), most = fmax(most, p[c->m->stiffness[k]]);
    memcpy(c->soft, c->scale, sizeof(double) * (size_t)c->n);
    for (int k = 0; k < c->m->n_modes && least > SOFT * most; k++) c->soft[first + k] = sqrt(least / p[c->m->stiffness[k]]);
}

mbdy_mechanism mbdy_mechanism_at(mbdy_core *core, const double *z) {
    const mbdy_model *m = core->model;
    const double *u = core->vector[MBDY_U];
    mbdy_mechanism c = {.core = core, .m = m, .n = columns(m), .size = size_of(m, core->vector[MBDY_P])};
    double *at = core->closing;
    double **by_row[] = {&c.error, &c.trial_error, &c.rate, &c.cosine, &c.right};
    double **by_column[] = {&c.scale, &c.soft, &c.step};
    double **like_x[] = {&c.pose, &c.trial, &c.origin, &c.nearest, &c.best, &c.pushed, &c.damped};
    for (size_t i = 0; i < sizeof by_row / sizeof by_row[0]; i++) *by_row[i] = part(&at, m->n_rows);
    for (size_t i = 0; i < sizeof by_column / sizeof by_column[0]; i++) *by_column[i] = part(&at, c.n);
    for (size_t i = 0; i < sizeof like_x / sizeof like_x[0]; i++) *like_x[i] = part(&at, m->n_x);
    c.slope = part(&at, m->n_rows * c.n), c.rows = part(&at, m->n_rows * c.n);
    c.movable = core->closing_places, c.free = c.movable + c.n, c.anchored = c.free + c.n, c.bent = c.anchored + c.n;
    for (int k = 0; k < c.n; k++) {
        c.scale[k] = slides(&c, k) ? c.size : 1.0;
        c.movable[k] = is_modal(&c, k) || !m->prescribed[k];
    }
    for (int i = 0; i < m->n_locks; i++)
        c.movable[m->lock_speeds[i] - m->n_coordinates] &= u[m->locks[i]] == 0.0;
    for (int i = 0; i < m->n_prescriptions; i++)
        c.movable[m->prescribed_speeds[i] - m->n_coordinates] &= u[m->prescriptions[i]] == 0.0;
    soften(&c);
    mbdy_slopes(&c, z);
    for (int k = 0; k < c.n; k++) {
        int looped = 0, geared = 0;
        for (int i = 0; i < m->n_rows; i++) *(i < m->n_rows - m->linear_rows ? &looped : &geared) |= c.slope[i * c.n + k] != 0.0;
        c.anchored[k] = slides(&c, k) && looped;
        c.bent[k] = looped || !geared;
    }
    return c;
}

/* q turned by a rotation vector about outboard axes. */
static void turn(double *q, const double *vector) {
    const double angle = row_norm(vector, 3);
    double sine, w;
    mbdy_sincos(angle / 2.0, &sine, &w);
    const double half = angle > 0.0 ? sine / angle : 0.5;
    const double a = q[0], b[] = {q[1], q[2], q[3]}, v[] = {half * vector[0], half * vector[1], half * vector[2]};
    q[0] = a * w - row_product(b, v, 3);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        q[1 + i] = a * v[i] + w * b[i] + b[j] * v[k] - b[k] * v[j];
    }
    const double length = row_norm(q, 4);
    for (int i = 0; i < 4; i++) q[i] /= length;
}

void mbdy_move(const mbdy_mechanism *c, const double *z, const double *step, double *to) {
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

double mbdy_distance(const mbdy_mechanism *c, const double *from, const double *z) {
    double square = 0.0;
    for (int k = 0; k < c->n; k++) {
        const double *p = from + coordinate(c, k), *q = z + coordinate(c, k);
        if (!is_modal(c, k) && c->m->motions[k] == MBDY_QUATERNION) {
            double near = 0.0, mirror = 0.0;
            for (int i = 0; i < 4; i++) near += (p[i] - q[i]) * (p[i] - q[i]), mirror += (p[i] + q[i]) * (p[i] + q[i]);
            const double angle = 4.0 * mbdy_asin(fmin(1.0, sqrt(fmin(near, mirror)) / 2.0));
            square += angle * angle;
            k += 2;
        } else {
            square += (*q - *p) * (*q - *p);
        }
    }
    return sqrt(square);
}
