/* Semi-implicit Euler-Cromer: speeds and momenta first, then positions with the new speeds. */

#include "inside.h"

/* Whether a place in x has a coordinate of a joint or a modal displacement. */
static int is_position(const mbdy_model *m, int i) {
    const int modal = m->n_coordinates + m->n_speeds;
    return i < m->n_coordinates || (i >= modal && i < modal + m->n_modes);
}

static void step(mbdy_core *core, double from, double to, double h, int order) {
    const mbdy_model *m = core->model;
    double *x = core->vector[MBDY_X], *slope = core->slope[0];
    mbdy_derivatives(core, x, mbdy_inputs_at(core, from, order), slope);
    for (int i = m->n_coordinates; i < m->n_x; i++)
        if (!is_position(m, i)) x[i] += h * slope[i];
    mbdy_derivatives(core, x, mbdy_inputs_at(core, to, order), slope);
    for (int i = 0; i < m->n_x; i++)
        if (is_position(m, i)) x[i] += h * slope[i];
}

const mbdy_integrator mbdy_euler_cromer = {step, 0, 0};
