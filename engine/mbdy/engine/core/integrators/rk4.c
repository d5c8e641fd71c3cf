/* The classical Runge-Kutta method of order 4. */

#include "inside.h"

#include <math.h>

static real rk4_step(mbdy_core *core, double from, double to, double h, int order) {
    const int n = core->model->n_x;
    real *x = core->vector[MBDY_X], *stage = core->x_stage, **slope = core->slope;
    const double middle = 0.5 * (from + to), half = 0.5 * h, sixth = h / 6.0;
    mbdy_derivatives(core, x, mbdy_inputs_at(core, from, order), slope[0]);
    real power = core->power;
    for (int i = 0; i < n; i++) stage[i] = x[i] + half * slope[0][i];
    mbdy_derivatives(core, stage, mbdy_inputs_at(core, middle, order), slope[1]);
    power += 2.0 * core->power;
    for (int i = 0; i < n; i++) stage[i] = x[i] + half * slope[1][i];
    mbdy_derivatives(core, stage, mbdy_inputs_at(core, middle, order), slope[2]);
    power += 2.0 * core->power;
    for (int i = 0; i < n; i++) stage[i] = x[i] + h * slope[2][i];
    mbdy_derivatives(core, stage, mbdy_inputs_at(core, to, order), slope[3]);
    for (int i = 0; i < n; i++) x[i] += sixth * (slope[0][i] + 2.0 * (slope[1][i] + slope[2][i]) + slope[3][i]);
    return sixth * (power + core->power);
}

/* |1 + z + z^2/2 + z^3/6 + z^4/24| <= 1 along rays into the left half-plane, within a few hundredths. */
static double rk4_longest(double stability, double rate, double decay) {
    const double fastest = decay > rate ? decay + sqrt(decay * decay - rate * rate) : rate;
    return stability * (decay < 0.3 * rate ? 1.0 : decay < 0.75 * rate ? 0.935 : 0.99) / fastest;
}

const mbdy_integrator mbdy_rk4 = {rk4_step, 0, 0, rk4_longest, 0, 0};
