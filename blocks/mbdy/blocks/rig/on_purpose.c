/* Faults on purpose: by cycle, or by a packet. */

#include <math.h>
#include <string.h>

#include "rig_inside.h"

enum { ACTS = 1, BEGINS = 2 };

static int of_outputs(int64_t kind) {
    return kind == RIG_FREEZE || kind == RIG_BIAS || kind == RIG_DROP_OUTPUTS || kind == RIG_DELAY_OUTPUTS;
}

static void record(rig *it, int64_t fault, int on) {
    if (it->view.n_events == RIG_EVENTS) return;
    it->view.events[it->view.n_events++] =
        (struct rig_event){.time = it->start + it->setup.period * (double)it->cycle, .fault = fault, .on = on};
}

void faults_turn(rig *it, int of_outputs_too) {
    for (int64_t i = 0; i < it->setup.n_faults; i++) {
        const struct rig_fault *fault = &it->setup.faults[i];
        if (of_outputs(fault->kind) && !of_outputs_too) continue;
        const int timed = fault->begin >= 0 && it->cycle >= fault->begin && (fault->end < 0 || it->cycle < fault->end);
        const int on = timed || it->asked[i];
        if (on == (it->acting[i] != 0)) continue;
        it->acting[i] = on ? BEGINS : 0;
        record(it, i, on);
    }
}

void faults_ask(rig *it, double which, double on) { it->asked[(size_t)which] = on != 0.0; }

int faults_act(const rig *it, int on_outputs) {
    for (int64_t i = 0; i < it->setup.n_faults; i++)
        if (it->acting[i] && of_outputs(it->setup.faults[i].kind) == on_outputs) return 1;
    return 0;
}

/* Evenly distributed in [0, 1) (xorshift64*). */
static double chance(rig *it) {
    it->chance ^= it->chance >> 12, it->chance ^= it->chance << 25, it->chance ^= it->chance >> 27;
    return (double)(it->chance * UINT64_C(0x2545f4914f6cdd1d) >> 11) * 0x1p-53;
}

/* Of mean 0 and standard deviation 1 (G. E. P. Box, M. E. Muller, 1958). */
static double normal(rig *it) {
    const double size = sqrt(-2.0 * log(1.0 - chance(it)));
    return size * cos(6.283185307179586 * chance(it));
}

static double biased(rig *it, const struct rig_fault *fault, double value) {
    value = fault->scale * value + fault->amount;
    if (fault->deviation != 0.0) value += fault->deviation * normal(it);
    return fault->resolution != 0.0 ? fault->resolution * rint(value / fault->resolution) : value;
}

int faults_lose(rig *it, int kind) {
    for (int64_t i = 0; i < it->setup.n_faults; i++)
        if (it->acting[i] && it->setup.faults[i].kind == kind && chance(it) < it->setup.faults[i].amount) return 1;
    return 0;
}

/* How many cycles late packets of a kind are. */
static int64_t delay(const rig *it, int kind) {
    int64_t cycles = 0;
    for (int64_t i = 0; i < it->setup.n_faults; i++)
        if (it->acting[i] && it->setup.faults[i].kind == kind) cycles += (int64_t)it->setup.faults[i].amount;
    return cycles < RIG_DELAY ? cycles : RIG_DELAY - 1;
}

/* What was there some cycles ago, or at the begin. */
static const double *past(const rig *it, double *rows, size_t n, const double *now, int kind) {
    memcpy(rows + (size_t)(it->cycle % RIG_DELAY) * n, now, sizeof(double) * n);
    const int64_t cycles = delay(it, kind), then = it->cycle > cycles ? it->cycle - cycles : 0;
    return rows + (size_t)(then % RIG_DELAY) * n;
}

void faults_on_inputs(rig *it) {
    if (!it->setup.n_faults) {
        memcpy(it->u, it->commanded, sizeof(double) * it->n_u);
        return;
    }
    memcpy(it->u, past(it, it->past_u, it->n_u, it->commanded, RIG_DELAY_INPUTS), sizeof(double) * it->n_u);
    for (int64_t i = 0; i < it->setup.n_faults; i++) {
        const struct rig_fault *fault = &it->setup.faults[i];
        for (int64_t k = 0; it->acting[i] && fault->kind == RIG_FORCE && k < fault->size; k++) it->u[fault->first + k] = fault->amount;
    }
}

void faults_on_outputs(rig *it) {
    if (!it->setup.n_faults) {
        memcpy(it->shown, it->y, sizeof(double) * it->n_y);
        return;
    }
    memcpy(it->shown, past(it, it->past_y, it->n_y, it->y, RIG_DELAY_OUTPUTS), sizeof(double) * it->n_y);
    for (int64_t i = 0; i < it->setup.n_faults; i++) {
        const struct rig_fault *fault = &it->setup.faults[i];
        for (int64_t k = fault->first; it->acting[i] && k < fault->first + fault->size; k++) {
            if (fault->kind == RIG_FREEZE && it->acting[i] == BEGINS) it->frozen[k] = it->shown[k];
            if (fault->kind == RIG_FREEZE) it->shown[k] = it->frozen[k];
            if (fault->kind == RIG_BIAS) it->shown[k] = biased(it, fault, it->shown[k]);
        }
        if (it->acting[i]) it->acting[i] = ACTS;
    }
}
