/* A core's memory, constants and start, and its communication steps. */

#include "inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int mbdy_size(const mbdy_core *core, int vector) {
    const mbdy_model *m = core->model;
    switch (vector) {
        case MBDY_S: case MBDY_X: case MBDY_GIVEN: case MBDY_S_CLOSED: return m->n_x;
        case MBDY_U: case MBDY_U_END: case MBDY_U_MID: return m->n_u;
        case MBDY_P: return m->n_p;
        case MBDY_Y: return m->n_y;
        case MBDY_LATCHED: return m->n_impulses;
        case MBDY_K: return m->n_k;
        case MBDY_WORK: return (int)mbdy_work_reals(m);
        case MBDY_STRIDE: return (int)mbdy_stride_reals(m, core->integrator);
        default: return -1;
    }
}

const mbdy_model *mbdy_model_of(const mbdy_core *core) { return core->model; }

double *mbdy_vector(mbdy_core *core, int vector) {
    return vector >= 0 && vector < MBDY_VECTORS ? core->vector[vector] : NULL;
}

int mbdy_fault(const mbdy_core *core) { return core->fault; }

static int larger(int a, int b) { return a > b ? a : b; }

/* Hands out `n` doubles of one block. */
static double *taken(double **at, size_t n) {
    double *const begin = *at;
    *at += n;
    return begin;
}

void mbdy_room(const mbdy_model *model, int *n_arg, int *n_res, int *n_w) {
    *n_arg = 6, *n_res = 4, *n_w = 1;
    for (int i = 0; i < MBDY_EQUATIONS; i++) {
        const mbdy_schedule *function = model->functions[i];
        if (!function) continue;
        *n_arg = larger(*n_arg, function->n_arg), *n_res = larger(*n_res, function->n_res), *n_w = larger(*n_w, function->work);
    }
}

mbdy_core *mbdy_new(const mbdy_model *model, int integrator, mbdy_call *derivatives) {
    if (integrator < 0 || integrator >= mbdy_n_integrators) return NULL;
    for (int i = 0; i < MBDY_EQUATIONS; i++)
        if (model->functions[i]) mbdy_unfold(model->functions[i]);
    int n_arg, n_res, n_w;
    mbdy_room(model, &n_arg, &n_res, &n_w);
    mbdy_core *core = calloc(1, sizeof *core);
    if (!core) return NULL;
    core->model = model;
    core->integrator = mbdy_integrators[integrator];
    core->method = integrator;
    core->pace.group = -1;
    core->derivatives = derivatives;
    const size_t n_x = (size_t)model->n_x, n_rows = (size_t)model->n_rows;
    const size_t work = core->integrator->reals ? core->integrator->reals(model) : 0;
    const size_t places = core->integrator->places ? core->integrator->places(model) : 0;
    const size_t events = core->integrator->strides && (model->functions[MBDY_INDICATORS] || model->n_senses || model->n_flows)
                              ? 3 * MBDY_MOST_EVENTS + 5 * (size_t)model->n_indicators : 0;
    const size_t closing = mbdy_closing_reals(model), resisted = (size_t)model->n_resisted;
    size_t reals = closing + (size_t)model->n_k + 7 * n_x + 4 * (size_t)model->n_u + 4 * n_rows + work + events + (size_t)n_w;
    reals += mbdy_sticking_reals(model) + 2 * (size_t)model->n_speeds + resisted * resisted + mbdy_kept_reals(core);
    reals += 4 * (size_t)model->n_flows;
    for (int i = 0; i < MBDY_VECTORS; i++) reals += (size_t)mbdy_size(core, i);
    double *at = calloc(reals, sizeof(double));
    core->vector[0] = at;
    core->arg = calloc((size_t)n_arg, sizeof *core->arg);
    core->res = calloc((size_t)n_res, sizeof *core->res);
    const size_t all_places = places + mbdy_closing_places(model) + 3 * (size_t)model->n_senses;
    core->work_places = calloc(1 + all_places, sizeof *core->work_places);
    if (!at || !core->arg || !core->res || !core->work_places) {
        mbdy_free(core);
        return NULL;
    }
    for (int i = 0; i < MBDY_VECTORS; i++) core->vector[i] = taken(&at, (size_t)mbdy_size(core, i));
    core->pivots = taken(&at, 2 * (size_t)model->n_speeds);
    core->k_new = taken(&at, (size_t)model->n_k);
    core->kept = taken(&at, mbdy_kept_reals(core));
    core->x_last = taken(&at, n_x);
    core->x_stage = taken(&at, n_x);
    for (int i = 0; i < 4; i++) core->slope[i] = taken(&at, n_x);
    core->u_stage = taken(&at, (size_t)model->n_u);
    core->u_driven = taken(&at, (size_t)model->n_u);
    core->inside = NAN;
    core->u_change = taken(&at, (size_t)model->n_u);
    core->u_shifted = taken(&at, (size_t)model->n_u);
    core->x_begin = taken(&at, n_x);
    core->errors = taken(&at, n_rows);
    core->rates = taken(&at, n_rows);
    core->cosines = taken(&at, n_rows);
    core->taken = taken(&at, n_rows);
    core->mobility = taken(&at, resisted * resisted);
    core->flows = taken(&at, 4 * (size_t)model->n_flows);
    core->work = taken(&at, work);
    core->events = taken(&at, events);
    core->tolerance = 1.0;
    core->closing = taken(&at, closing);
    core->closing_places = core->work_places + places;
    mbdy_sticking_room(core, taken(&at, mbdy_sticking_reals(model)), core->closing_places + mbdy_closing_places(model));
    core->w = at;
    return core;
}

void mbdy_free(mbdy_core *core) {
    if (!core) return;
    free(core->vector[0]);
    free((void *)core->arg);
    free(core->res);
    free(core->work_places);
    free(core);
}

int mbdy_not_finite(const double *values, int n) {
    for (int i = 0; i < n; i++)
        if (!isfinite(values[i])) return i;
    return -1;
}

/* Place of the first input that is not finite, of a switch that is not 0 or 1, of a negative flow, or of an orbit position of zero (or so
   short or long that its cube is no number); -1 where all are good. */
static int bad_input(const mbdy_model *m, const double *u) {
    int bad = mbdy_not_finite(u, m->n_u);
    for (int i = m->switches; bad < 0 && i < m->switches + m->n_switches; i++)
        if (u[i] != 0.0 && u[i] != 1.0) bad = i;
    for (int i = 0; bad < 0 && i < m->n_flows; i++)
        if (u[m->flows[i]] < 0.0) bad = m->flows[i];
    if (bad < 0 && m->orbit_position >= 0) {
        const double *r = u + m->orbit_position, square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
        if (!(square > 1e-200 && square < 1e200)) bad = m->orbit_position;
    }
    return bad;
}

/* [m/s, rad/s] Rates that closed loops should not have, where they are being closed. */
#define CLOSING 1e-6

/* The status, or MBDY_OK for a place that is none. */
static int faulty(mbdy_core *core, int place, int status) {
    core->fault = place;
    return place < 0 ? MBDY_OK : status;
}

/* Place and velocity (3 each) of the mass centre from the origin of an attitude root, with constants k. */
static void from_root(mbdy_core *core, const double *k, double *place, double *velocity) {
    const mbdy_model *m = core->model;
    double *s = core->x_stage, *x = core->slope[0];
    memcpy(s, core->vector[MBDY_X], sizeof(double) * (size_t)m->n_x);
    for (int i = 0; i < 3; i++) s[m->mass_centre + i] = s[m->mass_centre_velocity + i] = 0.0;
    core->arg[0] = s, core->arg[1] = k, core->res[0] = x;
    mbdy_evaluate(core, MBDY_START);
    memcpy(place, x + m->mass_centre, 3 * sizeof(double));
    memcpy(velocity, x + m->mass_centre_velocity, 3 * sizeof(double));
}

/* What is left keeps place and velocity when the constants become the new ones: the mass centre goes to where it is then. */
static void keep_place(mbdy_core *core) {
    const mbdy_model *m = core->model;
    double *x = core->vector[MBDY_X], old[2][3], new[2][3];
    if (m->mass_centre < 0 || !core->prepared) return;
    from_root(core, core->vector[MBDY_K], old[0], old[1]);
    from_root(core, core->k_new, new[0], new[1]);
    for (int i = 0; i < 3; i++) {
        x[m->mass_centre + i] += new[0][i] - old[0][i];
        x[m->mass_centre_velocity + i] += new[1][i] - old[1][i];
    }
}

int mbdy_prepare(mbdy_core *core) {
    const mbdy_model *m = core->model;
    int bad = mbdy_not_finite(core->vector[MBDY_P], m->n_p);
    if (bad >= 0) return faulty(core, bad, MBDY_BAD_PARAMETER);
    core->arg[0] = core->vector[MBDY_P];
    core->res[0] = core->k_new;
    mbdy_evaluate(core, MBDY_PREPARE);
    bad = mbdy_not_finite(core->k_new, m->n_k);
    if (bad >= 0) return faulty(core, m->n_p + bad, MBDY_BAD_PARAMETER);
    const double before = mbdy_energy(core);
    for (int i = 0; core->prepared && i < m->n_senses; i++) core->k_new[m->senses[i]] = core->vector[MBDY_K][m->senses[i]];
    keep_place(core);
    memcpy(core->vector[MBDY_K], core->k_new, sizeof(double) * (size_t)m->n_k);
    core->prepared++;
    mbdy_break_stride(core);
    mbdy_leap(core, before);
    return faulty(core, -1, MBDY_OK);
}

int mbdy_start(mbdy_core *core) {
    const mbdy_model *m = core->model;
    const size_t size = sizeof(double) * (size_t)m->n_x;
    const double *s = core->vector[MBDY_S];
    double *z = core->vector[MBDY_S_CLOSED];
    mbdy_profiles_start(core);
    memcpy(z, s, size);
    mbdy_normalise(m, z);
    int bad = mbdy_not_finite(z, m->n_x);
    if (bad >= 0) return faulty(core, bad, MBDY_BAD_START);
    if (mbdy_overfull(core, z) != MBDY_OK) return MBDY_OVERFULL;
    memset(core->taken, 0, sizeof(double) * (size_t)m->n_rows);
    mbdy_loosen(core);
    if (m->n_rows && mbdy_close(core) != MBDY_OK) return MBDY_UNCLOSED;
    core->arg[0] = z;
    core->arg[1] = core->vector[MBDY_K];
    core->res[0] = core->x_stage;
    mbdy_evaluate(core, MBDY_START);
    memset(core->vector[MBDY_LATCHED], 0, sizeof(double) * (size_t)m->n_impulses);
    bad = mbdy_not_finite(core->x_stage, m->n_x);
    if (bad >= 0) return faulty(core, bad, MBDY_BAD_START);
    memcpy(core->vector[MBDY_X], core->x_stage, size);
    mbdy_begin_work(core);
    memset(core->vector[MBDY_STRIDE], 0, sizeof(double) * (size_t)mbdy_size(core, MBDY_STRIDE));
    core->bent = 0.0;
    mbdy_note_bending(core);
    mbdy_forget(core);
    mbdy_decide(core, NULL, NULL);
    const int status = mbdy_pivots(core);
    return status == MBDY_IDLE && core->bend > 0.0 ? mbdy_refuse_bending(core) : status;
}

int mbdy_pivots(mbdy_core *core) {
    const mbdy_model *m = core->model;
    if (!m->functions[MBDY_PIVOTS]) return MBDY_OK;
    core->arg[0] = core->vector[MBDY_X];
    core->arg[1] = core->vector[MBDY_U];
    core->arg[2] = core->vector[MBDY_K];
    core->res[0] = core->pivots;
    core->res[1] = core->pivots + m->n_speeds;
    mbdy_evaluate(core, MBDY_PIVOTS);
    int idle = -1;
    for (int i = 0; idle < 0 && i < m->n_speeds; i++)
        if (core->pivots[i] <= 0.0) idle = m->n_coordinates + i;
    return faulty(core, idle, MBDY_IDLE);
}

int mbdy_check(mbdy_core *core, const double *u) {
    core->looked_at = u ? u : core->vector[MBDY_U];
    return faulty(core, bad_input(core->model, core->looked_at), MBDY_BAD_INPUT);
}

int mbdy_outputs(mbdy_core *core, const double *x, const double *u, double *y) {
    double *to = y ? y : core->vector[MBDY_Y], energy = 0.0;
    core->arg[0] = x ? x : core->vector[MBDY_X];
    core->arg[1] = u ? u : mbdy_inputs_now(core);
    core->arg[2] = core->vector[MBDY_K];
    const double *at = core->arg[0], *given = core->arg[1];
    core->res[0] = to, core->res[1] = &energy;
    mbdy_show_shares(core);
    mbdy_evaluate(core, MBDY_OUTPUTS);
    mbdy_hide_shares(core);
    core->res[1] = NULL;
    return mbdy_complete_outputs(core, at, given, to, energy, !x);
}

int mbdy_complete_outputs(mbdy_core *core, const double *x, const double *u, double *y, double energy, int latched) {
    const mbdy_model *m = core->model;
    if (m->work_error >= 0) y[m->work_error] = mbdy_work_error(core, x, u, energy);
    for (int i = 0; latched && i < m->n_impulses; i++)
        if (m->impulses[i] >= 0) y[m->impulses[i]] = core->vector[MBDY_LATCHED][i];
    return faulty(core, mbdy_not_finite(y, m->n_y), MBDY_BAD_OUTPUT);
}

void mbdy_inputs_change(mbdy_core *core, double from, double part, int order, double *change) {
    const mbdy_model *m = core->model;
    const double *u = core->vector[MBDY_U], *mid = core->vector[MBDY_U_MID], *end = core->vector[MBDY_U_END];
    const double bend = 2.0 - 4.0 * from;
    if (order == MBDY_HELD) memset(change, 0, sizeof(double) * (size_t)m->n_u);
    else if (order == MBDY_LINEAR)
        for (int i = 0; i < m->n_u; i++) change[i] = part * (end[i] - u[i]);
    else
        for (int i = 0; i < m->n_u; i++) change[i] = part * ((end[i] - u[i]) + bend * ((mid[i] - u[i]) - (end[i] - mid[i])));
    memset(change + m->switches, 0, sizeof(double) * (size_t)m->n_switches);
    mbdy_profiles_change(core, from, part, change);
}

void mbdy_put_state(mbdy_core *core, const double *x) {
    const double before = mbdy_energy(core);
    memcpy(core->vector[MBDY_X], x, sizeof(double) * (size_t)core->model->n_x);
    mbdy_leap(core, before);
}

int mbdy_latch(mbdy_core *core) {
    const double *u = core->vector[MBDY_U];
    const struct mbdy_gaps gaps = mbdy_gaps(core, u, INFINITY);
    if (gaps.rate > CLOSING) mbdy_note_lines(core, core->errors);
    return mbdy_stop_held(core, u, gaps);
}

int mbdy_opposed(mbdy_core *core) {
    return faulty(core, mbdy_gaps(core, core->vector[MBDY_U], INFINITY).opposed, MBDY_OPPOSED);
}

int mbdy_begin(mbdy_core *core, double H, double h, int order, struct mbdy_course *course) {
    const mbdy_model *m = core->model;
    double *u = core->vector[MBDY_U];
    if (!(H > 0.0) || !(h > 0.0) || !(H / h < 1e9) || order < MBDY_HELD || order > MBDY_QUADRATIC) return MBDY_BAD_STEP;
    if (mbdy_check(core, u) != MBDY_OK) return MBDY_BAD_INPUT;
    if (order != MBDY_HELD && mbdy_check(core, core->vector[MBDY_U_END]) != MBDY_OK) return MBDY_BAD_INPUT;
    if (order == MBDY_QUADRATIC) {
        core->looked_at = core->vector[MBDY_U_MID];
        const int place = mbdy_not_finite(core->looked_at, m->n_u);
        if (place >= 0) return faulty(core, place, MBDY_BAD_INPUT);
    }
    core->span = H;
    mbdy_take_inputs(core);
    mbdy_keep(core, core->kept);
    course->order = order;
    course->acting = order == MBDY_HELD ? u : core->vector[MBDY_U_END];
    const struct mbdy_gaps before = mbdy_gaps(core, course->acting, INFINITY);
    if (before.opposed >= 0) return faulty(core, before.opposed, MBDY_OPPOSED);
    if (before.rate > CLOSING) mbdy_note_lines(core, core->errors);
    mbdy_stop_held(core, course->acting, before);
    if (m->n_senses) mbdy_turn(core, mbdy_inputs_at(core, 0.0, order));
    course->open = before.widest;
    const int equal = !core->integrator->strides;
    course->H = H, course->past = 0;
    course->n = equal ? fmax(1.0, ceil(H / h - 1e-9)) : 1.0, course->h = equal ? H / course->n : h;
    mbdy_yield(core, course->acting, equal ? course->h : 0.0);
    course->stores_vary = mbdy_stores_vary(core, order);
    course->rationed = mbdy_flows_end(core, course->n, course->h, order);
    return MBDY_OK;
}

int mbdy_go(mbdy_core *core, const struct mbdy_course *by) {
    const mbdy_model *m = core->model;
    double *x = core->vector[MBDY_X];
    if (core->integrator->strides) return mbdy_stride(core, by);
    for (double i = 0.0; i < by->n; i += 1.0) {
        const double begin = i / by->n, end = (i + 1.0) / by->n;
        for (double from = begin, to; from < end; from = to) {
            to = mbdy_enter_piece(core, from, end);
            const double h = from == begin && to == end ? by->h : (to - from) * by->H;
            if (by->rationed) mbdy_ration(core, from, to, h, by->order);
            if (m->n_senses) {
                const int slipped = mbdy_slip(core, by, from, to, h);
                if (by->rationed) mbdy_end_ration(core);
                if (!slipped) return MBDY_CHATTERS;
                continue;
            }
            if (by->stores_vary) memcpy(core->x_begin, x, sizeof(double) * (size_t)m->n_x);
            mbdy_add_work(core, core->integrator->step(core, from, to, h, by->order));
            if (by->rationed) mbdy_end_ration(core);
            mbdy_normalise(m, x);
            if (by->stores_vary) mbdy_shift(core, mbdy_store_work(core, from, to, h, by->order));
        }
    }
    mbdy_leave_piece(core);
    return MBDY_OK;
}

int mbdy_end(mbdy_core *core, const struct mbdy_course *by) {
    const mbdy_model *m = core->model;
    const size_t n_u = sizeof(double) * (size_t)m->n_u;
    double *u = core->vector[MBDY_U];
    mbdy_yield(core, by->acting, 0.0);
    int status = mbdy_settle(core, by->acting, by->open);
    const int bad = mbdy_not_finite(core->vector[MBDY_X], m->n_x);
    if (bad >= 0) status = faulty(core, bad, MBDY_FAILED);
    if (status != MBDY_OK) {
        mbdy_go_back(core);
        if (bad >= 0) {
            core->fault = mbdy_blame(core, by->acting, by->n, by->H / by->n, by->order);
            mbdy_go_back(core);
        }
        return status;
    }
    if (by->order != MBDY_HELD) memcpy(u, core->vector[MBDY_U_END], n_u), mbdy_record_inputs(core);
    if (by->order == MBDY_QUADRATIC) memcpy(core->vector[MBDY_U_MID], u, n_u);
    if (core->integrator->strides) mbdy_stand(core);
    mbdy_note_bending(core);
    mbdy_pass(&core->now, &core->now_lost, by->H);
    return MBDY_OK;
}

void mbdy_pass(double *time, double *lost, double H) {
    const double carried = H - *lost, later = *time + carried;
    *lost = (later - *time) - carried;
    *time = later;
}

static int advance(mbdy_core *core, double H, double h, int order, int past) {
    struct mbdy_course course;
    const int events = core->n_events;
    int status = mbdy_begin(core, H, h, order, &course);
    if (status != MBDY_OK) return status;
    course.past = past;
    status = mbdy_go(core, &course);
    if (status != MBDY_OK) mbdy_go_back(core);
    else status = mbdy_end(core, &course);
    if (status != MBDY_OK) core->n_events = events;
    return status;
}

int mbdy_advance(mbdy_core *core, double H, double h, int order) {
    core->n_events = 0, core->since = 0.0;
    return advance(core, H, h, order, 0);
}

static const int changed_by_steps[] = {MBDY_X, MBDY_U, MBDY_U_MID, MBDY_LATCHED, MBDY_WORK, MBDY_STRIDE};
enum { CHANGED = sizeof changed_by_steps / sizeof changed_by_steps[0] };

size_t mbdy_kept_reals(const mbdy_core *core) {
    size_t sum = 0;
    for (int i = 0; i < CHANGED; i++) sum += (size_t)mbdy_size(core, changed_by_steps[i]);
    return sum + 2 * (size_t)core->model->n_senses;
}

void mbdy_keep(const mbdy_core *core, double *kept) {
    for (int i = 0; i < CHANGED; i++) {
        const size_t size = (size_t)mbdy_size(core, changed_by_steps[i]);
        memcpy(kept, core->vector[changed_by_steps[i]], sizeof(double) * size);
        kept += size;
    }
    for (int i = 0; i < core->model->n_senses; i++)
        kept[2 * i] = core->vector[MBDY_K][core->model->senses[i]], kept[2 * i + 1] = core->sticking.share[i];
}

void mbdy_put_back(mbdy_core *core, const double *kept) {
    for (int i = 0; i < CHANGED; i++) {
        const size_t size = (size_t)mbdy_size(core, changed_by_steps[i]);
        memcpy(core->vector[changed_by_steps[i]], kept, sizeof(double) * size);
        kept += size;
    }
    for (int i = 0; i < core->model->n_senses; i++)
        core->vector[MBDY_K][core->model->senses[i]] = kept[2 * i], core->sticking.share[i] = kept[2 * i + 1];
}

void mbdy_go_back(mbdy_core *core) { mbdy_put_back(core, core->kept); }

void mbdy_enter_row(mbdy_core *core, const double *next) {
    const mbdy_model *m = core->model;
    double *end = core->vector[MBDY_U_END];
    memcpy(end, next, sizeof(double) * (size_t)m->n_u);
    memcpy(end + m->switches, core->vector[MBDY_U] + m->switches, sizeof(double) * (size_t)m->n_switches);
}

/* Of one call, after which whoever calls may tell how far it came, or hear that it is to end. */
#define STRIDES_AT_ONCE 20000.0

int mbdy_run(mbdy_core *core, int rows, double H, double h, int order, const double *inputs, const int *pick, int picked,
             double *out, int *done) {
    const size_t n_u = sizeof(double) * (size_t)core->model->n_u;
    double *u = core->vector[MBDY_U];
    const double *y = core->vector[MBDY_Y];
    double strides[3];
    mbdy_strides_of(core, strides);
    const double enough = strides[0] + strides[1] + STRIDES_AT_ONCE;
    *done = 0;
    if (order > MBDY_LINEAR) return MBDY_BAD_STEP;
    if (inputs) memcpy(u, inputs, n_u);
    core->n_events = 0;
    for (*done = 0; *done < rows; ++*done) {
        core->since = *done * H;
        if (inputs) mbdy_enter_row(core, inputs += core->model->n_u);
        int status = advance(core, H, h, order, !inputs && core->integrator->strides);
        if (status != MBDY_OK) return status;
        if (inputs) memcpy(u, inputs, n_u), mbdy_decide(core, NULL, NULL);
        status = mbdy_outputs(core, NULL, NULL, NULL);
        if (status != MBDY_OK) {
            mbdy_go_back(core);
            return status;
        }
        for (int i = 0; i < picked; i++) *out++ = y[pick[i]];
        mbdy_strides_of(core, strides);
        if (strides[0] + strides[1] > enough || 2 * core->n_events > MBDY_MOST_EVENTS) {
            ++*done;
            break;
        }
    }
    if (inputs) memcpy(core->vector[MBDY_U_END], u, n_u);
    return MBDY_OK;
}
