/* Friction that sticks: which degrees of freedom it holds, with which sense it acts on those that slip, and where in a step
   either changes.

   A sense is in k: 0 holds a degree of freedom, 1 and -1 are the sign of the rate against which Coulomb's friction acts. It
   stays between events: a rate that passes zero, and an effort that passes what holds. Who is at rest then is tried as held.
   Which of them are is a linear complementarity problem: each is held by no more than its breakaway effort, or slips against
   all of that and accelerates so. It is solved by block principal pivoting (J. J. Judice, F. M. Pires, Computers & Operations
   Research 21 (1994) 587-596), each pivot one evaluation of the equations; beside rows of loops
   and gears, of accelerations that are measured, in which rows win. Those that slip feel Coulomb's
   friction from then on, which may let others break away in their turn. */

#include "strides.h"

#include <math.h>
#include <string.h>

/* [rad/s, m/s] A rate below this is rest where nothing says that it has just begun; rounding of one that just did; and one that passes zero where
   an importer has come to an event. */
#define AT_REST 1e-12
#define NO_RATE 1e-15
#define NEARLY 1e-9
/* Part of the breakaway effort beyond it that breaks away. */
#define PASSED 1e-9
/* A sense beyond this is friction of what others hold: what is beyond is the part of its breakaway effort. */
#define PARKED 2.0
/* In loops, rates that are this part of what they were at the begin pass zero together. */
#define TOGETHER 1e-6
/* Parts of the acceleration that breakaway gives: rounding; what pulls along; that moves at all; and what makes shares unique. */
#define NO_ACCELERATION 1e-8
#define PULLED 1e-6
#define MOVES 1e-9
#define RIDGE 1e-10
/* Part of an internal step to which events are located; trials of that, and events in one; looks within a stride. */
#define LOCATED 1e-13
#define LOCATING 100
#define MOST_EVENTS 1000
#define LOOKS 8
/* Pivots of all at once that may bring no improvement before single ones follow, and most of all. */
#define BLOCKS 4
#define MOST_PIVOTS 200

static double *sense(const mbdy_core *core, int i) { return core->vector[MBDY_K] + core->model->senses[i]; }

/* What holding.py has at x and u, those of the core where NULL, under the senses of now. */
static void look(mbdy_core *core, const double *x, const double *u) {
    struct mbdy_sticking *at = &core->sticking;
    double *const results[] = {at->effort, at->acceleration, at->rate, at->driven, at->coulomb, at->breakaway, at->inertia};
    core->arg[0] = x ? x : core->vector[MBDY_X];
    core->arg[1] = u ? u : mbdy_inputs_now(core);
    core->arg[2] = core->vector[MBDY_K];
    for (int i = 0; i < 7; i++) core->res[i] = results[i];
    mbdy_evaluate(core, MBDY_HOLDING);
    for (int i = 0; i < 7; i++) core->res[i] = NULL;
}

static int wrong(const mbdy_core *core, int i) {
    const struct mbdy_sticking *at = &core->sticking;
    const double s = *sense(core, i);
    if (!at->tried[i]) return 0;
    if (s == 0.0) return fabs(at->effort[i]) > at->breakaway[i] * (1.0 + PASSED);
    return s * at->acceleration[i] < 0.0;
}

/* Of those that are tried: held, or slipping against all that would hold them. */
static void pivot(mbdy_core *core, const double *x, const double *u) {
    const struct mbdy_sticking *at = &core->sticking;
    const int n = core->model->n_senses;
    int fewest = n + 1, patience = BLOCKS;
    for (int turn = 0; turn < MOST_PIVOTS; turn++) {
        int count = 0, first = -1;
        for (int i = 0; i < n; i++)
            if (wrong(core, i) && ++count == 1) first = i;
        if (!count) return;
        if (count < fewest) fewest = count, patience = BLOCKS;
        else patience--;
        for (int i = first; i < (patience > 0 ? n : first + 1); i++)
            if (wrong(core, i)) *sense(core, i) = *sense(core, i) == 0.0 ? -copysign(PARKED + 1.0, at->effort[i]) : 0.0;
        look(core, x, u);
    }
}

/* What outputs show: of joints that rows hold too, each with its share of the load; and what is stepped again, all at rest held. */
void mbdy_show_shares(mbdy_core *core) {
    for (int i = 0; i < core->model->n_senses; i++) {
        double *s = sense(core, i);
        core->sticking.hidden[i] = *s;
        if (fabs(*s) != 1.0) *s = core->sticking.share[i];
    }
}

void mbdy_hide_shares(mbdy_core *core) {
    for (int i = 0; i < core->model->n_senses; i++) *sense(core, i) = core->sticking.hidden[i];
}

static void look_shown(mbdy_core *core, const double *x, const double *u) {
    mbdy_show_shares(core);
    look(core, x, u);
    mbdy_hide_shares(core);
}

/* What accelerations of one are measured by: what its breakaway effort does, there and to the joint alone. */
static double reach(const struct mbdy_sticking *at, int n, int i) {
    const double own = at->inertia[i] > 0.0 ? at->breakaway[i] / at->inertia[i] : 0.0;
    return fmax(at->mobility[i * n + i], own);
}

/* Whether what rows hold too is held by more than it has, or pulled along. */
static int overcome(const mbdy_core *core, int i) {
    const struct mbdy_sticking *at = &core->sticking;
    const double s = *sense(core, i);
    if (fabs(s) == 1.0 || at->driven[i] != 0.0) return 0;
    if (at->share[i] == 0.0) return fabs(at->effort[i]) > at->breakaway[i] * (1.0 + PASSED);
    return fabs(at->acceleration[i]) > PULLED * at->reach[i];
}

/* Accelerations of all that are tried by the breakaway effort of each, and without any. */
static void try_all(mbdy_core *core, const double *x, const double *u) {
    struct mbdy_sticking *at = &core->sticking;
    const int n = core->model->n_senses;
    for (int i = 0; i < n; i++)
        if (at->tried[i]) *sense(core, i) = PARKED;
    look(core, x, u);
    memcpy(at->found, at->acceleration, sizeof(double) * (size_t)n);
    for (int j = 0; j < n; j++) {
        if (!at->tried[j]) continue;
        *sense(core, j) = -PARKED - 1.0;
        look(core, x, u);
        for (int i = 0; i < n; i++) at->mobility[i * n + j] = at->acceleration[i] - at->found[i];
        *sense(core, j) = PARKED;
    }
    for (int i = 0; i < n; i++) at->reach[i] = reach(at, n, i);
}

/* The parts of breakaway that those `at` within bounds (side 0) take: none of them accelerates; by Gauss, of a matrix that is positive
   definite with RIDGE. */
static void balance(struct mbdy_sticking *at, int n) {
    int *const side = at->side;
    for (int i = 0; i < n; i++) {
        if (!at->tried[i] || side[i]) continue;
        at->trial[i] = -at->found[i];
        for (int j = 0; j < n; j++) {
            at->factors[i * n + j] = at->mobility[i * n + j];
            if (at->tried[j] && side[j]) at->trial[i] -= at->mobility[i * n + j] * at->part[j];
        }
        at->factors[i * n + i] += RIDGE * at->reach[i];
    }
    for (int k = 0; k < n; k++) {
        if (!at->tried[k] || side[k]) continue;
        for (int i = k + 1; i < n; i++) {
            if (!at->tried[i] || side[i]) continue;
            const double by = at->factors[i * n + k] / at->factors[k * n + k];
            for (int j = k + 1; j < n; j++) at->factors[i * n + j] -= by * at->factors[k * n + j];
            at->trial[i] -= by * at->trial[k];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        if (!at->tried[i] || side[i]) continue;
        double sum = at->trial[i];
        for (int j = i + 1; j < n; j++)
            if (at->tried[j] && !side[j]) sum -= at->factors[i * n + j] * at->part[j];
        at->part[i] = sum / at->factors[i * n + i];
    }
}

/* The accelerations of these parts, in `trial`. */
static void follow(struct mbdy_sticking *at, int n) {
    for (int i = 0; i < n; i++) {
        at->trial[i] = at->found[i];
        for (int j = 0; j < n; j++)
            if (at->tried[j]) at->trial[i] += at->mobility[i * n + j] * at->part[j];
    }
}

/* Parts of breakaway, 1 at most, of those that are tried: by block principal pivoting too, between two bounds. Of the many ways to
   share a load, rows that hold it among them, that of least parts. */
static void share_out(struct mbdy_sticking *at, int n) {
    int fewest = n + 1, patience = BLOCKS;
    memset(at->part, 0, sizeof(double) * (size_t)n);
    memset(at->side, 0, sizeof(int) * (size_t)n);
    for (int turn = 0; turn < MOST_PIVOTS; turn++) {
        int count = 0;
        balance(at, n);
        follow(at, n);
        for (int pass = 0; pass < 2; pass++) {
            for (int i = 0; i < n; i++) {
                const double ridged = at->trial[i] + RIDGE * at->reach[i] * at->part[i];
                const int bad = at->tried[i] && (at->side[i] ? at->side[i] * ridged > 1e-15 * at->reach[i] : fabs(at->part[i]) > 1.0 + 1e-12);
                if (!bad) continue;
                if (!pass) {
                    count++;
                    continue;
                }
                at->side[i] = at->side[i] ? 0 : at->part[i] > 0.0 ? 1 : -1;
                if (at->side[i]) at->part[i] = at->side[i];
                if (patience <= 0) break;
            }
            if (!count) return;
            if (!pass && count < fewest) fewest = count, patience = BLOCKS;
            else if (!pass) patience--;
        }
    }
}

/* Of those at rest, as many are held that no rows hold then, those with most left first; the others have their parts. */
static void choose(struct mbdy_sticking *at, const mbdy_core *core) {
    const int n = core->model->n_senses;
    double *const left = at->factors;
    memcpy(left, at->mobility, sizeof(double) * (size_t)(n * n));
    for (int i = 0; i < n; i++)
        if (at->tried[i]) at->share[i] = copysign(PARKED + fmin(fabs(at->part[i]), 1.0), -at->part[i]);
    for (;;) {
        int best = -1;
        double most = 0.0;
        for (int i = 0; i < n; i++) {
            if (!at->tried[i] || at->share[i] == 0.0 || !(left[i * n + i] > MOVES * at->reach[i])) continue;
            const double value = left[i * n + i] / at->reach[i] * (1e-6 + fmax(1.0 - fabs(at->part[i]), 0.0));
            if (value > most) most = value, best = i;
        }
        if (best < 0) return;
        at->share[best] = 0.0;
        for (int i = 0; i < n; i++) {
            if (i == best) continue;
            const double by = left[i * n + best] / left[best * n + best];
            for (int j = 0; j < n; j++) left[i * n + j] -= by * left[best * n + j];
        }
        for (int i = 0; i < n; i++) left[i * n + best] = left[best * n + i] = 0.0;
    }
}

/* In models with rows: gears, loops and prescribed motion win against friction, which has no more than its breakaway. */
static void settle_with_rows(mbdy_core *core, const double *x, const double *u) {
    struct mbdy_sticking *at = &core->sticking;
    const int n = core->model->n_senses;
    for (int weaker = 1; weaker;) {
        weaker = 0;
        try_all(core, x, u);
        share_out(at, n);
        follow(at, n);
        for (int i = 0; i < n; i++) {
            const int held = fabs(at->part[i]) < 1.0 - 1e-12 && at->mobility[i * n + i] > MOVES * at->reach[i];
            if (at->tried[i] && !(at->mobility[i * n + i] > MOVES * at->reach[i])) at->part[i] = 0.0;
            if (!at->tried[i] || held || !(fabs(at->trial[i]) > NO_ACCELERATION * at->reach[i])) continue;
            at->tried[i] = 0, weaker |= at->breakaway[i] > at->coulomb[i];
            *sense(core, i) = copysign(1.0, at->trial[i]);
        }
    }
    choose(at, core);
    for (int i = 0; i < n; i++)
        if (at->tried[i]) *sense(core, i) = at->mobility[i * n + i] > MOVES * at->reach[i] ? 0.0 : PARKED;
    look_shown(core, x, u);
}

/* Those that are tried, as long as some break away that hold others less then. */
static void settle(mbdy_core *core, const double *x, const double *u) {
    struct mbdy_sticking *at = &core->sticking;
    for (int weaker = 1; weaker;) {
        weaker = 0;
        pivot(core, x, u);
        for (int i = 0; i < core->model->n_senses; i++) {
            double *s = sense(core, i);
            if (!at->tried[i] || *s == 0.0) continue;
            at->tried[i] = 0, weaker |= at->breakaway[i] > at->coulomb[i];
            *s = copysign(1.0, *s);
        }
        if (weaker) look(core, x, u);
    }
}

void mbdy_decide(mbdy_core *core, const double *x, const double *u) {
    struct mbdy_sticking *at = &core->sticking;
    const int n = core->model->n_senses;
    int changed = at->anew, any = 0;
    if (!n) return;
    look(core, x, u);
    at->anew = 0;
    for (int i = 0; i < n; i++) {
        double *s = sense(core, i);
        const double before = *s, rate = at->rate[i];
        const int resting = at->turning[i] || !(fabs(rate) > AT_REST || (fabs(before) == 1.0 && before * rate > 0.0));
        at->tried[i] = resting && at->driven[i] == 0.0 && at->breakaway[i] > 0.0;
        at->turning[i] = 0;
        if (at->tried[i]) *s = fabs(before) == 1.0 ? 0.0 : before;
        else *s = rate > 0.0 ? 1.0 : rate < 0.0 ? -1.0 : at->driven[i] == 0.0;
        any |= at->tried[i], changed |= *s != before;
    }
    if (!any) return;
    if (core->model->n_rows) {
        look_shown(core, x, u);
        for (int i = 0; i < n; i++) changed |= overcome(core, i);
        if (changed) settle_with_rows(core, x, u);
        return;
    }
    if (changed) look(core, x, u);
    settle(core, x, u);
}

void mbdy_decide_there(mbdy_core *core, const double *x, const double *u) {
    for (int i = 0; i < core->model->n_senses; i++) core->sticking.kept[i] = *sense(core, i), core->sticking.kept_share[i] = core->sticking.share[i];
    mbdy_forget(core);
    mbdy_decide(core, x, u);
}

void mbdy_decide_back(mbdy_core *core) {
    for (int i = 0; i < core->model->n_senses; i++) *sense(core, i) = core->sticking.kept[i], core->sticking.share[i] = core->sticking.kept_share[i];
}

void mbdy_loosen(mbdy_core *core) {
    for (int i = 0; i < core->model->n_senses; i++) *sense(core, i) = 1.0;
}

void mbdy_forget(mbdy_core *core) {
    for (int i = 0; i < core->model->n_senses; i++) *sense(core, i) = core->sticking.share[i] = 0.0;
    core->sticking.anew = 1;
}

int mbdy_turn(mbdy_core *core, const double *u) {
    const struct mbdy_sticking *at = &core->sticking;
    int moving = 0;
    mbdy_decide(core, NULL, u);
    for (int i = 0; i < core->model->n_senses; i++)
        moving |= *sense(core, i) == 0.0 && at->driven[i] == 0.0 && at->rate[i] != 0.0;
    if (!moving) return 0;
    const double before = mbdy_energy(core);
    mbdy_stop(core, core->vector[MBDY_X], u, NULL);
    mbdy_leap(core, before);
    return 1;
}

void mbdy_margins(mbdy_core *core, const double *x, const double *u, double *margins) {
    struct mbdy_sticking *at = &core->sticking;
    const int n = core->model->n_senses;
    if (!n) return;
    look_shown(core, x, u);
    for (int i = 0; i < n; i++) {
        const double s = *sense(core, i), most = at->breakaway[i] * (1.0 + PASSED);
        if (at->driven[i] != 0.0 || most == 0.0) margins[i] = 1.0;
        else if (fabs(s) == 1.0) margins[i] = s * at->rate[i] + NO_RATE;
        else if (at->share[i] == 0.0) margins[i] = most - fabs(at->effort[i]);
        else margins[i] = PULLED * at->reach[i] - fabs(at->acceleration[i]);
    }
}

/* One step of the integrator over a part of the internal step, from x_begin; its work. */
static double part_of_step(mbdy_core *core, const struct mbdy_course *by, double from, double to, double h) {
    memcpy(core->vector[MBDY_X], core->x_begin, sizeof(double) * (size_t)core->model->n_x);
    const double work = core->integrator->step(core, from, to, h, by->order);
    mbdy_normalise(core->model, core->vector[MBDY_X]);
    return work;
}

/* The least of the margins at the end of a part, each relative to what those that are passed at the end of the whole are
   there. */
static double least(mbdy_core *core, const double *x, const double *u) {
    const struct mbdy_sticking *at = &core->sticking;
    double all = 1.0;
    mbdy_margins(core, x, u, core->sticking.margin);
    for (int i = 0; i < core->model->n_senses; i++)
        if (at->weight[i] > 0.0 || at->margin[i] < 0.0) all = fmin(all, at->margin[i] * (at->weight[i] > 0.0 ? at->weight[i] : INFINITY));
    return fmax(all, -1.0);
}

/* Where, after `from`, the first event is of those that a step to `to` has gone by, by false position (Illinois) within
   bisection; x is there, and *work that of the way. */
static double located(mbdy_core *core, const struct mbdy_course *by, double from, double to, double *work) {
    struct mbdy_sticking *at = &core->sticking;
    const double near = LOCATED / by->n, scale = by->h * by->n;
    double a = from, b = to, reached = to, last = 0.0;
    for (int i = 0; i < core->model->n_senses; i++) at->weight[i] = at->margin[i] < 0.0 ? -1.0 / at->margin[i] : 0.0;
    double of_b = -1.0, of_a;
    memcpy(core->vector[MBDY_X], core->x_begin, sizeof(double) * (size_t)core->model->n_x);
    of_a = least(core, NULL, mbdy_inputs_at(core, from, by->order));
    for (int i = 0; i < LOCATING && b - a > 2.0 * near; i++) {
        double s = of_a > 0.0 && i % 3 != 2 ? a + (b - a) * of_a / (of_a - of_b) : 0.5 * (a + b);
        s = fmin(fmax(s, a + near), b - near);
        *work = part_of_step(core, by, from, s, scale * (s - from));
        const double of_s = least(core, NULL, mbdy_inputs_at(core, s, by->order));
        reached = s;
        if (of_s < 0.0) {
            b = s, of_b = of_s;
            if (last < 0.0) of_a *= 0.5;
        } else {
            a = s, of_a = of_s;
            if (last > 0.0) of_b *= 0.5;
        }
        last = of_s < 0.0 ? -1.0 : 1.0;
    }
    if (reached != b || b == to) {
        *work = part_of_step(core, by, from, b, scale * (b - from));
        least(core, NULL, mbdy_inputs_at(core, b, by->order));
    }
    return b;
}

/* Who passes zero at the end of a part that began with rates `before`. */
static void mark(mbdy_core *core, const double *before) {
    struct mbdy_sticking *at = &core->sticking;
    for (int i = 0; i < core->model->n_senses; i++) {
        const double s = *sense(core, i), together = core->model->n_rows ? TOGETHER * fabs(before[i]) : 0.0;
        at->turning[i] = fabs(s) == 1.0 && (at->margin[i] < 0.0 || fabs(at->rate[i]) < together);
    }
}

/* What friction does to prescribed motion is seen in its reaction alone: it needs no event. */
static void follow_driven(mbdy_core *core) {
    const struct mbdy_sticking *at = &core->sticking;
    for (int i = 0; i < core->model->n_senses; i++)
        if (at->driven[i] != 0.0) *sense(core, i) = at->rate[i] > 0.0 ? 1.0 : at->rate[i] < 0.0 ? -1.0 : 0.0;
}

int mbdy_slip(mbdy_core *core, const struct mbdy_course *by, double from, double to, double h) {
    struct mbdy_sticking *at = &core->sticking;
    const size_t n_x = sizeof(double) * (size_t)core->model->n_x, n = (size_t)core->model->n_senses;
    for (int event = 0; event < MOST_EVENTS; event++) {
        memcpy(core->x_begin, core->vector[MBDY_X], n_x);
        if (core->model->n_rows) {
            look(core, NULL, mbdy_inputs_at(core, from, by->order));
            memcpy(at->before, at->rate, sizeof(double) * n);
        }
        double end = to, work = part_of_step(core, by, from, to, h);
        memset(at->weight, 0, sizeof(double) * n);
        const int passed = least(core, NULL, mbdy_inputs_at(core, to, by->order)) < 0.0;
        if (passed) end = located(core, by, from, to, &work);
        mbdy_add_work(core, work);
        if (by->stores_vary) mbdy_shift(core, mbdy_store_work(core, from, end, by->h * by->n * (end - from), by->order));
        follow_driven(core);
        if (!passed) return 1;
        mark(core, at->before);
        mbdy_turn(core, mbdy_inputs_at(core, end, by->order));
        if (end >= to) return 1;
        from = end, h = by->h * by->n * (to - from);
    }
    return 0;
}

int mbdy_event(mbdy_core *core) {
    struct mbdy_sticking *at = &core->sticking;
    int changed = 0;
    mbdy_margins(core, NULL, NULL, at->margin);
    for (int i = 0; i < core->model->n_senses; i++) {
        at->before[i] = *sense(core, i);
        at->turning[i] = fabs(*sense(core, i)) == 1.0 && at->margin[i] < NEARLY;
    }
    changed = mbdy_turn(core, mbdy_inputs_now(core));
    for (int i = 0; i < core->model->n_senses; i++) changed |= at->before[i] != *sense(core, i);
    return changed;
}

double mbdy_turns_at(mbdy_core *core, const struct stride *s, int order, double from, double to) {
    struct mbdy_sticking *at = &core->sticking;
    const size_t n = (size_t)core->model->n_senses;
    double a = 0.0, b = 0.0;
    memset(at->weight, 0, sizeof(double) * n);
    memset(at->before, 0, sizeof(double) * n);
    for (double value = 1.0; value >= 0.0;) {
        if (b >= 1.0) return 2.0;
        a = b, b += 1.0 / LOOKS;
        s->by->between(s->terms, s->each, s->n, b, core->x_stage);
        value = least(core, core->x_stage, mbdy_inputs_at(core, from + b * (to - from), order));
    }
    while (b - a > LOCATED) {
        const double part = 0.5 * (a + b);
        s->by->between(s->terms, s->each, s->n, part, core->x_stage);
        *(least(core, core->x_stage, mbdy_inputs_at(core, from + part * (to - from), order)) < 0.0 ? &b : &a) = part;
    }
    s->by->between(s->terms, s->each, s->n, b, core->x_stage);
    mbdy_margins(core, core->x_stage, mbdy_inputs_at(core, from + b * (to - from), order), at->margin);
    mark(core, at->before);
    return b;
}

size_t mbdy_sticking_reals(const mbdy_model *m) { return (18 + 2 * (size_t)m->n_senses) * (size_t)m->n_senses; }

void mbdy_sticking_room(mbdy_core *core, double *at, int *places) {
    struct mbdy_sticking *it = &core->sticking;
    const int n = core->model->n_senses;
    double **const all[] = {&it->effort, &it->acceleration, &it->rate, &it->driven, &it->coulomb, &it->breakaway,
                            &it->margin, &it->weight, &it->before, &it->found, &it->trial, &it->kept,
                            &it->inertia, &it->share, &it->kept_share, &it->hidden, &it->part, &it->reach};
    const size_t count = sizeof all / sizeof *all;
    for (size_t i = 0; i < count; i++) *all[i] = at + i * (size_t)n;
    it->mobility = at + count * (size_t)n, it->factors = it->mobility + n * n;
    it->tried = places, it->turning = places + n, it->side = places + 2 * n;
}
