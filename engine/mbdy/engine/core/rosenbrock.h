/* Part of core.c: RODASP, a linearly implicit integrator of order 4, L-stable. mbdy/engine/rosenbrock.py has it in
   formulas, with its sources; its coefficients are in config.h. */

#ifndef MBDY_ROSENBROCK_H
#define MBDY_ROSENBROCK_H

#include "lu.h"

/* Change `out` of the derivatives along changes of x and u, which are zero where NULL. */
static void along(mbdy_core *core, const double *u, const double *dx, const double *du, double *out) {
    core->arg[0] = core->vector[MBDY_X], core->arg[1] = u, core->arg[2] = core->vector[MBDY_K];
    core->arg[3] = dx, core->arg[4] = du, core->arg[5] = NULL;
    core->res[0] = out;
    mbdy_model_derivatives_forward(core->arg, core->res, core->iw, core->w, 0);
}

/* Change of the inputs over an internal step had they their rates at its begin all the way; switches stay. */
static const double *inputs_change(mbdy_core *core, double from, double to, int order) {
    const double *u = core->vector[MBDY_U], *mid = core->vector[MBDY_U_MID], *end = core->vector[MBDY_U_END];
    const double part = to - from, bend = 2.0 - 4.0 * from;
    if (order == MBDY_LINEAR)
        for (int i = 0; i < MBDY_NU; i++) core->u_change[i] = part * (end[i] - u[i]);
    else
        for (int i = 0; i < MBDY_NU; i++)
            core->u_change[i] = part * ((end[i] - u[i]) + bend * ((mid[i] - u[i]) - (end[i] - mid[i])));
    memset(core->u_change + MBDY_SWITCHES, 0, sizeof(double) * MBDY_NSWITCHES);
    return core->u_change;
}

/* All columns of the matrix 1/(gamma h) - J are made with one directional derivative. */
static void rosenbrock(mbdy_core *core, double from, double to, double h, int order) {
    static const double alpha[] = MBDY_ROSENBROCK_ALPHA, d[] = MBDY_ROSENBROCK_D;
    static const double a[][MBDY_ROSENBROCK_STAGES] = MBDY_ROSENBROCK_A, c[][MBDY_ROSENBROCK_STAGES] = MBDY_ROSENBROCK_C;
    double *x = core->vector[MBDY_X], *stage = core->x_stage, *unit = core->slope[0], *drift = core->slope[1];
    const double *u = inputs_at(core, from, order), diagonal = 1.0 / (MBDY_ROSENBROCK_GAMMA * h);
    memset(unit, 0, sizeof(double) * MBDY_NX);
    memset(drift, 0, sizeof(double) * MBDY_NX);
    for (int j = 0; j < MBDY_NX; j++) {
        double *column = core->matrix + j * MBDY_NX;
        unit[j] = 1.0;
        along(core, u, unit, NULL, column);
        unit[j] = 0.0;
        for (int i = 0; i < MBDY_NX; i++) column[i] = -column[i];
        column[j] += diagonal;
    }
    if (order != MBDY_HELD) along(core, u, NULL, inputs_change(core, from, to, order), drift);
    lu_factor(core->matrix, core->rows, MBDY_NX);
    for (int s = 0; s < MBDY_ROSENBROCK_STAGES; s++) {
        double *own = core->stages[s];
        memcpy(stage, x, sizeof(double) * MBDY_NX);
        for (int j = 0; j < s; j++)
            for (int i = 0; i < MBDY_NX; i++) stage[i] += a[s][j] * core->stages[j][i];
        mbdy_derivatives(core, stage, inputs_at(core, from + alpha[s] * (to - from), order), own);
        for (int i = 0; i < MBDY_NX; i++) own[i] += d[s] * drift[i];
        for (int j = 0; j < s; j++)
            for (int i = 0; i < MBDY_NX; i++) own[i] += c[s][j] / h * core->stages[j][i];
        lu_solve(core->matrix, core->rows, MBDY_NX, own);
    }
    for (int i = 0; i < MBDY_NX; i++) x[i] = stage[i] + core->stages[MBDY_ROSENBROCK_STAGES - 1][i];
}

#endif
