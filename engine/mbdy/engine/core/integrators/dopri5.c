/* Dormand and Prince's method of order 5 with an error estimate of order 4, whose last slope is the first of the next
   stride, and a polynomial of order 4 between both ends of a stride.

   Source: E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I (1993), Table II.5.2,
   Section II.6, and the program DOPRI5. */

#include "inside.h"

#include <math.h>
#include <string.h>

enum { SLOPES = 7, DENSE = 5 };
static const double dopri5_c[SLOPES] = {0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0};
static const double dopri5_a[SLOPES][SLOPES - 1] = {
    {0.0},
    {1.0 / 5.0},
    {3.0 / 40.0, 9.0 / 40.0},
    {44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0},
    {19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0},
    {9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0},
    {35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0},
};
static const double dopri5_e[SLOPES] = {
    71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0,
};
static const double dopri5_d[SLOPES] = {
    -12715105075.0 / 11282082432.0, 0.0, 87487479700.0 / 32700410799.0, -10690763975.0 / 1880347072.0,
    701980252875.0 / 199316789632.0, -1453857185.0 / 822651844.0, 69997945.0 / 29380423.0,
};

/* Slopes of the stages lie in core->work one after the other, each with the power behind it; then room for one. */
static size_t dopri5_reals(const mbdy_model *m) { return (SLOPES + 1) * ((size_t)m->n_x + 1); }

static const double *dopri5_last(const mbdy_core *core) { return core->work + (SLOPES - 1) * (core->model->n_x + 1); }

static double dopri5_attempt(mbdy_core *core, double from, double to, double h, int order, const double *first, double *end, double *error) {
    const int n = core->model->n_x;
    const double *x = core->vector[MBDY_X];
    double *k = core->work, work = 0.0;
    memcpy(k, first, sizeof(double) * ((size_t)n + 1));
    for (int s = 1; s < SLOPES; s++) {
        double *stage = s < SLOPES - 1 ? core->x_stage : end;
        for (int i = 0; i < n; i++) {
            double sum = 0.0;
            for (int j = 0; j < s; j++) sum += dopri5_a[s][j] * k[j * (n + 1) + i];
            stage[i] = x[i] + h * sum;
        }
        mbdy_derivatives(core, stage, mbdy_inputs_at(core, from + dopri5_c[s] * (to - from), order), k + s * (n + 1));
        k[s * (n + 1) + n] = core->power;
    }
    for (int i = 0; i < n; i++) {
        error[i] = 0.0;
        for (int j = 0; j < SLOPES; j++) error[i] += h * dopri5_e[j] * k[j * (n + 1) + i];
    }
    for (int j = 0; j < SLOPES - 1; j++) work += h * dopri5_a[SLOPES - 1][j] * k[j * (n + 1) + n];
    return work;
}

/* The work of the stride is its polynomial's last unknown, from zero. */
static void dopri5_polynomial(const mbdy_core *core, double h, const double *end, double work, double *terms) {
    const int n = core->model->n_x, each = n + 1;
    const double *x = core->vector[MBDY_X], *k = core->work;
    for (int i = 0; i < each; i++) {
        const double begin = i < n ? x[i] : 0.0, change = (i < n ? end[i] : work) - begin;
        const double bend = h * k[i] - change;
        double sum = 0.0;
        for (int j = 0; j < SLOPES; j++) sum += h * dopri5_d[j] * k[j * each + i];
        terms[i] = begin, terms[each + i] = change, terms[2 * each + i] = bend;
        terms[3 * each + i] = change - h * k[(SLOPES - 1) * each + i] - bend;
        terms[4 * each + i] = sum;
    }
}

static void dopri5_between(const double *terms, int each, int count, double part, double *values) {
    const double rest = 1.0 - part;
    for (int i = 0; i < count; i++)
        values[i] = terms[i] + part * (terms[each + i] + rest * (terms[2 * each + i] + part * (terms[3 * each + i] +
                    rest * terms[4 * each + i])));
}

static real dopri5_step(mbdy_core *core, double from, double to, double h, int order) {
    double *first = core->work + SLOPES * (core->model->n_x + 1);
    mbdy_derivatives(core, NULL, mbdy_inputs_at(core, from, order), first);
    first[core->model->n_x] = core->power;
    const double work = dopri5_attempt(core, from, to, h, order, first, core->slope[1], core->slope[2]);
    memcpy(core->vector[MBDY_X], core->slope[1], sizeof(double) * (size_t)core->model->n_x);
    return work;
}

static const mbdy_strides dopri5_strides = {5.0, DENSE, dopri5_attempt, dopri5_last, dopri5_polynomial, dopri5_between};
const mbdy_integrator mbdy_dopri5 = {dopri5_step, dopri5_reals, 0, 0, &dopri5_strides, 0};
