/* Joints that follow profiles: their rates go through points of time, and what that accelerates them by is added to the
   inputs that prescribe it. Internal steps and strides end where a profile bends, so that integrators keep their order. */

#include "inside.h"

#include <math.h>
#include <string.h>

/* [s] Instants nearer than this, of one and of their size, are one. */
#define AT_ONCE 1e-12
#define PI 3.14159265358979323846

static double soon_after(double time) { return time + AT_ONCE * (1.0 + fabs(time)); }

/* Acceleration at a time, in the piece of points (time, rate) where `inside` lies; zero before the first and after the last. */
static double acceleration_of(const double *points, int count, int smooth, double time, double inside) {
    int piece = -1;
    while (piece + 1 < count && points[2 * (piece + 1)] <= inside) piece++;
    if (piece < 0 || piece == count - 1) return 0.0;
    const double *begin = points + 2 * piece, *end = begin + 2, length = end[0] - begin[0], slope = (end[1] - begin[1]) / length;
    return smooth ? slope * (PI / 2.0) * mbdy_sin(PI * (time - begin[0]) / length) : slope;
}

const double *mbdy_driven(mbdy_core *core, const double *u, double time) {
    const mbdy_model *m = core->model;
    if (!m->n_profiles) return u;
    memcpy(core->u_driven, u, sizeof(double) * (size_t)m->n_u);
    const double inside = isfinite(core->inside) ? core->inside : soon_after(time);
    for (int i = 0; i < m->n_profiles; i++)
        core->u_driven[m->profiles[i]] += acceleration_of(core->vector[MBDY_K] + m->profile_points[i], m->profile_counts[i],
                                                          m->profile_smooth[i], time, inside);
    return core->u_driven;
}

const double *mbdy_inputs_now(mbdy_core *core) { return mbdy_driven(core, core->vector[MBDY_U], core->now); }

void mbdy_set_time(mbdy_core *core, double time) {
    core->now = time;
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
    core->inside = core->now + 0.5 * (from + to) * core->span;
    return to;
}

void mbdy_leave_piece(mbdy_core *core) { core->inside = NAN; }

/* Derivatives of what a profile adds, by the time and rate of the begin and of the end of its piece; the place of these four in k,
   -1 outside of all pieces. */
static int partials_of(const mbdy_core *core, int which, double by[4]) {
    const mbdy_model *m = core->model;
    const double *points = core->vector[MBDY_K] + m->profile_points[which], inside = soon_after(core->now);
    int piece = -1;
    while (piece + 1 < m->profile_counts[which] && points[2 * (piece + 1)] <= inside) piece++;
    if (piece < 0 || piece == m->profile_counts[which] - 1) return -1;
    const double *at = points + 2 * piece, length = at[2] - at[0], slope = (at[3] - at[1]) / length;
    const double part = (core->now - at[0]) / length, smooth = m->profile_smooth[which];
    const double shape = smooth ? PI / 2.0 * mbdy_sin(PI * part) : 1.0, bend = smooth ? PI * PI / 2.0 * mbdy_cos(PI * part) : 0.0;
    by[0] = slope / length * (shape + bend * (part - 1.0)), by[2] = -slope / length * (shape + bend * part);
    by[3] = shape / length, by[1] = -by[3];
    return m->profile_points[which] + 2 * piece;
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
    const mbdy_model *m = core->model;
    const double begin = core->now + from * core->span, length = part * core->span;
    for (int i = 0; i < m->n_profiles; i++) {
        const double *points = core->vector[MBDY_K] + m->profile_points[i];
        const int count = m->profile_counts[i];
        int piece = -1;
        while (piece + 1 < count && points[2 * (piece + 1)] <= core->inside) piece++;
        if (!m->profile_smooth[i] || piece < 0 || piece == count - 1) continue;
        const double *at = points + 2 * piece, whole = at[2] - at[0], turn = PI / whole;
        change[m->profiles[i]] += length * (at[3] - at[1]) / whole * (PI / 2.0) * turn * mbdy_cos(turn * (begin - at[0]));
    }
}
