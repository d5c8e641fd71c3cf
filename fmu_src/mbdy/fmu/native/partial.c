#include "partial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "fmu_config.h"

#define WORK(name) int name##_work(int *sz_arg, int *sz_res, int *sz_iw, int *sz_w);
#define GENERATED(name)                                                        \
    int name(const double **arg, double **res, int *iw, double *w, int mem); \
    WORK(name)
GENERATED(mbdy_model_prepare_forward)
GENERATED(mbdy_model_start_forward)
GENERATED(mbdy_model_derivatives_forward)
GENERATED(mbdy_model_outputs_forward)
#if FMU_VERSION == 3
GENERATED(mbdy_model_prepare_reverse)
GENERATED(mbdy_model_start_reverse)
GENERATED(mbdy_model_derivatives_reverse)
GENERATED(mbdy_model_outputs_reverse)
#endif
#if MBDY_NROWS
WORK(mbdy_model_start)
WORK(mbdy_model_gaps)
WORK(mbdy_model_assemble)
WORK(mbdy_model_nearer_forward)
WORK(mbdy_model_align_forward)
#if FMU_VERSION == 3
WORK(mbdy_model_nearer_reverse)
WORK(mbdy_model_align_reverse)
#endif
#endif

typedef int work_sizes(int *, int *, int *, int *);
static work_sizes *const needs[] = {
    mbdy_model_prepare_forward_work, mbdy_model_start_forward_work, mbdy_model_derivatives_forward_work,
    mbdy_model_outputs_forward_work,
#if FMU_VERSION == 3
    mbdy_model_prepare_reverse_work, mbdy_model_start_reverse_work, mbdy_model_derivatives_reverse_work,
    mbdy_model_outputs_reverse_work,
#endif
#if MBDY_NROWS
    mbdy_model_start_work, mbdy_model_gaps_work, mbdy_model_assemble_work, mbdy_model_nearer_forward_work,
    mbdy_model_align_forward_work,
#if FMU_VERSION == 3
    mbdy_model_nearer_reverse_work, mbdy_model_align_reverse_work,
#endif
#endif
};
static const int quaternions[MBDY_NQUAT + 1] = MBDY_QUATERNIONS;

#if MBDY_NROWS
enum { TRAIL = (MBDY_ASSEMBLY_STEPS + 1) * MBDY_NX, POINT = MBDY_NX };
#else
enum { TRAIL, POINT = 0 };
#endif
enum { LARGEST = MBDY_NX + MBDY_NU + MBDY_NK + MBDY_NP + MBDY_NROWS };

struct partial *partial_new(void) {
    int most[4] = {1, 1, 1, 1};
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        int size[4] = {0, 0, 0, 0};
        needs[i](&size[0], &size[1], &size[2], &size[3]);
        for (int j = 0; j < 4; j++) most[j] = size[j] > most[j] ? size[j] : most[j];
    }
    struct partial *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    const size_t own = 3 * (size_t)MBDY_NX + MBDY_NU + MBDY_NP + MBDY_NK + MBDY_NY;
    d->s = calloc(own + LARGEST + TRAIL + POINT + (size_t)most[3], sizeof(double));
    d->arg = calloc((size_t)most[0], sizeof *d->arg);
    d->res = calloc((size_t)most[1], sizeof *d->res);
    d->iw = calloc((size_t)most[2], sizeof *d->iw);
    if (!d->s || !d->arg || !d->res || !d->iw) {
        partial_free(d);
        return NULL;
    }
    d->x = d->s + MBDY_NX;
    d->u = d->x + MBDY_NX;
    d->p = d->u + MBDY_NU;
    d->k = d->p + MBDY_NP;
    d->dx = d->k + MBDY_NK;
    d->y = d->dx + MBDY_NX;
    d->end = d->y + MBDY_NY;
    d->part = d->end;
    d->trail = d->part + LARGEST;
    d->point = d->trail + TRAIL;
    d->w = d->point + POINT;
    return d;
}

void partial_free(struct partial *d) {
    if (!d) return;
    free(d->s);
    free((void *)d->arg);
    free(d->res);
    free(d->iw);
    free(d);
}

void partial_clear(struct partial *d) { memset(d->s, 0, (size_t)((char *)d->end - (char *)d->s)); }

/* The start scales quaternions to one. The change of such a scaled one from the change of what was set, or (the map is
   symmetric) the gradient by what was set from that by the scaled one. */
void partial_scaling(const double *s, double *change) {
    for (int i = 0; i < MBDY_NQUAT; i++) {
        const double *q = s + quaternions[i];
        double *d = change + quaternions[i], square = 0.0, along = 0.0;
        for (int j = 0; j < 4; j++) square += q[j] * q[j], along += q[j] * d[j];
        for (int j = 0; j < 4; j++) d[j] = (d[j] - q[j] * (along / square)) / sqrt(square);
    }
}

static void scaled_start(struct partial *d, mbdy_core *core) {
    memcpy(d->part, mbdy_vector(core, MBDY_S), sizeof(double) * MBDY_NX);
    mbdy_normalise(d->part);
}

void partial_forward(struct partial *d, mbdy_core *core, int initial, int parameters, int want_rates, int want_outputs) {
    const double *x = mbdy_vector(core, MBDY_X), *u = mbdy_vector(core, MBDY_U), *k = mbdy_vector(core, MBDY_K);
    const double **arg = d->arg;
    if (parameters) {
        arg[0] = mbdy_vector(core, MBDY_P), arg[1] = d->p;
        d->res[0] = d->k;
        mbdy_model_prepare_forward(arg, d->res, d->iw, d->w, 0);
    }
    if (initial) {
        scaled_start(d, core);
        partial_scaling(mbdy_vector(core, MBDY_S), d->s);
        arg[0] = d->part, arg[1] = k, arg[2] = d->s, arg[3] = d->k;
        d->res[0] = d->x;
        mbdy_model_start_forward(arg, d->res, d->iw, d->w, 0);
#if MBDY_NROWS
        closing_forward(d, core);
#endif
    }
    if (want_rates) {
        arg[0] = x, arg[1] = u, arg[2] = k, arg[3] = d->x, arg[4] = d->u, arg[5] = d->k;
        d->res[0] = d->dx;
        mbdy_model_derivatives_forward(arg, d->res, d->iw, d->w, 0);
    }
    if (want_outputs) {
        arg[0] = x, arg[1] = u, arg[2] = k, arg[3] = d->x, arg[4] = d->u, arg[5] = d->k;
        d->res[0] = d->y;
        mbdy_model_outputs_forward(arg, d->res, d->iw, d->w, 0);
    }
}

#if FMU_VERSION == 3
static void add(double *sum, const double *part, int n) {
    for (int i = 0; i < n; i++) sum[i] += part[i];
}

/* One function of x, u and k: its gradients (that by k where `parameters`) are added to what is there. */
static void reverse_of(struct partial *d, mbdy_core *core, const double *seed, int parameters,
                       int (*function)(const double **, double **, int *, double *, int)) {
    d->arg[0] = mbdy_vector(core, MBDY_X), d->arg[1] = mbdy_vector(core, MBDY_U), d->arg[2] = mbdy_vector(core, MBDY_K);
    d->arg[3] = seed;
    double *x = d->part, *u = x + MBDY_NX, *k = u + MBDY_NU;
    d->res[0] = x, d->res[1] = u, d->res[2] = parameters ? k : NULL;
    function(d->arg, d->res, d->iw, d->w, 0);
    add(d->x, x, MBDY_NX);
    add(d->u, u, MBDY_NU);
    if (parameters) add(d->k, k, MBDY_NK);
}

void partial_reverse(struct partial *d, mbdy_core *core, int initial, int parameters, int of_rates, int of_outputs) {
    if (of_rates) reverse_of(d, core, d->dx, parameters, mbdy_model_derivatives_reverse);
    if (of_outputs) reverse_of(d, core, d->y, parameters, mbdy_model_outputs_reverse);
    if (initial) {
        double *k = d->part + MBDY_NX;
#if MBDY_NROWS
        closing_reverse(d, core);
#endif
        scaled_start(d, core);
        d->arg[0] = d->part, d->arg[1] = mbdy_vector(core, MBDY_K), d->arg[2] = d->x;
        d->res[0] = d->s, d->res[1] = k;
        mbdy_model_start_reverse(d->arg, d->res, d->iw, d->w, 0);
        partial_scaling(mbdy_vector(core, MBDY_S), d->s);
        add(d->k, k, MBDY_NK);
    }
    if (!parameters) return;
    d->arg[0] = mbdy_vector(core, MBDY_P), d->arg[1] = d->k;
    d->res[0] = d->p;
    mbdy_model_prepare_reverse(d->arg, d->res, d->iw, d->w, 0);
}
#endif
