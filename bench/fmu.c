/* Times calls of the native FMU from C, beside the bare core's: bench/native_fmu.py compiles and runs this.

   fmu MODE ROUNDS COUNT STEP CORE.so FMU2.so TOKEN2 FMU3.so TOKEN3 [PEER.so ...] < PLAN

   MODE is steps, partials, worst or peers. PLAN: the core's s, u and p, each with its size before; then of FMI 2 and of FMI 3
   the lists of value references (their number, that of their values, they themselves) in the order of struct lists; for
   peers the numbers of the system (peers/system.h), their number before. Prints a line for each thing timed: its name, then
   nanoseconds a call in each round, all taken in turn. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "core.h"
#include "fmi2FunctionTypes.h"
#include "fmi3FunctionTypes.h"

struct list {
    size_t n, size;
    unsigned *refs;
    double *values;
};

/* What is set and got around a step; all rates, all outputs, one state, one input, all states and inputs. */
struct lists {
    struct list torques, seen, rates, outputs, state, input, knowns;
};

struct fmu {
    int version;
    void *instance;
    double time, step, *x;
    struct lists lists;
    union {
        struct {
            fmi2DoStepTYPE *step;
            fmi2GetRealTYPE *get;
            fmi2SetRealTYPE *set;
            fmi2GetDerivativesTYPE *rates;
            fmi2GetContinuousStatesTYPE *states;
            fmi2SetContinuousStatesTYPE *set_states;
            fmi2GetDirectionalDerivativeTYPE *directional;
        } two;
        struct {
            fmi3DoStepTYPE *step;
            fmi3GetFloat64TYPE *get;
            fmi3SetFloat64TYPE *set;
            fmi3GetContinuousStateDerivativesTYPE *rates;
            fmi3GetContinuousStatesTYPE *states;
            fmi3SetContinuousStatesTYPE *set_states;
            fmi3GetDirectionalDerivativeTYPE *directional;
            fmi3GetAdjointDerivativeTYPE *adjoint;
        } three;
    };
};

struct core {
    mbdy_core *of;
    double step;
    __typeof__(mbdy_advance) *advance;
    __typeof__(mbdy_outputs) *outputs;
};

struct timed {
    const char *name;
    void (*call)(void *);
    void *of;
};

static void fail(const char *what, const char *which) {
    fprintf(stderr, "%s: %s\n", what, which);
    exit(1);
}

static void good(int status, const char *call) {
    if (status) fail("not OK", call);
}

static void *opened(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) fail("does not load", dlerror());
    return library;
}

static void *function(void *library, const char *name) {
    void *found = dlsym(library, name);
    if (!found) fail("no such function", name);
    return found;
}

static void number(double *value) {
    if (scanf("%lf", value) != 1) fail("the plan", "ends early");
}

static struct list list(void) {
    double n, size, ref;
    number(&n), number(&size);
    struct list made = {(size_t)n, (size_t)size, calloc((size_t)n + 1, sizeof(unsigned)), calloc((size_t)size + 1, sizeof(double))};
    for (size_t i = 0; i < made.n; i++) number(&ref), made.refs[i] = (unsigned)ref;
    return made;
}

static struct lists lists(void) {
    struct list read[7];
    for (int i = 0; i < 7; i++) read[i] = list();
    read[4].values[0] = read[5].values[0] = 1.0; /* seeds */
    return (struct lists){read[0], read[1], read[2], read[3], read[4], read[5], read[6]};
}

/* A function of the core's by name, which its library has behind one door. */
typedef void any_function(void);
static any_function *(*door)(const char *name);

static any_function *own(const char *name) {
    any_function *found = door(name);
    if (!found) fail("no such function", name);
    return found;
}
#define OWN(name) ((__typeof__(name) *)own(#name))

static struct core core(const char *path, double step) {
    *(void **)&door = function(opened(path), "mbdy_door");
    struct core made = {OWN(mbdy_new)(OWN(mbdy_this)(), RK4, NULL), step, OWN(mbdy_advance), OWN(mbdy_outputs)};
    if (!made.of) fail("no memory", "for a core");
    const int from[] = {MBDY_S, MBDY_U, MBDY_P};
    for (int i = 0; i < 3; i++) {
        double size, *to = OWN(mbdy_vector)(made.of, from[i]);
        number(&size);
        for (int k = 0; k < (int)size; k++) number(to + k);
    }
    good(OWN(mbdy_prepare)(made.of), "mbdy_prepare");
    good(OWN(mbdy_start)(made.of), "mbdy_start");
    return made;
}

static void say2(fmi2ComponentEnvironment e, fmi2String name, fmi2Status status, fmi2String category, fmi2String text, ...) {
    (void)e, (void)name, (void)status;
    va_list values;
    va_start(values, text);
    fprintf(stderr, "%s: ", category);
    vfprintf(stderr, text, values);
    fputc('\n', stderr);
    va_end(values);
}

static void say3(fmi3InstanceEnvironment e, fmi3Status status, fmi3String category, fmi3String text) {
    (void)e, (void)status;
    fprintf(stderr, "%s: %s\n", category, text);
}

static struct fmu fmu2(const char *path, const char *token, double step, int exchange) {
    static const fmi2CallbackFunctions callbacks = {say2, calloc, free, NULL, NULL};
    void *at = opened(path);
    struct fmu f = {.version = 2, .step = step};
    fmi2InstantiateTYPE *instantiate = function(at, "fmi2Instantiate");
    f.instance = instantiate("bench", exchange ? fmi2ModelExchange : fmi2CoSimulation, token, "", &callbacks, 0, 0);
    if (!f.instance) fail("no instance of", path);
    fmi2SetupExperimentTYPE *experiment = function(at, "fmi2SetupExperiment");
    good((int)experiment(f.instance, 0, 0.0, 0.0, 0, 0.0), "fmi2SetupExperiment");
    good((int)((fmi2EnterInitializationModeTYPE *)function(at, "fmi2EnterInitializationMode"))(f.instance), "fmi2EnterInit...");
    good((int)((fmi2ExitInitializationModeTYPE *)function(at, "fmi2ExitInitializationMode"))(f.instance), "fmi2ExitInit...");
    f.two.step = function(at, "fmi2DoStep"), f.two.get = function(at, "fmi2GetReal"), f.two.set = function(at, "fmi2SetReal");
    f.two.states = function(at, "fmi2GetContinuousStates"), f.two.set_states = function(at, "fmi2SetContinuousStates");
    f.two.rates = function(at, "fmi2GetDerivatives"), f.two.directional = function(at, "fmi2GetDirectionalDerivative");
    return f;
}

static struct fmu fmu3(const char *path, const char *token, double step, int exchange) {
    void *at = opened(path);
    struct fmu f = {.version = 3, .step = step};
    fmi3InstantiateModelExchangeTYPE *for_exchange = function(at, "fmi3InstantiateModelExchange");
    fmi3InstantiateCoSimulationTYPE *for_steps = function(at, "fmi3InstantiateCoSimulation");
    f.instance = exchange ? for_exchange("bench", token, "", false, false, NULL, say3)
                          : for_steps("bench", token, "", false, false, false, false, NULL, 0, NULL, say3, NULL);
    if (!f.instance) fail("no instance of", path);
    fmi3EnterInitializationModeTYPE *enter = function(at, "fmi3EnterInitializationMode");
    good((int)enter(f.instance, false, 0.0, 0.0, false, 0.0), "fmi3EnterInitializationMode");
    good((int)((fmi3ExitInitializationModeTYPE *)function(at, "fmi3ExitInitializationMode"))(f.instance), "fmi3ExitInit...");
    f.three.step = function(at, "fmi3DoStep"), f.three.get = function(at, "fmi3GetFloat64");
    f.three.set = function(at, "fmi3SetFloat64"), f.three.rates = function(at, "fmi3GetContinuousStateDerivatives");
    f.three.states = function(at, "fmi3GetContinuousStates");
    f.three.set_states = function(at, "fmi3SetContinuousStates");
    f.three.directional = function(at, "fmi3GetDirectionalDerivative"), f.three.adjoint = function(at, "fmi3GetAdjointDerivative");
    return f;
}

/* Calls of an FMU of either version */

static void do_step(void *of) {
    struct fmu *f = of;
    fmi3Boolean event, terminate, early;
    double last;
    good(f->version == 2 ? (int)f->two.step(f->instance, f->time, f->step, fmi2True)
                         : (int)f->three.step(f->instance, f->time, f->step, true, &event, &terminate, &early, &last), "doStep");
    f->time += f->step;
}

static void get(struct fmu *f, const struct list *l) {
    good(f->version == 2 ? (int)f->two.get(f->instance, l->refs, l->n, l->values)
                         : (int)f->three.get(f->instance, l->refs, l->n, l->values, l->size), "get");
}

static void set(struct fmu *f, const struct list *l) {
    good(f->version == 2 ? (int)f->two.set(f->instance, l->refs, l->n, l->values)
                         : (int)f->three.set(f->instance, l->refs, l->n, l->values, l->size), "set");
}

static void step_and_get(void *of) { do_step(of), get(of, &((struct fmu *)of)->lists.seen); }

static void set_step_and_get(void *of) { set(of, &((struct fmu *)of)->lists.torques), step_and_get(of); }

/* The instance at a new point. */
static void put(struct fmu *f) {
    const size_t n = f->lists.rates.size;
    f->x[0] += 1e-12;
    good(f->version == 2 ? (int)f->two.set_states(f->instance, f->x, n) : (int)f->three.set_states(f->instance, f->x, n), "set");
}

static void rates(void *of) {
    struct fmu *f = of;
    const struct list *l = &f->lists.rates;
    put(f);
    good(f->version == 2 ? (int)f->two.rates(f->instance, l->values, l->size)
                         : (int)f->three.rates(f->instance, l->values, l->size), "rates");
}

/* An input is set first, so that there are new outputs to evaluate. */
static void outputs(void *of) { set(of, &((struct fmu *)of)->lists.input), get(of, &((struct fmu *)of)->lists.outputs); }

static void directional(struct fmu *f, const struct list *of, const struct list *by) {
    good(f->version == 2
             ? (int)f->two.directional(f->instance, of->refs, of->n, by->refs, by->n, by->values, of->values)
             : (int)f->three.directional(f->instance, of->refs, of->n, by->refs, by->n, by->values, by->size, of->values, of->size),
         "directional derivative");
}

static void adjoint(struct fmu *f, const struct list *of) {
    const struct list *by = &f->lists.knowns;
    good((int)f->three.adjoint(f->instance, of->refs, of->n, by->refs, by->n, of->values, of->size, by->values, by->size),
         "adjoint derivative");
}

/* Partial derivatives at a new point, and a further direction at the same one. */
#define BOTH(name, call) \
    static void name##_more(void *fmu) { \
        struct fmu *f = fmu; \
        call; \
    } \
    static void name(void *fmu) { put(fmu), name##_more(fmu); }
BOTH(rates_by_state, directional(f, &f->lists.rates, &f->lists.state))
BOTH(rates_by_input, directional(f, &f->lists.rates, &f->lists.input))
BOTH(outputs_by_input, directional(f, &f->lists.outputs, &f->lists.input))
BOTH(adjoint_of_rates, adjoint(f, &f->lists.rates))
BOTH(adjoint_of_outputs, adjoint(f, &f->lists.outputs))

/* Peers of peers/system.h */

struct peer {
    void *made;
    void (*call)(int count, void *made);
};

static void peer_call(void *of) {
    const struct peer *p = of;
    p->call(1, p->made);
}

/* Calls of the core */

static void advance(void *of) {
    const struct core *c = of;
    good(c->advance(c->of, c->step, c->step, MBDY_HELD), "mbdy_advance");
}

static void whole_step(void *of) {
    const struct core *c = of;
    advance(of);
    c->outputs(c->of, NULL, NULL, NULL);
}

static double nanoseconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

/* Processor time, so that what others do in between does not count. */
static void in_turn(const struct timed *each, size_t n, int rounds, long count) {
    double *taken = calloc(n * (size_t)rounds, sizeof *taken);
    for (size_t i = 0; i < n; i++)
        for (long k = 0; k < count / 10 + 1; k++) each[i].call(each[i].of);
    for (int round = 0; round < rounds; round++)
        for (size_t i = 0; i < n; i++) {
            const double begin = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
            for (long k = 0; k < count; k++) each[i].call(each[i].of);
            taken[i * (size_t)rounds + (size_t)round] = (nanoseconds(CLOCK_THREAD_CPUTIME_ID) - begin) / (double)count;
        }
    for (size_t i = 0; i < n; i++) {
        printf("%s", each[i].name);
        for (int round = 0; round < rounds; round++) printf(" %.2f", taken[i * (size_t)rounds + (size_t)round]);
        putchar('\n');
    }
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* How often another process had the processor instead of this one. */
static long switches(void) {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

/* Median, 99.99 % of all, worst; sorts. */
static void distribution(double *taken, size_t n) {
    qsort(taken, n, sizeof *taken, ascending);
    if (n) printf(" %.0f %.0f %.0f", taken[n / 2], taken[(size_t)(0.9999 * (double)n)], taken[n - 1]);
}

/* Wall time of each single call, first of those during which no other process ran here, then of all. */
static void worst(const struct timed *each, size_t n, long count) {
    const int locked = mlockall(MCL_CURRENT | MCL_FUTURE) == 0;
    const size_t bytes = n * (size_t)count * sizeof(double);
    double *all = malloc(bytes), *alone = malloc(bytes);
    size_t left[16] = {0};
    if (!all || !alone) fail("no memory", "for the times");
    memset(all, 1, bytes), memset(alone, 1, bytes);
    for (size_t k = 0; k < (size_t)count; k++)
        for (size_t i = 0; i < n; i++) {
            const long before = switches();
            const double begin = nanoseconds(CLOCK_MONOTONIC);
            each[i].call(each[i].of);
            const double taken = nanoseconds(CLOCK_MONOTONIC) - begin;
            all[i * (size_t)count + k] = taken;
            if (switches() == before) alone[i * (size_t)count + left[i]++] = taken;
        }
    for (size_t i = 0; i < n; i++) {
        printf("%s", each[i].name);
        distribution(alone + i * (size_t)count, left[i]);
        distribution(all + i * (size_t)count, (size_t)count);
        putchar('\n');
    }
    printf("locked %d\n", locked);
}

/* As long as a step, but without one: what the machine itself does to any program. */
static void idle(void *of) {
    (void)of;
    for (const double end = nanoseconds(CLOCK_MONOTONIC) + 4500.0; nanoseconds(CLOCK_MONOTONIC) < end;) {
    }
}

#define EACH(table) table, sizeof table / sizeof *table
#define PARTIALS(v, f) \
    {"rates" v, rates, f}, {"outputs" v, outputs, f}, {"rates_by_state" v, rates_by_state, f}, \
    {"rates_by_state_more" v, rates_by_state_more, f}, {"rates_by_input" v, rates_by_input, f}, \
    {"rates_by_input_more" v, rates_by_input_more, f}, {"outputs_by_input" v, outputs_by_input, f}

int main(int argc, char **argv) {
    if (argc < 10) fail("usage", "fmu MODE ROUNDS COUNT STEP CORE.so FMU2.so TOKEN2 FMU3.so TOKEN3 [PEER.so ...] < PLAN");
    const char *mode = argv[1];
    const int rounds = atoi(argv[2]), peers = strcmp(mode, "peers") == 0;
    const int exchange = peers || strcmp(mode, "partials") == 0;
    const long count = atol(argv[3]);
    const double step = atof(argv[4]);
    struct core bare = core(argv[5], step);
    struct fmu two = fmu2(argv[6], argv[7], step, exchange), three = fmu3(argv[8], argv[9], step, exchange);
    two.lists = lists(), three.lists = lists();
    if (exchange) {
        const size_t n = two.lists.rates.size;
        two.x = calloc(n + 1, sizeof(double)), three.x = calloc(n + 1, sizeof(double));
        good((int)two.two.states(two.instance, two.x, n), "fmi2GetContinuousStates");
        good((int)three.three.states(three.instance, three.x, n), "fmi3GetContinuousStates");
    }
    const struct timed steps[] = {
        {"advance", advance, &bare}, {"step", whole_step, &bare},
        {"step2", do_step, &two}, {"step_get2", step_and_get, &two}, {"set_step_get2", set_step_and_get, &two},
        {"step3", do_step, &three}, {"step_get3", step_and_get, &three}, {"set_step_get3", set_step_and_get, &three},
    };
    const struct timed partials[] = {
        PARTIALS("2", &two), PARTIALS("3", &three),
        {"adjoint_of_rates3", adjoint_of_rates, &three}, {"adjoint_of_rates_more3", adjoint_of_rates_more, &three},
        {"adjoint_of_outputs3", adjoint_of_outputs, &three},
    };
    const struct timed singly[] = {
        {"idle", idle, NULL}, {"advance", advance, &bare}, {"step2", do_step, &two}, {"step3", do_step, &three},
    };
    if (peers) {
        double size;
        number(&size);
        double *numbers = calloc((size_t)size, sizeof *numbers);
        for (int i = 0; i < (int)size; i++) number(numbers + i);
        struct peer made[8];
        struct timed beside[10] = {{"rates2", rates, &two}, {"rates3", rates, &three}};
        const int n = argc - 10;
        for (int i = 0; i < n && i < 8; i++) {
            void *at = opened(argv[10 + i]);
            void *(*make)(const double *) = function(at, "peer_make");
            made[i] = (struct peer){make(numbers), function(at, "peer_call")};
            beside[2 + i] = (struct timed){argv[10 + i], peer_call, made + i};
        }
        in_turn(beside, 2 + (size_t)n, rounds, count);
    } else if (exchange) in_turn(EACH(partials), rounds, count);
    else if (strcmp(mode, "worst") == 0) worst(EACH(singly), count);
    else in_turn(EACH(steps), rounds, count);
    return 0;
}
