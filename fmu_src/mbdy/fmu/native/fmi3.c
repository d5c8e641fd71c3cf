/* FMI 3.0, co-simulation and model exchange: the standard's functions over plant.h. */

#include "fmi3Functions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plant.h"

enum {
    BEFORE = PLANT_INSTANTIATED | PLANT_INITIALIZATION,
    OUTSIDE = BEFORE | PLANT_STEP | PLANT_EVENT | PLANT_CONTINUOUS | PLANT_TERMINATED, /* of a step */
    ANY = OUTSIDE | PLANT_STEPPING
};

/* What FMI 3 calls an instance: a plant and whom it tells and asks. */
typedef struct {
    plant *plant;
    fmi3LogMessageCallback log;
    fmi3IntermediateUpdateCallback intermediate;
    fmi3InstanceEnvironment environment;
    int events, early; /* whether event mode is used and a step may end early */
    double return_time; /* inside a step: end it there; infinite where it goes on */
} instance_data;

static void pass_on(void *owner, int status, const char *category, const char *message) {
    const instance_data *own = owner;
    own->log(own->environment, (fmi3Status)status, category, message);
}

/* A call on an instance in one of these phases; returns from the caller where it does not belong. */
#define ENTER(call, phases)                                                \
    plant *it = instance ? ((instance_data *)instance)->plant : NULL; \
    if (!it || plant_allowed(it, call, (unsigned)(phases)) != PLANT_OK) return fmi3Error

/* A call on an instance that is one call on its plant, behind a guard such as ENTER. */
#define CALL(guard, name, parameters, phases, answer) \
    fmi3Status name parameters {                     \
        guard(#name, phases);                         \
        return (fmi3Status)(answer);                  \
    }

#define NEEDS(pointer, what) \
    if (!(pointer)) return (fmi3Status)plant_say(it, PLANT_ERROR, "%s is NULL", what)

const char *fmi3GetVersion(void) { return "3.0"; }

CALL(ENTER, fmi3SetDebugLogging, (fmi3Instance instance, fmi3Boolean on, size_t n, const fmi3String categories[]),
     ANY, plant_set_categories(it, on, n, categories))

static instance_data *instantiate(int exchange, fmi3String name, fmi3String token, fmi3Boolean logging,
                                  const fmi3ValueReference required[], size_t n_required,
                                  fmi3InstanceEnvironment environment, fmi3LogMessageCallback log) {
    instance_data *own = calloc(1, sizeof *own);
    if (!own) return NULL;
    own->log = log;
    own->environment = environment;
    own->plant = plant_new(mbdy_this(), plant_this(), NULL, exchange ? PLANT_EXCHANGE : 0, log ? pass_on : NULL, own);
    if (!own->plant) {
        if (log) log(environment, fmi3Error, "logStatusError", "no memory for an instance");
        free(own);
        return NULL;
    }
    if (logging) plant_set_categories(own->plant, 1, 0, NULL);
    int refused = 0;
    if (!name || !*name) refused = plant_say(own->plant, PLANT_ERROR, "the instance needs a name");
    if (plant_admit(own->plant, "instantiation token", token, required, n_required) != PLANT_OK) refused = 1;
    if (!refused) return own;
    fmi3FreeInstance(own);
    return NULL;
}

fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
                                          fmi3Boolean logging, fmi3InstanceEnvironment environment,
                                          fmi3LogMessageCallback log) {
    (void)resources, (void)visible; /* nothing is read or shown */
    return instantiate(1, name, token, logging, NULL, 0, environment, log);
}

fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
                                         fmi3Boolean logging, fmi3Boolean events, fmi3Boolean early,
                                         const fmi3ValueReference required[], size_t n_required,
                                         fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
                                         fmi3IntermediateUpdateCallback intermediate) {
    (void)resources, (void)visible; /* nothing is read or shown */
    instance_data *own = instantiate(0, name, token, logging, required, n_required, environment, log);
    if (!own) return NULL;
    own->events = events;
    own->early = early;
    own->intermediate = intermediate;
    own->return_time = INFINITY;
    return own;
}

fmi3Instance fmi3InstantiateScheduledExecution(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
                                               fmi3Boolean logging, fmi3InstanceEnvironment environment,
                                               fmi3LogMessageCallback log, fmi3ClockUpdateCallback clock,
                                               fmi3LockPreemptionCallback lock, fmi3UnlockPreemptionCallback unlock) {
    (void)name, (void)token, (void)resources, (void)visible, (void)logging, (void)clock, (void)lock, (void)unlock;
    if (log)
        log(environment, fmi3Error, "logStatusError",
            "this FMU is for co-simulation and model exchange, not for scheduled execution");
    return NULL;
}

void fmi3FreeInstance(fmi3Instance instance) {
    instance_data *own = instance;
    if (!own) return;
    plant_free(own->plant);
    free(own);
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance instance, fmi3Boolean tolerance_defined, fmi3Float64 tolerance,
                                       fmi3Float64 start, fmi3Boolean stop_defined, fmi3Float64 stop) {
    ENTER("fmi3EnterInitializationMode", PLANT_INSTANTIATED);
    const int status = plant_set_experiment(it, start, stop_defined ? stop : INFINITY, tolerance_defined ? tolerance : 0.0);
    return (fmi3Status)(status == PLANT_OK ? plant_enter_initialization(it) : status);
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance instance) {
    ENTER("fmi3ExitInitializationMode", PLANT_INITIALIZATION);
    const int events = it->now.exchange != 0.0 || ((instance_data *)instance)->events;
    return (fmi3Status)plant_exit_initialization(it, events ? PLANT_EVENT : PLANT_STEP);
}

CALL(ENTER, fmi3Terminate, (fmi3Instance instance), PLANT_STEP | PLANT_EVENT | PLANT_CONTINUOUS, plant_terminate(it))

fmi3Status fmi3Reset(fmi3Instance instance) {
    ENTER("fmi3Reset", OUTSIDE);
    plant_reset(it);
    return fmi3OK;
}

/* Variables */

CALL(ENTER, fmi3GetFloat64,
     (fmi3Instance instance, const fmi3ValueReference refs[], size_t n, fmi3Float64 values[], size_t size),
     ANY, plant_get(it, refs, n, values, size, 0))
CALL(ENTER, fmi3SetFloat64,
     (fmi3Instance instance, const fmi3ValueReference refs[], size_t n, const fmi3Float64 values[], size_t size),
     ANY, plant_set(it, refs, n, values, size, 0))

fmi3Status fmi3GetBoolean(fmi3Instance instance, const fmi3ValueReference refs[], size_t n, fmi3Boolean values[], size_t size) {
    ENTER("fmi3GetBoolean", ANY);
    int status = plant_check(it, refs, n, size, 1);
    if (status != PLANT_OK) return (fmi3Status)status;
    if (size) NEEDS(values, "the place for the values");
    for (size_t i = 0; i < n; i++) {
        const struct plant_variable *v = &it->own->variables[refs[i]];
        for (int k = 0; k < v->size; k++) *values++ = it->vector[MBDY_U][v[k].place] != 0.0;
    }
    return fmi3OK;
}

fmi3Status fmi3SetBoolean(fmi3Instance instance, const fmi3ValueReference refs[], size_t n, const fmi3Boolean values[],
                          size_t size) {
    ENTER("fmi3SetBoolean", ANY);
    int status = plant_check(it, refs, n, size, 1);
    if (status != PLANT_OK) return (fmi3Status)status;
    if (size) NEEDS(values, "the place of the values");
    for (size_t i = 0; i < n; i++) {
        const struct plant_variable *v = &it->own->variables[refs[i]];
        for (int k = 0; k < v->size; k++) it->numbers[k] = *values++ ? 1.0 : 0.0;
        status = plant_set(it, refs + i, 1, it->numbers, (size_t)v->size, 1);
        if (status != PLANT_OK) return (fmi3Status)status;
    }
    return fmi3OK;
}

/* There are no variables of other types. */
static fmi3Status none(fmi3Instance instance, const char *call, size_t n, const char *type) {
    ENTER(call, ANY);
    return n ? (fmi3Status)plant_refuse_type(it, call, type) : fmi3OK;
}

#define NO_VARIABLES(type)                                                                                             \
    fmi3Status fmi3Get##type(fmi3Instance instance, const fmi3ValueReference refs[], size_t n, fmi3##type values[],    \
                             size_t size) {                                                                            \
        (void)refs, (void)values;                                                                                      \
        return none(instance, "fmi3Get" #type, n + size, #type);                                                       \
    }                                                                                                                  \
    fmi3Status fmi3Set##type(fmi3Instance instance, const fmi3ValueReference refs[], size_t n, const fmi3##type values[], \
                             size_t size) {                                                                            \
        (void)refs, (void)values;                                                                                      \
        return none(instance, "fmi3Set" #type, n + size, #type);                                                       \
    }
NO_VARIABLES(Float32) NO_VARIABLES(Int8) NO_VARIABLES(UInt8) NO_VARIABLES(Int16) NO_VARIABLES(UInt16)
NO_VARIABLES(Int32) NO_VARIABLES(UInt32) NO_VARIABLES(Int64) NO_VARIABLES(UInt64) NO_VARIABLES(String)

fmi3Status fmi3GetBinary(fmi3Instance instance, const fmi3ValueReference refs[], size_t n, size_t sizes[], fmi3Binary values[],
                         size_t size) {
    (void)refs, (void)sizes, (void)values;
    return none(instance, "fmi3GetBinary", n + size, "Binary");
}

fmi3Status fmi3SetBinary(fmi3Instance instance, const fmi3ValueReference refs[], size_t n, const size_t sizes[],
                         const fmi3Binary values[], size_t size) {
    (void)refs, (void)sizes, (void)values;
    return none(instance, "fmi3SetBinary", n + size, "Binary");
}

fmi3Status fmi3GetNumberOfVariableDependencies(fmi3Instance instance, fmi3ValueReference ref, size_t *n) {
    (void)ref, (void)n;
    ENTER("fmi3GetNumberOfVariableDependencies", ANY);
    return (fmi3Status)plant_say(it, PLANT_ERROR, "dependencies of elements are not told: those of variables are in modelDescription.xml");
}

fmi3Status fmi3GetVariableDependencies(fmi3Instance instance, fmi3ValueReference dependent, size_t element_of_dependent[],
                                       fmi3ValueReference independents[], size_t element_of_independent[],
                                       fmi3DependencyKind kinds[], size_t n) {
    (void)element_of_dependent, (void)independents, (void)element_of_independent, (void)kinds;
    return fmi3GetNumberOfVariableDependencies(instance, dependent, &n);
}

/* State of the FMU */

CALL(ENTER, fmi3GetFMUState, (fmi3Instance instance, fmi3FMUState *state), OUTSIDE, plant_get_state(it, state))
CALL(ENTER, fmi3SetFMUState, (fmi3Instance instance, fmi3FMUState state), OUTSIDE, plant_set_state(it, state))
CALL(ENTER, fmi3FreeFMUState, (fmi3Instance instance, fmi3FMUState *state), ANY, plant_free_state(state))
CALL(ENTER, fmi3SerializedFMUStateSize, (fmi3Instance instance, fmi3FMUState state, size_t *size),
     ANY, plant_serialized_size(it, state, size))
CALL(ENTER, fmi3SerializeFMUState, (fmi3Instance instance, fmi3FMUState state, fmi3Byte bytes[], size_t size),
     ANY, plant_serialize(it, state, bytes, size))
CALL(ENTER, fmi3DeserializeFMUState, (fmi3Instance instance, const fmi3Byte bytes[], size_t size, fmi3FMUState *state),
     ANY, plant_deserialize(it, bytes, size, state))

/* Partial derivatives */

CALL(ENTER, fmi3GetDirectionalDerivative,
     (fmi3Instance instance, const fmi3ValueReference unknowns[], size_t n_unknowns, const fmi3ValueReference knowns[],
      size_t n_knowns, const fmi3Float64 seed[], size_t n_seed, fmi3Float64 sensitivity[], size_t n_sensitivity),
     ANY, plant_directional(it, unknowns, n_unknowns, knowns, n_knowns, seed, n_seed, sensitivity, n_sensitivity))
CALL(ENTER, fmi3GetAdjointDerivative,
     (fmi3Instance instance, const fmi3ValueReference unknowns[], size_t n_unknowns, const fmi3ValueReference knowns[],
      size_t n_knowns, const fmi3Float64 seed[], size_t n_seed, fmi3Float64 sensitivity[], size_t n_sensitivity),
     ANY, plant_adjoint(it, unknowns, n_unknowns, knowns, n_knowns, seed, n_seed, sensitivity, n_sensitivity))

/* Modes; there are no structural parameters and no clocks */

CALL(ENTER, fmi3EnterConfigurationMode, (fmi3Instance instance),
     PLANT_INSTANTIATED | PLANT_STEP | PLANT_EVENT, plant_say(it, PLANT_ERROR, "fmi3EnterConfigurationMode: there are no structural parameters"))
CALL(ENTER, fmi3ExitConfigurationMode, (fmi3Instance instance),
     ANY, plant_say(it, PLANT_ERROR, "fmi3ExitConfigurationMode: the FMU is never in that mode"))

#define NO_CLOCKS(call, more)                                                               \
    fmi3Status call(fmi3Instance instance, const fmi3ValueReference refs[], size_t n, more) { \
        (void)refs, (void)first;                                                              \
        return none(instance, #call, n, "Clock");                                             \
    }
#define NO_CLOCKS_TWO(call, more, second)                                                           \
    fmi3Status call(fmi3Instance instance, const fmi3ValueReference refs[], size_t n, more, second) { \
        (void)refs, (void)first, (void)other;                                                         \
        return none(instance, #call, n, "Clock");                                                     \
    }
NO_CLOCKS(fmi3GetClock, fmi3Clock first[])
NO_CLOCKS(fmi3SetClock, const fmi3Clock first[])
NO_CLOCKS_TWO(fmi3GetIntervalDecimal, fmi3Float64 first[], fmi3IntervalQualifier other[])
NO_CLOCKS(fmi3GetShiftDecimal, fmi3Float64 first[])
NO_CLOCKS_TWO(fmi3GetShiftFraction, fmi3UInt64 first[], fmi3UInt64 other[])
NO_CLOCKS(fmi3SetIntervalDecimal, const fmi3Float64 first[])
NO_CLOCKS_TWO(fmi3SetIntervalFraction, const fmi3UInt64 first[], const fmi3UInt64 other[])
NO_CLOCKS(fmi3SetShiftDecimal, const fmi3Float64 first[])
NO_CLOCKS_TWO(fmi3SetShiftFraction, const fmi3UInt64 first[], const fmi3UInt64 other[])

fmi3Status fmi3GetIntervalFraction(fmi3Instance instance, const fmi3ValueReference refs[], size_t n, fmi3UInt64 counters[],
                                   fmi3UInt64 resolutions[], fmi3IntervalQualifier qualifiers[]) {
    (void)refs, (void)counters, (void)resolutions, (void)qualifiers;
    return none(instance, "fmi3GetIntervalFraction", n, "Clock");
}

fmi3Status fmi3ActivateModelPartition(fmi3Instance instance, fmi3ValueReference clock, fmi3Float64 time) {
    (void)clock, (void)time;
    return none(instance, "fmi3ActivateModelPartition", 1, "Clock");
}

/* Events */

fmi3Status fmi3EnterEventMode(fmi3Instance instance) {
    ENTER("fmi3EnterEventMode", PLANT_STEP | PLANT_CONTINUOUS | PLANT_EVENT);
    if (it->now.exchange == 0.0 && !((instance_data *)instance)->events)
        return (fmi3Status)plant_say(it, PLANT_ERROR, "fmi3EnterEventMode: the FMU was instantiated without event mode");
    it->now.phase = PLANT_EVENT;
    return fmi3OK;
}

fmi3Status fmi3EvaluateDiscreteStates(fmi3Instance instance) {
    ENTER("fmi3EvaluateDiscreteStates", PLANT_INITIALIZATION | PLANT_EVENT);
    return fmi3OK; /* there are none */
}

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance instance, fmi3Boolean *again, fmi3Boolean *terminate, fmi3Boolean *nominals,
                                    fmi3Boolean *values, fmi3Boolean *next_defined, fmi3Float64 *next) {
    ENTER("fmi3UpdateDiscreteStates", PLANT_EVENT);
    int changed = 0;
    const int status = plant_update(it, &changed);
    if (again) *again = false;
    if (terminate) *terminate = false;
    if (nominals) *nominals = false;
    if (values) *values = changed != 0 && it->now.exchange != 0.0;
    const double event = plant_next_event(it);
    const int ahead = it->now.exchange != 0.0 && isfinite(event);
    if (next_defined) *next_defined = ahead;
    if (next) *next = ahead ? event : 0.0;
    return (fmi3Status)status;
}

/* Model exchange */

#define EXCHANGE(call, phases) \
    ENTER(call, phases);       \
    if (it->now.exchange == 0.0) return (fmi3Status)plant_say(it, PLANT_ERROR, "%s: this instance is for co-simulation", call)

fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance instance) {
    EXCHANGE("fmi3EnterContinuousTimeMode", PLANT_EVENT);
    it->now.phase = PLANT_CONTINUOUS;
    return fmi3OK;
}

fmi3Status fmi3CompletedIntegratorStep(fmi3Instance instance, fmi3Boolean no_return, fmi3Boolean *event, fmi3Boolean *terminate) {
    (void)no_return;
    EXCHANGE("fmi3CompletedIntegratorStep", PLANT_CONTINUOUS);
    NEEDS(event, "the place for enterEventMode");
    NEEDS(terminate, "the place for terminateSimulation");
    *event = plant_completed(it) != 0;
    *terminate = false;
    return fmi3OK;
}

CALL(EXCHANGE, fmi3SetTime, (fmi3Instance instance, fmi3Float64 time),
     PLANT_EVENT | PLANT_CONTINUOUS, plant_set_time(it, time))
CALL(EXCHANGE, fmi3SetContinuousStates, (fmi3Instance instance, const fmi3Float64 x[], size_t n),
     PLANT_EVENT | PLANT_CONTINUOUS, plant_set_states(it, x, n))
CALL(EXCHANGE, fmi3GetContinuousStateDerivatives, (fmi3Instance instance, fmi3Float64 derivatives[], size_t n),
     ANY, plant_get_rates(it, derivatives, n))

CALL(EXCHANGE, fmi3GetEventIndicators, (fmi3Instance instance, fmi3Float64 indicators[], size_t n),
     ANY, plant_get_indicators(it, indicators, n))
CALL(EXCHANGE, fmi3GetContinuousStates, (fmi3Instance instance, fmi3Float64 x[], size_t n),
     ANY, plant_get_states(it, x, n))
CALL(EXCHANGE, fmi3GetNominalsOfContinuousStates, (fmi3Instance instance, fmi3Float64 nominals[], size_t n),
     ANY, plant_get_nominals(it, nominals, n))

fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance instance, size_t *n) {
    EXCHANGE("fmi3GetNumberOfEventIndicators", ANY);
    NEEDS(n, "the place for the number");
    *n = (size_t)it->model->n_senses;
    return fmi3OK;
}

fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance instance, size_t *n) {
    EXCHANGE("fmi3GetNumberOfContinuousStates", ANY);
    NEEDS(n, "the place for the number");
    *n = (size_t)it->states;
    return fmi3OK;
}

/* Co-simulation */

#define COSIMULATION(call, phases) \
    ENTER(call, phases);           \
    if (it->now.exchange != 0.0) return (fmi3Status)plant_say(it, PLANT_ERROR, "%s: this instance is for model exchange", call)

fmi3Status fmi3EnterStepMode(fmi3Instance instance) {
    COSIMULATION("fmi3EnterStepMode", PLANT_EVENT);
    it->now.phase = PLANT_STEP;
    return fmi3OK;
}

CALL(COSIMULATION, fmi3GetOutputDerivatives,
     (fmi3Instance instance, const fmi3ValueReference refs[], size_t n, const fmi3Int32 orders[], fmi3Float64 values[],
      size_t size),
     PLANT_STEP | PLANT_STEPPING | PLANT_TERMINATED, plant_get_output_derivatives(it, refs, n, orders, values, size))

/* After each internal step: the importer may read, set continuous inputs, and ask to end the step at some time, which is
   done at the end of the first internal step that gets there. */
static int intermediate_update(void *context, double time, int final) {
    instance_data *own = context;
    fmi3Boolean requested = false;
    fmi3Float64 until = time;
    own->intermediate(own->environment, time, !final, true, true, own->early && !final, &requested, &until);
    if (own->early && requested) own->return_time = until;
    return own->return_time <= time;
}

fmi3Status fmi3DoStep(fmi3Instance instance, fmi3Float64 time, fmi3Float64 step, fmi3Boolean no_return, fmi3Boolean *event,
                      fmi3Boolean *terminate, fmi3Boolean *early, fmi3Float64 *last) {
    (void)no_return;
    COSIMULATION("fmi3DoStep", PLANT_STEP);
    NEEDS(event, "the place for eventHandlingNeeded");
    NEEDS(terminate, "the place for terminateSimulation");
    NEEDS(early, "the place for earlyReturn");
    NEEDS(last, "the place for lastSuccessfulTime");
    instance_data *own = instance;
    own->return_time = INFINITY;
    const int status = plant_step(it, time, step, own->intermediate ? intermediate_update : NULL, own, last);
    *event = *terminate = false;
    *early = status == PLANT_OK && *last < time + step;
    return (fmi3Status)status;
}
