/* The door of an FMU of FMI 2.0 in front of pythonfmu's library: FMI's functions, passed on unchanged but for
   fmi2Instantiate, which

   - turns the resource URI into a path. pythonfmu decodes %20 alone, and crashes the host when it does not find its
     files under what is left (a folder with {}, %, or letters beyond ASCII);
   - has messages logged (the slave's are warnings and errors alone) wherever the client gave a logger;

   and for the functions that get and set values or lead through an instance's life: where the slave refused, they
   answer so. */

#include "front.h"

typedef struct {
    void (*logger)(void *environment, String instance, Status status, String category, String message, ...);
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*finished)(void *, Status);
    void *environment;
} Callbacks;

static Component refused(String name, const Callbacks *functions, String why, String what) {
    if (functions && functions->logger)
        functions->logger(functions->environment, name, 3, "logStatusError", "%s: %s", why, what);
    return NULL;
}

typedef Component Instantiate(String, int, String, String, const Callbacks *, int, int);

EXPORT Component fmi2Instantiate(String name, int type, String guid, String uri, const Callbacks *functions,
                                 int visible, int logging) {
    Instantiate *behind = NULL;
    if (library) *(void **)&behind = dlsym(library, "fmi2Instantiate");
    if (!name) name = "";
    if (!behind) return refused(name, functions, "pythonfmu's library does not load", BEHIND);
    if (!functions || !functions->logger) return NULL; /* pythonfmu logs through it without looking */
    Resources it = opened(uri);
    call = (Call){.makes = 1, .logging = logging, .token = guid};
    Component made = it.readable ? behind(name, type, guid, it.readable, functions, visible, 1)
                                 : refused(name, functions, "the resource folder does not open", uri ? uri : "NULL");
    closed(&it);
    call = (Call){0};
    return made;
}

PASS(String, fmi2GetTypesPlatform, (void), (), "default")
PASS(String, fmi2GetVersion, (void), (), "2.0")
PASS_STATUS(fmi2SetDebugLogging, (Component c, int on, size_t n, const String categories[]), (c, on, n, categories))
PASS_STATUS(fmi2Reset, (Component c), (c))
PASS_REFUSABLE(fmi2SetupExperiment, (Component c, int b, double tolerance, double start, int d, double stop),
               (c, b, tolerance, start, d, stop), )
PASS_REFUSABLE(fmi2EnterInitializationMode, (Component c), (c), )
PASS_REFUSABLE(fmi2ExitInitializationMode, (Component c), (c), )
PASS_REFUSABLE(fmi2Terminate, (Component c), (c), )
#define PASS_VALUE(name, type)                                                                                 \
    PASS_REFUSABLE(name, (Component c, const Reference vr[], size_t n, type value[]), (c, vr, n, value), call.values = n)
#define PASS_VALUES(sort, type) PASS_VALUE(fmi2Get##sort, type) PASS_VALUE(fmi2Set##sort, const type)
PASS_VALUES(Real, double)
PASS_VALUES(Integer, int)
PASS_VALUES(Boolean, int)
PASS_VALUE(fmi2GetString, String)
/* No variable is a String: the slave refuses the first reference, whatever the text. pythonfmu would read it as UTF-8,
   and what is none would be fmi2Fatal. */
static const String no_text[] = {""};
PASS_REFUSABLE(fmi2SetString, (Component c, const Reference vr[], size_t n, const String value[]),
               (c, vr, n ? 1 : 0, n ? no_text : value), )
PASS_STATUS(fmi2GetFMUstate, (Component c, void **state), (c, state))
PASS_REFUSABLE(fmi2SetFMUstate, (Component c, void *state), (c, state), NEED(state))
PASS_REFUSABLE(fmi2FreeFMUstate, (Component c, void **state), (c, &held), TAKE(state, held))
PASS_STATUS(fmi2SerializedFMUstateSize, (Component c, void *state, size_t *size), (c, state, size))
PASS_STATUS(fmi2SerializeFMUstate, (Component c, void *state, char bytes[], size_t n), (c, state, bytes, n))
PASS_STATUS(fmi2DeSerializeFMUstate, (Component c, const char bytes[], size_t n, void **state), (c, bytes, n, state))
PASS_STATUS(fmi2GetDirectionalDerivative,
            (Component c, const Reference z[], size_t nz, const Reference v[], size_t nv, const double dv[],
             double dz[]),
            (c, z, nz, v, nv, dv, dz))
PASS_STATUS(fmi2SetRealInputDerivatives,
            (Component c, const Reference vr[], size_t n, const int order[], const double value[]),
            (c, vr, n, order, value))
PASS_STATUS(fmi2GetRealOutputDerivatives,
            (Component c, const Reference vr[], size_t n, const int order[], double value[]),
            (c, vr, n, order, value))
PASS_REFUSABLE(fmi2DoStep, (Component c, double time, double step, int fixed), (c, time, step, fixed), )
PASS_STATUS(fmi2CancelStep, (Component c), (c))
PASS_STATUS(fmi2GetStatus, (Component c, int kind, Status *value), (c, kind, value))
PASS_STATUS(fmi2GetRealStatus, (Component c, int kind, double *value), (c, kind, value))
PASS_STATUS(fmi2GetIntegerStatus, (Component c, int kind, int *value), (c, kind, value))
PASS_STATUS(fmi2GetBooleanStatus, (Component c, int kind, int *value), (c, kind, value))
PASS_STATUS(fmi2GetStringStatus, (Component c, int kind, String *value), (c, kind, value))

EXPORT void fmi2FreeInstance(Component c) {
    void (*behind)(Component) = NULL;
    if (library) *(void **)&behind = dlsym(library, "fmi2FreeInstance");
    if (c && behind) behind(c);
}

/* Functions of model exchange. */
REFUSE(fmi2EnterEventMode)
REFUSE(fmi2NewDiscreteStates)
REFUSE(fmi2EnterContinuousTimeMode)
REFUSE(fmi2CompletedIntegratorStep)
REFUSE(fmi2SetTime)
REFUSE(fmi2SetContinuousStates)
REFUSE(fmi2GetDerivatives)
REFUSE(fmi2GetEventIndicators)
REFUSE(fmi2GetContinuousStates)
REFUSE(fmi2GetNominalsOfContinuousStates)
