#include "partial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct partial *partial_new(const mbdy_model *model) {
    int n_arg, n_res, n_w;
    mbdy_room(model, &n_arg, &n_res, &n_w);
    struct partial *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    d->model = model;
    const size_t n_x = (size_t)model->n_x, n_u = (size_t)model->n_u, n_p = (size_t)model->n_p, n_k = (size_t)model->n_k;
    const size_t n_y = (size_t)model->n_y, vectors = 3 * n_x + n_u + n_p + n_k + n_y + 2;
    const size_t largest = n_x + n_u + n_k + n_p + 2 * (size_t)model->n_rows;
    const size_t trail = model->n_rows ? 3 * (size_t)model->n_rows + n_x : 0;
    d->s = calloc(vectors + largest + trail + (size_t)n_w, sizeof(double));
    d->arg = calloc((size_t)n_arg, sizeof *d->arg);
    d->res = calloc((size_t)n_res, sizeof *d->res);
    if (!d->s || !d->arg || !d->res) {
        partial_free(d);
        return NULL;
    }
    d->x = d->s + n_x;
    d->u = d->x + n_x + 1;
    d->p = d->u + n_u;
    d->k = d->p + n_p;
    d->dx = d->k + n_k;
    d->y = d->dx + n_x + 1;
    d->end = d->y + n_y;
    d->part = d->end;
    d->trail = d->part + largest;
    d->w = d->trail + trail;
    return d;
}

void partial_free(struct partial *d) {
    if (!d) return;
    free(d->s);
    free((void *)d->arg);
    free(d->res);
    free(d);
}

void partial_evaluate(struct partial *d, int equation) {
    mbdy_play(d->model->functions[equation], d->arg, d->res, d->w);
}

void partial_clear(struct partial *d) { memset(d->s, 0, (size_t)((char *)d->end - (char *)d->s)); }

void partial_scaling(const mbdy_model *model, const double *s, double *change) {
    for (int i = 0; i < model->n_quaternions; i++) {
        const double *q = s + model->quaternions[i];
        double *d = change + model->quaternions[i], square = 0.0, along = 0.0;
        for (int j = 0; j < 4; j++) square += q[j] * q[j], along += q[j] * d[j];
        for (int j = 0; j < 4; j++) d[j] = (d[j] - q[j] * (along / square)) / sqrt(square);
    }
}

/* The balance of work changes with the energy, of inputs as they acted last, and with the work that is a state. */
static void error_forward(struct partial *d, mbdy_core *core) {
    double energy = 0.0;
    d->arg[1] = mbdy_acted(core, mbdy_vector(core, MBDY_U)), d->arg[4] = d->arg[5] = NULL;
    d->res[0] = NULL, d->res[1] = &energy;
    partial_evaluate(d, MBDY_OUTPUTS_FORWARD);
    d->res[1] = NULL;
    d->y[d->model->work_error] = energy - d->x[d->model->n_x];
}

static void error_reverse(struct partial *d, mbdy_core *core) {
    const double *seed = d->y + d->model->work_error;
    d->arg[0] = mbdy_vector(core, MBDY_X), d->arg[1] = mbdy_acted(core, mbdy_vector(core, MBDY_U));
    d->arg[2] = mbdy_vector(core, MBDY_K), d->arg[3] = NULL, d->arg[4] = seed;
    d->res[0] = d->part, d->res[1] = d->res[2] = NULL;
    partial_evaluate(d, MBDY_OUTPUTS_REVERSE);
    partial_add(d->x, d->part, d->model->n_x);
    d->x[d->model->n_x] -= *seed;
}

int partial_forward(struct partial *d, mbdy_core *core, int initial, int parameters, int want_rates, int want_outputs) {
    const double *x = mbdy_vector(core, MBDY_X), *u = mbdy_vector(core, MBDY_U), *k = mbdy_vector(core, MBDY_K);
    const double **arg = d->arg;
    if (parameters) {
        arg[0] = mbdy_vector(core, MBDY_P), arg[1] = d->p;
        d->res[0] = d->k;
        partial_evaluate(d, MBDY_PREPARE_FORWARD);
    }
    if (initial) {
        partial_scaling(d->model, mbdy_vector(core, MBDY_S), d->s);
        if (d->model->n_rows && !closing_forward(d, core)) return 0;
        arg[0] = mbdy_vector(core, MBDY_S_CLOSED), arg[1] = k, arg[2] = d->s, arg[3] = d->k;
        d->res[0] = d->x;
        partial_evaluate(d, MBDY_START_FORWARD);
    }
    if (want_rates) {
        arg[0] = x, arg[1] = u, arg[2] = k, arg[3] = d->x, arg[4] = d->u, arg[5] = d->k;
        d->res[0] = d->dx, d->res[1] = d->dx + d->model->n_x;
        partial_evaluate(d, MBDY_DERIVATIVES_FORWARD);
        d->res[1] = NULL;
    }
    if (want_outputs) {
        arg[0] = x, arg[1] = u, arg[2] = k, arg[3] = d->x, arg[4] = d->u, arg[5] = d->k;
        d->res[0] = d->y;
        partial_evaluate(d, MBDY_OUTPUTS_FORWARD);
        if (d->work && !initial) error_forward(d, core);
    }
    return 1;
}

void partial_add(double *sum, const double *part, int n) {
    for (int i = 0; i < n; i++) sum[i] += part[i];
}

/* One function of x, u and k, with seeds of its result and of a second one, which may be NULL: its gradients (that by k where
   `parameters`) are added to what is there. */
static void reverse_of(struct partial *d, mbdy_core *core, const double *seed, const double *second, int parameters, int equation) {
    d->arg[0] = mbdy_vector(core, MBDY_X), d->arg[1] = mbdy_vector(core, MBDY_U), d->arg[2] = mbdy_vector(core, MBDY_K);
    d->arg[3] = seed, d->arg[4] = second;
    double *x = d->part, *u = x + d->model->n_x, *k = u + d->model->n_u;
    d->res[0] = x, d->res[1] = u, d->res[2] = parameters ? k : NULL;
    partial_evaluate(d, equation);
    partial_add(d->x, x, d->model->n_x);
    partial_add(d->u, u, d->model->n_u);
    if (parameters) partial_add(d->k, k, d->model->n_k);
}

int partial_reverse(struct partial *d, mbdy_core *core, int initial, int parameters, int of_rates, int of_outputs) {
    if (of_rates) reverse_of(d, core, d->dx, d->dx + d->model->n_x, parameters, MBDY_DERIVATIVES_REVERSE);
    if (of_outputs) reverse_of(d, core, d->y, NULL, parameters, MBDY_OUTPUTS_REVERSE);
    if (of_outputs && d->work && !initial) error_reverse(d, core);
    if (initial) {
        double *k = d->part + d->model->n_x;
        d->arg[0] = mbdy_vector(core, MBDY_S_CLOSED), d->arg[1] = mbdy_vector(core, MBDY_K), d->arg[2] = d->x;
        d->res[0] = d->s, d->res[1] = k;
        partial_evaluate(d, MBDY_START_REVERSE);
        partial_add(d->k, k, d->model->n_k);
        if (d->model->n_rows && !closing_reverse(d, core)) return 0;
        partial_scaling(d->model, mbdy_vector(core, MBDY_S), d->s);
    }
    if (!parameters) return 1;
    d->arg[0] = mbdy_vector(core, MBDY_P), d->arg[1] = d->k;
    d->res[0] = d->p;
    partial_evaluate(d, MBDY_PREPARE_REVERSE);
    return 1;
}
