/* How the start closes loops, differentiated: Newton's steps of core.c again, and then their chain rule. */

#include "partial.h"

#include <math.h>
#include <string.h>

/* The state after `steps` steps, in d->point; d->trail has them before their quaternions are scaled. */
static void stand_at(struct partial *d, int steps) {
    memcpy(d->point, d->trail + steps * d->model->n_x, sizeof(double) * (size_t)d->model->n_x);
    if (steps) mbdy_normalise(d->model, d->point);
}

static const double **arguments(struct partial *d, mbdy_core *core) {
    d->arg[0] = d->point, d->arg[1] = mbdy_vector(core, MBDY_U), d->arg[2] = mbdy_vector(core, MBDY_K);
    return d->arg;
}

/* Makes the trail of the start: how many steps it takes. */
static int follow(struct partial *d, mbdy_core *core) {
    const double all = INFINITY;
    memcpy(d->part, mbdy_vector(core, MBDY_S), sizeof(double) * (size_t)d->model->n_x);
    mbdy_normalise(d->model, d->part);
    d->arg[0] = d->part, d->arg[1] = mbdy_vector(core, MBDY_K);
    d->res[0] = d->trail;
    partial_evaluate(d, MBDY_START);
    for (int n = 0; n < CLOSING_STEPS; n++) {
        double worst = 0.0;
        stand_at(d, n);
        d->res[0] = d->part, d->res[1] = NULL;
        partial_evaluate(d, MBDY_GAPS);
        for (int i = 0; i < d->model->n_rows; i++) worst = fmax(worst, fabs(d->part[i]));
        if (worst <= CLOSED) return n;
        arguments(d, core)[3] = &all;
        d->res[0] = d->trail + (n + 1) * d->model->n_x;
        partial_evaluate(d, MBDY_ASSEMBLE);
    }
    return CLOSING_STEPS;
}

/* Change of the state by one function of x, u and k. */
static void along(struct partial *d, mbdy_core *core, int equation) {
    arguments(d, core)[3] = d->x, d->arg[4] = NULL, d->arg[5] = d->k;
    d->res[0] = d->part;
    partial_evaluate(d, equation);
    memcpy(d->x, d->part, sizeof(double) * (size_t)d->model->n_x);
}

/* A last step from where nothing is left changes nothing, but its derivative takes out what the first ones leave. */
void closing_forward(struct partial *d, mbdy_core *core) {
    const int steps = follow(d, core);
    for (int n = 0; n < steps; n++) {
        stand_at(d, n);
        along(d, core, MBDY_NEARER_FORWARD);
        partial_scaling(d->model, d->trail + (n + 1) * d->model->n_x, d->x);
    }
    stand_at(d, steps);
    along(d, core, MBDY_NEARER_FORWARD);
    along(d, core, MBDY_ALIGN_FORWARD);
}

/* Gradients by the state before one function, from those by the state after it, and by k. */
static void back(struct partial *d, mbdy_core *core, int equation) {
    double *k = d->part + d->model->n_x;
    arguments(d, core)[3] = d->x;
    d->res[0] = d->part, d->res[1] = NULL, d->res[2] = k;
    partial_evaluate(d, equation);
    memcpy(d->x, d->part, sizeof(double) * (size_t)d->model->n_x);
    for (int i = 0; i < d->model->n_k; i++) d->k[i] += k[i];
}

void closing_reverse(struct partial *d, mbdy_core *core) {
    const int steps = follow(d, core);
    stand_at(d, steps);
    back(d, core, MBDY_ALIGN_REVERSE);
    back(d, core, MBDY_NEARER_REVERSE);
    for (int n = steps - 1; n >= 0; n--) {
        partial_scaling(d->model, d->trail + (n + 1) * d->model->n_x, d->x);
        stand_at(d, n);
        back(d, core, MBDY_NEARER_REVERSE);
    }
}
