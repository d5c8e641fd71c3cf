/* What an integrator's stages take: derivatives, inputs on their way, quaternions scaled to one. Compiled for one run, and
   for a lane of each of many (real.h). */

#include "inside.h"

#include <string.h>

/* Lanes have no profiles. */
#if MBDY_LANES == 1
#define MBDY_NOW(core) mbdy_inputs_now(core)
#define MBDY_DRIVEN(core, u, fraction) mbdy_driven(core, u, (core)->now + (fraction) * (core)->span)
#else
#define MBDY_NOW(core) (core)->vector[MBDY_U]
#define MBDY_DRIVEN(core, u, fraction) (u)
#endif

void mbdy_evaluate(mbdy_core *core, int equation) {
    mbdy_play(core->model->functions[equation], core->arg, core->res, core->w);
}

void mbdy_derivatives(mbdy_core *core, const real *x, const real *u, real *dx) {
    core->arg[0] = x ? x : core->vector[MBDY_X];
    core->arg[1] = u ? u : MBDY_NOW(core);
    core->arg[2] = core->vector[MBDY_K];
    core->arg[3] = core->vector[MBDY_P];
    core->res[0] = dx, core->res[1] = &core->power;
    if (core->derivatives) {
        core->derivatives(core->arg, core->res);
        if (core->model->work_error < 0) return;
        core->res[0] = NULL;
    }
    mbdy_evaluate(core, MBDY_DERIVATIVES);
}

/* Switches are u_end's, unless all is held. The parabola is written so that inputs equal at begin, middle and end stay so
   to the bit. */
const real *mbdy_inputs_at(mbdy_core *core, double fraction, int order) {
    const mbdy_model *m = core->model;
    const real *u = core->vector[MBDY_U], *mid = core->vector[MBDY_U_MID], *end = core->vector[MBDY_U_END];
    const double bend = 2.0 * (1.0 - fraction);
    if (order == MBDY_HELD) return MBDY_DRIVEN(core, u, fraction);
    if (order == MBDY_LINEAR)
        for (int i = 0; i < m->n_u; i++) core->u_stage[i] = u[i] + fraction * (end[i] - u[i]);
    else
        for (int i = 0; i < m->n_u; i++)
            core->u_stage[i] = u[i] + fraction * ((end[i] - u[i]) + bend * ((mid[i] - u[i]) - (end[i] - mid[i])));
    memcpy(core->u_stage + m->switches, end + m->switches, sizeof(real) * (size_t)m->n_switches);
    return MBDY_DRIVEN(core, core->u_stage, fraction);
}

static real square_of(const real *q) { return q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]; }

/* Twice where a square leaves the range of doubles. */
void mbdy_normalise(const mbdy_model *model, real *x) {
    for (int i = 0; i < model->n_quaternions; i++) {
        real *q = x + model->quaternions[i], square = square_of(q);
        const mbdy_truth usual = (square > 1e-200) & (square < 1e200);
        if (!mbdy_everywhere(usual)) {
            const real most = mbdy_fmax(mbdy_fmax(mbdy_fabs(q[0]), mbdy_fabs(q[1])), mbdy_fmax(mbdy_fabs(q[2]), mbdy_fabs(q[3])));
            for (int j = 0; j < 4; j++) q[j] = mbdy_either(usual, q[j], q[j] / most);
            square = square_of(q);
        }
        const real norm = mbdy_sqrt(square);
        for (int j = 0; j < 4; j++) q[j] /= norm;
    }
}
