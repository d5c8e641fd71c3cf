/* Semi-implicit Euler-Cromer: speeds and momenta first, then positions with the new speeds. Work is that of the mean power,
   which for a constant force is what kinetic energy grows by. */

#include "inside.h"

#include <math.h>

static real euler_cromer_step(mbdy_core *core, double from, double to, double h, int order) {
    const mbdy_model *m = core->model;
    real *x = core->vector[MBDY_X], *slope = core->slope[0];
    mbdy_derivatives(core, x, mbdy_inputs_at(core, from, order), slope);
    const real power = core->power;
    for (int i = m->n_coordinates; i < m->n_x; i++)
        if (!mbdy_is_position(m, i)) x[i] += h * slope[i];
    mbdy_derivatives(core, x, mbdy_inputs_at(core, to, order), slope);
    for (int i = 0; i < m->n_x; i++)
        if (mbdy_is_position(m, i)) x[i] += h * slope[i];
    return 0.5 * h * (power + core->power);
}

/* Both eigenvalues of a step, whose product is 1 - 2 decay h and whose sum is that and 1 - (rate h)^2, within the unit circle. */
static double euler_cromer_longest(double stability, double rate, double decay) {
    return stability / (sqrt(rate * rate + decay * decay) + decay);
}

const mbdy_integrator mbdy_euler_cromer = {euler_cromer_step, 0, 0, euler_cromer_longest, 0, 1};
