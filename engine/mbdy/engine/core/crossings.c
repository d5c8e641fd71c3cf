/* Where laws of effort switch in a stride: indicators that pass zero on its polynomial, there and back between two looks too. */

#include "strides.h"

#include <math.h>

/* Places within a stride where indicators are looked at, and how far beyond one they are to tell their slopes. */
#define PLACES 8
#define BESIDE 1e-5
/* How near the instant [s] of one that passes zero is found; trials of that, and of where one comes nearest to it. */
#define INSTANT 1e-11
#define TRIALS 100
#define NEAREST 12

/* A stride as it is looked at; and where: the indicators there and, per part of the stride, their slopes. */
struct view {
    mbdy_core *core;
    const struct stride *s;
    int order;
    double from, to, near, *row;
};
struct place {
    double part, *z, *slope;
};

static double sign_of(double value) { return value > 0.0 ? 1.0 : value < 0.0 ? -1.0 : 0.0; }

static const double *indicators(mbdy_core *core, const double *x, const double *u, double *z) {
    core->arg[0] = x, core->arg[1] = u, core->arg[2] = core->vector[MBDY_K];
    core->res[0] = z;
    mbdy_evaluate(core, MBDY_INDICATORS);
    return z;
}

void mbdy_sides(mbdy_core *core, const struct stride *s, const double *x, const double *u) {
    const double *z = indicators(core, x, u, core->events + 3 * MBDY_MOST_EVENTS);
    for (int i = 0; i < s->indicators; i++) s->sides[i] = sign_of(z[i]);
}

static const double *viewed(const struct view *v, double part, double *z) {
    v->s->by->between(v->s->terms, v->s->each, v->s->n, part, v->core->x_stage);
    return indicators(v->core, v->core->x_stage, mbdy_inputs_at(v->core, v->from + part * (v->to - v->from), v->order), z);
}

static void stand_at(const struct view *v, double part, struct place *at) {
    const double beside = part < 0.5 ? BESIDE : -BESIDE;
    at->part = part;
    viewed(v, part, at->z);
    viewed(v, part + beside, at->slope);
    for (int i = 0; i < v->s->indicators; i++) at->slope[i] = (at->slope[i] - at->z[i]) / beside;
}

/* The part at which an indicator has just passed zero, from its side at `begin` with `low`: false position in the Illinois variant
   (Dowell and Jarratt, BIT 11, 1971), with a bisection now and then. */
static double passes(const struct view *v, int i, double begin, double low, double end, double high) {
    for (int trial = 0; trial < TRIALS && end - begin > v->near; trial++) {
        const double share = trial % 3 == 2 || low * high >= 0.0 ? 0.5 : high / (high - low);
        const double part = fmin(fmax(end - share * (end - begin), begin + 0.5 * v->near), end - 0.5 * v->near);
        const double value = viewed(v, part, v->row)[i];
        if (value * v->s->sides[i] < 0.0) end = part, high = value, low *= 0.5;
        else begin = part, low = value, high *= 0.5;
    }
    return end;
}

/* Of an indicator that comes nearer to zero from a and is farther again at b: where it is beyond it in between, or a negative
   number; *there is its value. Where it comes nearest is found from slopes, by false position and bisection in turn. */
static double goes_beyond(const struct view *v, int i, const struct place *a, const struct place *b, double *there) {
    const double side = v->s->sides[i], width = b->part - a->part;
    double begin = a->part, end = b->part, falls = side * a->slope[i], rises = side * b->slope[i];
    if (!(falls < 0.0 && rises > 0.0) || side * a->z[i] + falls * width > 0.0 || side * b->z[i] - rises * width > 0.0) return -1.0;
    for (int trial = 0; trial < NEAREST; trial++) {
        const double part = begin + (end - begin) * (trial % 2 ? 0.5 : falls / (falls - rises));
        *there = viewed(v, part, v->row)[i];
        if (side * *there < 0.0) return part;
        const double beside = BESIDE * (end - begin), slope = side * (viewed(v, part + beside, v->row)[i] - *there) / beside;
        if (slope < 0.0) begin = part, falls = slope;
        else end = part, rises = slope;
    }
    return -1.0;
}

struct mbdy_crossing mbdy_crossing(mbdy_core *core, const struct stride *s, int order, double from, double to, double h) {
    const int n = s->indicators;
    double *rows = core->events + 3 * MBDY_MOST_EVENTS;
    struct place a = {0.0, rows, rows + n}, b = {0.0, rows + 2 * n, rows + 3 * n};
    const struct view v = {core, s, order, from, to, fmin(0.1 / PLACES, INSTANT / h + 1e-15), rows + 4 * n};
    struct mbdy_crossing first = {-1, 1.0};
    if (n) stand_at(&v, 0.0, &a);
    for (int place = 1; n && place <= PLACES && first.row < 0; place++) {
        stand_at(&v, place / (double)PLACES, &b);
        for (int i = 0; i < n; i++) {
            if (s->sides[i] == 0.0) s->sides[i] = sign_of(b.z[i]);
            double end = b.part, high = b.z[i];
            if (!(high * s->sides[i] < 0.0) && (end = goes_beyond(&v, i, &a, &b, &high)) < 0.0) continue;
            const double part = passes(&v, i, a.part, a.z[i], end, high);
            if (first.row < 0 || part < first.part) first = (struct mbdy_crossing){i, part};
        }
        const struct place exchanged = a;
        a = b, b = exchanged;
    }
    return first;
}
