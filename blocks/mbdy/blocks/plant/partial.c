#include "partial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Arguments and coefficients of a function. */
static size_t point_reals(const mbdy_schedule *values) {
    size_t reals = 0;
    for (int i = 0; values && i < values->n_arg; i++) reals += (size_t)values->arg_sizes[i];
    return values ? reals + (size_t)values->res_sizes[0] : 0;
}

/* Memory for the point and the coefficients of each function; 0 without. */
static int make_points(struct partial *d) {
    size_t reals = 1;
    for (int i = 0; i < PARTIAL_FUNCTIONS; i++) reals += point_reals(d->model->functions[MBDY_PREPARE_VALUES + i]);
    double *at = d->memory = calloc(reals, sizeof(double));
    for (int i = 0; at && i < PARTIAL_FUNCTIONS; i++) {
        d->points[i].at = at;
        at += point_reals(d->model->functions[MBDY_PREPARE_VALUES + i]);
    }
    return at != NULL;
}

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
    if (!d->s || !d->arg || !d->res || !make_points(d)) {
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
    free(d->memory);
    free((void *)d->arg);
    free(d->res);
    free(d);
}

void partial_evaluate(struct partial *d, int values, int linear, const double *const at[], const double *const given[]) {
    const mbdy_schedule *function = d->model->functions[values], *changes = d->model->functions[linear];
    struct partial_point *point = &d->points[values - MBDY_PREPARE_VALUES];
    double *coefficients = point->at;
    for (int i = 0; i < function->n_arg; i++) {
        const size_t size = sizeof(double) * (size_t)function->arg_sizes[i];
        if (memcmp(coefficients, at[i], size) != 0) point->known = 0;
        memcpy(coefficients, at[i], size);
        coefficients += function->arg_sizes[i];
    }
    if (!point->known) mbdy_play(function, at, &coefficients, d->w);
    point->known = 1;
    d->arg[0] = coefficients;
    for (int i = 1; i < changes->n_arg; i++) d->arg[i] = given[i - 1];
    mbdy_play(changes, d->arg, d->res, d->w);
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
    const double *const at[] = {mbdy_vector(core, MBDY_X), mbdy_acted(core, mbdy_vector(core, MBDY_U)), mbdy_vector(core, MBDY_K)};
    d->res[0] = NULL, d->res[1] = &energy;
    partial_evaluate(d, MBDY_OUTPUTS_VALUES, MBDY_OUTPUTS_CHANGES, at, (const double *const[]){d->x, NULL, NULL});
    d->res[1] = NULL;
    d->y[d->model->work_error] = energy - d->x[d->model->n_x];
}

static void error_reverse(struct partial *d, mbdy_core *core) {
    const double *seed = d->y + d->model->work_error;
    const double *const at[] = {mbdy_vector(core, MBDY_X), mbdy_acted(core, mbdy_vector(core, MBDY_U)), mbdy_vector(core, MBDY_K)};
    d->res[0] = d->part, d->res[1] = d->res[2] = NULL;
    partial_evaluate(d, MBDY_OUTPUTS_VALUES, MBDY_OUTPUTS_GRADIENTS, at, (const double *const[]){NULL, seed});
    partial_add(d->x, d->part, d->model->n_x);
    d->x[d->model->n_x] -= *seed;
}

int partial_forward(struct partial *d, mbdy_core *core, int initial, int parameters, int want_rates, int want_outputs) {
    const double *const k = mbdy_vector(core, MBDY_K), *const p = mbdy_vector(core, MBDY_P);
    const double *const at[] = {mbdy_vector(core, MBDY_X), mbdy_inputs_now(core), k};
    const double *const given[] = {d->x, d->u, parameters ? d->k : NULL}, *const change = d->p;
    if (parameters) {
        d->res[0] = d->k;
        partial_evaluate(d, MBDY_PREPARE_VALUES, MBDY_PREPARE_CHANGES, &p, &change);
    }
    if (initial) {
        partial_scaling(d->model, mbdy_vector(core, MBDY_S), d->s);
        if (d->model->n_rows && !closing_forward(d, core)) return 0;
        d->res[0] = d->x;
        partial_evaluate(d, MBDY_START_VALUES, MBDY_START_CHANGES, (const double *const[]){mbdy_vector(core, MBDY_S_CLOSED), k},
                         (const double *const[]){d->s, d->k});
    }
    if (parameters) mbdy_profiles_forward(core, d->k, d->u);
    if (want_rates) {
        d->res[0] = d->dx, d->res[1] = d->dx + d->model->n_x;
        if (parameters) partial_evaluate(d, MBDY_DERIVATIVES_VALUES, MBDY_DERIVATIVES_CHANGES, at, given);
        else partial_evaluate(d, MBDY_DERIVATIVES_SOME_VALUES, MBDY_DERIVATIVES_SOME_CHANGES, at, given);
        d->res[1] = NULL;
    }
    if (want_outputs) {
        d->res[0] = d->y, d->res[1] = NULL;
        partial_evaluate(d, MBDY_OUTPUTS_VALUES, MBDY_OUTPUTS_CHANGES, at, given);
        if (d->work && !initial) error_forward(d, core);
    }
    return 1;
}

void partial_add(double *sum, const double *part, int n) {
    for (int i = 0; i < n; i++) sum[i] += part[i];
}

/* One function of x, u and k, with seeds of its result and of a second one, which may be NULL: its gradients (that by k where
   `parameters`) are added to what is there. */
static void reverse_of(struct partial *d, mbdy_core *core, const double *seed, const double *second, int parameters, int values,
                       int gradients) {
    const double *const at[] = {mbdy_vector(core, MBDY_X), mbdy_inputs_now(core), mbdy_vector(core, MBDY_K)};
    double *x = d->part, *u = x + d->model->n_x, *k = u + d->model->n_u;
    d->res[0] = x, d->res[1] = u, d->res[2] = parameters ? k : NULL;
    partial_evaluate(d, values, gradients, at, (const double *const[]){seed, second});
    partial_add(d->x, x, d->model->n_x);
    partial_add(d->u, u, d->model->n_u);
    if (parameters) partial_add(d->k, k, d->model->n_k);
}

int partial_reverse(struct partial *d, mbdy_core *core, int initial, int parameters, int of_rates, int of_outputs) {
    const double *const k = mbdy_vector(core, MBDY_K), *const p = mbdy_vector(core, MBDY_P), *const x = d->x, *const by_k = d->k;
    if (of_rates)
        reverse_of(d, core, d->dx, d->dx + d->model->n_x, parameters, parameters ? MBDY_DERIVATIVES_VALUES : MBDY_DERIVATIVES_SOME_VALUES,
                   parameters ? MBDY_DERIVATIVES_GRADIENTS : MBDY_DERIVATIVES_SOME_GRADIENTS);
    if (of_outputs) reverse_of(d, core, d->y, NULL, parameters, MBDY_OUTPUTS_VALUES, MBDY_OUTPUTS_GRADIENTS);
    if (of_outputs && d->work && !initial) error_reverse(d, core);
    if (initial) {
        double *part = d->part + d->model->n_x;
        d->res[0] = d->s, d->res[1] = part;
        partial_evaluate(d, MBDY_START_VALUES, MBDY_START_GRADIENTS, (const double *const[]){mbdy_vector(core, MBDY_S_CLOSED), k}, &x);
        partial_add(d->k, part, d->model->n_k);
        if (d->model->n_rows && !closing_reverse(d, core)) return 0;
        partial_scaling(d->model, mbdy_vector(core, MBDY_S), d->s);
    }
    if (!parameters) return 1;
    mbdy_profiles_reverse(core, d->u, d->k);
    d->res[0] = d->p;
    partial_evaluate(d, MBDY_PREPARE_VALUES, MBDY_PREPARE_GRADIENTS, &p, &by_k);
    return 1;
}
