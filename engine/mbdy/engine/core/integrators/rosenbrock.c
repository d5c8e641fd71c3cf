/* RODASP, a linearly implicit method of order 4, L-stable: modes much faster than the step are damped away.

   One step of x' = f(t, x) over h solves, one after the other and with one matrix, for i = 1 ... 6

       (1/(gamma h) - J) U_i = f(t + alpha_i h, x + sum_j a_ij U_j) + 1/h sum_j c_ij U_j + d_i h f_t,    j < i,

   with the exact Jacobian J = df/dx and f_t = df/dt at the step's begin, and ends at x + sum_j a_6j U_j + U_6. Order 4 for
   linear parabolic problems too (no loss of order by stiff modes), and stiffly accurate.

   Sources: G. Steinebach, Order-reduction of ROW-methods for DAEs and method of lines applications, preprint 1741, TH
   Darmstadt (1995), coefficients; E. Hairer, G. Wanner, Solving Ordinary Differential Equations II (1996), Section IV.7:
   Eq. (7.25), the form above, and the program RODAS. */

#include "inside.h"

#include <string.h>

#include "lu.h"

enum { STAGES = 6 };
static const double gamma_ = 0.25;
static const double alpha[STAGES] = {0.0, 0.75, 0.21, 0.63, 1.0, 1.0};
static const double d[STAGES] = {0.25, -0.5, -0.023504, -0.0362, 0.0, 0.0};
static const double a[STAGES][STAGES] = {
    {0.0},
    {3.0},
    {1.831036793486759, 0.4955183967433795},
    {2.304376582692669, -0.05249275245743001, -1.176798761832782},
    {-7.170454962423024, -4.741636671481785, -16.31002631330971, -1.062004044111401},
    {-7.170454962423024, -4.741636671481785, -16.31002631330971, -1.062004044111401, 1.0},
};
static const double c[STAGES][STAGES] = {
    {0.0},
    {-12.0},
    {-8.791795173947035, -2.207865586973518},
    {10.81793056857153, 6.780270611428266, 19.5348594464241},
    {34.19095006749676, 15.49671153725963, 54.7476087596413, 14.16005392148534},
    {34.62605830930532, 15.30084976114473, 56.99955578662667, 18.40807009793095, -5.714285714285717},
};

/* The matrix, the drift, the stages, slopes of the power, the change of the inputs, coefficients, and changes in several directions lie
   in core->work one after the other. */
static size_t reals(const mbdy_model *m) {
    const mbdy_schedule *values = m->functions[MBDY_JACOBIAN_VALUES], *changes = m->functions[MBDY_JACOBIAN_CHANGES];
    size_t sum = (size_t)m->n_x * ((size_t)m->n_x + STAGES + 2) + 1 + (size_t)m->n_u;
    for (int i = 0; values && i < values->n_res; i++) sum += (size_t)values->res_sizes[i];
    for (int i = 1; changes && i < changes->n_arg; i++) sum += (size_t)changes->arg_sizes[i];
    for (int i = 0; changes && i < changes->n_res; i++) sum += (size_t)changes->res_sizes[i];
    return sum;
}

static size_t places(const mbdy_model *m) { return (size_t)m->n_x; }

/* Columns of J, of which the last is the change along that of the inputs where it is not NULL, and by column that of the
   power. `at` is memory for coefficients and changes. */
static void differentiate(mbdy_core *core, const double *u, const double *change, double *columns, double *power, double *at) {
    const mbdy_schedule *changes = core->model->functions[MBDY_JACOBIAN_CHANGES];
    const int n = core->model->n_x, n_u = core->model->n_u, beside = n ? changes->res_sizes[0] / n : 1, last = n + (change != NULL);
    double *dx = at + core->model->functions[MBDY_JACOBIAN_VALUES]->res_sizes[0], *du = dx + n * beside, *out = du + n_u * beside;
    double *out_power = out + n * beside;
    core->arg[0] = core->vector[MBDY_X], core->arg[1] = u, core->arg[2] = core->vector[MBDY_K];
    core->res[0] = at;
    mbdy_evaluate(core, MBDY_JACOBIAN_VALUES);
    memset(dx, 0, sizeof(double) * (size_t)((n + n_u) * beside));
    core->arg[0] = at, core->arg[1] = dx, core->arg[2] = du;
    core->res[0] = out, core->res[1] = out_power;
    for (int first = 0; first < last; first += beside) {
        const int count = last - first < beside ? last - first : beside;
        for (int l = 0; l < count && first + l < n; l++) dx[(first + l) * beside + l] = 1.0;
        if (first + count > n)
            for (int i = 0; i < n_u; i++) du[i * beside + count - 1] = change[i];
        mbdy_evaluate(core, MBDY_JACOBIAN_CHANGES);
        for (int l = 0; l < count; l++) {
            for (int i = 0; i < n; i++) columns[(first + l) * n + i] = out[i * beside + l];
            power[first + l] = changes->n_res > 1 ? out_power[l] : 0.0;
            if (first + l < n) dx[(first + l) * beside + l] = 0.0;
        }
    }
}

/* Work is one unknown more, on which nothing depends: its row of J is the slope of the power. The column behind those of the
   matrix is the drift, what f changes by with the inputs in a step. */
static real rosenbrock_step(mbdy_core *core, double from, double to, double h, int order) {
    const int n = core->model->n_x;
    double *x = core->vector[MBDY_X], *stage = core->x_stage, *matrix = core->work, *drift = matrix + (size_t)n * (size_t)n;
    double *stages = drift + n, *power_slope = stages + STAGES * n, *change = power_slope + n + 1;
    double work[STAGES] = {0.0}, done = 0.0;
    const double *u = mbdy_inputs_at(core, from, order), diagonal = 1.0 / (gamma_ * h);
    const int varies = order != MBDY_HELD || core->model->n_profiles;
    if (varies) mbdy_inputs_change(core, from, to - from, order, change);
    else memset(drift, 0, sizeof(double) * (size_t)n), power_slope[n] = 0.0;
    differentiate(core, u, varies ? change : NULL, matrix, power_slope, change + core->model->n_u);
    const double power_drift = power_slope[n];
    for (int i = 0; i < n * n; i++) matrix[i] = -matrix[i];
    for (int j = 0; j < n; j++) matrix[j * n + j] += diagonal;
    lu_factor(matrix, core->work_places, n);
    for (int s = 0; s < STAGES; s++) {
        double *slope = stages + s * n;
        memcpy(stage, x, sizeof(double) * (size_t)n);
        for (int j = 0; j < s; j++)
            for (int i = 0; i < n; i++) stage[i] += a[s][j] * stages[j * n + i];
        mbdy_derivatives(core, stage, mbdy_inputs_at(core, from + alpha[s] * (to - from), order), slope);
        work[s] = core->power + d[s] * power_drift;
        for (int i = 0; i < n; i++) slope[i] += d[s] * drift[i];
        for (int j = 0; j < s; j++)
            for (int i = 0; i < n; i++) slope[i] += c[s][j] / h * stages[j * n + i];
        lu_solve(matrix, core->work_places, n, slope);
        for (int j = 0; j < s; j++) work[s] += c[s][j] / h * work[j];
        for (int i = 0; i < n; i++) work[s] += power_slope[i] * slope[i];
        work[s] /= diagonal;
    }
    for (int i = 0; i < n; i++) x[i] = stage[i] + stages[(STAGES - 1) * n + i];
    for (int j = 0; j < STAGES - 1; j++) done += a[STAGES - 1][j] * work[j];
    return done + work[STAGES - 1];
}

const mbdy_integrator mbdy_rosenbrock = {rosenbrock_step, reals, places, 0, 0, 0};
