/* Tanks that run empty: in the equal step that would take more than is left, all flows out of a tank are scaled so that they
   take just that; a stride ends where a tank does. The tank is empty then, to the bit. No stage of a step finds it empty. */

#include "inside.h"

#include <float.h>
#include <math.h>

static double *flow_of(mbdy_core *core, int vector, int i) { return core->vector[vector] + core->model->flows[i]; }

/* Parts of what is left in a tank: that no step takes, more than stages round by, and below which it is empty. */
#define SPARED (256.0 * DBL_EPSILON)
#define DRY (512.0 * DBL_EPSILON)

/* The nozzle after those of the tank of nozzle i. */
static int last_of_tank(const mbdy_model *m, int i) {
    int end = i;
    while (end < m->n_flows && m->flow_tanks[end] == m->flow_tanks[i]) end++;
    return end;
}

/* [kg] That leaves a tank through nozzles i..end while inputs go from..to in h. */
static double taken_by(mbdy_core *core, int i, int end, double from, double to, double h, int order) {
    double flow = 0.0;
    for (int k = 0; k < 3; k++) {
        const double *u = mbdy_inputs_at(core, from + 0.5 * k * (to - from), order);
        for (int j = i; j < end; j++) flow += (k == 1 ? 4.0 : 1.0) * u[core->model->flows[j]];
    }
    return h * flow / 6.0;
}

static const int flow_inputs[] = {MBDY_U, MBDY_U_MID, MBDY_U_END};
enum { FLOW_INPUTS = sizeof flow_inputs / sizeof flow_inputs[0] };

int mbdy_flows_end(mbdy_core *core, double n, double h, int order) {
    const mbdy_model *m = core->model;
    int ends = 0;
    for (int i = 0; i < m->n_flows; i++) {
        double least = *flow_of(core, MBDY_U, i), most = least;
        for (int k = 1; order != MBDY_HELD && k < FLOW_INPUTS; k++)
            if (order == MBDY_QUADRATIC || flow_inputs[k] != MBDY_U_MID)
                most = fmax(most, *flow_of(core, flow_inputs[k], i)), least = fmin(least, *flow_of(core, flow_inputs[k], i));
        most += order == MBDY_QUADRATIC ? most - least : 0.0; /* a parabola goes beyond its points by less than they differ */
        ends |= most > 0.0 && m->n_flows * n * h * most >= core->vector[MBDY_X][m->flow_tanks[i]];
    }
    return ends;
}

void mbdy_ration(mbdy_core *core, double from, double to, double h, int order) {
    const mbdy_model *m = core->model;
    for (int i = 0, end; i < m->n_flows; i = end) {
        end = last_of_tank(m, i);
        const double left = core->vector[MBDY_X][m->flow_tanks[i]], taken = taken_by(core, i, end, from, to, h, order);
        const int empties = taken > 0.0 && taken >= left;
        const double part = empties ? left * (1.0 - SPARED) / taken : 1.0;
        for (int j = i; j < end; j++) {
            core->flows[4 * j + FLOW_INPUTS] = empties;
            for (int k = 0; k < FLOW_INPUTS; k++) {
                double *flow = flow_of(core, flow_inputs[k], j);
                core->flows[4 * j + k] = *flow;
                *flow *= part;
            }
        }
    }
}

void mbdy_end_ration(mbdy_core *core) {
    const mbdy_model *m = core->model;
    for (int i = 0; i < m->n_flows; i++) {
        for (int k = 0; k < FLOW_INPUTS; k++) *flow_of(core, flow_inputs[k], i) = core->flows[4 * i + k];
        if (core->flows[4 * i + FLOW_INPUTS] != 0.0) core->vector[MBDY_X][m->flow_tanks[i]] = 0.0;
    }
}

double mbdy_flow_room(mbdy_core *core, double from, double H, double most, int order) {
    const mbdy_model *m = core->model;
    for (int i = 0, end; i < m->n_flows; i = end) {
        end = last_of_tank(m, i);
        const double left = core->vector[MBDY_X][m->flow_tanks[i]] * (1.0 - SPARED);
        double less = 0.0, more = most;
        if (!(left > 0.0) || taken_by(core, i, end, from, from + most / H, most, order) <= left) continue;
        for (int k = 0; k < DBL_MANT_DIG; k++) {
            const double middle = 0.5 * (less + more);
            if (taken_by(core, i, end, from, from + middle / H, middle, order) <= left) less = middle;
            else more = middle;
        }
        most = less;
    }
    return most;
}

int mbdy_emptied(mbdy_core *core, const double *before) {
    const mbdy_model *m = core->model;
    int some = 0;
    for (int i = 0; i < m->n_flows; i++) {
        double *left = core->vector[MBDY_X] + m->flow_tanks[i];
        const int empties = *left != 0.0 && *left <= DRY * before[m->flow_tanks[i]];
        core->flows[4 * i + FLOW_INPUTS] = empties;
        if (empties) *left = 0.0, some = 1;
    }
    return some;
}

int mbdy_empties(const mbdy_core *core, int i) { return core->flows[4 * i + FLOW_INPUTS] != 0.0; }

/* Part of what a tank holds that rounding may put in besides (ROUNDED of model/tanks.py). */
#define ROUNDED 1e-9

int mbdy_overfull(mbdy_core *core, const double *x) {
    const mbdy_model *m = core->model;
    for (int i = 0; i < m->n_tanks; i++) {
        core->fault = m->tanks[i], core->overfull = x[m->tanks[i]];
        if (core->overfull > core->vector[MBDY_K][m->capacities[i]] * (1.0 + ROUNDED)) return MBDY_OVERFULL;
    }
    core->fault = -1;
    return MBDY_OK;
}

int mbdy_check_tanks(mbdy_core *core) { return mbdy_overfull(core, core->vector[MBDY_X]); }
