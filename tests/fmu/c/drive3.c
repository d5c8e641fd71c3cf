/* The functions of FMI 3.0. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "drive.h"
#include "fmi3Functions.h"

static void logger(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category, fmi3String message) {
    heard(environment, (int)status, category, message);
}

/* Inside a step: calls that belong there and calls that do not, of other instances too, and wishes to return early. */
static void intermediate(fmi3InstanceEnvironment environment, fmi3Float64 time, fmi3Boolean set, fmi3Boolean get,
                         fmi3Boolean finished, fmi3Boolean can_return, fmi3Boolean *early, fmi3Float64 *until) {
    struct slot *s = environment;
    mix(&time, sizeof time);
    if (inside(s)->now.time != time || !get || !finished || (can_return && !s->early))
        failed("told wrong things inside a step");
    (void)set;
    s->phase = PLANT_STEPPING;
    for (int i = chance(3) ? 2 : 0; i > 0; i--) act(chance(4) ? &d.slots[below(SLOTS)] : s);
    s->phase = PLANT_STEP;
    if (chance(4)) {
        *early = true;
        *until = chance(4) ? NAN : time + uniform(-1e-3, 5e-3);
    }
}

static void *instantiate(struct slot *s, int exchange, fmi3String name, fmi3String token) {
    static const fmi3ValueReference required[] = {0, 0};
    fmi3LogMessageCallback log = chance(4) ? NULL : logger;
    s->logger = log != NULL;
    s->events = chance(2);
    s->early = chance(2);
    if (exchange) return fmi3InstantiateModelExchange(name, token, NULL, chance(2), chance(2), s, log);
    return fmi3InstantiateCoSimulation(name, token, "/nowhere", chance(2), chance(2), s->events, s->early,
                                       required, below(3), s, log, chance(2) ? intermediate : NULL);
}

void make_instance(struct slot *s, int exchange) {
    born(s, instantiate(s, exchange, "driven", plant_this()->token), exchange);
}

void free_instance(struct slot *s) {
    fmi3FreeInstance(s->it);
    gone(s);
}

void free_state(struct slot *s, void **state) {
    if (fmi3FreeFMUState(s->it, state) != fmi3OK || *state) failed("the state is not freed");
}

void read_outputs(struct slot *s, double y[N_Y]) {
    unsigned refs[N_Y];
    size_t n = 0;
    for (unsigned ref = 0; ref < n_variables(); ref++)
        if (plant_this()->variables[ref].vector == PLANT_OUTPUT && plant_this()->variables[ref].size) refs[n++] = ref;
    if (fmi3GetFloat64(s->it, refs, n, y, N_Y) != fmi3OK) failed("a fresh instance has no outputs");
}

static void Instantiate(struct slot *s, int exchange) {
    free_instance(s);
    if (!slip()) {
        make_instance(s, exchange);
        if (!s->it) failed("no instance");
        answered(fmi3OK);
        return;
    }
    const int what = (int)below(4);
    void *made = what == 0   ? instantiate(s, exchange, NULL, plant_this()->token)
                 : what == 1 ? instantiate(s, exchange, "", plant_this()->token)
                 : what == 2 ? instantiate(s, exchange, "driven", NULL)
                             : instantiate(s, exchange, "driven", "{another}");
    if (made || (s->logger && !s->said[fmi3Error])) failed("made, or nothing said, in spite of a wrong argument");
    answered(fmi3Error);
}

static void InstantiateCoSimulation(struct slot *s) { Instantiate(s, 0); }
static void InstantiateModelExchange(struct slot *s) { Instantiate(s, 1); }

static void InstantiateScheduledExecution(struct slot *s) {
    fmi3LogMessageCallback log = chance(2) ? logger : NULL;
    if (fmi3InstantiateScheduledExecution("driven", plant_this()->token, NULL, false, true, s, log, NULL, NULL, NULL))
        failed("made");
    if (log && !s->said[fmi3Error]) failed("nothing said");
    answered(fmi3Error);
}

static void FreeInstance(struct slot *s) {
    free_instance(s);
    answered(fmi3OK);
}

static void GetVersion(struct slot *s) {
    (void)s;
    if (strcmp(fmi3GetVersion(), "3.0") != 0) failed("another version");
    answered(fmi3OK);
}

static void SetDebugLogging(struct slot *s) {
    size_t n;
    const char **names = some_categories(&n);
    returned(s, fmi3SetDebugLogging(s->it, !chance(4), n, names));
}

/* Life */

static void EnterInitializationMode(struct slot *s) {
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
    if (returned(
            s, fmi3EnterInitializationMode(s->it, d.at.wrong || chance(2), tolerance, start, d.at.wrong || chance(2), stop)))
        s->phase = PLANT_INITIALIZATION;
}

static void ExitInitializationMode(struct slot *s) {
    if (returned(s, fmi3ExitInitializationMode(s->it))) s->phase = s->exchange || s->events ? PLANT_EVENT : PLANT_STEP;
}

static void Terminate(struct slot *s) {
    if (returned(s, fmi3Terminate(s->it))) s->phase = PLANT_TERMINATED;
}

static void Reset(struct slot *s) {
    if (returned(s, fmi3Reset(s->it))) was_reset(s);
}

/* Values */

/* The number of values that is told: another one after a slip. */
static size_t told(const struct values *v) {
    if (!slip()) return v->size;
    d.at.wrong = 1;
    return v->size && chance(2) ? v->size - 1 : v->size + 1;
}

static void GetFloat64(struct slot *s) {
    const struct values v = some_values(s, gettable, 0, 0);
    if (returned(s, fmi3GetFloat64(s->it, v.refs, v.n, v.values, told(&v)))) finite_values(&v, s->clean);
}

static void SetFloat64(struct slot *s) {
    const struct values v = some_values(s, settable, 0, 1);
    returned(s, fmi3SetFloat64(s->it, v.refs, v.n, v.values, told(&v)));
}

static bool *booleans(const struct values *v) {
    bool *values = room(v->size, sizeof *values);
    for (size_t i = 0; v->values && i < v->size; i++) values[i] = v->values[i] != 0.0;
    return v->size && !v->values ? NULL : values;
}

static void GetBoolean(struct slot *s) {
    const struct values v = some_values(s, gettable, 1, 0);
    bool *values = booleans(&v);
    if (returned(s, fmi3GetBoolean(s->it, v.refs, v.n, values, told(&v)))) mix(values, v.size);
}

static void SetBoolean(struct slot *s) {
    const struct values v = some_values(s, settable, 1, 1);
    returned(s, fmi3SetBoolean(s->it, v.refs, v.n, booleans(&v), told(&v)));
}

#define NONE(type)                                                                                \
    static void Get##type(struct slot *s) {                                                       \
        const struct values v = some_values(s, gettable, 0, 0);                                   \
        d.at.wrong = v.n > 0;                                                                     \
        returned(s, fmi3Get##type(s->it, v.refs, v.n, room(v.size, sizeof(fmi3##type)), v.size)); \
    }                                                                                             \
    static void Set##type(struct slot *s) {                                                       \
        const struct values v = some_values(s, gettable, 0, 0);                                   \
        d.at.wrong = v.n > 0;                                                                     \
        returned(s, fmi3Set##type(s->it, v.refs, v.n, room(v.size, sizeof(fmi3##type)), v.size)); \
    }
NONE(Float32)
NONE(Int8)
NONE(UInt8)
NONE(Int16)
NONE(UInt16)
NONE(Int32)
NONE(UInt32)
NONE(Int64)
NONE(UInt64)
NONE(String)

static void GetBinary(struct slot *s) {
    const struct values v = some_values(s, gettable, 0, 0);
    d.at.wrong = v.n > 0;
    returned(s, fmi3GetBinary(s->it, v.refs, v.n, room(v.size, sizeof(size_t)), room(v.size, sizeof(fmi3Binary)), v.size));
}

static void SetBinary(struct slot *s) {
    const struct values v = some_values(s, gettable, 0, 0);
    d.at.wrong = v.n > 0;
    returned(s, fmi3SetBinary(s->it, v.refs, v.n, room(v.size, sizeof(size_t)), room(v.size, sizeof(fmi3Binary)), v.size));
}

static void GetNumberOfVariableDependencies(struct slot *s) {
    size_t n = 0;
    d.at.wrong = 1;
    returned(s, fmi3GetNumberOfVariableDependencies(s->it, (unsigned)below(n_variables() + 5), chance(2) ? NULL : &n));
}

static void GetVariableDependencies(struct slot *s) {
    size_t elements[1];
    fmi3ValueReference refs[1];
    fmi3DependencyKind kinds[1];
    d.at.wrong = 1;
    returned(
        s, fmi3GetVariableDependencies(s->it, (unsigned)below(n_variables() + 5), elements, refs, elements, kinds, below(2)));
}

/* Clocks and configuration: there are none */

#define CLOCKS(call, ...)                                         \
    static void call(struct slot *s) {                            \
        const struct values v = some_values(s, gettable, 0, 0);   \
        d.at.wrong = v.n > 0;                                     \
        returned(s, fmi3##call(s->it, v.refs, v.n, __VA_ARGS__)); \
    }
#define ROOM(type) room(v.n, sizeof(type))
CLOCKS(GetClock, ROOM(fmi3Clock))
CLOCKS(SetClock, ROOM(fmi3Clock))
CLOCKS(GetIntervalDecimal, ROOM(double), ROOM(fmi3IntervalQualifier))
CLOCKS(GetIntervalFraction, ROOM(uint64_t), ROOM(uint64_t), ROOM(fmi3IntervalQualifier))
CLOCKS(GetShiftDecimal, ROOM(double))
CLOCKS(GetShiftFraction, ROOM(uint64_t), ROOM(uint64_t))
CLOCKS(SetIntervalDecimal, ROOM(double))
CLOCKS(SetIntervalFraction, ROOM(uint64_t), ROOM(uint64_t))
CLOCKS(SetShiftDecimal, ROOM(double))
CLOCKS(SetShiftFraction, ROOM(uint64_t), ROOM(uint64_t))

static void ActivateModelPartition(struct slot *s) {
    d.at.wrong = 1;
    returned(s, fmi3ActivateModelPartition(s->it, (unsigned)below(n_variables()), uniform(0.0, 1.0)));
}

static void EnterConfigurationMode(struct slot *s) {
    d.at.wrong = 1;
    returned(s, fmi3EnterConfigurationMode(s->it));
}

static void ExitConfigurationMode(struct slot *s) {
    d.at.wrong = 1;
    returned(s, fmi3ExitConfigurationMode(s->it));
}

/* Saved states */

static void GetFMUState(struct slot *s) {
    struct kept *to = &d.states[below(STATES)];
    void *state = to->it;
    d.at.wrong = slip();
    if (returned(s, fmi3GetFMUState(s->it, d.at.wrong ? NULL : &state))) *to = known_of(s, state);
}

static void SetFMUState(struct slot *s) {
    const struct kept *state = some_state(s);
    if (returned(s, fmi3SetFMUState(s->it, state ? state->it : NULL))) was_restored(s, state);
}

static void FreeFMUState(struct slot *s) {
    fmi3FMUState *state = chance(10) ? NULL : &d.states[below(STATES)].it;
    if (returned(s, fmi3FreeFMUState(s->it, state)) && state && *state) failed("the state is not freed");
}

static void SerializedFMUStateSize(struct slot *s) {
    const struct kept *state = some_state(s);
    const int nowhere = slip();
    size_t size = 0;
    d.at.wrong = !state || nowhere;
    if (returned(s, fmi3SerializedFMUStateSize(s->it, state ? state->it : NULL, nowhere ? NULL : &size)) && !size)
        failed("no bytes");
}

static void SerializeFMUState(struct slot *s) {
    const struct kept *state = some_state(s);
    size_t size = 0;
    if (!s->it || !state || fmi3SerializedFMUStateSize(s->it, state->it, &size) != fmi3OK) size = 8;
    const int small = slip(), nowhere = slip();
    size = small ? below(size) : size + below(3);
    unsigned char *bytes = malloc(size + 1);
    d.at.wrong = !state || small || nowhere;
    if (!returned(s, fmi3SerializeFMUState(s->it, state ? state->it : NULL, nowhere ? NULL : bytes, size))) {
        free(bytes);
        return;
    }
    if (fmi3SerializedFMUStateSize(s->it, state->it, &d.n_bytes) != fmi3OK) failed("no size");
    mix(bytes, d.n_bytes);
    free(d.bytes);
    d.bytes = bytes;
    d.packed = *state;
}

static void DeserializeFMUState(struct slot *s) {
    size_t n;
    struct kept *to = &d.states[below(STATES)];
    void *state = to->it;
    const void *bytes = some_bytes(s, &n);
    const int nothing = slip(), nowhere = slip();
    d.at.wrong |= nothing || nowhere;
    if (!returned(s, fmi3DeserializeFMUState(s->it, nothing ? NULL : bytes, n, nowhere ? NULL : &state))) return;
    *to = d.packed;
    to->it = state;
}

#define PARTIAL(call, a, b)                                                                                               \
    static void call(struct slot *s) {                                                                                    \
        const struct values unknowns = some_values(s, is_unknown, 0, 0), knowns = some_values(s, is_known, 0, 0);         \
        for (size_t i = 0; a.values && i < a.size; i++) a.values[i] = uniform(-1.0, 1.0);                                 \
        if (returned(s, fmi3##call(s->it, unknowns.refs, unknowns.n, knowns.refs, knowns.n, a.values, told(&a), b.values, \
                                   told(&b))))                                                                            \
            all_finite(b.values, b.size);                                                                                 \
    }
PARTIAL(GetDirectionalDerivative, knowns, unknowns)
PARTIAL(GetAdjointDerivative, unknowns, knowns)

/* Events and model exchange */

static void EnterEventMode(struct slot *s) {
    d.at.wrong = !s->exchange && !s->events;
    if (returned(s, fmi3EnterEventMode(s->it))) s->phase = PLANT_EVENT;
}

static void EvaluateDiscreteStates(struct slot *s) { returned(s, fmi3EvaluateDiscreteStates(s->it)); }

static void UpdateDiscreteStates(struct slot *s) {
    fmi3Boolean *told = room(5, sizeof *told);
    fmi3Float64 *next = room(1, sizeof *next);
    returned(s, fmi3UpdateDiscreteStates(s->it, &told[0], &told[1], &told[2], &told[3], &told[4], next));
    if (told[0] || told[1] || told[2] || (told[3] && !s->exchange) || told[4]) failed("an event that there is not");
}

static void EnterStepMode(struct slot *s) {
    if (returned(s, fmi3EnterStepMode(s->it))) s->phase = PLANT_STEP;
}

static void EnterContinuousTimeMode(struct slot *s) {
    if (returned(s, fmi3EnterContinuousTimeMode(s->it))) s->phase = PLANT_CONTINUOUS;
}

static void CompletedIntegratorStep(struct slot *s) {
    fmi3Boolean event = true, terminate = true;
    const int nowhere = d.at.wrong = slip();
    if (returned(s, fmi3CompletedIntegratorStep(s->it, chance(2), nowhere ? NULL : &event, &terminate)) && terminate)
        failed("an end");
}

static void SetTime(struct slot *s) {
    d.at.wrong = slip();
    returned(s, fmi3SetTime(s->it, d.at.wrong ? (chance(2) ? NAN : INFINITY)
                                   : s->it    ? inside(s)->now.time + uniform(0.0, 2e-3)
                                              : 0.0));
}

static void SetContinuousStates(struct slot *s) {
    size_t n;
    double *x = some_vector(&n);
    if (x) next_states(s, x, n);
    returned(s, fmi3SetContinuousStates(s->it, x, n));
}

static void GetContinuousStateDerivatives(struct slot *s) {
    size_t n;
    double *dx = some_vector(&n);
    if (!returned(s, fmi3GetContinuousStateDerivatives(s->it, dx, n))) return;
    all_finite(dx, n);
    if (s->clean) memcpy(s->rates, dx, sizeof s->rates);
}

static void GetEventIndicators(struct slot *s) {
    const size_t n = d.at.wrong = slip();
    returned(s, fmi3GetEventIndicators(s->it, chance(2) ? NULL : room(n, sizeof(double)), n));
}

static void GetContinuousStates(struct slot *s) {
    size_t n;
    double *x = some_vector(&n);
    if (returned(s, fmi3GetContinuousStates(s->it, x, n))) all_finite(x, n);
}

static void GetNominalsOfContinuousStates(struct slot *s) {
    size_t n;
    double *x = some_vector(&n);
    if (returned(s, fmi3GetNominalsOfContinuousStates(s->it, x, n))) all_finite(x, n);
}

#define NUMBER(call, wanted)                                                                                   \
    static void call(struct slot *s) {                                                                         \
        size_t n = 99;                                                                                         \
        d.at.wrong = slip();                                                                                   \
        if (returned(s, fmi3##call(s->it, d.at.wrong ? NULL : &n)) && n != (wanted)) failed("another number"); \
    }
NUMBER(GetNumberOfEventIndicators, 0)
NUMBER(GetNumberOfContinuousStates, N_X)

/* Co-simulation */

static void GetOutputDerivatives(struct slot *s) {
    const struct values v = some_values(s, is_output, 0, 0);
    if (returned(s, fmi3GetOutputDerivatives(s->it, v.refs, v.n, some_orders(v.n, 1), v.values, told(&v))))
        all_finite(v.values, v.size);
}

static void DoStep(struct slot *s) {
    const double time = time_of_step(s), step = step_size();
    const int missing = slip() ? (int)below(4) : -1;
    fmi3Boolean told[3] = {true, true, true};
    double last = -1.0;
    d.at.wrong = missing >= 0;
    if (!returned(s, fmi3DoStep(s->it, time, step, chance(2), missing == 0 ? NULL : &told[0], missing == 1 ? NULL : &told[1],
                                missing == 2 ? NULL : &told[2], missing == 3 ? NULL : &last)))
        return;
    if (told[0] || told[1]) failed("an event that there is not");
    if (inside(s)->now.time != last || (told[2] ? !s->early || !(last < time + step) || !(last > time) : last != time + step))
        failed("it is at another time");
    mix(&last, sizeof last);
}

#define CALL(name, weight, cs, me, flags) {"fmi3" #name, name, weight, {cs, me}, flags}
#define EACH(get, weight) CALL(Get##get, weight, ANY, ANY, 0), CALL(Set##get, weight, ANY, ANY, 0)
enum {
    MODES = PLANT_EVENT | PLANT_CONTINUOUS,
    ENDABLE = PLANT_STEP | MODES,
    ASKED = PLANT_STEP | PLANT_STEPPING | PLANT_TERMINATED
};
const struct call calls[] = {
    CALL(InstantiateCoSimulation, 1, ANY, ANY, LIFE),
    CALL(InstantiateModelExchange, 1, ANY, ANY, LIFE),
    CALL(InstantiateScheduledExecution, 1, ANY, ANY, 0),
    CALL(FreeInstance, 1, ANY, ANY, LIFE),
    CALL(GetVersion, 1, ANY, ANY, 0),
    CALL(SetDebugLogging, 2, ANY, ANY, 0),
    CALL(EnterInitializationMode, 20, PLANT_INSTANTIATED, PLANT_INSTANTIATED, 0),
    CALL(ExitInitializationMode, 20, PLANT_INITIALIZATION, PLANT_INITIALIZATION, 0),
    CALL(Terminate, 1, ENDABLE, ENDABLE, 0),
    CALL(Reset, 2, OUTSIDE, OUTSIDE, AGAIN),
    EACH(Float64, 15),
    EACH(Boolean, 4),
    EACH(Float32, 1),
    EACH(Int8, 1),
    EACH(UInt8, 1),
    EACH(Int16, 1),
    EACH(UInt16, 1),
    EACH(Int32, 1),
    EACH(UInt32, 1),
    EACH(Int64, 1),
    EACH(UInt64, 1),
    EACH(String, 1),
    EACH(Binary, 1),
    EACH(Clock, 1),
    CALL(GetNumberOfVariableDependencies, 1, ANY, ANY, 0),
    CALL(GetVariableDependencies, 1, ANY, ANY, 0),
    CALL(GetFMUState, 3, OUTSIDE, OUTSIDE, 0),
    CALL(SetFMUState, 3, OUTSIDE, OUTSIDE, 0),
    CALL(FreeFMUState, 1, ANY, ANY, 0),
    CALL(SerializedFMUStateSize, 1, ANY, ANY, 0),
    CALL(SerializeFMUState, 3, ANY, ANY, 0),
    CALL(DeserializeFMUState, 4, ANY, ANY, 0),
    CALL(GetDirectionalDerivative, 6, ANY, ANY, 0),
    CALL(GetAdjointDerivative, 6, ANY, ANY, 0),
    CALL(EnterConfigurationMode, 1, 0, 0, 0),
    CALL(ExitConfigurationMode, 1, 0, 0, 0),
    EACH(IntervalDecimal, 1),
    EACH(IntervalFraction, 1),
    EACH(ShiftDecimal, 1),
    EACH(ShiftFraction, 1),
    CALL(ActivateModelPartition, 1, 0, 0, 0),
    CALL(EnterEventMode, 4, PLANT_STEP | PLANT_EVENT, MODES, 0),
    CALL(EvaluateDiscreteStates, 1, PLANT_INITIALIZATION | PLANT_EVENT, PLANT_INITIALIZATION | PLANT_EVENT, 0),
    CALL(UpdateDiscreteStates, 5, PLANT_EVENT, PLANT_EVENT, KEEPS),
    CALL(EnterStepMode, 30, PLANT_EVENT, 0, 0),
    CALL(EnterContinuousTimeMode, 4, 0, PLANT_EVENT, 0),
    CALL(CompletedIntegratorStep, 6, 0, PLANT_CONTINUOUS, 0),
    CALL(SetTime, 8, 0, MODES, 0),
    CALL(SetContinuousStates, 12, 0, MODES, KEEPS),
    CALL(GetContinuousStateDerivatives, 12, 0, ANY, 0),
    CALL(GetEventIndicators, 1, 0, ANY, 0),
    CALL(GetContinuousStates, 3, 0, ANY, 0),
    CALL(GetNominalsOfContinuousStates, 1, 0, ANY, 0),
    CALL(GetNumberOfEventIndicators, 1, 0, ANY, 0),
    CALL(GetNumberOfContinuousStates, 1, 0, ANY, 0),
    CALL(GetOutputDerivatives, 6, ASKED, 0, 0),
    CALL(DoStep, 60, PLANT_STEP, 0, KEEPS),
};
const int n_calls = sizeof calls / sizeof calls[0];
