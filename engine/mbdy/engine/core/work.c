/* The balance of work: energy less its start, less all work that went in, is what the steps have added.

   The vector WORK has whether it has begun, the energy at the start, the integral of all powers since, whether inputs move
   within an importer's step, the time, the inputs against which energy is stored, as they acted last, and the state of then. Powers are integrated with the integrator's own stages, or
   by an importer of model exchange; what changes energy without a step (latches, closings, inputs that are set, parameters) is
   added to the energy at the start. */

#include "inside.h"

#include <string.h>

enum { BEGUN, START, WORK, MOVING, THEN, STORES };

size_t mbdy_work_reals(const mbdy_model *m) {
    return m->work_error < 0 ? 0 : STORES + (size_t)m->n_stores + (size_t)m->n_x;
}

static double *state_then(const mbdy_core *core) { return core->vector[MBDY_WORK] + STORES + core->model->n_stores; }

double *mbdy_work_done(mbdy_core *core) { return core->vector[MBDY_WORK] + WORK; }

double mbdy_power(const mbdy_core *core) { return core->power; }

static int keeps(const mbdy_core *core) { return core->model->work_error >= 0 && core->vector[MBDY_WORK][BEGUN] != 0.0; }

static double energy_at(mbdy_core *core, const double *x, const double *u) {
    double energy = 0.0;
    core->arg[0] = x, core->arg[1] = u, core->arg[2] = core->vector[MBDY_K];
    core->res[0] = NULL, core->res[1] = &energy;
    mbdy_evaluate(core, MBDY_OUTPUTS);
    core->res[1] = NULL;
    return energy;
}

const double *mbdy_acted(mbdy_core *core, const double *u) {
    const mbdy_model *m = core->model;
    memcpy(core->u_shifted, u, sizeof(double) * (size_t)m->n_u);
    for (int i = 0; i < m->n_stores; i++) core->u_shifted[m->stores[i]] = core->vector[MBDY_WORK][STORES + i];
    return core->u_shifted;
}

static double energy_as_acted(mbdy_core *core, const double *x, const double *u) {
    return energy_at(core, x, mbdy_acted(core, u));
}

double mbdy_energy(mbdy_core *core) {
    return keeps(core) ? energy_as_acted(core, core->vector[MBDY_X], core->vector[MBDY_U]) : 0.0;
}

void mbdy_record_inputs(mbdy_core *core) {
    const mbdy_model *m = core->model;
    for (int i = 0; m->work_error >= 0 && i < m->n_stores; i++)
        core->vector[MBDY_WORK][STORES + i] = core->vector[MBDY_U][m->stores[i]];
    if (m->work_error >= 0) memcpy(state_then(core), core->vector[MBDY_X], sizeof(double) * (size_t)m->n_x);
}

void mbdy_begin_work(mbdy_core *core) {
    double *own = core->vector[MBDY_WORK];
    if (core->model->work_error < 0) return;
    mbdy_record_inputs(core);
    own[BEGUN] = 1.0;
    own[START] = mbdy_energy(core);
    own[WORK] = 0.0;
}

void mbdy_end_work(mbdy_core *core) {
    if (core->model->work_error >= 0) core->vector[MBDY_WORK][BEGUN] = 0.0;
}

void mbdy_add_work(mbdy_core *core, double work) {
    if (keeps(core)) core->vector[MBDY_WORK][WORK] += work;
}

void mbdy_shift(mbdy_core *core, double energy) {
    if (keeps(core)) core->vector[MBDY_WORK][START] += energy;
}

void mbdy_leap(mbdy_core *core, double before) {
    if (keeps(core)) mbdy_shift(core, mbdy_energy(core) - before);
}

/* Whether inputs u are those that acted last. */
static int acted(const mbdy_core *core, const double *u) {
    const mbdy_model *m = core->model;
    for (int i = 0; i < m->n_stores; i++)
        if (u[m->stores[i]] != core->vector[MBDY_WORK][STORES + i]) return 0;
    return 1;
}

void mbdy_take_inputs(mbdy_core *core) {
    if (!keeps(core) || acted(core, core->vector[MBDY_U])) return;
    const double before = mbdy_energy(core);
    mbdy_record_inputs(core);
    mbdy_leap(core, before);
}

void mbdy_meet_inputs(mbdy_core *core) {
    if (!keeps(core) || acted(core, core->vector[MBDY_U])) return;
    if (memcmp(core->vector[MBDY_X], state_then(core), sizeof(double) * (size_t)core->model->n_x) == 0)
        mbdy_take_inputs(core);
    else
        core->vector[MBDY_WORK][MOVING] = 1.0;
}

int mbdy_stores_vary(const mbdy_core *core, int order) {
    return order != MBDY_HELD && keeps(core) &&
           !(acted(core, core->vector[MBDY_U_END]) && (order == MBDY_LINEAR || acted(core, core->vector[MBDY_U_MID])));
}

/* Change of the energy at x along that of the inputs; exact where energy is of their second degree. */
static double along_inputs(mbdy_core *core, const double *x, double at, double part, int order) {
    const double *u = mbdy_inputs_at(core, at, order);
    const int n = core->model->n_u;
    mbdy_inputs_change(core, at, part, order, core->u_change);
    for (int i = 0; i < n; i++) core->u_shifted[i] = u[i] + 0.5 * core->u_change[i];
    const double after = energy_at(core, x, core->u_shifted);
    for (int i = 0; i < n; i++) core->u_shifted[i] = u[i] - 0.5 * core->u_change[i];
    return after - energy_at(core, x, core->u_shifted);
}

/* By Simpson's rule, the state of the middle by Hermite's cubic. */
double mbdy_store_work(mbdy_core *core, double from, double to, double h, int order) {
    const int n = core->model->n_x;
    const double *begin = core->x_begin, *end = core->vector[MBDY_X], *first = core->slope[0], *last = core->slope[1];
    const double part = to - from;
    mbdy_derivatives(core, begin, mbdy_inputs_at(core, from, order), core->slope[0]);
    mbdy_derivatives(core, end, mbdy_inputs_at(core, to, order), core->slope[1]);
    for (int i = 0; i < n; i++) core->x_stage[i] = 0.5 * (begin[i] + end[i]) + h / 8.0 * (first[i] - last[i]);
    return (along_inputs(core, begin, from, part, order) + 4.0 * along_inputs(core, core->x_stage, 0.5 * (from + to), part, order) +
            along_inputs(core, end, to, part, order)) / 6.0;
}

/* Inputs that move within an importer's step do so on a line; they jump at its end where none moved before. */
void mbdy_follow_inputs(mbdy_core *core, double time) {
    const mbdy_model *m = core->model;
    double *own = core->vector[MBDY_WORK], *u = core->vector[MBDY_U], *end = core->vector[MBDY_U_END];
    if (!keeps(core)) return;
    if (own[MOVING] != 0.0 && !acted(core, u)) {
        memcpy(core->x_begin, state_then(core), sizeof(double) * (size_t)m->n_x);
        memcpy(end, u, sizeof(double) * (size_t)m->n_u);
        for (int i = 0; i < m->n_stores; i++) u[m->stores[i]] = own[STORES + i];
        mbdy_shift(core, mbdy_store_work(core, 0.0, 1.0, time - own[THEN], MBDY_LINEAR));
        memcpy(u, end, sizeof(double) * (size_t)m->n_u);
    } else {
        mbdy_take_inputs(core);
    }
    own[MOVING] = 0.0;
    own[THEN] = time;
    mbdy_record_inputs(core);
}

double mbdy_work_error(mbdy_core *core, const double *x, const double *u, double energy) {
    const double *own = core->vector[MBDY_WORK];
    if (!keeps(core)) return 0.0;
    return (acted(core, u) ? energy : energy_as_acted(core, x, u)) - own[START] - own[WORK];
}
