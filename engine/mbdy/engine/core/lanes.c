#include "lanes.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#define SHOWN __declspec(dllexport)
#else
#define SHOWN __attribute__((visibility("default")))
#endif

static const int moved[] = {MBDY_X, MBDY_U, MBDY_U_END, MBDY_U_MID, MBDY_Y};

static int size_of(const mbdy_model *m, int vector) { return vector == MBDY_X ? m->n_x : vector == MBDY_Y ? m->n_y : m->n_u; }

enum { POINTERS = 8 }; /* of arguments and results, more than derivatives and outputs have */

/* A core and its numbers lie in one block, aligned to the size of a vector; its begin is kept as `closing`. */
static mbdy_core *make(int integrator) {
    const mbdy_model *m = mbdy_this();
    size_t n_w = 0, n = (size_t)(6 * m->n_x + 4 * m->n_u + m->n_y);
    for (int i = 0; i < MBDY_EQUATIONS; i++) {
        const mbdy_schedule *function = m->functions[i];
        if (!function) continue;
        mbdy_unfold(function);
        if ((size_t)function->work > n_w) n_w = (size_t)function->work;
    }
    if (integrator >= mbdy_n_integrators) return NULL;
    char *memory = calloc(1, sizeof(mbdy_core) + (n + n_w + 1) * sizeof(real) + 2 * POINTERS * sizeof(void *));
    if (!memory) return NULL;
    mbdy_core *it = (mbdy_core *)(((uintptr_t)memory + sizeof(real) - 1) / sizeof(real) * sizeof(real));
    it->closing = (double *)memory;
    it->model = m;
    it->integrator = mbdy_integrators[integrator];
    real *at = (real *)(it + 1);
    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++) it->vector[moved[i]] = at, at += size_of(m, moved[i]);
    it->x_stage = at, at += m->n_x;
    for (int i = 0; i < 4; i++) it->slope[i] = at, at += m->n_x;
    it->u_stage = at, at += m->n_u;
    it->w = at, at += n_w;
    it->arg = (const real **)at;
    it->res = (real **)at + POINTERS;
    return it;
}

static void drop(mbdy_core *it) { free(it->closing); }

static void constants(double *block, int lane, const double *k) {
    for (int i = 0; i < mbdy_this()->n_k; i++) block[i * MBDY_LANES + lane] = k[i];
}

static void load(mbdy_core *it, int vector, double *const *const vectors[]) {
    real *to = it->vector[vector];
    double *const *from = vectors[vector];
    for (int i = 0; i < size_of(it->model, vector); i++)
        for (int lane = 0; lane < MBDY_LANES; lane++)
            if (from[lane]) MBDY_LANE(to[i], lane) = from[lane][i];
}

static void store(const mbdy_core *it, int vector, double *const *const vectors[]) {
    const real *from = it->vector[vector];
    double *const *to = vectors[vector];
    for (int lane = 0; lane < MBDY_LANES; lane++)
        for (int i = 0; to[lane] && i < size_of(it->model, vector); i++) to[lane][i] = MBDY_LANE(from[i], lane);
}

static void steps(mbdy_core *it, double *block, double *const *const vectors[], const struct mbdy_course *by, double *work) {
    real done;
    it->vector[MBDY_K] = (real *)block;
    load(it, MBDY_X, vectors);
    load(it, MBDY_U, vectors);
    if (by->order != MBDY_HELD) load(it, MBDY_U_END, vectors);
    if (by->order == MBDY_QUADRATIC) load(it, MBDY_U_MID, vectors);
    for (int lane = 0; lane < MBDY_LANES; lane++) MBDY_LANE(done, lane) = work[lane];
    for (double i = 0.0; i < by->n; i += 1.0) {
        done += it->integrator->step(it, i / by->n, (i + 1.0) / by->n, by->h, by->order);
        mbdy_normalise(it->model, it->vector[MBDY_X]);
    }
    for (int lane = 0; lane < MBDY_LANES; lane++) work[lane] = MBDY_LANE(done, lane);
    store(it, MBDY_X, vectors);
}

static void outputs(mbdy_core *it, double *block, double *const *const vectors[], double *energy) {
    real all = mbdy_all(0.0);
    it->vector[MBDY_K] = (real *)block;
    load(it, MBDY_X, vectors);
    load(it, MBDY_U, vectors);
    it->arg[0] = it->vector[MBDY_X], it->arg[1] = it->vector[MBDY_U], it->arg[2] = it->vector[MBDY_K];
    it->res[0] = it->vector[MBDY_Y], it->res[1] = &all;
    mbdy_evaluate(it, MBDY_OUTPUTS);
    it->res[1] = NULL;
    for (int lane = 0; lane < MBDY_LANES; lane++) energy[lane] = MBDY_LANE(all, lane);
    store(it, MBDY_Y, vectors);
}

static const mbdy_lanes these = {MBDY_LANES, make, drop, constants, steps, outputs};

const mbdy_lanes *mbdy_these_lanes(void) { return &these; }

typedef void any_function(void);
SHOWN any_function *mbdy_door(const char *name);
SHOWN any_function *mbdy_door(const char *name) {
    return strcmp(name, "mbdy_these_lanes") == 0 ? (any_function *)mbdy_these_lanes : NULL;
}
