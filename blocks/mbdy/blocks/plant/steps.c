/* Time: co-simulation's steps, events, model exchange. */

#include <float.h>
#include <math.h>
#include <string.h>

#include "plant.h"

/* How far a caller's time may be off, of the time and of the step: sums of a million steps are this exact. */
#define TIME_TOLERANCE 1e-9
/* Rounding in the difference of two of the caller's times; a step this near to whole internal steps is made of them. */
#define ULPS 4.0
/* How far the square of a quaternion's length may go from one in an integrator's steps: what an integrator with the
   tolerance asked for gathers in a thousand of its steps, and no more than without a tolerance. */
#define DRIFT 1e-6
#define STEPS_OF_DRIFT 1000.0

static size_t reals(int n) { return sizeof(double) * (size_t)n; }

/* Co-simulation */

static int check_time(plant *it, double time, double step) {
    if (!(step > 0.0 && isfinite(step))) return plant_explain(it, MBDY_BAD_STEP, step);
    if (!isfinite(time)) return plant_say(it, PLANT_DISCARD, "the time is %g s: it must be finite", time);
    const double slack = TIME_TOLERANCE * (fmax(1.0, fabs(time)) + step);
    if (it->now.timed != 0.0 && fabs(time - it->now.time) > slack)
        return plant_say(it, PLANT_DISCARD, "the time %.15g s goes %s from %.15g s: step from there, or set a saved FMU state, or reset",
                         time, time < it->now.time ? "backwards" : "ahead", it->now.time);
    if (time + step > it->now.stop + slack)
        return plant_say(it, PLANT_DISCARD, "the step of %.15g s from %.15g s goes past the stop time %.15g s of the experiment",
                         step, time, it->now.stop);
    return PLANT_OK;
}

/* The step's length without the rounding of the caller's clock, where it is of whole internal steps. */
static double whole_step(const plant *it, double time, double step) {
    const double whole = round(step / it->own->step) * it->own->step, later = fabs(time) + step;
    return whole > 0.0 && fabs(whole - step) <= ULPS * (nextafter(later, INFINITY) - later) ? whole : step;
}

/* The inputs of the step's end (and middle) from their derivatives at its begin; the core's order. */
static int input_course(plant *it, double step) {
    const double *u = it->vector[MBDY_U];
    const int order = (int)it->now.order;
    if (order == 0) return MBDY_HELD;
    for (int i = 0; i < it->model->n_u; i++) {
        it->vector[MBDY_U_END][i] = u[i] + step * (it->slope[i] + 0.5 * step * it->bend[i]);
        it->vector[MBDY_U_MID][i] = u[i] + 0.5 * step * (it->slope[i] + 0.25 * step * it->bend[i]);
    }
    return order == 1 ? MBDY_LINEAR : MBDY_QUADRATIC;
}

static void forget_course(plant *it) {
    if (it->now.order == 0.0) return;
    it->now.order = 0.0;
    memset(it->slope, 0, reals(2 * it->model->n_u));
}

/* A step in several calls of the core, with the caller let in between; all or nothing. */
static int step_with_stops(plant *it, double time, double step, double length, plant_between *between, void *context,
                           double *last) {
    double *latched = it->vector[MBDY_LATCHED], *impulses = it->impulses;
    const double n = fmax(1.0, ceil(length / it->own->step - 1e-9)), each = length / n;
    if (!(n < 1e9)) return plant_explain(it, MBDY_BAD_STEP, step);
    mbdy_keep(it->core, it->kept);
    memset(impulses, 0, reals(it->model->n_impulses));
    for (double i = 1.0; i <= n; i += 1.0) {
        const int status = mbdy_advance(it->core, each, each, MBDY_HELD);
        if (status != MBDY_OK) {
            plant_explain(it, status, step);
            mbdy_put_back(it->core, it->kept);
            it->now.time = time;
            it->now.stale_outputs = 1.0;
            return PLANT_DISCARD;
        }
        plant_explain(it, status, step);
        for (int j = 0; j < it->model->n_impulses; j++) impulses[j] += latched[j];
        it->now.time = i < n ? time + i * each : time + step;
        it->now.stale_outputs = 1.0;
        it->now.phase = PLANT_STEPPING;
        const int enough = between(context, it->now.time, i == n);
        it->now.phase = PLANT_STEP;
        if (enough) break;
    }
    memcpy(latched, impulses, reals(it->model->n_impulses));
    *last = it->now.time;
    return PLANT_OK;
}

static void note_stops(plant *it, const char *stopped, double time) {
    plant_note(it, "locked joints or closed loops stopped at %.15g s: %s", time, stopped);
}

int plant_step(plant *it, double time, double step, plant_between *between, void *context, double *last) {
    *last = it->now.time;
    int status = check_time(it, time, step);
    if (status == PLANT_OK) status = plant_settle_constants(it);
    if (status != PLANT_OK) return status;
    const double length = whole_step(it, time, step);
    char stopping[MBDY_TEXT];
    const int stops = plant_stops(it, stopping);
    if (between) {
        status = step_with_stops(it, time, step, length, between, context, last);
    } else {
        const int order = input_course(it, length);
        status = plant_explain(it, mbdy_advance(it->core, length, it->own->step, order), step);
        if (status == PLANT_OK) *last = it->now.time = time + step, it->now.timed = 1.0;
    }
    if (status != PLANT_OK) return status;
    if (stops) note_stops(it, stopping, time);
    forget_course(it);
    it->now.stale_outputs = 1.0;
    return PLANT_OK;
}

/* Of whoever does not keep the time. */
void plant_pass(plant *it, double H) {
    mbdy_pass(&it->now.time, &it->now.lost, H);
    it->now.phase = PLANT_STEP;
    it->now.started = 1.0;
    it->now.stale_outputs = 1.0;
}

int plant_advance(plant *it, double H, int order) {
    int status = plant_settle_constants(it);
    if (status != PLANT_OK) return status;
    int done = mbdy_advance(it->core, H, it->own->step, order);
    if (done == MBDY_OK && (done = mbdy_outputs(it->core, NULL, NULL, NULL)) != MBDY_OK) mbdy_go_back(it->core);
    if (done == MBDY_OK) plant_pass(it, H);
    return plant_explain(it, done, H);
}

int plant_run(plant *it, int rows, double H, int order, const double *inputs, const int *pick, int picked, double *out, int *done) {
    *done = 0;
    int status = plant_settle_constants(it);
    if (status != PLANT_OK) return status;
    const int ran = mbdy_run(it->core, rows, H, it->own->step, order, inputs, pick, picked, out, done);
    for (int i = 0; i < *done; i++) plant_pass(it, H);
    return plant_explain(it, ran, H);
}

void plant_jump(plant *it) {
    memcpy(it->vector[MBDY_U], it->vector[MBDY_U_END], reals(it->model->n_u));
    memcpy(it->vector[MBDY_U_MID], it->vector[MBDY_U_END], reals(it->model->n_u));
    it->now.stale_outputs = 1.0;
}

/* Refuse states that are not finite, by name. */
static int finite_states(plant *it, const double *x, size_t n, const char *done) {
    for (size_t i = 0; x && i < n; i++)
        if (!isfinite(x[i]))
            return plant_say(it, PLANT_DISCARD, "state '%s' is set to %g: it must be finite, %s", plant_state_name(it, (int)i),
                             x[i], done);
    return PLANT_OK;
}

/* Constants up to date, and states and inputs of a caller that can be used. */
static int usable_at(plant *it, const double *x, const double *u) {
    int status = finite_states(it, x, (size_t)it->model->n_x, "nothing was evaluated");
    if (status == PLANT_OK) status = plant_settle_constants(it);
    return status == PLANT_OK ? plant_explain(it, mbdy_check(it->core, u), 0.0) : status;
}

int plant_derivatives_at(plant *it, double time, const double *x, const double *u, double *dx) {
    int status = usable_at(it, x, u);
    if (status != PLANT_OK) return status;
    u = mbdy_driven(it->core, u, time);
    mbdy_decide_there(it->core, x, u);
    mbdy_derivatives(it->core, x, u, dx);
    mbdy_decide_back(it->core);
    return status;
}

int plant_outputs_at(plant *it, double time, const double *x, const double *u, double *y) {
    int status = usable_at(it, x, u);
    if (status != PLANT_OK) return status;
    u = mbdy_driven(it->core, u, time);
    mbdy_decide_there(it->core, x, u);
    status = plant_explain(it, mbdy_outputs(it->core, x, u, y), 0.0);
    mbdy_decide_back(it->core);
    return status;
}

/* Events and model exchange */

static double most_drift(const plant *it) {
    const double *x = it->vector[MBDY_X];
    double most = 0.0;
    for (int i = 0; i < it->model->n_quaternions; i++) {
        const double *q = x + it->model->quaternions[i];
        most = fmax(most, fabs(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1.0));
    }
    return most;
}

static int drifted(const plant *it) {
    const double tolerance = STEPS_OF_DRIFT * it->now.tolerance;
    return most_drift(it) > (tolerance > 0.0 && tolerance < DRIFT ? tolerance : DRIFT);
}

/* Whether the importer went by an event of friction: not all look at indicators with the inputs of the instant. */
static int passed(plant *it) {
    mbdy_margins(it->core, NULL, NULL, it->margins);
    for (int i = 0; i < it->model->n_senses; i++)
        if (it->margins[i] < 0.0) return 1;
    return 0;
}

int plant_update(plant *it, int *changed) {
    *changed = 0;
    int status = plant_settle(it);
    if (status == PLANT_OK) status = plant_explain(it, mbdy_opposed(it->core), 0.0);
    if (status != PLANT_OK) return status;
    double *x = it->vector[MBDY_X];
    char stopping[MBDY_TEXT];
    const int stops = plant_stops(it, stopping);
    mbdy_keep(it->core, it->kept);
    mbdy_take_inputs(it->core);
    const int latched = mbdy_latch(it->core) | mbdy_event(it->core), scaled = most_drift(it) > 16.0 * DBL_EPSILON;
    plant_explain(it, MBDY_OK, 0.0);
    if (scaled) mbdy_normalise(it->model, x);
    for (int i = 0; i < it->model->n_x; i++)
        if (!isfinite(x[i])) {
            mbdy_put_back(it->core, it->kept);
            return plant_say(it, PLANT_DISCARD, "no finite state follows from the event, the states are as they were: look at "
                             "states, of which a quaternion must not be zero, and parameters");
        }
    mbdy_follow_inputs(it->core, it->now.time);
    if (stops) note_stops(it, stopping, it->now.time);
    *changed = latched || scaled || it->now.renewed != 0.0;
    it->now.renewed = 0.0;
    it->now.stale_outputs = 1.0; /* impulses may have gone too */
    return PLANT_OK;
}

double plant_next_event(const plant *it) { return mbdy_next_bend(it->core, it->now.time); }

int plant_completed(plant *it) {
    mbdy_follow_inputs(it->core, it->now.time);
    mbdy_note_bending(it->core);
    plant_explain(it, MBDY_OK, 0.0);
    return drifted(it) || passed(it);
}

int plant_set_time(plant *it, double time) {
    if (!isfinite(time)) return plant_say(it, PLANT_ERROR, "the time is %g s: it must be finite", time);
    it->now.time = time;
    return PLANT_OK;
}

static int whole_vector(plant *it, const double *values, size_t n) {
    if (n != (size_t)it->states) return plant_say(it, PLANT_ERROR, "there are %d continuous states, not %zu", it->states, n);
    return values || !n ? PLANT_OK : plant_say(it, PLANT_ERROR, "the place for the states is NULL");
}

int plant_set_states(plant *it, const double x[], size_t n) {
    int status = whole_vector(it, x, n);
    if (status == PLANT_OK) status = finite_states(it, x, n, "no state was changed");
    if (status != PLANT_OK) return status;
    if (it->states > it->model->n_x) {
        memcpy(it->vector[MBDY_X], x, reals(it->model->n_x));
        *mbdy_work_done(it->core) = x[n - 1];
    } else {
        mbdy_put_state(it->core, x);
    }
    it->now.stale_outputs = 1.0;
    return PLANT_OK;
}

int plant_get_states(plant *it, double x[], size_t n) {
    int status = whole_vector(it, x, n);
    if (status == PLANT_OK) status = plant_settle_constants(it);
    if (status != PLANT_OK) return status;
    memcpy(x, it->vector[MBDY_X], reals(it->model->n_x));
    if (it->states > it->model->n_x) x[n - 1] = *mbdy_work_done(it->core);
    return PLANT_OK;
}

int plant_get_rates(plant *it, double dx[], size_t n) {
    int status = whole_vector(it, dx, n);
    if (status == PLANT_OK) status = plant_settle(it);
    if (status != PLANT_OK) return status;
    if (it->states > it->model->n_x) mbdy_meet_inputs(it->core);
    mbdy_derivatives(it->core, NULL, NULL, dx);
    if (it->states > it->model->n_x) dx[n - 1] = mbdy_power(it->core);
    for (size_t i = 0; i < n; i++)
        if (!isfinite(dx[i]))
            return plant_say(it, PLANT_DISCARD, "no finite derivative follows for state %zu of %d: look at states, inputs and "
                             "parameters", i + 1, it->states);
    return PLANT_OK;
}

int plant_get_indicators(plant *it, double margins[], size_t n) {
    const size_t known = (size_t)it->model->n_senses;
    if (n != known) return plant_say(it, PLANT_ERROR, "there are %zu event indicators, %zu were asked for", known, n);
    if (n && !margins) return plant_say(it, PLANT_ERROR, "the place for the event indicators is NULL");
    const int status = plant_settle(it);
    if (status == PLANT_OK) mbdy_margins(it->core, NULL, NULL, margins);
    return status;
}

int plant_get_nominals(plant *it, double nominals[], size_t n) {
    int status = whole_vector(it, nominals, n);
    if (status != PLANT_OK) return status;
    for (int ref = 0; ref < it->own->n_variables; ref++) {
        const struct plant_variable *v = &it->own->variables[ref];
        if (v->state >= 0) nominals[v->state] = v->nominal;
    }
    return PLANT_OK;
}
