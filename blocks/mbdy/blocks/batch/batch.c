#include "batch.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { WIDEST = 8 };

struct batch {
    int runs, threads, width;
    const mbdy_lanes *lanes;
    plant **plants;
    int *status;
    unsigned *prepared;  /* by run: how often its constants had been made when its lane took them */
    mbdy_core **wide;    /* by thread */
    double *blocks, *memory; /* of constants by group, aligned; as they were taken */
    size_t block;        /* doubles of one */
};

/* Runs of one group on their way through one communication step. */
struct group {
    batch *of;
    mbdy_core *wide;
    double *block;
    int count, runs[WIDEST];
    struct mbdy_course course[WIDEST];
};

batch *batch_new(const plant_model *own, int runs, unsigned manner, plant_logger *logger, const mbdy_lanes *lanes, int threads) {
    batch *it = calloc(1, sizeof *it);
    if (!it) return NULL;
    it->runs = runs, it->threads = threads, it->lanes = lanes, it->width = lanes ? lanes->width : 1;
    it->plants = calloc((size_t)runs, sizeof *it->plants);
    it->status = calloc((size_t)runs, sizeof *it->status);
    it->prepared = calloc((size_t)runs, sizeof *it->prepared);
    it->wide = calloc((size_t)threads, sizeof *it->wide);
    int whole = it->plants && it->status && it->prepared && it->wide;
    for (int i = 0; whole && i < runs; i++)
        whole = (it->plants[i] = plant_new(mbdy_this(), own, NULL, manner, logger, (void *)(intptr_t)i)) != NULL;
    for (int i = 0; whole && lanes && i < threads; i++)
        whole = (it->wide[i] = lanes->make(own->integrator)) != NULL;
    if (whole && lanes) {
        const size_t aligned = sizeof(double) * (size_t)it->width;
        it->block = (size_t)mbdy_this()->n_k * (size_t)it->width;
        it->memory = calloc(it->block * (size_t)batch_groups(it) + (size_t)it->width, sizeof(double));
        it->blocks = (double *)(((uintptr_t)it->memory + aligned - 1) / aligned * aligned);
        whole = it->memory != NULL;
    }
    if (whole) return it;
    batch_free(it);
    return NULL;
}

void batch_free(batch *it) {
    if (!it) return;
    for (int i = 0; it->plants && i < it->runs; i++) plant_free(it->plants[i]);
    for (int i = 0; it->wide && i < it->threads; i++)
        if (it->wide[i]) it->lanes->drop(it->wide[i]);
    free(it->plants), free(it->status), free(it->prepared), free(it->wide), free(it->memory);
    free(it);
}

plant *batch_plant(batch *it, int run) { return it->plants[run]; }

int batch_groups(const batch *it) { return (it->runs + it->width - 1) / it->width; }

int *batch_status(batch *it) { return it->status; }

void batch_rewind(batch *it) {
    for (int i = 0; i < it->runs; i++) {
        plant_rewind(it->plants[i]);
        it->status[i] = PLANT_OK;
    }
}

int batch_set(batch *it, const unsigned refs[], size_t n, const double values[], int boolean) {
    for (int i = 0; i < it->runs; i++)
        for (size_t k = 0; k < n; k++)
            if (plant_usable(it->plants[i], &it->plants[i]->own->variables[refs[k]], values[(size_t)i * n + k]) != PLANT_OK) return i;
    for (int i = 0; i < it->runs; i++)
        if (plant_set(it->plants[i], refs, n, values + (size_t)i * n, n, boolean) > PLANT_WARNING) return i;
    return -1;
}

static int end_of(const batch *it, int group) {
    const int end = group * it->width;
    return end < it->runs ? end : it->runs;
}

static int failed(batch *it, int run, int status) {
    if (status > PLANT_WARNING) it->status[run] = status;
    return status > PLANT_WARNING;
}

void batch_refresh(batch *it, int from, int to) {
    for (int i = end_of(it, from); i < end_of(it, to); i++)
        if (it->status[i] == PLANT_OK) failed(it, i, plant_refresh(it->plants[i]));
}

static mbdy_core *core_of(const struct group *g, int member) { return g->of->plants[g->runs[member]]->core; }

/* Drops members that have failed; of others what they have to tell is told when they are `through`. */
static void keep(struct group *g, const int *status, double H, int through) {
    int kept = 0;
    for (int i = 0; i < g->count; i++) {
        const int run = g->runs[i], silent = status[i] == MBDY_OK && !through;
        if (!silent && failed(g->of, run, plant_explain(g->of->plants[run], status[i], H))) continue;
        g->runs[kept] = run;
        g->course[kept++] = g->course[i];
    }
    g->count = kept;
}

/* The vectors of the members by lane, NULL where there is none, and their constants in the lanes. Laws that are as steep as
   the step has them change constants in every step (yielding.c), and so does friction that sticks. */
static void place(struct group *g, double *rows[MBDY_VECTORS][WIDEST]) {
    batch *it = g->of;
    memset(rows, 0, sizeof(double *) * MBDY_VECTORS * WIDEST);
    for (int i = 0; i < g->count; i++) {
        const int run = g->runs[i], lane = run % it->width;
        mbdy_core *core = core_of(g, i);
        for (int v = 0; v < MBDY_VECTORS; v++) rows[v][lane] = core->vector[v];
        if (core->prepared == it->prepared[run] && !core->model->n_steps && !core->model->n_senses) continue;
        it->lanes->constants(g->block, lane, core->vector[MBDY_K]);
        it->prepared[run] = core->prepared;
    }
}

static void vectors_of(double *rows[MBDY_VECTORS][WIDEST], double *const *vectors[MBDY_VECTORS]) {
    for (int v = 0; v < MBDY_VECTORS; v++) vectors[v] = rows[v];
}

/* The internal steps: of members whose stores vary, that follow profiles, whose tanks may run empty, or whose friction sticks,
   alone, of all others in lanes. */
static void go(struct group *g, int *status) {
    const int works = mbdy_this()->work_error >= 0;
    double *rows[MBDY_VECTORS][WIDEST], *const *vectors[MBDY_VECTORS], work[WIDEST] = {0.0};
    struct group alike = {.of = g->of, .wide = g->wide, .block = g->block};
    const int each = !g->wide || mbdy_this()->n_profiles || mbdy_this()->n_senses;
    for (int i = 0; i < g->count; i++) {
        if (each || g->course[i].stores_vary || g->course[i].rationed) {
            status[i] = mbdy_go(core_of(g, i), &g->course[i]);
            if (status[i] != MBDY_OK) mbdy_go_back(core_of(g, i));
            continue;
        }
        status[i] = MBDY_OK;
        alike.runs[alike.count] = g->runs[i];
        alike.course[alike.count++] = g->course[i];
    }
    if (!alike.count) return;
    place(&alike, rows), vectors_of(rows, vectors);
    for (int i = 0; works && i < alike.count; i++) work[alike.runs[i] % g->of->width] = *mbdy_work_done(core_of(&alike, i));
    g->of->lanes->steps(g->wide, g->block, vectors, alike.course, work);
    for (int i = 0; works && i < alike.count; i++) *mbdy_work_done(core_of(&alike, i)) = work[alike.runs[i] % g->of->width];
}

static void outputs(struct group *g, int *status) {
    double *rows[MBDY_VECTORS][WIDEST], *const *vectors[MBDY_VECTORS], energy[WIDEST];
    const int lanes = g->wide && !mbdy_this()->n_profiles;
    if (lanes && g->count) {
        place(g, rows), vectors_of(rows, vectors);
        g->of->lanes->outputs(g->wide, g->block, vectors, energy);
    }
    for (int i = 0; i < g->count; i++) {
        mbdy_core *core = core_of(g, i);
        double *const *v = core->vector;
        status[i] = lanes ? mbdy_complete_outputs(core, v[MBDY_X], v[MBDY_U], v[MBDY_Y], energy[g->runs[i] % g->of->width], 1)
                          : mbdy_outputs(core, NULL, NULL, NULL);
        if (status[i] != MBDY_OK) mbdy_go_back(core);
    }
}

/* One communication step of those that are left of a group. */
static void step(struct group *g, double H, int order) {
    int status[WIDEST];
    for (int i = 0; i < g->count; i++)
        status[i] = mbdy_begin(core_of(g, i), H, g->of->plants[0]->own->step, order, &g->course[i]);
    keep(g, status, H, 0);
    go(g, status);
    keep(g, status, H, 0);
    for (int i = 0; i < g->count; i++) status[i] = mbdy_end(core_of(g, i), &g->course[i]);
    keep(g, status, H, 0);
}

static void run_group(batch *it, int index, mbdy_core *wide, int rows, double H, int order, const double *inputs, const int *pick,
                      int picked, double *out) {
    const size_t n_u = (size_t)mbdy_this()->n_u, per_run = n_u * ((size_t)rows + 1), shown = (size_t)rows * (size_t)picked;
    struct group g = {.of = it, .wide = wide, .block = it->blocks + it->block * (size_t)index};
    int status[WIDEST];
    for (int i = end_of(it, index); i < end_of(it, index + 1); i++) {
        for (size_t k = 0; k < shown; k++) out[(size_t)i * shown + k] = NAN;
        if (it->status[i] != PLANT_OK || failed(it, i, plant_settle_constants(it->plants[i]))) continue;
        if (inputs) memcpy(it->plants[i]->core->vector[MBDY_U], inputs + (size_t)i * per_run, sizeof(double) * n_u);
        g.runs[g.count++] = i;
    }
    for (int row = 0; row < rows && g.count; row++) {
        for (int i = 0; inputs && i < g.count; i++)
            mbdy_enter_row(core_of(&g, i), inputs + (size_t)g.runs[i] * per_run + n_u * ((size_t)row + 1));
        step(&g, H, order);
        for (int i = 0; inputs && i < g.count; i++) {
            memcpy(core_of(&g, i)->vector[MBDY_U], inputs + (size_t)g.runs[i] * per_run + n_u * ((size_t)row + 1), sizeof(double) * n_u);
            mbdy_decide(core_of(&g, i), NULL, NULL);
        }
        outputs(&g, status);
        keep(&g, status, H, 1);
        for (int i = 0; i < g.count; i++) {
            plant *one = it->plants[g.runs[i]];
            plant_pass(one, H);
            one->now.stale_outputs = 0.0;
            double *to = out + (size_t)g.runs[i] * shown + (size_t)row * (size_t)picked;
            for (int k = 0; k < picked; k++) to[k] = one->vector[MBDY_Y][pick[k]];
        }
    }
    for (int i = 0; inputs && i < g.count; i++) /* switches of the last row stay set */
        memcpy(core_of(&g, i)->vector[MBDY_U_END], core_of(&g, i)->vector[MBDY_U], sizeof(double) * n_u);
}

void batch_run(batch *it, int from, int to, int thread, int rows, double H, int order, const double *inputs, const int *pick,
               int picked, double *out) {
    mbdy_core *wide = it->lanes ? it->wide[thread] : NULL;
    for (int i = from; i < to; i++) run_group(it, i, wide, rows, H, order, inputs, pick, picked, out);
}
