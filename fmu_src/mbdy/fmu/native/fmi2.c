/* FMI 2.0, co-simulation and model exchange: the standard's functions over plant.h. */

#include "fmi2Functions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plant.h"

enum {
    BEFORE = PLANT_INSTANTIATED | PLANT_INITIALIZATION,
    RUNNING = PLANT_STEP | PLANT_EVENT | PLANT_CONTINUOUS,
    ANY = BEFORE | RUNNING | PLANT_TERMINATED
};

/* What FMI 2 calls a component: a plant and whom it tells. */
typedef struct {
    plant *plant;
    char *name;
    fmi2CallbackLogger logger;
    fmi2ComponentEnvironment environment;
} component;

/* The message is a format to FMI 2, and many importers show it as it stands: so it has no conversions to be filled in. */
static void pass_on(void *owner, int status, const char *category, const char *message) {
    const component *c = owner;
    char format[2 * MBDY_TEXT];
    size_t n = 0;
    for (; *message && n < sizeof format - 2; message++) {
        if (*message == '%') format[n++] = '%';
        format[n++] = *message;
    }
    format[n] = '\0';
    c->logger(c->environment, c->name, (fmi2Status)status, category, format);
}

/* A call on an instance in one of these phases; returns from the caller where it does not belong. */
#define ENTER(call, phases)                                                         \
    plant *it = c ? ((component *)c)->plant : NULL;                                 \
    if (!it || plant_allowed(it, call, (unsigned)(phases)) != PLANT_OK) return fmi2Error

/* A call on an instance that is one call on its plant, behind a guard such as ENTER. */
#define CALL(guard, name, parameters, phases, answer) \
    fmi2Status name parameters {                     \
        guard(#name, phases);                         \
        return (fmi2Status)(answer);                  \
    }

#define NEEDS(pointer, what) \
    if (!(pointer)) return (fmi2Status)plant_say(it, PLANT_ERROR, "%s is NULL", what)

const char *fmi2GetTypesPlatform(void) { return fmi2TypesPlatform; }

const char *fmi2GetVersion(void) { return "2.0"; }

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String token, fmi2String resources,
                              const fmi2CallbackFunctions *callbacks, fmi2Boolean visible, fmi2Boolean logging) {
    (void)resources; /* nothing is read from them */
    (void)visible;
    component *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->name = calloc(1, (name ? strlen(name) : 0) + 1);
    if (callbacks) c->logger = callbacks->logger, c->environment = callbacks->componentEnvironment;
    if (c->name && name) strcpy(c->name, name);
    c->plant = c->name ? plant_new(mbdy_this(), plant_this(), NULL, type == fmi2ModelExchange ? PLANT_EXCHANGE : 0, c->logger ? pass_on : NULL, c) : NULL;
    if (!c->plant) {
        if (c->logger)
            c->logger(c->environment, name ? name : "", fmi2Error, "logStatusError", "no memory for an instance");
        fmi2FreeInstance(c);
        return NULL;
    }
    if (logging) plant_set_categories(c->plant, 1, 0, NULL);
    int refused = 0;
    if (!name || !*name) refused = plant_say(c->plant, PLANT_ERROR, "the instance needs a name");
    if (type != fmi2ModelExchange && type != fmi2CoSimulation)
        refused = plant_say(c->plant, PLANT_ERROR, "there is no type %d of FMU", (int)type);
    if (plant_admit(c->plant, "GUID", token, NULL, 0) != PLANT_OK) refused = 1;
    if (refused) {
        fmi2FreeInstance(c);
        return NULL;
    }
    return c;
}

void fmi2FreeInstance(fmi2Component c) {
    component *own = c;
    if (!own) return;
    plant_free(own->plant);
    free(own->name);
    free(own);
}

CALL(ENTER, fmi2SetDebugLogging, (fmi2Component c, fmi2Boolean on, size_t n, const fmi2String categories[]),
     ANY, plant_set_categories(it, on, n, categories))
CALL(ENTER, fmi2SetupExperiment,
     (fmi2Component c, fmi2Boolean tolerance_defined, fmi2Real tolerance, fmi2Real start, fmi2Boolean stop_defined,
      fmi2Real stop),
     PLANT_INSTANTIATED, plant_set_experiment(it, start, stop_defined ? stop : INFINITY, tolerance_defined ? tolerance : 0.0))
CALL(ENTER, fmi2EnterInitializationMode, (fmi2Component c), PLANT_INSTANTIATED, plant_enter_initialization(it))
CALL(ENTER, fmi2ExitInitializationMode, (fmi2Component c),
     PLANT_INITIALIZATION, plant_exit_initialization(it, it->now.exchange != 0.0 ? PLANT_EVENT : PLANT_STEP))
CALL(ENTER, fmi2Terminate, (fmi2Component c), RUNNING, plant_terminate(it))

fmi2Status fmi2Reset(fmi2Component c) {
    ENTER("fmi2Reset", ANY);
    plant_reset(it);
    return fmi2OK;
}

CALL(ENTER, fmi2GetReal, (fmi2Component c, const fmi2ValueReference refs[], size_t n, fmi2Real values[]),
     ANY, plant_get(it, refs, n, values, n, 0))
CALL(ENTER, fmi2SetReal, (fmi2Component c, const fmi2ValueReference refs[], size_t n, const fmi2Real values[]),
     ANY, plant_set(it, refs, n, values, n, 0))

fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference refs[], size_t n, fmi2Boolean values[]) {
    ENTER("fmi2GetBoolean", ANY);
    int status = plant_check(it, refs, n, n, 1);
    if (status != PLANT_OK) return (fmi2Status)status;
    if (n) NEEDS(values, "the place for the values");
    for (size_t i = 0; i < n; i++) {
        double value;
        status = plant_get(it, refs + i, 1, &value, 1, 1);
        if (status != PLANT_OK) return (fmi2Status)status;
        values[i] = value != 0.0;
    }
    return fmi2OK;
}

fmi2Status fmi2SetBoolean(fmi2Component c, const fmi2ValueReference refs[], size_t n, const fmi2Boolean values[]) {
    ENTER("fmi2SetBoolean", ANY);
    int status = plant_check(it, refs, n, n, 1);
    if (status != PLANT_OK) return (fmi2Status)status;
    if (n) NEEDS(values, "the place of the values");
    for (size_t i = 0; status == PLANT_OK && i < n; i++) {
        const double value = values[i] ? 1.0 : 0.0;
        status = plant_set(it, refs + i, 1, &value, 1, 1);
    }
    return (fmi2Status)status;
}

/* There are no variables of other types. */
static fmi2Status none(fmi2Component c, const char *call, size_t n, const char *type) {
    ENTER(call, ANY);
    return n ? (fmi2Status)plant_refuse_type(it, call, type) : fmi2OK;
}

#define NO_VARIABLES(call, type, value)                                                           \
    fmi2Status call(fmi2Component c, const fmi2ValueReference refs[], size_t n, value values[]) { \
        (void)refs, (void)values;                                                                 \
        return none(c, #call, n, type);                                                           \
    }
NO_VARIABLES(fmi2GetInteger, "Integer", fmi2Integer)
NO_VARIABLES(fmi2SetInteger, "Integer", const fmi2Integer)
NO_VARIABLES(fmi2GetString, "String", fmi2String)
NO_VARIABLES(fmi2SetString, "String", const fmi2String)

/* State of the FMU */

CALL(ENTER, fmi2GetFMUstate, (fmi2Component c, fmi2FMUstate *state), ANY, plant_get_state(it, state))
CALL(ENTER, fmi2SetFMUstate, (fmi2Component c, fmi2FMUstate state), ANY, plant_set_state(it, state))
CALL(ENTER, fmi2FreeFMUstate, (fmi2Component c, fmi2FMUstate *state), ANY, plant_free_state(state))
CALL(ENTER, fmi2SerializedFMUstateSize, (fmi2Component c, fmi2FMUstate state, size_t *size),
     ANY, plant_serialized_size(it, state, size))
CALL(ENTER, fmi2SerializeFMUstate, (fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size),
     ANY, plant_serialize(it, state, bytes, size))
CALL(ENTER, fmi2DeSerializeFMUstate, (fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state),
     ANY, plant_deserialize(it, bytes, size, state))
CALL(ENTER, fmi2GetDirectionalDerivative,
     (fmi2Component c, const fmi2ValueReference unknowns[], size_t n_unknowns, const fmi2ValueReference knowns[],
      size_t n_knowns, const fmi2Real seed[], fmi2Real change[]),
     ANY, plant_directional(it, unknowns, n_unknowns, knowns, n_knowns, seed, n_knowns, change, n_unknowns))

/* Model exchange */

#define EXCHANGE(call, phases) \
    ENTER(call, phases);       \
    if (it->now.exchange == 0.0) return (fmi2Status)plant_say(it, PLANT_ERROR, "%s: this instance is for co-simulation", call)

fmi2Status fmi2EnterEventMode(fmi2Component c) {
    EXCHANGE("fmi2EnterEventMode", PLANT_CONTINUOUS | PLANT_EVENT);
    it->now.phase = PLANT_EVENT;
    return fmi2OK;
}

fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info) {
    EXCHANGE("fmi2NewDiscreteStates", PLANT_EVENT);
    NEEDS(info, "the place for what an event brings");
    int changed = 0;
    const int status = plant_update(it, &changed);
    memset(info, 0, sizeof *info);
    info->valuesOfContinuousStatesChanged = changed;
    const double next = plant_next_event(it);
    info->nextEventTimeDefined = isfinite(next);
    if (info->nextEventTimeDefined) info->nextEventTime = next;
    return (fmi2Status)status;
}

fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c) {
    EXCHANGE("fmi2EnterContinuousTimeMode", PLANT_EVENT);
    it->now.phase = PLANT_CONTINUOUS;
    return fmi2OK;
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean no_return, fmi2Boolean *event, fmi2Boolean *terminate) {
    (void)no_return;
    EXCHANGE("fmi2CompletedIntegratorStep", PLANT_CONTINUOUS);
    NEEDS(event, "the place for enterEventMode");
    NEEDS(terminate, "the place for terminateSimulation");
    *event = plant_completed(it);
    *terminate = fmi2False;
    return fmi2OK;
}

CALL(EXCHANGE, fmi2SetTime, (fmi2Component c, fmi2Real time), PLANT_EVENT | PLANT_CONTINUOUS, plant_set_time(it, time))
CALL(EXCHANGE, fmi2SetContinuousStates, (fmi2Component c, const fmi2Real x[], size_t n),
     PLANT_EVENT | PLANT_CONTINUOUS, plant_set_states(it, x, n))
CALL(EXCHANGE, fmi2GetDerivatives, (fmi2Component c, fmi2Real derivatives[], size_t n),
     ANY, plant_get_rates(it, derivatives, n))

CALL(EXCHANGE, fmi2GetEventIndicators, (fmi2Component c, fmi2Real indicators[], size_t n),
     ANY, plant_get_indicators(it, indicators, n))
CALL(EXCHANGE, fmi2GetContinuousStates, (fmi2Component c, fmi2Real x[], size_t n), ANY, plant_get_states(it, x, n))
CALL(EXCHANGE, fmi2GetNominalsOfContinuousStates, (fmi2Component c, fmi2Real nominals[], size_t n),
     ANY, plant_get_nominals(it, nominals, n))

/* Co-simulation */

#define COSIMULATION(call, phases) \
    ENTER(call, phases);           \
    if (it->now.exchange != 0.0) return (fmi2Status)plant_say(it, PLANT_ERROR, "%s: this instance is for model exchange", call)

CALL(COSIMULATION, fmi2SetRealInputDerivatives,
     (fmi2Component c, const fmi2ValueReference refs[], size_t n, const fmi2Integer orders[], const fmi2Real values[]),
     BEFORE | PLANT_STEP, plant_set_input_derivatives(it, refs, n, orders, values))
CALL(COSIMULATION, fmi2GetRealOutputDerivatives,
     (fmi2Component c, const fmi2ValueReference refs[], size_t n, const fmi2Integer orders[], fmi2Real values[]),
     PLANT_STEP | PLANT_TERMINATED, plant_get_output_derivatives(it, refs, n, orders, values, n))

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real time, fmi2Real step, fmi2Boolean no_return) {
    (void)no_return;
    COSIMULATION("fmi2DoStep", PLANT_STEP);
    double last;
    return (fmi2Status)plant_step(it, time, step, NULL, NULL, &last);
}

CALL(COSIMULATION, fmi2CancelStep, (fmi2Component c),
     ANY, plant_say(it, PLANT_ERROR, "fmi2CancelStep: no step is under way, steps end before fmi2DoStep returns"))

fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Status *status) {
    COSIMULATION("fmi2GetStatus", ANY);
    NEEDS(status, "the place for the status");
    return (fmi2Status)plant_say(it, PLANT_DISCARD, "fmi2GetStatus: nothing is known of kind %d, steps are never pending", (int)kind);
}

fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value) {
    COSIMULATION("fmi2GetRealStatus", ANY);
    NEEDS(value, "the place for the status");
    if (kind != fmi2LastSuccessfulTime)
        return (fmi2Status)plant_say(it, PLANT_DISCARD, "fmi2GetRealStatus: nothing is known of kind %d", (int)kind);
    *value = it->now.time;
    return fmi2OK;
}

fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Integer *value) {
    COSIMULATION("fmi2GetIntegerStatus", ANY);
    NEEDS(value, "the place for the status");
    return (fmi2Status)plant_say(it, PLANT_DISCARD, "fmi2GetIntegerStatus: nothing is known of kind %d", (int)kind);
}

fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value) {
    COSIMULATION("fmi2GetBooleanStatus", ANY);
    NEEDS(value, "the place for the status");
    if (kind != fmi2Terminated)
        return (fmi2Status)plant_say(it, PLANT_DISCARD, "fmi2GetBooleanStatus: nothing is known of kind %d", (int)kind);
    *value = fmi2False;
    return fmi2OK;
}

fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind kind, fmi2String *value) {
    COSIMULATION("fmi2GetStringStatus", ANY);
    NEEDS(value, "the place for the status");
    return (fmi2Status)plant_say(it, PLANT_DISCARD, "fmi2GetStringStatus: nothing is known of kind %d, steps are never pending", (int)kind);
}
