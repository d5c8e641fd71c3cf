/* The door of an FMU of FMI 3.0 in front of pythonfmu3's library. What that has and the FMU offers is passed on; this
   door

   - gives it a resource folder that it does not decode (it takes %20 and file:// out of a path), and a logger where
     the client gave none (it calls what it was given without looking);
   - tells the slave the times of enterInitializationMode and how many values a call has room for, and answers *error*
     where the slave refuses, none of which pythonfmu3 does;
   - fills what pythonfmu3 leaves as it was at the end of a step;
   - refuses what pythonfmu3 answers with a C++ exception, which ends the host, and what a co-simulation FMU without
     events does not offer. */

#include <stdbool.h>

#include "front.h"

typedef void Logger(void *environment, Status status, String category, String message);

static void no_logger(void *environment, Status status, String category, String message) {
    (void)environment, (void)status, (void)category, (void)message;
}

static Component refused(Logger *logger, void *environment, String why, String what) {
    char message[PATH_MAX + 64];
    snprintf(message, sizeof message, "%s: %s", why, what);
    logger(environment, 3, "logStatusError", message);
    return NULL;
}

typedef Component Instantiate(String, String, String, bool, bool, bool, bool, const Reference[], size_t, void *,
                              Logger *, void (*)(void));

EXPORT Component fmi3InstantiateCoSimulation(String name, String token, String path, bool visible, bool logging,
                                             bool events, bool early, const Reference required[], size_t n,
                                             void *environment, Logger *logger, void (*update)(void)) {
    Instantiate *behind = NULL;
    if (library) *(void **)&behind = dlsym(library, "fmi3InstantiateCoSimulation");
    if (!name) name = "";
    if (!logger) logger = no_logger;
    if (!behind) return refused(logger, environment, "pythonfmu3's library does not load", BEHIND);
    Resources it = opened(path);
    call = (Call){.makes = 1, .logging = logging, .token = token, .required = required, .n_required = n};
    Component made = it.readable ? behind(name, token, it.readable, visible, logging, events, early, required, n,
                                          environment, logger, update)
                                 : refused(logger, environment, "the resource folder does not open",
                                           path ? path : "NULL");
    closed(&it);
    call = (Call){0};
    return made;
}

EXPORT Component fmi3InstantiateModelExchange(void) { return NULL; }
EXPORT Component fmi3InstantiateScheduledExecution(void) { return NULL; }

PASS(String, fmi3GetVersion, (void), (), "3.0")
PASS_STATUS(fmi3SetDebugLogging, (Component c, bool on, size_t n, const String categories[]), (c, on, n, categories))
PASS_STATUS(fmi3Reset, (Component c), (c))
PASS_REFUSABLE(fmi3EnterInitializationMode,
               (Component c, bool defined, double tolerance, double start, bool stops, double stop),
               (c, defined, tolerance, start, stops, stop),
               call.times = stops ? 2 : 1; call.start = start; call.stop = stop)
PASS_REFUSABLE(fmi3ExitInitializationMode, (Component c), (c), )
PASS_REFUSABLE(fmi3Terminate, (Component c), (c), )

#define PASS_VALUE(name, type)                                                                                 \
    PASS_REFUSABLE(name, (Component c, const Reference vr[], size_t n, type value[], size_t values),           \
                   (c, vr, n, value, values), call.values = values)
#define PASS_VALUES(sort, type) PASS_VALUE(fmi3Get##sort, type) PASS_VALUE(fmi3Set##sort, const type)
PASS_VALUES(Float64, double)
PASS_VALUES(Boolean, bool)
PASS_VALUES(Int32, int)

/* No variable is of these types: the slave refuses the first reference, whatever there is besides. */
#define NO_VALUE(name, ask)                                                                                    \
    EXPORT Status name(Component c, const Reference vr[], size_t n);                                           \
    EXPORT Status name(Component c, const Reference vr[], size_t n) { return ask(c, vr, n, NULL, 0); }
#define NO_VALUES(sort) NO_VALUE(fmi3Get##sort, fmi3GetInt32) NO_VALUE(fmi3Set##sort, fmi3SetInt32)
NO_VALUES(Float32) NO_VALUES(Int8) NO_VALUES(UInt8) NO_VALUES(Int16) NO_VALUES(UInt16) NO_VALUES(UInt32)
NO_VALUES(Int64) NO_VALUES(UInt64) NO_VALUES(String) NO_VALUES(Binary) NO_VALUES(Clock)

PASS_STATUS(fmi3GetFMUState, (Component c, void **state), (c, state))
PASS_REFUSABLE(fmi3SetFMUState, (Component c, void *state), (c, state), NEED(state))
PASS_REFUSABLE(fmi3FreeFMUState, (Component c, void **state), (c, &held), TAKE(state, held))
PASS_STATUS(fmi3SerializedFMUStateSize, (Component c, void *state, size_t *size), (c, state, size))
PASS_STATUS(fmi3SerializeFMUState, (Component c, void *state, unsigned char bytes[], size_t n), (c, state, bytes, n))
PASS_STATUS(fmi3DeserializeFMUState, (Component c, const unsigned char bytes[], size_t n, void **state),
            (c, bytes, n, state))
PASS_REFUSABLE(fmi3DoStep,
               (Component c, double time, double step, bool fixed, bool *event, bool *terminate, bool *early,
                double *reached),
               (c, time, step, fixed, event, terminate, early, reached), *event = *terminate = *early = false)

EXPORT void fmi3FreeInstance(Component c) {
    void (*behind)(Component) = NULL;
    if (library) *(void **)&behind = dlsym(library, "fmi3FreeInstance");
    if (c && behind) behind(c);
}

REFUSE(fmi3EnterConfigurationMode) REFUSE(fmi3ExitConfigurationMode) REFUSE(fmi3EnterEventMode)
REFUSE(fmi3EnterStepMode) REFUSE(fmi3UpdateDiscreteStates) REFUSE(fmi3EvaluateDiscreteStates)
REFUSE(fmi3EnterContinuousTimeMode) REFUSE(fmi3CompletedIntegratorStep) REFUSE(fmi3SetTime)
REFUSE(fmi3SetContinuousStates) REFUSE(fmi3GetContinuousStateDerivatives) REFUSE(fmi3GetEventIndicators)
REFUSE(fmi3GetContinuousStates) REFUSE(fmi3GetNominalsOfContinuousStates) REFUSE(fmi3GetNumberOfEventIndicators)
REFUSE(fmi3GetNumberOfContinuousStates) REFUSE(fmi3GetNumberOfVariableDependencies) REFUSE(fmi3GetVariableDependencies)
REFUSE(fmi3GetDirectionalDerivative) REFUSE(fmi3GetAdjointDerivative) REFUSE(fmi3GetOutputDerivatives)
REFUSE(fmi3GetIntervalDecimal) REFUSE(fmi3GetIntervalFraction) REFUSE(fmi3GetShiftDecimal) REFUSE(fmi3GetShiftFraction)
REFUSE(fmi3SetIntervalDecimal) REFUSE(fmi3SetIntervalFraction) REFUSE(fmi3SetShiftDecimal) REFUSE(fmi3SetShiftFraction)
REFUSE(fmi3ActivateModelPartition)
