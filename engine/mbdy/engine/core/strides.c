/* Steps that adapt: each stride is as long as the tolerance allows, by what the last ones left of it, and goes past rows, which the
   polynomial within it gives.

   Quaternions are scaled to one and errors of loops taken out at the end of each stride, so that no stride begins with them, and
   at rows. Nothing is taken implicitly that is too steep: strides become as short as it asks for.

   A stride in which a law of effort switches is made again, to the instant at which it does; the next begins anew there.

   Source: E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I (1993), Section II.4: the first
   stride, and lengths from errors (there with the largest error of any state instead of the mean of all);
   II.6: what lies between. */

#include "strides.h"

#include <math.h>
#include <string.h>

/* Lengths by proportional and integral control: its exponent, a margin, and the most that a stride changes by. */
#define BETA 0.04
#define SAFETY 0.9
#define SHRINK 0.2
#define GROW 10.0
#define LEAST_ERROR 1e-4
/* Most strides of a communication step, the shortest one in parts of it, and how many of them the longest is where nobody says. */
#define MOST_STRIDES 1e6
#define SHORTEST 1e-14
#define MOST_ROWS 1000.0

size_t mbdy_stride_reals(const mbdy_model *m, const mbdy_integrator *integrator) {
    const size_t each = (size_t)m->n_x + 1;
    const size_t states = 2 * (each - 1) + (size_t)m->n_u + (size_t)(m->n_indicators + m->n_senses);
    return integrator->strides ? HEAD + states + ((size_t)integrator->strides->terms + 1) * each : 0;
}

size_t mbdy_most_strides(const mbdy_model *m) {
    size_t most = 0;
    for (int i = 0; i < mbdy_n_integrators; i++)
        if (mbdy_stride_reals(m, mbdy_integrators[i]) > most) most = mbdy_stride_reals(m, mbdy_integrators[i]);
    return most;
}

static struct stride stride_of(mbdy_core *core) {
    const int n = core->model->n_x;
    struct stride s = {.by = core->integrator->strides, .n = n, .each = n + 1, .head = core->vector[MBDY_STRIDE]};
    s.now = s.head + HEAD, s.u = s.now + n, s.end = s.u + core->model->n_u;
    s.slope = s.end + n, s.terms = s.slope + s.each, s.sides = s.terms + s.by->terms * s.each, s.error = core->slope[2];
    s.turning = s.sides + core->model->n_indicators;
    s.indicators = core->model->functions[MBDY_INDICATORS] ? core->model->n_indicators : 0;
    return s;
}

void mbdy_tolerate(mbdy_core *core, double tolerance, double *nominal) { core->tolerance = tolerance, core->nominal = nominal; }

void mbdy_strides_of(const mbdy_core *core, double counts[3]) {
    static const int places[] = {ACCEPTED, REJECTED, NEXT};
    for (int i = 0; i < 3; i++) counts[i] = core->integrator->strides ? core->vector[MBDY_STRIDE][places[i]] : 0.0;
}

void mbdy_break_stride(mbdy_core *core) {
    if (core->integrator->strides) core->vector[MBDY_STRIDE][AHEAD] = core->vector[MBDY_STRIDE][SIDES] = 0.0;
}

static size_t stride_bytes(int n) { return sizeof(double) * (size_t)n; }

/* Whether the stride ahead is gone on with: it is that of the core's state and inputs. If not, none is ahead. */
static void stride_resumed(mbdy_core *core, const struct stride *s, const struct mbdy_course *by) {
    const double *x = core->vector[MBDY_X];
    const int same = memcmp(s->now, x, stride_bytes(s->n)) == 0;
    if (by->past && same && memcmp(s->u, core->vector[MBDY_U], stride_bytes(core->model->n_u)) == 0 && s->head[AHEAD] != 0.0) return;
    s->head[AHEAD] = s->head[SLOPE] = 0.0;
    for (int i = 0; i < s->indicators; i++)
        if (fabs(s->sides[i]) > 1.0) s->sides[i] *= -0.5;
    if (!s->indicators || (same && s->head[SIDES] != 0.0)) return;
    mbdy_sides(core, s, x, mbdy_inputs_at(core, 0.0, by->order));
    s->head[SIDES] = 1.0;
}

const double *mbdy_events(const mbdy_core *core, int *count) {
    *count = core->n_events;
    return core->events;
}

void mbdy_stand(mbdy_core *core) {
    const struct stride s = stride_of(core);
    memcpy(s.now, core->vector[MBDY_X], stride_bytes(s.n));
    memcpy(s.u, core->vector[MBDY_U], stride_bytes(core->model->n_u));
}

/* The largest of `values` in tolerances of states as large as in x and y; core->fault is its place. */
static double in_tolerances(mbdy_core *core, const double *values, const double *x, const double *y) {
    double most = 0.0;
    for (int i = 0; i < core->model->n_x; i++) {
        const double nominal = core->nominal ? core->nominal[i] : 1.0;
        const double size = fabs(values[i]) / (core->tolerance * (nominal + fmax(fabs(x[i]), fabs(y[i]))));
        if (!(size <= most)) most = size, core->fault = i;
        if (!isfinite(most)) break;
    }
    return most;
}

static double power_of(double base, double exponent) { return base > 0.0 ? mbdy_pow(base, exponent) : 0.0; }

/* A first stride [s], no longer than `most`, of the sizes of state, slope and change of the slope. */
static double first_stride(mbdy_core *core, const struct stride *s, const struct mbdy_course *by, double from, double most) {
    const double *x = core->vector[MBDY_X];
    double *there = core->slope[0], *slope = core->slope[1];
    const double d0 = in_tolerances(core, x, x, x), d1 = in_tolerances(core, s->slope, x, x);
    const double h = fmin(most, d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1);
    for (int i = 0; i < s->n; i++) there[i] = x[i] + h * s->slope[i];
    mbdy_derivatives(core, there, mbdy_inputs_at(core, from + h / by->H, by->order), slope);
    for (int i = 0; i < s->n; i++) slope[i] -= s->slope[i];
    const double d2 = in_tolerances(core, slope, x, x) / h, fast = fmax(d1, d2);
    const double better = fast > 1e-15 ? power_of(0.01 / fast, 1.0 / s->by->order) : fmax(1e-6, 1e-3 * h);
    return isfinite(better) ? fmin(most, fmin(100.0 * h, better)) : h;
}

static int stride_stuck(mbdy_core *core, double at, double h) {
    core->stuck_at = at, core->stuck_stride = h;
    return MBDY_STUCK;
}

/* One stride from the core's state at the time `done` of the communication step, of which it may take `room` [s]; it is ahead then. */
static int stride_taken(mbdy_core *core, const struct stride *s, const struct mbdy_course *by, double done, double room, double *strides) {
    const double *x = core->vector[MBDY_X], from = done / by->H;
    const double alpha = 1.0 / s->by->order - 0.75 * BETA;
    double *head = s->head, work = 0.0;
    if (head[SLOPE] == 0.0) {
        mbdy_derivatives(core, x, mbdy_inputs_at(core, from, by->order), s->slope);
        s->slope[s->n] = core->power, head[SLOPE] = 1.0;
        core->fault = mbdy_not_finite(s->slope, s->n);
        if (core->fault >= 0) return MBDY_FAILED;
    }
    const double begin = core->now + done, bend = mbdy_next_bend(core, begin) - begin, most = fmin(by->h, bend);
    const double longest = mbdy_flow_room(core, from, by->H, fmin(most, by->past ? MOST_ROWS * by->H : room), by->order);
    const double shortest = SHORTEST * by->H;
    double h = head[NEXT];
    if (!(h > 0.0)) h = first_stride(core, s, by, from, longest), head[LAST_ERROR] = LEAST_ERROR;
    for (int again = 0;; again = 1) {
        const double wanted = h;
        h = fmax(shortest, fmin(h, longest));
        if (!by->past && room <= longest && 1.01 * h >= room) h = room;
        const double to = h == room ? 1.0 : from + h / by->H;
        core->inside = core->model->n_profiles ? begin + 0.5 * h : core->inside;
        work = s->by->attempt(core, from, to, h, by->order, s->slope, s->end, s->error);
        const double error = in_tolerances(core, s->error, x, s->end), raw = power_of(error, alpha);
        if (error <= 1.0) {
            double grown = h * fmin(GROW, fmax(SHRINK, SAFETY * power_of(head[LAST_ERROR], BETA) / raw));
            if (again) grown = fmin(grown, h);
            head[NEXT] = h < wanted && grown >= GROW * h ? fmax(wanted, grown) : grown;
            head[LAST_ERROR] = fmax(error, LEAST_ERROR);
            head[ACCEPTED] += 1.0;
            break;
        }
        head[REJECTED] += 1.0;
        if (h <= shortest || ++*strides > MOST_STRIDES) return stride_stuck(core, done, h);
        h *= isfinite(error) ? fmax(SHRINK, SAFETY / raw) : SHRINK;
    }
    if (++*strides > MOST_STRIDES) return stride_stuck(core, done, h);
    s->by->polynomial(core, h, s->end, work, s->terms);
    struct mbdy_crossing at = mbdy_crossing(core, s, by->order, from, h == room ? 1.0 : from + h / by->H, h);
    head[TURNING] = 0.0;
    if (core->model->n_senses) {
        const double part = mbdy_turns_at(core, s, by->order, from, h == room ? 1.0 : from + h / by->H);
        if (part <= at.part) at = (struct mbdy_crossing){-1, part}, head[TURNING] = 1.0;
        for (int i = 0; i < core->model->n_senses; i++) s->turning[i] = core->sticking.turning[i], core->sticking.turning[i] = 0;
    }
    if (at.row >= 0 || head[TURNING] != 0.0) {
        h *= at.part;
        work = s->by->attempt(core, from, from + h / by->H, h, by->order, s->slope, s->end, s->error);
        s->by->polynomial(core, h, s->end, work, s->terms);
        if (at.row >= 0) s->sides[at.row] *= -2.0;
        head[NEXT] = 0.0;
    }
    memcpy(s->slope, s->by->last(core), stride_bytes(s->each));
    mbdy_leave_piece(core);
    if (h >= bend) head[SLOPE] = 0.0;
    head[AHEAD] = 1.0, head[LENGTH] = h, head[PASSED] = head[DONE] = 0.0;
    return MBDY_OK;
}

/* The core goes on to where the stride is passed by `by` [s] more, within it. */
static void stride_passed(mbdy_core *core, const struct stride *s, double more) {
    double *x = core->vector[MBDY_X], *values = core->work;
    s->head[PASSED] += more;
    s->by->between(s->terms, s->each, s->each, s->head[PASSED] / s->head[LENGTH], values);
    mbdy_add_work(core, values[s->n] - s->head[DONE]);
    s->head[DONE] = values[s->n];
    memcpy(x, values, stride_bytes(s->n));
    mbdy_normalise(core->model, x);
}

/* 0 where there are too many. */
static int event(mbdy_core *core, double at, int row, double sense) {
    if (core->n_events == MBDY_MOST_EVENTS) return 0;
    double *to = core->events + 3 * core->n_events++;
    to[0] = core->since + at, to[1] = row, to[2] = sense;
    return 1;
}

/* The core goes on to the stride's end, the time `at` of the communication step. */
static int stride_ended(mbdy_core *core, const struct stride *s, const struct mbdy_course *by, double from, double to, double at) {
    const mbdy_model *m = core->model;
    double *x = core->vector[MBDY_X], *senses = core->slope[3];
    int told = 1;
    const double whole = s->terms[s->each + s->n];
    s->head[AHEAD] = 0.0;
    if (by->stores_vary) memcpy(core->x_begin, x, stride_bytes(s->n));
    memcpy(x, s->end, stride_bytes(s->n));
    mbdy_normalise(core->model, x);
    mbdy_add_work(core, whole - s->head[DONE]);
    if (by->stores_vary) mbdy_shift(core, mbdy_store_work(core, from, to, s->head[LENGTH], by->order));
    const int emptied = mbdy_emptied(core, s->terms);
    for (int i = 0; emptied && i < m->n_flows; i++)
        if (mbdy_empties(core, i)) told &= event(core, at, m->n_indicators + m->n_senses + i, 1.0);
    if (m->n_rows || emptied) s->head[SLOPE] = 0.0;
    if (s->head[TURNING] != 0.0) {
        for (int i = 0; i < m->n_senses; i++)
            senses[i] = core->vector[MBDY_K][m->senses[i]], core->sticking.turning[i] = s->turning[i] != 0.0;
        mbdy_turn(core, mbdy_inputs_at(core, to, by->order));
        s->head[SLOPE] = s->head[TURNING] = 0.0;
        for (int i = 0; i < m->n_senses; i++) {
            const int holds = core->vector[MBDY_K][m->senses[i]] != 1.0 && core->vector[MBDY_K][m->senses[i]] != -1.0;
            if (holds != (fabs(senses[i]) != 1.0)) told &= event(core, at, m->n_indicators + i, holds ? 1.0 : -1.0);
        }
    }
    for (int i = 0; i < s->indicators; i++) {
        if (fabs(s->sides[i]) <= 1.0) continue;
        s->sides[i] *= 0.5, s->head[SLOPE] = 0.0;
        told &= event(core, at, i, s->sides[i]);
    }
    if (!told) return stride_stuck(core, at, s->head[LENGTH]);
    return mbdy_settle(core, by->acting, by->open);
}

int mbdy_stride(mbdy_core *core, const struct mbdy_course *by) {
    const struct stride s = stride_of(core);
    double *head = s.head, left = by->H, strides = 0.0;
    stride_resumed(core, &s, by);
    for (;;) {
        int status = head[AHEAD] != 0.0 ? MBDY_OK : stride_taken(core, &s, by, by->H - left, left, &strides);
        if (status != MBDY_OK) return status;
        const double rest = head[LENGTH] - head[PASSED], from = 1.0 - left / by->H;
        if (by->past && left < rest) {
            stride_passed(core, &s, left);
            return MBDY_OK;
        }
        status = stride_ended(core, &s, by, from, left > rest ? from + rest / by->H : 1.0, by->H - left + rest);
        left -= rest;
        if (status != MBDY_OK || !(left > 0.0)) return status;
    }
}
