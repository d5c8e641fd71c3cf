/* Life of an instance, what it says, and how constants, state and outputs follow what was set. */

#include "plant.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    unsigned bit;
} categories[] = {
    {"logStatusError", PLANT_LOG_ERROR}, {"logStatusDiscard", PLANT_LOG_DISCARD}, {"logStatusWarning", PLANT_LOG_WARNING},
    {"logEvents", PLANT_LOG_EVENTS},     {"logAll", PLANT_LOG_ALL},
};
enum { CATEGORIES = sizeof categories / sizeof categories[0] };

/* What is said unless the caller chooses: all that goes with a status. */
static const unsigned statuses = PLANT_LOG_ERROR | PLANT_LOG_DISCARD | PLANT_LOG_WARNING;

static size_t bytes(int n) { return sizeof(double) * (size_t)n; }

/* By the nominal values of modal displacements, which are by bodies. */
static void watch_bending(plant *it) {
    const mbdy_model *m = it->model;
    const int first = m->n_coordinates + m->n_speeds;
    for (int ref = 0; ref < it->own->n_variables; ref++) {
        const struct plant_variable *v = &it->own->variables[ref];
        const int mode = v->state - first;
        if (v->state < first || mode >= m->n_modes) continue;
        it->amplitudes[mode] = v->nominal;
    }
    for (int i = 0, begin = 0; i < m->n_modes; i++) {
        const char *name = it->own->names.states[first + i], *last = it->own->names.states[first + begin];
        if (strncmp(name, last, strcspn(name, ".") + 1) != 0) begin = i;
        it->bodies[i] = begin;
    }
    if (m->n_modes) mbdy_watch_bending(it->core, it->amplitudes, it->bodies);
}

plant *plant_new(const mbdy_model *model, const plant_model *own, mbdy_call *derivatives, unsigned manner,
                 plant_logger *logger, void *owner) {
    plant *it = calloc(1, sizeof *it);
    if (!it) return NULL;
    it->own = own;
    it->model = model;
    it->logger = logger;
    it->owner = owner;
    it->categories = statuses;
    it->manner = manner;
    it->now.exchange = (manner & PLANT_EXCHANGE) != 0;
    it->core = mbdy_new(model, own->integrator, derivatives);
    const int partials = model->functions[MBDY_OUTPUTS_CHANGES] != NULL;
    if (partials) it->partial = partial_new(model);
    it->states = model->n_x;
    for (int ref = 0; ref < own->n_variables; ref++)
        if (own->variables[ref].state >= it->states) it->states = own->variables[ref].state + 1;
    const int n = model->n_y + 3 * model->n_u + 2 * it->states + model->n_impulses + 6 * model->n_inertias + 1;
    it->first = calloc((size_t)(n + model->n_modes + model->n_senses) + (it->core ? mbdy_kept_reals(it->core) : 0), sizeof(double));
    it->bodies = calloc((size_t)model->n_modes + 1, sizeof *it->bodies);
    if (!it->core || (partials && !it->partial) || !it->first || !it->bodies) {
        plant_free(it);
        return NULL;
    }
    if (it->partial) it->partial->work = it->states > model->n_x;
    it->slope = it->first + model->n_y;
    it->bend = it->slope + model->n_u;
    it->numbers = it->bend + model->n_u;
    it->rates = it->numbers + model->n_u;
    it->nominals = it->rates + it->states;
    it->weighed = it->nominals + it->states;
    it->impulses = it->weighed + 6 * model->n_inertias;
    it->amplitudes = it->impulses + model->n_impulses;
    it->margins = it->amplitudes + model->n_modes;
    it->kept = it->margins + model->n_senses;
    for (int i = 0; i < MBDY_VECTORS; i++) it->vector[i] = mbdy_vector(it->core, i);
    watch_bending(it);
    plant_reset(it);
    return it;
}

void plant_tolerate(plant *it, double tolerance) {
    plant_get_nominals(it, it->nominals, (size_t)it->states);
    mbdy_tolerate(it->core, tolerance, it->nominals);
}

const double *plant_events(const plant *it, int *count) { return mbdy_events(it->core, count); }

void plant_strides(const plant *it, double counts[]) { mbdy_strides_of(it->core, counts); }

void plant_free(plant *it) {
    if (!it) return;
    mbdy_free(it->core);
    partial_free(it->partial);
    free(it->first);
    free(it->bodies);
    free(it);
}

/* Time zero, with the model's start values and inputs. */
static void begin_again(plant *it) {
    const double exchange = it->now.exchange;
    memset(&it->now, 0, sizeof it->now);
    it->now.exchange = exchange;
    it->now.phase = PLANT_INSTANTIATED;
    it->now.stop = INFINITY;
    it->now.stale_constants = it->now.stale_start = it->now.stale_outputs = 1.0;
    memset(it->first, 0, bytes(it->model->n_y + 2 * it->model->n_u));
    for (int ref = 0; ref < it->own->n_variables; ref++) {
        const struct plant_variable *v = &it->own->variables[ref];
        if (v->start_at >= 0) it->vector[MBDY_S][v->start_at] = v->start, it->vector[MBDY_GIVEN][v->start_at] = v->given;
        if (v->vector != PLANT_INPUT) continue;
        it->vector[MBDY_U][v->place] = it->vector[MBDY_U_MID][v->place] = it->vector[MBDY_U_END][v->place] = v->start;
    }
}

void plant_reset(plant *it) {
    for (int i = 0; i < MBDY_VECTORS; i++) memset(it->vector[i], 0, bytes(mbdy_size(it->core, i)));
    for (int ref = 0; ref < it->own->n_variables; ref++) {
        const struct plant_variable *v = &it->own->variables[ref];
        if (v->vector == PLANT_PARAMETER) it->vector[MBDY_P][v->place] = v->start;
    }
    for (int i = 0; i < it->model->n_inertias; i++)
        memcpy(it->weighed + 6 * i, it->vector[MBDY_P] + it->model->inertias[i], bytes(6));
    it->looked = 0;
    begin_again(it);
}

void plant_rewind(plant *it) {
    begin_again(it);
    it->now.phase = PLANT_INITIALIZATION;
}

double *plant_vector(plant *it, int vector) { return mbdy_vector(it->core, vector); }

double *plant_clock(plant *it) { return &it->now.time; }

int plant_phase_of(const plant *it) { return (int)it->now.phase; }

int plant_fault(const plant *it) { return it->fault; }

int plant_topic(const plant *it) { return it->topic; }

/* What it says */

static int hears(const plant *it, int category) {
    return it->logger && it->categories & (categories[category].bit | PLANT_LOG_ALL);
}

static void say(plant *it, int status, int category, const char *format, va_list values) {
    char text[MBDY_TEXT];
    if (!hears(it, category)) return;
    vsnprintf(text, sizeof text, format, values);
    it->logger(it->owner, status, categories[category].name, text);
}

int plant_say(plant *it, int status, const char *format, ...) {
    va_list values;
    if (status == PLANT_DISCARD && it->strict) status = PLANT_ERROR;
    va_start(values, format);
    say(it, status, status >= PLANT_ERROR ? 0 : status == PLANT_DISCARD ? 1 : 2, format, values);
    va_end(values);
    return status;
}

void plant_note(plant *it, const char *format, ...) {
    va_list values;
    va_start(values, format);
    say(it, PLANT_OK, 3, format, values);
    va_end(values);
}

int plant_stops(plant *it, char *text) {
    return hears(it, 3) ? mbdy_tell_held(it->core, &it->own->names, it->vector[MBDY_U], text) : 0;
}

int plant_set_categories(plant *it, int on, size_t n, const char *const names[]) {
    unsigned chosen = 0;
    for (size_t i = 0; i < n; i++) {
        size_t c = 0;
        while (names && names[i] && c < CATEGORIES && strcmp(names[i], categories[c].name) != 0) c++;
        if (!names || !names[i] || c == CATEGORIES)
            return plant_say(it, PLANT_ERROR,
                             "there is no log category '%s': choose from logStatusError, logStatusDiscard, "
                             "logStatusWarning, logEvents, logAll",
                             names && names[i] ? names[i] : "(NULL)");
        chosen |= categories[c].bit;
    }
    if (!n) chosen = PLANT_LOG_ALL;
    if (on)
        it->categories = chosen;
    else
        it->categories = n ? it->categories & ~chosen : statuses;
    return PLANT_OK;
}

/* Life */

static const char *phase_name(double phase) {
    switch ((int)phase) {
        case PLANT_INSTANTIATED: return "instantiated";
        case PLANT_INITIALIZATION: return "in initialization mode";
        case PLANT_STEP: return "between steps";
        case PLANT_EVENT: return "in event mode";
        case PLANT_CONTINUOUS: return "in continuous-time mode";
        case PLANT_STEPPING: return "inside a step";
        default: return "terminated";
    }
}

int plant_allowed(plant *it, const char *call, unsigned phases) {
    if ((unsigned)it->now.phase & phases) return PLANT_OK;
    return plant_say(it, PLANT_ERROR, "%s changes nothing: it does not belong here, the FMU is %s%s", call,
                     phase_name(it->now.phase),
                     it->now.phase == PLANT_TERMINATED ? "; reset it for another run" : "");
}

int plant_set_experiment(plant *it, double start, double stop, double tolerance) {
    if (!isfinite(start)) return plant_say(it, PLANT_ERROR, "the start time is %g s: it must be finite", start);
    if (!(stop >= start))
        return plant_say(it, PLANT_ERROR, "the stop time is %.15g s: it must not be before the start time %.15g s", stop,
                         start);
    if (!(tolerance >= 0.0 && isfinite(tolerance)))
        return plant_say(it, PLANT_ERROR, "the tolerance is %g: it must be positive and finite", tolerance);
    it->now.time = start;
    if (it->model->n_profiles) it->now.stale_start = it->now.stale_outputs = 1.0;
    it->now.timed = 1.0;
    it->now.stop = stop;
    it->now.tolerance = tolerance;
    return PLANT_OK;
}

int plant_enter_initialization(plant *it) {
    it->now.phase = PLANT_INITIALIZATION;
    return PLANT_OK;
}

int plant_exit_initialization(plant *it, int next) {
    it->strict = 1;
    const int status = plant_refresh(it);
    it->strict = 0;
    if (status != PLANT_OK) return status;
    memcpy(it->first, it->vector[MBDY_Y], bytes(it->model->n_y));
    it->now.started = 1.0;
    it->now.phase = next;
    return PLANT_OK;
}

int plant_terminate(plant *it) {
    it->now.phase = PLANT_TERMINATED;
    return PLANT_OK;
}

int plant_admit(plant *it, const char *what, const char *token, const unsigned required[], size_t n) {
    if (!token || strcmp(token, it->own->token) != 0)
        return plant_say(it, PLANT_ERROR, "the %s '%s' is not this FMU's '%s': take it from its modelDescription.xml", what,
                         token ? token : "(NULL)", it->own->token);
    return plant_find(it, required, n);
}

/* Following what was set */

const char *plant_state_name(const plant *it, int place) { return it->own->names.states[place]; }

static void warn(void *owner, int topic, const char *text) {
    plant *it = owner;
    it->topic = topic;
    plant_say(it, PLANT_WARNING, "%s", text);
}

int plant_explain(plant *it, int core_status, double step) {
    char text[MBDY_TEXT];
    if (core_status == MBDY_OK) {
        while (mbdy_tell_lines(it->core, &it->own->names, text) || mbdy_tell_closed(it->core, &it->own->names, text) ||
               mbdy_tell_bent(it->core, &it->own->names, text))
            warn(it, MBDY_DOUBTFUL, text);
        return PLANT_OK;
    }
    it->fault = core_status;
    mbdy_explain(it->core, core_status, &it->own->names, it->now.time, step, it->own->step, text);
    return plant_say(it, PLANT_DISCARD, "%s", text);
}

/* Parameters below their minimum or above their maximum. */
static int within_limits(plant *it) {
    int status = PLANT_OK;
    for (int ref = 0; status == PLANT_OK && ref < it->own->n_variables; ref++) {
        const struct plant_variable *v = &it->own->variables[ref];
        if (v->vector == PLANT_PARAMETER) status = plant_usable(it, v, it->vector[MBDY_P][v->place]);
    }
    return status;
}

/* Start values that the loops moved although they were given are told. */
static void tell_moves(plant *it) {
    char text[MBDY_TEXT];
    for (int i = 0; it->model->n_rows && i < it->model->n_x; i++)
        if (mbdy_moved(it->core, i)) {
            mbdy_tell_move(it->core, &it->own->names, i, text);
            warn(it, MBDY_START_MOVED, text);
        }
}

/* The tensor of a body's inertia where it is not the one that was looked at last. */
static const double *new_inertia(const plant *it, int i) {
    const double *tensor = it->vector[MBDY_P] + it->model->inertias[i];
    return memcmp(it->weighed + 6 * i, tensor, bytes(6)) ? tensor : NULL;
}

/* Inertias that break the triangle inequality are told where they were set. */
static void tell_inertias(plant *it) {
    char text[MBDY_TEXT];
    for (int i = 0; i < it->model->n_inertias; i++) {
        const double *tensor = new_inertia(it, i);
        if (!tensor) continue;
        memcpy(it->weighed + 6 * i, tensor, bytes(6));
        if (mbdy_tell_triangle(it->core, &it->own->names, i, text)) warn(it, MBDY_DOUBTFUL, text);
    }
}

/* What the internal step is too long for is told once, and again after a parameter was set. In model exchange the step is the
   importer's. */
static void tell_fast(plant *it) {
    if (it->looked || it->now.exchange != 0.0) return;
    it->looked = 1;
    mbdy_tell_fast(it->core, &it->own->names, it->own->step, warn, it);
}

int plant_settle_constants(plant *it) {
    int status = PLANT_OK;
    mbdy_set_time(it->core, it->now.time, it->now.lost);
    if (it->now.stale_constants != 0.0) {
        if ((status = within_limits(it)) != PLANT_OK) return status;
        if ((status = plant_explain(it, mbdy_prepare(it->core), 0.0)) != PLANT_OK) return status;
        tell_inertias(it);
        it->now.stale_start = it->now.started == 0.0;
        if (it->now.started != 0.0 && (status = plant_explain(it, mbdy_check_tanks(it->core), 0.0)) != PLANT_OK) return status;
        if (it->now.started != 0.0 && (status = plant_explain(it, mbdy_pivots(it->core), 0.0)) != PLANT_OK) return status;
        it->now.stale_constants = 0.0;
    }
    if (it->now.stale_start != 0.0) {
        if ((status = plant_explain(it, mbdy_start(it->core), 0.0)) != PLANT_OK) return status;
        if (it->now.exchange != 0.0 && it->states == it->model->n_x) mbdy_end_work(it->core);
        it->now.stale_start = 0.0;
        tell_moves(it);
    }
    tell_fast(it);
    return PLANT_OK;
}

int plant_settle(plant *it) {
    int status = plant_settle_constants(it);
    if (status == PLANT_OK) status = plant_explain(it, mbdy_check(it->core, NULL), 0.0);
    /* in model exchange friction changes at events */
    if (status == PLANT_OK && !((unsigned)it->now.phase & (PLANT_EVENT | PLANT_CONTINUOUS))) mbdy_decide(it->core, NULL, NULL);
    return status;
}

int plant_refresh(plant *it) {
    if (it->now.stale_outputs == 0.0) return PLANT_OK;
    int status = plant_settle(it);
    if (status != PLANT_OK) return status;
    status = plant_explain(it, mbdy_outputs(it->core, NULL, NULL, NULL), 0.0);
    if (status == PLANT_OK) it->now.stale_outputs = 0.0;
    return status;
}
