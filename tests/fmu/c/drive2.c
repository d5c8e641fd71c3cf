/* The functions of FMI 2.0. */

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drive.h"
#include "fmi2Functions.h"

static void logger(void *environment, fmi2String name, fmi2Status status, fmi2String category, fmi2String message, ...) {
    char text[2000];
    va_list values;
    if (strcmp(name, "driven") != 0 && status != fmi2Error) failed("the logger gets another name");
    va_start(values, message);
    vsnprintf(text, sizeof text, message, values);
    va_end(values);
    heard(environment, status, category, text);
}

static void *instantiate(struct slot *s, fmi2String name, fmi2Type type, fmi2String token) {
    const fmi2CallbackFunctions callbacks = {.logger = chance(4) ? NULL : logger, .componentEnvironment = s};
    const fmi2CallbackFunctions *given = chance(10) ? NULL : &callbacks;
    s->logger = given && callbacks.logger;
    return fmi2Instantiate(name, type, token, chance(2) ? "file:///nowhere" : NULL, given, (fmi2Boolean)chance(2),
                           (fmi2Boolean)chance(2));
}

void make_instance(struct slot *s, int exchange) {
    born(s, instantiate(s, "driven", exchange ? fmi2ModelExchange : fmi2CoSimulation, plant_this()->token), exchange);
}

void free_instance(struct slot *s) {
    fmi2FreeInstance(s->it);
    gone(s);
}

void free_state(struct slot *s, void **state) {
    if (fmi2FreeFMUstate(s->it, state) != fmi2OK || *state) failed("the state is not freed");
}

void read_outputs(struct slot *s, double y[N_Y]) {
    unsigned refs[N_Y];
    size_t n = 0;
    for (unsigned ref = 0; ref < n_variables(); ref++)
        if (plant_this()->variables[ref].vector == PLANT_OUTPUT) refs[n++] = ref;
    if (fmi2GetReal(s->it, refs, n, y) != fmi2OK) failed("a fresh instance has no outputs");
}

static void Instantiate(struct slot *s) {
    free_instance(s);
    const int exchange = chance(2);
    if (!slip()) {
        make_instance(s, exchange);
        if (!s->it) failed("no instance");
        answered(fmi2OK);
        return;
    }
    const int what = (int)below(5);
    void *made = what == 0   ? instantiate(s, NULL, fmi2CoSimulation, plant_this()->token)
                 : what == 1 ? instantiate(s, "", fmi2ModelExchange, plant_this()->token)
                 : what == 2 ? instantiate(s, "driven", (fmi2Type)2, plant_this()->token)
                 : what == 3 ? instantiate(s, "driven", fmi2CoSimulation, NULL)
                             : instantiate(s, "driven", fmi2ModelExchange, "{another}");
    if (made || (s->logger && !s->said[fmi2Error])) failed("made, or nothing said, in spite of a wrong argument");
    answered(fmi2Error);
}

static void FreeInstance(struct slot *s) {
    free_instance(s);
    answered(fmi2OK);
}

static void GetTypesPlatform(struct slot *s) {
    (void)s;
    if (strcmp(fmi2GetTypesPlatform(), "default") != 0) failed("another platform");
    answered(fmi2OK);
}

static void GetVersion(struct slot *s) {
    (void)s;
    if (strcmp(fmi2GetVersion(), "2.0") != 0) failed("another version");
    answered(fmi2OK);
}

static void SetDebugLogging(struct slot *s) {
    size_t n;
    const char **names = some_categories(&n);
    returned(s, fmi2SetDebugLogging(s->it, (fmi2Boolean)!chance(4), n, names));
}

/* Life */

static void SetupExperiment(struct slot *s) {
    double start = uniform(-1.0, 10.0), tolerance = 1e-6, stop = start + 1e6;
    if (slip()) {
        d.at.wrong = 1;
        if (chance(3))
            start = chance(2) ? NAN : INFINITY;
        else if (chance(2))
            stop = chance(2) ? NAN : start - 1.0;
        else
            tolerance = chance(2) ? NAN : -1.0;
    }
    returned(s, fmi2SetupExperiment(s->it, d.at.wrong || chance(2), tolerance, start, d.at.wrong || chance(2), stop));
}

static void EnterInitializationMode(struct slot *s) {
    if (returned(s, fmi2EnterInitializationMode(s->it))) s->phase = PLANT_INITIALIZATION;
}

static void ExitInitializationMode(struct slot *s) {
    if (returned(s, fmi2ExitInitializationMode(s->it))) s->phase = s->exchange ? PLANT_EVENT : PLANT_STEP;
}

static void Terminate(struct slot *s) {
    if (returned(s, fmi2Terminate(s->it))) s->phase = PLANT_TERMINATED;
}

static void Reset(struct slot *s) {
    if (returned(s, fmi2Reset(s->it))) was_reset(s);
}

/* Values */

static void GetReal(struct slot *s) {
    const struct values v = some_values(s, gettable, 0, 0);
    if (returned(s, fmi2GetReal(s->it, v.refs, v.n, v.values))) finite_values(&v, s->clean);
}

static void SetReal(struct slot *s) {
    const struct values v = some_values(s, settable, 0, 1);
    returned(s, fmi2SetReal(s->it, v.refs, v.n, v.values));
}

static fmi2Boolean *booleans(const struct values *v) {
    fmi2Boolean *values = room(v->n, sizeof *values);
    for (size_t i = 0; v->values && i < v->n; i++) values[i] = (fmi2Boolean)v->values[i] * (chance(8) ? 7 : 1);
    return v->n && !v->values ? NULL : values;
}

static void GetBoolean(struct slot *s) {
    const struct values v = some_values(s, gettable, 1, 0);
    fmi2Boolean *values = booleans(&v);
    if (returned(s, fmi2GetBoolean(s->it, v.refs, v.n, values))) mix(values, v.n * sizeof *values);
}

static void SetBoolean(struct slot *s) {
    const struct values v = some_values(s, settable, 1, 1);
    returned(s, fmi2SetBoolean(s->it, v.refs, v.n, booleans(&v)));
}

#define NONE(type)                                                                                  \
    static void Get##type(struct slot *s) {                                                         \
        const struct values v = some_values(s, gettable, 0, 0);                                     \
        d.at.wrong = v.n > 0;                                                                       \
        returned(s, fmi2Get##type(s->it, v.refs, v.n, v.n ? room(v.n, sizeof(fmi2##type)) : NULL)); \
    }                                                                                               \
    static void Set##type(struct slot *s) {                                                         \
        const struct values v = some_values(s, gettable, 0, 0);                                     \
        d.at.wrong = v.n > 0;                                                                       \
        returned(s, fmi2Set##type(s->it, v.refs, v.n, v.n ? room(v.n, sizeof(fmi2##type)) : NULL)); \
    }
NONE(Integer)
NONE(String)

/* Saved states */

static void GetFMUstate(struct slot *s) {
    struct kept *to = &d.states[below(STATES)];
    void *state = to->it;
    d.at.wrong = slip();
    if (returned(s, fmi2GetFMUstate(s->it, d.at.wrong ? NULL : &state))) *to = known_of(s, state);
}

static void SetFMUstate(struct slot *s) {
    const struct kept *state = some_state(s);
    if (returned(s, fmi2SetFMUstate(s->it, state ? state->it : NULL))) was_restored(s, state);
}

static void FreeFMUstate(struct slot *s) {
    fmi2FMUstate *state = chance(10) ? NULL : &d.states[below(STATES)].it;
    if (returned(s, fmi2FreeFMUstate(s->it, state)) && state && *state) failed("the state is not freed");
}

static void SerializedFMUstateSize(struct slot *s) {
    const struct kept *state = some_state(s);
    const int nowhere = slip();
    size_t size = 0;
    d.at.wrong = !state || nowhere;
    if (returned(s, fmi2SerializedFMUstateSize(s->it, state ? state->it : NULL, nowhere ? NULL : &size)) && !size)
        failed("no bytes");
}

static void SerializeFMUstate(struct slot *s) {
    const struct kept *state = some_state(s);
    size_t size = 0;
    if (!s->it || !state || fmi2SerializedFMUstateSize(s->it, state->it, &size) != fmi2OK) size = 8;
    const int small = slip(), nowhere = slip();
    size = small ? below(size) : size + below(3);
    char *bytes = malloc(size + 1);
    d.at.wrong = !state || small || nowhere;
    if (!returned(s, fmi2SerializeFMUstate(s->it, state ? state->it : NULL, nowhere ? NULL : bytes, size))) {
        free(bytes);
        return;
    }
    if (fmi2SerializedFMUstateSize(s->it, state->it, &d.n_bytes) != fmi2OK) failed("no size");
    mix(bytes, d.n_bytes);
    free(d.bytes);
    d.bytes = bytes;
    d.packed = *state;
}

static void DeSerializeFMUstate(struct slot *s) {
    size_t n;
    struct kept *to = &d.states[below(STATES)];
    void *state = to->it;
    const void *bytes = some_bytes(s, &n);
    const int nothing = slip(), nowhere = slip();
    d.at.wrong |= nothing || nowhere;
    if (!returned(s, fmi2DeSerializeFMUstate(s->it, nothing ? NULL : bytes, n, nowhere ? NULL : &state))) return;
    *to = d.packed;
    to->it = state;
}

static void GetDirectionalDerivative(struct slot *s) {
    const struct values unknowns = some_values(s, is_unknown, 0, 0), knowns = some_values(s, is_known, 0, 0);
    for (size_t i = 0; knowns.values && i < knowns.n; i++) knowns.values[i] = uniform(-1.0, 1.0);
    if (returned(s, fmi2GetDirectionalDerivative(s->it, unknowns.refs, unknowns.n, knowns.refs, knowns.n, knowns.values,
                                                 unknowns.values)))
        all_finite(unknowns.values, unknowns.n);
}

/* Model exchange */

static void EnterEventMode(struct slot *s) {
    if (returned(s, fmi2EnterEventMode(s->it))) s->phase = PLANT_EVENT;
}

static void NewDiscreteStates(struct slot *s) {
    fmi2EventInfo *info = room(1, sizeof *info);
    d.at.wrong = slip();
    if (returned(s, fmi2NewDiscreteStates(s->it, d.at.wrong ? NULL : info)) && info->newDiscreteStatesNeeded) failed("again");
}

static void EnterContinuousTimeMode(struct slot *s) {
    if (returned(s, fmi2EnterContinuousTimeMode(s->it))) s->phase = PLANT_CONTINUOUS;
}

static void CompletedIntegratorStep(struct slot *s) {
    fmi2Boolean event = 9, terminate = 9;
    const int nowhere = d.at.wrong = slip();
    if (returned(s, fmi2CompletedIntegratorStep(s->it, (fmi2Boolean)chance(2), nowhere ? NULL : &event, &terminate)) &&
        (event > 1 || terminate))
        failed("no boolean, or an end");
}

static void SetTime(struct slot *s) {
    d.at.wrong = slip();
    returned(s, fmi2SetTime(s->it, d.at.wrong ? (chance(2) ? NAN : INFINITY)
                                   : s->it    ? inside(s)->now.time + uniform(0.0, 2e-3)
                                              : 0.0));
}

static void SetContinuousStates(struct slot *s) {
    size_t n;
    double *x = some_vector(&n);
    if (x) next_states(s, x, n);
    returned(s, fmi2SetContinuousStates(s->it, x, n));
}

static void GetDerivatives(struct slot *s) {
    size_t n;
    double *dx = some_vector(&n);
    if (!returned(s, fmi2GetDerivatives(s->it, dx, n))) return;
    all_finite(dx, n);
    if (s->clean) memcpy(s->rates, dx, sizeof s->rates);
}

static void GetEventIndicators(struct slot *s) {
    const size_t n = d.at.wrong = slip();
    returned(s, fmi2GetEventIndicators(s->it, chance(2) ? NULL : room(n, sizeof(double)), n));
}

static void GetContinuousStates(struct slot *s) {
    size_t n;
    double *x = some_vector(&n);
    if (returned(s, fmi2GetContinuousStates(s->it, x, n))) all_finite(x, n);
}

static void GetNominalsOfContinuousStates(struct slot *s) {
    size_t n;
    double *x = some_vector(&n);
    if (returned(s, fmi2GetNominalsOfContinuousStates(s->it, x, n))) all_finite(x, n);
}

/* Co-simulation */

static void SetRealInputDerivatives(struct slot *s) {
    const struct values v = some_values(s, is_input, 0, 1);
    returned(s, fmi2SetRealInputDerivatives(s->it, v.refs, v.n, some_orders(v.n, 2), v.values));
}

static void GetRealOutputDerivatives(struct slot *s) {
    const struct values v = some_values(s, is_output, 0, 0);
    if (returned(s, fmi2GetRealOutputDerivatives(s->it, v.refs, v.n, some_orders(v.n, 1), v.values)))
        all_finite(v.values, v.n);
}

static void DoStep(struct slot *s) {
    const double time = time_of_step(s), step = step_size();
    if (!returned(s, fmi2DoStep(s->it, time, step, (fmi2Boolean)chance(2)))) return;
    if (inside(s)->now.time != time + step) failed("it is at another time");
}

static void CancelStep(struct slot *s) {
    d.at.wrong = 1;
    returned(s, fmi2CancelStep(s->it));
}

#define STATUS(call, type, known)                             \
    static void call(struct slot *s) {                        \
        const fmi2StatusKind kind = (fmi2StatusKind)below(5); \
        type *value = slip() ? NULL : room(1, sizeof *value); \
        d.at.wrong = !value;                                  \
        d.at.bad = (int)kind != (known);                      \
        returned(s, fmi2##call(s->it, kind, value));          \
    }
STATUS(GetStatus, fmi2Status, -1)
STATUS(GetRealStatus, fmi2Real, fmi2LastSuccessfulTime)
STATUS(GetIntegerStatus, fmi2Integer, -1)
STATUS(GetBooleanStatus, fmi2Boolean, fmi2Terminated)
STATUS(GetStringStatus, fmi2String, -1)

#define CALL(name, weight, cs, me, flags) {"fmi2" #name, name, weight, {cs, me}, flags}
enum { STEPS = PLANT_STEP | PLANT_TERMINATED, MODES = PLANT_EVENT | PLANT_CONTINUOUS };
const struct call calls[] = {
    CALL(Instantiate, 1, ANY, ANY, LIFE),
    CALL(FreeInstance, 1, ANY, ANY, LIFE),
    CALL(GetTypesPlatform, 1, ANY, ANY, 0),
    CALL(GetVersion, 1, ANY, ANY, 0),
    CALL(SetDebugLogging, 2, ANY, ANY, 0),
    CALL(SetupExperiment, 4, PLANT_INSTANTIATED, PLANT_INSTANTIATED, 0),
    CALL(EnterInitializationMode, 20, PLANT_INSTANTIATED, PLANT_INSTANTIATED, 0),
    CALL(ExitInitializationMode, 20, PLANT_INITIALIZATION, PLANT_INITIALIZATION, 0),
    CALL(Terminate, 1, RUNNING, RUNNING, 0),
    CALL(Reset, 2, ANY, ANY, AGAIN),
    CALL(GetReal, 15, ANY, ANY, 0),
    CALL(SetReal, 15, ANY, ANY, 0),
    CALL(GetBoolean, 3, ANY, ANY, 0),
    CALL(SetBoolean, 4, ANY, ANY, 0),
    CALL(GetInteger, 1, ANY, ANY, 0),
    CALL(SetInteger, 1, ANY, ANY, 0),
    CALL(GetString, 1, ANY, ANY, 0),
    CALL(SetString, 1, ANY, ANY, 0),
    CALL(GetFMUstate, 3, ANY, ANY, 0),
    CALL(SetFMUstate, 3, ANY, ANY, 0),
    CALL(FreeFMUstate, 1, ANY, ANY, 0),
    CALL(SerializedFMUstateSize, 1, ANY, ANY, 0),
    CALL(SerializeFMUstate, 3, ANY, ANY, 0),
    CALL(DeSerializeFMUstate, 4, ANY, ANY, 0),
    CALL(GetDirectionalDerivative, 6, ANY, ANY, 0),
    CALL(EnterEventMode, 3, 0, MODES, 0),
    CALL(NewDiscreteStates, 5, 0, PLANT_EVENT, KEEPS),
    CALL(EnterContinuousTimeMode, 4, 0, PLANT_EVENT, 0),
    CALL(CompletedIntegratorStep, 6, 0, PLANT_CONTINUOUS, 0),
    CALL(SetTime, 8, 0, MODES, 0),
    CALL(SetContinuousStates, 12, 0, MODES, KEEPS),
    CALL(GetDerivatives, 12, 0, ANY, 0),
    CALL(GetEventIndicators, 1, 0, ANY, 0),
    CALL(GetContinuousStates, 3, 0, ANY, 0),
    CALL(GetNominalsOfContinuousStates, 1, 0, ANY, 0),
    CALL(SetRealInputDerivatives, 6, BEFORE | PLANT_STEP, 0, KEEPS),
    CALL(GetRealOutputDerivatives, 6, STEPS, 0, 0),
    CALL(DoStep, 60, PLANT_STEP, 0, KEEPS),
    CALL(CancelStep, 1, ANY, 0, 0),
    CALL(GetStatus, 1, ANY, 0, 0),
    CALL(GetRealStatus, 1, ANY, 0, 0),
    CALL(GetIntegerStatus, 1, ANY, 0, 0),
    CALL(GetBooleanStatus, 1, ANY, 0, 0),
    CALL(GetStringStatus, 1, ANY, 0, 0),
};
const int n_calls = sizeof calls / sizeof calls[0];
