/* real LIBRARY quiet|loud [exchange], real LIBRARY many, real LIBRARY reload: an FMU's library as importers load it.

   quiet   steps and events between getting and setting, with no system call (the kernel would end the process) and no
           allocation; loud does make one system call
   many    hundreds of instances in turn, and on threads, give each what it gives alone
   reload  instances, and the library, are made and let go hundreds of times, and nothing stays */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plant.h"
#include "sizes.h"

#define PASTE(a, b) a##b
#if FMI_VERSION == 2
#include "fmi2Functions.h"
#define FMI(name) PASTE(fmi2, name)
#define COUNT(n)
#define GetFloat64 GetReal
#define SetFloat64 SetReal
#define FMUState FMUstate
#define GetFMUState GetFMUstate
#define FreeFMUState FreeFMUstate
#define GetContinuousStateDerivatives GetDerivatives
#define OWN(X) X(Instantiate) X(SetupExperiment) X(NewDiscreteStates)
#else
#include "fmi3Functions.h"
#define FMI(name) PASTE(fmi3, name)
#define COUNT(n) , n
#define OWN(X) X(InstantiateCoSimulation) X(InstantiateModelExchange) X(UpdateDiscreteStates)
#endif
#define ALL(X)                                                                                                        \
    OWN(X)                                                                                                            \
    X(FreeInstance) X(EnterInitializationMode) X(ExitInitializationMode) X(GetFloat64) X(SetFloat64) X(SetBoolean)    \
        X(GetFMUState) X(FreeFMUState) X(DoStep) X(EnterEventMode) X(EnterContinuousTimeMode) X(SetTime)              \
            X(SetContinuousStates) X(GetContinuousStates) X(GetContinuousStateDerivatives) X(CompletedIntegratorStep) \
                X(GetDirectionalDerivative)

static struct {
    void *handle;
#define MEMBER(name) __typeof__(FMI(name)) *name;
    ALL(MEMBER)
} fmu;

static unsigned outputs[N_Y], inputs[N_U], switches[N_U];
static size_t n_outputs, n_inputs, n_numbers, n_switches; /* numbers: elements of the inputs */

/* The C library's, counted. */
static long allocations, live;
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void __libc_free(void *);

static void *counted(void *made) {
    __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
    if (made) __atomic_add_fetch(&live, 1, __ATOMIC_RELAXED);
    return made;
}

void *malloc(size_t n) { return counted(__libc_malloc(n)); }
void *calloc(size_t n, size_t size) { return counted(__libc_calloc(n, size)); }
void free(void *block) {
    if (block) __atomic_sub_fetch(&live, 1, __ATOMIC_RELAXED);
    __libc_free(block);
}
void *realloc(void *block, size_t n) {
    if (block) __atomic_sub_fetch(&live, 1, __ATOMIC_RELAXED);
    return counted(__libc_realloc(block, n));
}

static void failed(const char *what) {
    (void)!write(2, what, strlen(what));
    syscall(SYS_exit, 3);
}
static void good(int status, const char *what) {
    if (status != 0) failed(what);
}

static void load(const char *library) {
    fmu.handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!fmu.handle) failed("the library is not loaded");
#define TEXT(name) #name
#define NAME(name) TEXT(name)
#define FIND(name) \
    if (!(*(void **)&fmu.name = dlsym(fmu.handle, NAME(FMI(name))))) failed(NAME(FMI(name)));
    ALL(FIND)
}

static void find_variables(void) {
    for (unsigned ref = 0; ref < (unsigned)plant_this()->n_variables; ref++) {
        const struct plant_variable *v = &plant_this()->variables[ref];
        if (!v->size) continue;
        if (v->vector == PLANT_OUTPUT) outputs[n_outputs++] = ref;
        if (v->vector == PLANT_INPUT && v->boolean) switches[n_switches++] = ref;
        if (v->vector == PLANT_INPUT && !v->boolean) inputs[n_inputs++] = ref, n_numbers += (size_t)v->size;
    }
}

/* One instance */

#if FMI_VERSION == 2
static void *make(int exchange) {
    static const fmi2CallbackFunctions callbacks = {0};
    void *it = fmu.Instantiate("real", exchange ? fmi2ModelExchange : fmi2CoSimulation, plant_this()->token, NULL,
                               &callbacks, 0, 0);
    if (!it) failed("no instance");
    good(fmu.SetupExperiment(it, 1, 1e-6, 0.0, 0, 0.0), "experiment");
    good(fmu.EnterInitializationMode(it), "enter");
    return it;
}
static void step(void *it, double time) { good(fmu.DoStep(it, time, 2e-3, 1), "step"); }
static void update(void *it) {
    fmi2EventInfo info;
    good(fmu.NewDiscreteStates(it, &info), "update");
}
#else
static void inside_step(void *environment, double time, bool set, bool get, bool finished, bool can_return, bool *early,
                        double *until) {
    (void)environment, (void)time, (void)set, (void)get, (void)finished, (void)can_return, (void)early, (void)until;
}
static void *make(int exchange) {
    void *it = exchange ? fmu.InstantiateModelExchange("real", plant_this()->token, NULL, 0, 0, NULL, NULL)
                        : fmu.InstantiateCoSimulation("real", plant_this()->token, NULL, 0, 0, 0, 0, NULL, 0, NULL, NULL,
                                                      inside_step);
    if (!it) failed("no instance");
    good(fmu.EnterInitializationMode(it, 1, 1e-6, 0.0, 0, 0.0), "enter");
    return it;
}
static void step(void *it, double time) {
    bool event, terminate, early;
    double last;
    good(fmu.DoStep(it, time, 2e-3, 1, &event, &terminate, &early, &last), "step");
}
static void update(void *it) {
    bool told[5];
    double next;
    good(fmu.UpdateDiscreteStates(it, &told[0], &told[1], &told[2], &told[3], &told[4], &next), "update");
}
#endif

static void set_inputs(void *it, int which, int now, int jumps) {
    double u[N_U];
    FMI(Boolean) on[N_U];
    for (size_t i = 0; i < n_numbers; i++) u[i] = 1e-2 * (double)((which + 3 * now + (int)i) % 7 - 3);
    for (size_t i = 0; i < n_switches; i++) on[i] = (which + now / 10 + (int)i) % 2;
    good(fmu.SetFloat64(it, inputs, n_inputs, u COUNT(n_numbers)), "inputs");
    if (jumps) good(fmu.SetBoolean(it, switches, n_switches, on COUNT(n_switches)), "switches");
}

static void get_outputs(void *it, double y[N_Y]) {
    good(fmu.GetFloat64(it, outputs, n_outputs, y COUNT(N_Y)), "outputs");
}

static void co_simulate(void *it, int which, int from, int to) {
    for (int i = from; i < to; i++) {
        double y[N_Y], seed[4] = {1.0}, change[4];
        set_inputs(it, which, i, 1);
        step(it, 2e-3 * i);
        get_outputs(it, y);
        const size_t n = (size_t)plant_this()->variables[outputs[0]].size, m = (size_t)plant_this()->variables[inputs[0]].size;
        (void)n, (void)m;
        good(fmu.GetDirectionalDerivative(it, outputs, 1, inputs, 1, seed COUNT(m), change COUNT(n)), "derivative");
    }
}

/* Euler's steps, each tenth with an event. */
static void exchange(void *it, int which, int from, int to) {
    double x[N_X], dx[N_X], y[N_Y];
    for (int i = from; i < to; i++) {
        FMI(Boolean) event, terminate;
        if (i % 10 == 0) {
            good(fmu.EnterEventMode(it), "event mode");
            set_inputs(it, which, i, 1);
            update(it);
            good(fmu.EnterContinuousTimeMode(it), "continuous-time mode");
        }
        set_inputs(it, which, i, 0);
        good(fmu.GetContinuousStates(it, x, N_X), "states");
        good(fmu.GetContinuousStateDerivatives(it, dx, N_X), "derivatives");
        for (int k = 0; k < N_X; k++) x[k] += 1e-4 * dx[k];
        good(fmu.SetTime(it, 1e-4 * (i + 1)), "time");
        good(fmu.SetContinuousStates(it, x, N_X), "states");
        good(fmu.CompletedIntegratorStep(it, 1, &event, &terminate), "completed step");
        get_outputs(it, y);
    }
}

/* Modes of the program */

static void quiet(int loud, int exchanging) {
    static char said[80];
    const long loaded = allocations;
    void *it = make(exchanging);
    good(fmu.ExitInitializationMode(it), "exit");
    const long before = allocations;
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT)) failed("the kernel watches no system calls");
    if (loud) syscall(SYS_getpid);
    (exchanging ? exchange : co_simulate)(it, 1, 0, 10000);
    const int n = snprintf(said, sizeof said, "%ld allocations before, %ld after\n", before - loaded, allocations - before);
    (void)!write(1, said, (size_t)n);
    syscall(SYS_exit, 0); /* exit() would call more */
}

enum { MANY = 300, THREADS = 4, STEPS = 40 };
static double together[MANY][N_Y], alone[N_Y];

static void run_alone(int which, double y[N_Y]) {
    void *it = make(0);
    good(fmu.ExitInitializationMode(it), "exit");
    co_simulate(it, which, 0, STEPS);
    get_outputs(it, y);
    fmu.FreeInstance(it);
}

static void *run_share(void *argument) {
    for (int i = (int)(size_t)argument; i < MANY; i += THREADS) run_alone(i, together[i]);
    return NULL;
}

static void compare(const char *what) {
    for (int i = 0; i < MANY; i++) {
        run_alone(i, alone);
        if (memcmp(alone, together[i], sizeof alone) != 0) failed(what);
    }
    if (memcmp(together[0], together[1], sizeof alone) == 0) failed("inputs do nothing");
}

static void many(void) {
    static void *its[MANY];
    pthread_t threads[THREADS];
    for (int i = 0; i < MANY; i++) its[i] = make(0), good(fmu.ExitInitializationMode(its[i]), "exit");
    for (int now = 0; now < STEPS; now++)
        for (int i = 0; i < MANY; i++) co_simulate(its[i], i, now, now + 1);
    for (int i = 0; i < MANY; i++) get_outputs(its[i], together[i]), fmu.FreeInstance(its[i]);
    compare("in turn: other results than alone");
    memset(together, 0, sizeof together);
    for (size_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, run_share, (void *)i)) failed("no thread");
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    compare("on threads: other results than alone");
    printf("instances %d\n", MANY);
}

static long resident(void) {
    long size = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &size, &pages) != 2) failed("/proc/self/statm is not read");
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

static void reload(const char *library) {
    enum { ROUNDS = 60, SETTLED = 20 };
    long live_before = 0, resident_before = 0;
    for (int round = 0; round < ROUNDS; round++) {
        load(library);
        for (int i = 0; i < 100; i++) {
            FMI(FMUState) state = NULL;
            void *it = make(i % 2);
            good(fmu.ExitInitializationMode(it), "exit");
            if (i % 2 == 0) step(it, 0.0);
            good(fmu.GetFMUState(it, &state), "state");
            good(fmu.FreeFMUState(it, &state), "state");
            fmu.FreeInstance(it);
        }
        dlclose(fmu.handle);
        if (round == SETTLED) live_before = live, resident_before = resident();
    }
    const long blocks = live - live_before, bytes = resident() - resident_before;
    printf("blocks %ld bytes %ld\n", blocks, bytes);
}

int main(int n, char **arguments) {
    if (n < 3) return 2;
    const char *mode = arguments[2];
    find_variables();
    if (strcmp(mode, "reload") == 0) return reload(arguments[1]), 0;
    load(arguments[1]);
    if (strcmp(mode, "many") == 0) return many(), 0;
    quiet(strcmp(mode, "loud") == 0, n > 3);
    return 2;
}
