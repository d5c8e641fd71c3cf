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

plant *plant_new(int exchange, plant_logger *logger, void *owner) {
    plant *it = calloc(1, sizeof *it);
    if (!it) return NULL;
    it->logger = logger;
    it->owner = owner;
    it->categories = statuses;
    it->now.exchange = exchange;
    it->core = mbdy_new();
    it->partial = partial_new();
    it->first = calloc(MBDY_NY + 3 * MBDY_NU + MBDY_NX + 2 * MBDY_NIMPULSES + 1, sizeof(double));
    if (!it->core || !it->partial || !it->first) {
        plant_free(it);
        return NULL;
    }
    it->slope = it->first + MBDY_NY;
    it->bend = it->slope + MBDY_NU;
    it->kept = it->bend + MBDY_NU;
    for (int i = 0; i < MBDY_VECTORS; i++) it->vector[i] = mbdy_vector(it->core, i);
    plant_reset(it);
    return it;
}

void plant_free(plant *it) {
    if (!it) return;
    mbdy_free(it->core);
    partial_free(it->partial);
    free(it->first);
    free(it);
}

void plant_reset(plant *it) {
    const double exchange = it->now.exchange;
    memset(&it->now, 0, sizeof it->now);
    it->now.exchange = exchange;
    it->now.phase = PLANT_INSTANTIATED;
    it->now.stop = INFINITY;
    it->now.stale_constants = it->now.stale_start = it->now.stale_outputs = 1.0;
    for (int i = 0; i < MBDY_VECTORS; i++) memset(it->vector[i], 0, sizeof(double) * (size_t)mbdy_size(i));
    memset(it->first, 0, sizeof(double) * (size_t)(it->kept - it->first));
    for (int ref = 0; ref < FMU_VARIABLES; ref++) {
        const struct plant_variable *v = &plant_variables[ref];
        if (v->vector == PLANT_INPUT) it->vector[MBDY_U][v->place] = it->vector[MBDY_U_END][v->place] = v->start;
        if (v->vector == PLANT_PARAMETER) it->vector[MBDY_P][v->place] = v->start;
        if (v->start_at >= 0) it->vector[MBDY_S][v->start_at] = v->start;
    }
}

/* What it says */

static void say(plant *it, int status, int category, const char *format, va_list values) {
    char text[PLANT_MOST_SAID];
    if (!it->logger || !(it->categories & (categories[category].bit | PLANT_LOG_ALL))) return;
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
        return plant_say(it, PLANT_ERROR, "the stop time is %.17g s: it must not be before the start time %.17g s", stop,
                         start);
    if (!(tolerance >= 0.0 && isfinite(tolerance)))
        return plant_say(it, PLANT_ERROR, "the tolerance is %g: it must be positive and finite", tolerance);
    it->now.time = start;
    it->now.timed = 1.0;
    it->now.stop = stop;
    it->now.tolerance = tolerance;
    return PLANT_OK;
}

int plant_enter_initialization(plant *it) {
    it->now.phase = PLANT_INITIALIZATION;
    return PLANT_OK;
}

int plant_exit_initialization(plant *it, enum plant_phase next) {
    it->strict = 1;
    const int status = plant_refresh(it);
    it->strict = 0;
    if (status != PLANT_OK) return status;
    memcpy(it->first, it->vector[MBDY_Y], sizeof(double) * MBDY_NY);
    it->now.started = 1.0;
    it->now.phase = next;
    return PLANT_OK;
}

/* Following what was set */

static const char *input_name(int place) { return plant_variables[place].name; }

static const char *start_name(int place) {
    for (int ref = 0; ref < FMU_VARIABLES; ref++)
        if (plant_variables[ref].start_at == place) return plant_variables[ref].name;
    return "a state";
}

const char *plant_state_name(int place) {
    for (int ref = 0; ref < FMU_VARIABLES; ref++)
        if (plant_variables[ref].state == place) return plant_variables[ref].name;
    return "a state";
}

static const char *body_of(int constant) {
    int body = 0;
    while (plant_bodies[body + 1].name && plant_bodies[body + 1].constants <= constant) body++;
    return plant_bodies[body].name;
}

static int bad_start(plant *it) {
    static const int quaternions[MBDY_NQUAT + 1] = MBDY_QUATERNIONS;
    const double *s = it->vector[MBDY_S];
    for (int i = 0; i < MBDY_NX; i++)
        if (!isfinite(s[i]))
            return plant_say(it, PLANT_DISCARD, "start value '%s' is %g: set a finite number", start_name(i), s[i]);
    for (int i = 0; i < MBDY_NQUAT; i++) {
        const double *q = s + quaternions[i];
        if (q[0] == 0.0 && q[1] == 0.0 && q[2] == 0.0 && q[3] == 0.0)
            return plant_say(it, PLANT_DISCARD, "'%s' and its next three are a quaternion of zeros: set at least one of them",
                             start_name(quaternions[i]));
    }
    return plant_say(it, PLANT_DISCARD,
                     "no finite state follows from the start values and parameters: look at masses and inertias of zero");
}

int plant_explain(plant *it, int core_status, double step) {
    const int place = mbdy_fault(it->core);
    switch (core_status) {
        case MBDY_OK: return PLANT_OK;
        case MBDY_BAD_INPUT: {
            const int vectors[] = {MBDY_U, MBDY_U_END, MBDY_U_MID};
            double value = it->vector[MBDY_U][place];
            for (int i = 1; i < 3 && it->now.order != 0.0 && isfinite(value); i++) value = it->vector[vectors[i]][place];
            return plant_say(it, PLANT_DISCARD, "input '%s' is %g: set %s", input_name(place), value,
                             plant_variables[place].boolean ? "0 or 1"
                             : isfinite(value)              ? "another number"
                                                            : "a finite number");
        }
        case MBDY_BAD_PARAMETER:
            if (place < MBDY_NP)
                return plant_say(it, PLANT_DISCARD, "parameter '%s' is %g: set a finite number",
                                 plant_variables[MBDY_NU + place].name, it->vector[MBDY_P][place]);
            if (strncmp(body_of(place - MBDY_NP), "loop.", 5) == 0)
                return plant_say(it, PLANT_DISCARD, "parameter '%s.distance' is too small: set a positive one",
                                 body_of(place - MBDY_NP));
            return plant_say(it, PLANT_DISCARD,
                             "body '%s' cannot have the parameters that were set: its mass and the principal moments of its "
                             "inertia (less its wheels' spin inertia) must not be negative, axes and quaternions not zero, "
                             "rates of friction positive, stops and points of a harness in their order",
                             body_of(place - MBDY_NP));
        case MBDY_BAD_START: return bad_start(it);
        case MBDY_UNCLOSED:
            return plant_say(it, PLANT_DISCARD, "'%s': its loop cannot be closed from the start values, start nearer to where it closes",
                             plant_loop_rows[place]);
        case MBDY_TORN:
            return plant_say(it, PLANT_DISCARD,
                             "'%s': its loop came apart within the step of %g s from %.17g s, the state is as it was: look at its "
                             "time constant and at inputs, or export with a smaller step than %g s",
                             plant_loop_rows[place], step, it->now.time,
                             plant_identity.step);
        case MBDY_FAILED:
            return plant_say(it, PLANT_DISCARD,
                             "state '%s' left the finite numbers within the step of %g s from %.17g s, the state is as it was: "
                             "look at inputs and parameters, or export with a smaller step than %g s",
                             plant_state_name(place), step, it->now.time, plant_identity.step);
        default:
            return plant_say(it, PLANT_DISCARD, "the step of %g s is more than 1e9 internal ones of %g s", step, plant_identity.step);
    }
}

static int within_limits(plant *it) {
    for (int i = 0; i < MBDY_NP; i++) {
        const struct plant_variable *v = &plant_variables[MBDY_NU + i];
        const double value = it->vector[MBDY_P][i];
        if (value < v->minimum || value > v->maximum)
            return plant_say(it, PLANT_DISCARD, "parameter '%s' is %.17g: set it to at %s %g", v->name, value,
                             value < v->minimum ? "least" : "most", value < v->minimum ? v->minimum : v->maximum);
    }
    return PLANT_OK;
}

int plant_settle_constants(plant *it) {
    int status = PLANT_OK;
    if (it->now.stale_constants != 0.0) {
        if ((status = within_limits(it)) != PLANT_OK) return status;
        if ((status = plant_explain(it, mbdy_prepare(it->core), 0.0)) != PLANT_OK) return status;
        it->now.stale_constants = 0.0;
        it->now.stale_start = it->now.started == 0.0;
    }
    if (it->now.stale_start != 0.0) {
        if ((status = plant_explain(it, mbdy_start(it->core), 0.0)) != PLANT_OK) return status;
        it->now.stale_start = 0.0;
    }
    return PLANT_OK;
}

int plant_settle(plant *it) {
    int status = plant_settle_constants(it);
    return status == PLANT_OK ? plant_explain(it, mbdy_check(it->core), 0.0) : status;
}

int plant_refresh(plant *it) {
    if (it->now.stale_outputs == 0.0) return PLANT_OK;
    int status = plant_settle(it);
    if (status != PLANT_OK) return status;
    mbdy_outputs(it->core, NULL, NULL, NULL);
    for (int i = 0; i < MBDY_NY; i++)
        if (!isfinite(it->vector[MBDY_Y][i]))
            return plant_say(it, PLANT_DISCARD, "no finite number follows for '%s': look at inputs and parameters",
                             plant_variables[MBDY_NU + MBDY_NP + i].name);
    it->now.stale_outputs = 0.0;
    return PLANT_OK;
}
