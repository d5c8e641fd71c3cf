/* How the start closes loops, differentiated: Newton's steps of core.c again, and then their chain rule. */

#include "partial.h"

#include <math.h>
#include <string.h>

#if MBDY_NROWS
typedef int generated(const double **, double **, int *, double *, int);
#define GENERATED(name) int name(const double **arg, double **res, int *iw, double *w, int mem);
GENERATED(mbdy_model_start)
GENERATED(mbdy_model_gaps)
GENERATED(mbdy_model_assemble)
GENERATED(mbdy_model_nearer_forward)
GENERATED(mbdy_model_align_forward)
#if FMU_VERSION == 3
GENERATED(mbdy_model_nearer_reverse)
GENERATED(mbdy_model_align_reverse)
#endif

/* The state after `steps` steps, in d->point; d->trail has them before their quaternions are scaled. */
static void stand_at(struct partial *d, int steps) {
    memcpy(d->point, d->trail + steps * MBDY_NX, sizeof(double) * MBDY_NX);
    if (steps) mbdy_normalise(d->point);
}

static const double **arguments(struct partial *d, mbdy_core *core) {
    d->arg[0] = d->point, d->arg[1] = mbdy_vector(core, MBDY_U), d->arg[2] = mbdy_vector(core, MBDY_K);
    return d->arg;
}

/* Makes the trail of the start: how many steps it takes. */
static int follow(struct partial *d, mbdy_core *core) {
    const double all = INFINITY;
    memcpy(d->part, mbdy_vector(core, MBDY_S), sizeof(double) * MBDY_NX);
    mbdy_normalise(d->part);
    d->arg[0] = d->part, d->arg[1] = mbdy_vector(core, MBDY_K);
    d->res[0] = d->trail;
    mbdy_model_start(d->arg, d->res, d->iw, d->w, 0);
    for (int n = 0; n < MBDY_ASSEMBLY_STEPS; n++) {
        double worst = 0.0;
        stand_at(d, n);
        d->res[0] = d->part, d->res[1] = NULL;
        mbdy_model_gaps(arguments(d, core), d->res, d->iw, d->w, 0);
        for (int i = 0; i < MBDY_NROWS; i++) worst = fmax(worst, fabs(d->part[i]));
        if (worst <= MBDY_CLOSED) return n;
        arguments(d, core)[3] = &all;
        d->res[0] = d->trail + (n + 1) * MBDY_NX;
        mbdy_model_assemble(d->arg, d->res, d->iw, d->w, 0);
    }
    return MBDY_ASSEMBLY_STEPS;
}

/* Change of the state by one function of x, u and k. */
static void along(struct partial *d, mbdy_core *core, generated *function) {
    arguments(d, core)[3] = d->x, d->arg[4] = NULL, d->arg[5] = d->k;
    d->res[0] = d->part;
    function(d->arg, d->res, d->iw, d->w, 0);
    memcpy(d->x, d->part, sizeof(double) * MBDY_NX);
}

/* A last step from where nothing is left changes nothing, but its derivative takes out what the first ones leave. */
void closing_forward(struct partial *d, mbdy_core *core) {
    const int steps = follow(d, core);
    for (int n = 0; n < steps; n++) {
        stand_at(d, n);
        along(d, core, mbdy_model_nearer_forward);
        partial_scaling(d->trail + (n + 1) * MBDY_NX, d->x);
    }
    stand_at(d, steps);
    along(d, core, mbdy_model_nearer_forward);
    along(d, core, mbdy_model_align_forward);
}

#if FMU_VERSION == 3
/* Gradients by the state before one function, from those by the state after it, and by k. */
static void back(struct partial *d, mbdy_core *core, generated *function) {
    double *k = d->part + MBDY_NX;
    arguments(d, core)[3] = d->x;
    d->res[0] = d->part, d->res[1] = NULL, d->res[2] = k;
    function(d->arg, d->res, d->iw, d->w, 0);
    memcpy(d->x, d->part, sizeof(double) * MBDY_NX);
    for (int i = 0; i < MBDY_NK; i++) d->k[i] += k[i];
}

void closing_reverse(struct partial *d, mbdy_core *core) {
    const int steps = follow(d, core);
    stand_at(d, steps);
    back(d, core, mbdy_model_align_reverse);
    back(d, core, mbdy_model_nearer_reverse);
    for (int n = steps - 1; n >= 0; n--) {
        partial_scaling(d->trail + (n + 1) * MBDY_NX, d->x);
        stand_at(d, n);
        back(d, core, mbdy_model_nearer_reverse);
    }
}
#endif
#else
typedef int nothing_to_close; /* C wants something in a file */
#endif
