/* Closed loops and locked joints while a system runs: how far loops are from closed, what stops at once, and what is taken
   out of an integrator's errors. */

#include "inside.h"

#include <math.h>
#include <string.h>

/* [m, rad] Errors of closure below this are numerical ones and projected out; others decay with the time constant. */
#define DRIFT 1e-6
/* [m, rad, and in a second] Errors and rates that are left at the end of a step. */
#define SETTLED 1e-11
/* [m, rad] Error of closure to which no step brings a closed loop that the integrator follows. */
#define TORN_APART 0.1
/* Cosines below which axes are opposed, or lines in line, to a millionth of a radian. */
#define OPPOSED 5e-7
/* Most steps of Newton's method at the end of a communication step. */
#define SETTLING_STEPS 2

void mbdy_measure(mbdy_core *core, const double *x, const double *u, double *error, double *rate, double *cosine, double *lessening) {
    core->arg[0] = x, core->arg[1] = u, core->arg[2] = core->vector[MBDY_K];
    core->res[0] = error, core->res[1] = rate, core->res[2] = cosine, core->res[3] = lessening;
    mbdy_evaluate(core, MBDY_GAPS);
}

/* Comparisons are written so that a NaN, once there, stays: it is no small error. */
struct mbdy_gaps mbdy_gaps(mbdy_core *core, const double *u, double largest) {
    struct mbdy_gaps all = {0.0, 0.0, 0.0, -1};
    if (!core->model->n_rows) return all;
    mbdy_measure(core, core->vector[MBDY_X], u, core->errors, core->rates, core->cosines, NULL);
    for (int i = 0; i < core->model->n_rows; i++) {
        const double error = fabs(core->errors[i]), rate = fabs(core->rates[i]);
        if (!(error >= largest) && !isnan(all.error) && !(error <= all.error)) all.error = error;
        if (!isnan(all.widest) && !(error <= all.widest)) all.widest = error, core->fault = i;
        if (!isnan(all.rate) && !(rate <= all.rate)) all.rate = rate;
        if (core->cosines[i] < OPPOSED) all.opposed = i;
    }
    return all;
}

void mbdy_stop(mbdy_core *core, double *x, const double *u, double *impulses) {
    core->arg[0] = x, core->arg[1] = u, core->arg[2] = core->vector[MBDY_K];
    core->res[0] = core->x_stage, core->res[1] = impulses;
    mbdy_evaluate(core, MBDY_LATCH);
    memcpy(x, core->x_stage, sizeof(double) * (size_t)core->model->n_x);
}

int mbdy_lock_moves(const mbdy_core *core, const double *u, int lock) {
    const mbdy_model *m = core->model;
    return u[m->locks[lock]] != 0.0 && core->vector[MBDY_X][m->lock_speeds[lock]] != 0.0;
}

int mbdy_row_moves(const mbdy_core *core, const double *u, int row) {
    const int by = core->model->row_switches[row];
    return by >= 0 && u[by] != 0.0 && fabs(core->rates[row]) > DRIFT;
}

int mbdy_stop_held(mbdy_core *core, const double *u, struct mbdy_gaps gaps) {
    const mbdy_model *m = core->model;
    int moving = 0;
    memset(core->vector[MBDY_LATCHED], 0, sizeof(double) * (size_t)m->n_impulses);
    for (int i = 0; i < m->n_locks; i++) moving |= mbdy_lock_moves(core, u, i);
    if (m->n_impulses > m->n_locks) moving |= !(gaps.rate <= SETTLED); /* there are loops that switch */
    if (moving) {
        const double before = mbdy_energy(core);
        mbdy_loosen(core); /* an impulse is more than friction holds */
        mbdy_stop(core, core->vector[MBDY_X], u, core->vector[MBDY_LATCHED]);
        mbdy_forget(core);
        mbdy_leap(core, before);
    }
    return moving;
}

/* One Newton step towards closed loops, for those with errors below `largest`. */
static void nearer(mbdy_core *core, const double *u, double largest) {
    core->arg[0] = core->vector[MBDY_X], core->arg[1] = u, core->arg[2] = core->vector[MBDY_K], core->arg[3] = &largest;
    core->res[0] = core->x_stage;
    mbdy_evaluate(core, MBDY_ASSEMBLE);
    memcpy(core->vector[MBDY_X], core->x_stage, sizeof(double) * (size_t)core->model->n_x);
    mbdy_normalise(core->model, core->vector[MBDY_X]);
}

/* The speeds that go with the steps nearer from `before`, as the loops' forces would have made these, but for what the loops
   do not allow. */
static void restore(mbdy_core *core, const double *before, const double *u, double largest) {
    core->arg[0] = before, core->arg[1] = core->vector[MBDY_X], core->arg[2] = u, core->arg[3] = core->vector[MBDY_K];
    core->arg[4] = &largest;
    core->res[0] = core->x_stage;
    mbdy_evaluate(core, MBDY_RESTORE);
    memcpy(core->vector[MBDY_X], core->x_stage, sizeof(double) * (size_t)core->model->n_x);
}

int mbdy_settle(mbdy_core *core, const double *u, double before) {
    if (!core->model->n_rows) return MBDY_OK;
    struct mbdy_gaps gaps = mbdy_gaps(core, u, DRIFT);
    if (before <= DRIFT && gaps.widest > TORN_APART) return MBDY_TORN;
    const int moving = gaps.error > SETTLED;
    if (moving) memcpy(core->slope[0], core->vector[MBDY_X], sizeof(double) * (size_t)core->model->n_x);
    for (int i = 0; i < SETTLING_STEPS && gaps.error > SETTLED; i++) {
        nearer(core, u, DRIFT);
        gaps = mbdy_gaps(core, u, DRIFT);
    }
    if (moving) restore(core, core->slope[0], u, DRIFT);
    if (moving || gaps.rate > SETTLED) mbdy_stop(core, core->vector[MBDY_X], u, NULL);
    return MBDY_OK;
}
