/* The door of an FMU in front of pythonfmu's library: FMI 2.0's functions, passed on unchanged but for
   fmi2Instantiate, which

   - turns the resource URI into a path. pythonfmu decodes %20 alone, and crashes the host when it does not find its
     files under what is left (a folder with {}, %, or letters beyond ASCII);
   - has messages logged (the slave's are warnings and errors alone) wherever the client gave a logger;

   and for the functions that get and set values or lead through an instance's life: where the slave refused by
   mbdy_refuse, they answer so.

   pythonfmu's library lies beside this one and is loaded from a copy that is gone at once: it never leaves a process,
   and would crash it when the client unpacks the FMU into the same folder again. All FMUs of ours in a process share
   it. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define BEHIND "pythonfmu-export.so"
#ifndef BEHIND_HASH
#error BEHIND_HASH is to be a text that names the contents of the library behind
#endif

typedef void *Component;
typedef const char *String;
typedef int Status; /* fmi2Status: 3 is fmi2Error, 4 is fmi2Fatal */
typedef unsigned int Reference;

typedef struct {
    void (*logger)(void *environment, String instance, Status status, String category, String message, ...);
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*finished)(void *, Status);
    void *environment;
} Callbacks;

static void *library;

extern int __cxa_atexit(void (*function)(void *), void *argument, void *library);

static int copied(const char *from, const char *to) {
    char block[65536];
    ssize_t n = -1;
    int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    if (in >= 0 && out >= 0)
        while ((n = read(in, block, sizeof block)) > 0)
            if (write(out, block, (size_t)n) != n) break;
    if (in >= 0) close(in);
    if (out >= 0) close(out);
    return n == 0;
}

/* pythonfmu 0.7 lets go of its interpreter's state twice as a process ends, the second time of freed memory. Done
   before, which a function registered last is, both find nothing. */
static void *in_order(void *opened) {
    void (*let_go)(void *) = NULL;
    if (opened) *(void **)&let_go = dlsym(opened, "finalizePythonInterpreter");
    if (let_go) __cxa_atexit(let_go, NULL, NULL);
    return opened;
}

/* The library at `path`, loaded from a copy under a name of this process, by which a later call finds it again;
   loaded from `path` itself where there is no temporary folder or nothing may be run from it. */
static void *loaded_once(const char *path) {
    char folder[PATH_MAX - 64], copy[PATH_MAX];
    const char *temporary = getenv("TMPDIR");
    if (!temporary || *temporary != '/' || strlen(temporary) > sizeof folder / 2) temporary = "/tmp";
    snprintf(folder, sizeof folder, "%s/mbdy-%ld-" BEHIND_HASH, temporary, (long)getpid());
    snprintf(copy, sizeof copy, "%s/" BEHIND, folder);
    void *found = dlopen(copy, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (found) return found;
    if (mkdir(folder, 0700) == 0) {
        if (copied(path, copy)) found = dlopen(copy, RTLD_NOW | RTLD_LOCAL);
        unlink(copy);
        rmdir(folder);
    }
    return in_order(found ? found : dlopen(path, RTLD_NOW | RTLD_LOCAL));
}

/* As soon as this library is loaded: a path that the host gave relative to its folder is still right then. */
__attribute__((constructor)) static void open_library(void) {
    Dl_info here;
    char path[PATH_MAX];
    if (!dladdr((void *)&library, &here) || !here.dli_fname) return;
    const char *slash = strrchr(here.dli_fname, '/');
    int folder = slash ? (int)(slash - here.dli_fname) + 1 : 0;
    snprintf(path, sizeof path, "%.*s" BEHIND, folder, here.dli_fname);
    library = loaded_once(path);
}

static int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The path that a file URI means, in memory to be freed: file:///a, file:/a, file://localhost/a. What is no URI is
   a path already. */
static char *path_of(String uri) {
    char *path = malloc(strlen(uri) + 1), *to = path;
    if (!path) return NULL;
    if (strncmp(uri, "file:", 5) != 0) return strcpy(path, uri);
    uri += 5;
    if (strncmp(uri, "//", 2) == 0) {
        String slash = strchr(uri + 2, '/');
        uri = slash ? slash : uri + strlen(uri);
    }
    while (*uri) {
        if (*uri == '%' && digit(uri[1]) >= 0 && digit(uri[2]) >= 0) {
            *to++ = (char)(16 * digit(uri[1]) + digit(uri[2]));
            uri += 3;
        } else {
            *to++ = *uri++;
        }
    }
    *to = '\0';
    return path;
}

/* The name under which pythonfmu reads the folder opened as `folder`: its own, or the descriptor's where pythonfmu
   would decode it a second time. */
static String readable(const char *path, int folder, char *spare, size_t size) {
    if (!strstr(path, "%20") && !strstr(path, "file://")) return path;
    snprintf(spare, size, "/proc/self/fd/%d", folder);
    return spare;
}

static Component refused(String name, const Callbacks *functions, String why, String what) {
    if (functions && functions->logger)
        functions->logger(functions->environment, name, 3, "logStatusError", "%s: %s", why, what);
    return NULL;
}

typedef Component Instantiate(String, int, String, String, const Callbacks *, int, int);

EXPORT Component fmi2Instantiate(String name, int type, String guid, String uri, const Callbacks *functions,
                                 int visible, int logging) {
    char spare[64];
    Instantiate *behind = NULL;
    if (library) *(void **)&behind = dlsym(library, "fmi2Instantiate");
    if (!name) name = "";
    if (!behind) return refused(name, functions, "pythonfmu's library does not load", BEHIND);
    if (!functions || !functions->logger) return NULL; /* pythonfmu logs through it without looking */
    char *path = uri ? path_of(uri) : NULL;
    if (!path) return refused(name, functions, "no resource location", uri ? uri : "NULL");
    int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    Component made = folder < 0 ? refused(name, functions, "the resource folder does not open", path)
                                : behind(name, type, guid, readable(path, folder, spare, sizeof spare), functions,
                                         visible, 1);
    (void)logging;
    if (folder >= 0) close(folder);
    free(path);
    return made;
}

/* Of the call at hand in this thread: pythonfmu knows no other answer than fmi2OK, or fmi2Fatal for good. */
static _Thread_local Status refusal;

EXPORT void mbdy_refuse(Status status);
EXPORT void mbdy_refuse(Status status) { refusal = status; }

/* All others: the same function of the library behind. */
#define PASS(result, name, parameters, arguments, without)                                                     \
    EXPORT result name parameters {                                                                            \
        static result(*behind) parameters;                                                                     \
        if (!behind && library) *(void **)&behind = dlsym(library, #name);                                     \
        return behind ? behind arguments : without;                                                            \
    }
#define PASS_STATUS(name, parameters, arguments) PASS(Status, name, parameters, arguments, 4)

PASS(String, fmi2GetTypesPlatform, (void), (), "default")
PASS(String, fmi2GetVersion, (void), (), "2.0")
PASS_STATUS(fmi2SetDebugLogging, (Component c, int on, size_t n, const String categories[]), (c, on, n, categories))
PASS_STATUS(fmi2Reset, (Component c), (c))
#define PASS_REFUSABLE(name, parameters, arguments)                                                            \
    EXPORT Status name parameters {                                                                            \
        static Status(*behind) parameters;                                                                     \
        if (!behind && library) *(void **)&behind = dlsym(library, #name);                                     \
        refusal = 0;                                                                                           \
        Status answer = behind ? behind arguments : 4;                                                         \
        return answer ? answer : refusal;                                                                      \
    }
PASS_REFUSABLE(fmi2SetupExperiment, (Component c, int b, double tolerance, double start, int d, double stop),
               (c, b, tolerance, start, d, stop))
PASS_REFUSABLE(fmi2EnterInitializationMode, (Component c), (c))
PASS_REFUSABLE(fmi2ExitInitializationMode, (Component c), (c))
PASS_REFUSABLE(fmi2Terminate, (Component c), (c))
#define PASS_VALUE(name, type) PASS_REFUSABLE(name, (Component c, const Reference vr[], size_t n, type value[]), \
                                              (c, vr, n, value))
#define PASS_VALUES(sort, type) PASS_VALUE(fmi2Get##sort, type) PASS_VALUE(fmi2Set##sort, const type)
PASS_VALUES(Real, double)
PASS_VALUES(Integer, int)
PASS_VALUES(Boolean, int)
PASS_VALUE(fmi2GetString, String)
/* No variable is a String: the slave refuses the first reference, whatever the text. pythonfmu would read it as UTF-8,
   and what is none would be fmi2Fatal. */
static const String no_text[] = {""};
PASS_REFUSABLE(fmi2SetString, (Component c, const Reference vr[], size_t n, const String value[]),
               (c, vr, n ? 1 : 0, n ? no_text : value))
PASS_STATUS(fmi2GetFMUstate, (Component c, void **state), (c, state))
PASS_STATUS(fmi2SetFMUstate, (Component c, void *state), (c, state))
PASS_STATUS(fmi2FreeFMUstate, (Component c, void **state), (c, state))
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
PASS_STATUS(fmi2DoStep, (Component c, double time, double step, int fixed), (c, time, step, fixed))
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

/* Functions of model exchange, which this FMU does not offer: some clients look for all names as they load it. Their
   arguments are not looked at. */
#define REFUSE(name)                                                                                           \
    EXPORT Status name(void) { return 3; }

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
