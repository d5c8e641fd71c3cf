/* Joints that follow profiles: their rates go through points of time, and what that accelerates them by is added to the
   inputs that prescribe it. Internal steps and strides end where a profile bends, so that integrators keep their order. */

#include "inside.h"

#include <math.h>
#include <string.h>

/* [s] Instants nearer than this, of one and of their size, are one. */
#define AT_ONCE 1e-12
/* [s] Within steps shorter than this, of one and of their time, rounding leaves little of where instants lie. */
#define BLURRED 1e-7
#define PI 3.14159265358979323846

static double soon_after(double time) { return time + AT_ONCE * (1.0 + fabs(time)); }

static int at_once(double time, double other) { return fabs(time - other) <= AT_ONCE * (1.0 + fabs(other)); }

/* The point (time, rate) that begins the piece of a profile where an instant lies; NULL before the first and after the last. */
static const double *piece_of(const mbdy_core *core, int which, double instant) {
    const double *points = core->vector[MBDY_K] + core->model->profile_points[which];
    const int last = core->model->profile_counts[which] - 1;
    int piece = -1;
    while (piece < last && points[2 * (piece + 1)] <= instant) piece++;
    return piece < 0 || piece == last ? NULL : points + 2 * piece;
}

/* The spherical Bessel function of order l at 0 <= w <= pi/2, by its series. */
static double bessel(int l, double w) {
    double term = 1.0, sum = 1.0, before = 1.0;
    for (int i = 1; i <= l; i++) before *= w / (2 * i + 1);
    for (int i = 1; i <= 10; i++) term *= -0.5 * w * w / (i * (2 * (l + i) + 1)), sum += term;
    return before * sum;
}

/* Acceleration at a time in the piece where `inside` lies, and by how much it changes in a second.

   Whole internal steps see half a sine as the parabola with the same moments over the step, up to the second, which all methods
   of order 4 integrate exactly: rate and coordinate end where the profile says, however few steps there are. With s = -1 ... 1 in
   the step, by the expansion of plane waves (M. Abramowitz, I. Stegun, Handbook of Mathematical Functions (1964), 10.1.47),

       sin(m + w s) = sin(m) (j0(w) - 5 j2(w) P2(s)) + cos(m) 3 j1(w) P1(s) + ...

   Methods that take the slope of a step's begin for all of it see the mean, and so do very short steps. Steps that begin or end at once with the piece, but
   for rounding, see what makes up for that: the rate of a short ramp is whole. */
static double acceleration_of(const mbdy_core *core, int which, double time, double inside, double *change) {
    const double *at = piece_of(core, which, inside);
    *change = 0.0;
    if (!at) return 0.0;
    const double slope = (at[3] - at[1]) / (at[2] - at[0]), most = slope * (PI / 2.0), turn = PI / (at[2] - at[0]);
    const double from = core->inside - 0.5 * core->across, to = core->inside + 0.5 * core->across;
    const double begin = at_once(from, at[0]) ? at[0] : from, end = at_once(to, at[2]) ? at[2] : to;
    const double all = core->across > 0.0 ? (end - begin) / core->across : 1.0;
    if (!core->model->profile_smooth[which]) return slope * all;
    if (!(core->across > 0.0)) {
        *change = most * turn * mbdy_cos(turn * (time - at[0]));
        return most * mbdy_sin(turn * (time - at[0]));
    }
    const double middle = turn * (0.5 * (begin + end) - at[0]), even = all * most * mbdy_sin(middle), odd = all * most * mbdy_cos(middle);
    const double w = 0.5 * turn * (end - begin), s = 2.0 * (time - core->inside) / core->across;
    if (core->integrator->even || core->across < BLURRED * (1.0 + fabs(core->inside))) return even * bessel(0, w);
    const double bend = -5.0 * even * bessel(2, w), tilt = 3.0 * odd * bessel(1, w);
    *change = (tilt + 3.0 * bend * s) * 2.0 / core->across;
    return even * bessel(0, w) + tilt * s + bend * (1.5 * s * s - 0.5);
}

const double *mbdy_driven(mbdy_core *core, const double *u, double time) {
    const mbdy_model *m = core->model;
    if (!m->n_profiles) return u;
    memcpy(core->u_driven, u, sizeof(double) * (size_t)m->n_u);
    const double inside = isfinite(core->inside) ? core->inside : soon_after(time);
    double change;
    for (int i = 0; i < m->n_profiles; i++) core->u_driven[m->profiles[i]] += acceleration_of(core, i, time, inside, &change);
    return core->u_driven;
}

const double *mbdy_inputs_now(mbdy_core *core) { return mbdy_driven(core, core->vector[MBDY_U], core->now); }

static double rate_of(const mbdy_core *core, int which, double time) {
    const double *points = core->vector[MBDY_K] + core->model->profile_points[which], *at = piece_of(core, which, time);
    if (!at) return time < points[0] ? points[1] : points[2 * core->model->profile_counts[which] - 1];
    const double part = (time - at[0]) / (at[2] - at[0]);
    return at[1] + (core->model->profile_smooth[which] ? 0.5 * (1.0 - mbdy_cos(PI * part)) : part) * (at[3] - at[1]);
}

void mbdy_profiles_start(const mbdy_core *core) {
    for (int i = 0; i < core->model->n_profiles; i++) {
        const int place = core->model->profile_rates[i];
        core->vector[MBDY_S][place] = rate_of(core, i, core->now);
        if (core->vector[MBDY_S][place] != 0.0) core->vector[MBDY_GIVEN][place] = 1.0;
    }
}

int mbdy_follows(const mbdy_model *m, int place) {
    for (int i = 0; i < m->n_profiles; i++)
        if (m->profile_rates[i] == place) return 1;
    return 0;
}

void mbdy_set_time(mbdy_core *core, double time, double lost) {
    core->now = time, core->now_lost = lost;
    mbdy_leave_piece(core);
}

double mbdy_next_bend(const mbdy_core *core, double time) {
    const mbdy_model *m = core->model;
    const double after = soon_after(time);
    double next = INFINITY;
    for (int i = 0; i < m->n_profiles; i++)
        for (int j = 0; j < m->profile_counts[i]; j++) {
            const double at = core->vector[MBDY_K][m->profile_points[i] + 2 * j];
            if (at > after && at < next) next = at;
        }
    return next;
}

double mbdy_enter_piece(mbdy_core *core, double from, double to) {
    if (!core->model->n_profiles) return to;
    const double begin = core->now + from * core->span, end = core->now + to * core->span, bend = mbdy_next_bend(core, begin);
    if (soon_after(bend) < end) to = (bend - core->now) / core->span;
    core->inside = core->now + 0.5 * (from + to) * core->span, core->across = (to - from) * core->span;
    return to;
}

void mbdy_leave_piece(mbdy_core *core) { core->inside = NAN, core->across = 0.0; }

/* Derivatives of what a profile adds, by the time and rate of the begin and of the end of its piece; the place of these four in k,
   -1 outside of all pieces. */
static int partials_of(const mbdy_core *core, int which, double by[4]) {
    const double *at = piece_of(core, which, soon_after(core->now));
    if (!at) return -1;
    const double length = at[2] - at[0], slope = (at[3] - at[1]) / length;
    const double part = (core->now - at[0]) / length, smooth = core->model->profile_smooth[which];
    const double shape = smooth ? PI / 2.0 * mbdy_sin(PI * part) : 1.0, bend = smooth ? PI * PI / 2.0 * mbdy_cos(PI * part) : 0.0;
    by[0] = slope / length * (shape + bend * (part - 1.0)), by[2] = -slope / length * (shape + bend * part);
    by[3] = shape / length, by[1] = -by[3];
    return (int)(at - core->vector[MBDY_K]);
}

void mbdy_profiles_forward(const mbdy_core *core, const double *k, double *u) {
    double by[4];
    for (int i = 0; i < core->model->n_profiles; i++) {
        const int at = partials_of(core, i, by);
        for (int j = 0; at >= 0 && j < 4; j++) u[core->model->profiles[i]] += by[j] * k[at + j];
    }
}

void mbdy_profiles_reverse(const mbdy_core *core, const double *u, double *k) {
    double by[4];
    for (int i = 0; i < core->model->n_profiles; i++) {
        const int at = partials_of(core, i, by);
        for (int j = 0; at >= 0 && j < 4; j++) k[at + j] += by[j] * u[core->model->profiles[i]];
    }
}

void mbdy_profiles_change(const mbdy_core *core, double from, double part, double *change) {
    double by;
    for (int i = 0; i < core->model->n_profiles; i++) {
        acceleration_of(core, i, core->now + from * core->span, core->inside, &by);
        change[core->model->profiles[i]] += part * core->span * by;
    }
}
