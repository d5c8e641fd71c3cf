/* A simulator in little: opens the library of an FMU, runs it in closed loop under u = bias + gains y, prints what it
 * sees. It has no Python in its process, and it calls FMI as the headers of the standard declare it.
 *
 *     host SCRIPT
 *
 * SCRIPT has a word and its values on each line:
 *
 *     library PATH        the shared library
 *     fmi 2               or 3
 *     token TEXT          guid or instantiationToken
 *     resources TEXT      URI for FMI 2, path with a separator at its end for FMI 3
 *     step H              communication step [s]
 *     steps N
 *     start VR VALUE ...  start values at a value reference
 *     measured VR N       N values at a value reference, in the order of the gains' columns
 *     commanded VR N      the same, in the order of the laws
 *     recorded VR N       the same, in the order of the columns printed
 *     law BIAS GAIN ...   of one commanded scalar; as many as there are
 *
 * A row of output is a communication point: its time and the recorded values, 17 digits each.
 */

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmi2FunctionTypes.h"
#include "fmi3FunctionTypes.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif

enum { MOST = 64, LONGEST = 4096 };

/* Values at value references: one each in FMI 2, `count` each in FMI 3. */
typedef struct {
    unsigned vr[MOST];
    size_t references, values;
} Group;

typedef struct {
    char library[LONGEST], token[LONGEST], resources[LONGEST];
    int fmi;
    long steps;
    double step;
    Group start, measured, commanded, recorded;
    double starts[MOST];
    double bias[MOST], gains[MOST][MOST];
    size_t laws;
} Script;

static void *library;
static void *instance;

static void fail(const char *what, const char *of) {
    fprintf(stderr, "%s: %s\n", what, of);
    exit(1);
}

static void check(int status, const char *call) {
    if (status != 0) {
        fprintf(stderr, "%s: status %d\n", call, status);
        exit(2);
    }
}

static void open_library(const char *path) {
#ifdef _WIN32
    library = (void *)LoadLibraryA(path);
    if (!library) fail("cannot load", path);
#else
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) fail("cannot load", dlerror());
#endif
}

/* An address as a pointer to a function: C has no cast for it, so its bytes are copied. */
static void find(const char *name, void *pointer) {
#ifdef _WIN32
    FARPROC found = GetProcAddress((HMODULE)library, name);
#else
    void *found = dlsym(library, name);
#endif
    if (!found) fail("the library has no function", name);
    memcpy(pointer, &found, sizeof found);
}

#define FIND(function) \
    function##TYPE *function; \
    find(#function, &function)

static void say2(void *environment, const char *name, fmi2Status status, const char *category, const char *text, ...) {
    va_list values;
    (void)environment;
    fprintf(stderr, "%s [%s, %d]: ", name, category, (int)status);
    va_start(values, text);
    vfprintf(stderr, text, values);
    va_end(values);
    fputc('\n', stderr);
}

static void say3(void *environment, fmi3Status status, const char *category, const char *text) {
    (void)environment;
    fprintf(stderr, "[%s, %d]: %s\n", category, (int)status, text);
}

/* FMI 2 */

static void begin2(const Script *script) {
    static const fmi2CallbackFunctions callbacks = {say2, calloc, free, NULL, NULL};
    FIND(fmi2Instantiate);
    FIND(fmi2SetupExperiment);
    FIND(fmi2EnterInitializationMode);
    FIND(fmi2ExitInitializationMode);
    FIND(fmi2SetReal);
    instance = fmi2Instantiate("plant", fmi2CoSimulation, script->token, script->resources, &callbacks, 0, 0);
    if (!instance) fail("cannot instantiate", script->library);
    check(fmi2SetupExperiment(instance, 0, 0.0, 0.0, 0, 0.0), "fmi2SetupExperiment");
    check(fmi2EnterInitializationMode(instance), "fmi2EnterInitializationMode");
    check(fmi2SetReal(instance, script->start.vr, script->start.references, script->starts), "fmi2SetReal");
    check(fmi2ExitInitializationMode(instance), "fmi2ExitInitializationMode");
}

static void get2(const Group *group, double *values) {
    FIND(fmi2GetReal);
    check(fmi2GetReal(instance, group->vr, group->references, values), "fmi2GetReal");
}

static void set2(const Group *group, const double *values) {
    FIND(fmi2SetReal);
    check(fmi2SetReal(instance, group->vr, group->references, values), "fmi2SetReal");
}

static void step2(double time, double step) {
    FIND(fmi2DoStep);
    check(fmi2DoStep(instance, time, step, 1), "fmi2DoStep");
}

static void end2(void) {
    FIND(fmi2Terminate);
    FIND(fmi2FreeInstance);
    check(fmi2Terminate(instance), "fmi2Terminate");
    fmi2FreeInstance(instance);
}

/* FMI 3 */

static void begin3(const Script *script) {
    FIND(fmi3InstantiateCoSimulation);
    FIND(fmi3EnterInitializationMode);
    FIND(fmi3ExitInitializationMode);
    FIND(fmi3SetFloat64);
    instance = fmi3InstantiateCoSimulation(
        "plant", script->token, script->resources, 0, 0, 0, 0, NULL, 0, NULL, say3, NULL
    );
    if (!instance) fail("cannot instantiate", script->library);
    check(fmi3EnterInitializationMode(instance, 0, 0.0, 0.0, 0, 0.0), "fmi3EnterInitializationMode");
    check(
        fmi3SetFloat64(instance, script->start.vr, script->start.references, script->starts, script->start.values),
        "fmi3SetFloat64"
    );
    check(fmi3ExitInitializationMode(instance), "fmi3ExitInitializationMode");
}

static void get3(const Group *group, double *values) {
    FIND(fmi3GetFloat64);
    check(fmi3GetFloat64(instance, group->vr, group->references, values, group->values), "fmi3GetFloat64");
}

static void set3(const Group *group, const double *values) {
    FIND(fmi3SetFloat64);
    check(fmi3SetFloat64(instance, group->vr, group->references, values, group->values), "fmi3SetFloat64");
}

static void step3(double time, double step) {
    fmi3Boolean event, terminate, early;
    double reached;
    FIND(fmi3DoStep);
    check(fmi3DoStep(instance, time, step, 1, &event, &terminate, &early, &reached), "fmi3DoStep");
    if (terminate || early) fail("fmi3DoStep", "it did not go to the end of the step");
}

static void end3(void) {
    FIND(fmi3Terminate);
    FIND(fmi3FreeInstance);
    check(fmi3Terminate(instance), "fmi3Terminate");
    fmi3FreeInstance(instance);
}

/* The script */

static double number(char **rest) {
    char *begin = *rest;
    double value = strtod(begin, rest);
    if (*rest == begin) fail("a number is missing", begin);
    return value;
}

static void add(Group *group, char *rest) {
    if (group->references == MOST) fail("too many values", rest);
    group->vr[group->references++] = (unsigned)number(&rest);
    group->values += (size_t)number(&rest);
    if (group->values > MOST) fail("too many values", "measured, commanded or recorded");
}

static void add_law(Script *script, char *rest) {
    size_t row = script->laws++;
    if (row == MOST) fail("too many laws", rest);
    script->bias[row] = number(&rest);
    for (size_t k = 0; k < script->measured.values; k++) script->gains[row][k] = number(&rest);
}

static void add_start(Script *script, char *rest) {
    Group *start = &script->start;
    if (start->references == MOST) fail("too many start values", rest);
    start->vr[start->references++] = (unsigned)number(&rest);
    do {
        if (start->values == MOST) fail("too many start values", rest);
        script->starts[start->values++] = number(&rest);
    } while (*rest);
}

static void take(Script *script, const char *word, char *rest) {
    if (!strcmp(word, "library")) memcpy(script->library, rest, strlen(rest) + 1);
    else if (!strcmp(word, "token")) memcpy(script->token, rest, strlen(rest) + 1);
    else if (!strcmp(word, "resources")) memcpy(script->resources, rest, strlen(rest) + 1);
    else if (!strcmp(word, "fmi")) script->fmi = (int)number(&rest);
    else if (!strcmp(word, "step")) script->step = number(&rest);
    else if (!strcmp(word, "steps")) script->steps = (long)number(&rest);
    else if (!strcmp(word, "start")) add_start(script, rest);
    else if (!strcmp(word, "measured")) add(&script->measured, rest);
    else if (!strcmp(word, "commanded")) add(&script->commanded, rest);
    else if (!strcmp(word, "recorded")) add(&script->recorded, rest);
    else if (!strcmp(word, "law")) add_law(script, rest);
    else fail("unknown word", word);
}

static void read_script(const char *path, Script *script) {
    static char line[LONGEST];
    FILE *file = fopen(path, "r");
    if (!file) fail("cannot read", path);
    while (fgets(line, sizeof line, file)) {
        char *rest = strchr(line, ' ');
        line[strcspn(line, "\r\n")] = '\0';
        if (!rest) fail("a line needs a word and a value", line);
        *rest = '\0';
        take(script, line, rest + 1);
    }
    fclose(file);
    if (script->laws != script->commanded.values) fail("each commanded scalar needs one law", path);
}

static void print_row(double time, const double *values, size_t count) {
    printf("%.17g", time);
    for (size_t k = 0; k < count; k++) printf(" %.17g", values[k]);
    putchar('\n');
}

int main(int count, char **arguments) {
    static Script script;
    double y[MOST], u[MOST], row[MOST];
    if (count != 2) fail("usage", "host SCRIPT");
    read_script(arguments[1], &script);
    int newer = script.fmi == 3;
    open_library(script.library);
    (newer ? begin3 : begin2)(&script);
    (newer ? get3 : get2)(&script.recorded, row);
    print_row(0.0, row, script.recorded.values);
    for (long i = 0; i < script.steps; i++) {
        (newer ? get3 : get2)(&script.measured, y);
        for (size_t k = 0; k < script.laws; k++) {
            u[k] = script.bias[k];
            for (size_t j = 0; j < script.measured.values; j++) u[k] += script.gains[k][j] * y[j];
        }
        (newer ? set3 : set2)(&script.commanded, u);
        (newer ? step3 : step2)((double)i * script.step, script.step);
        (newer ? get3 : get2)(&script.recorded, row);
        print_row((double)(i + 1) * script.step, row, script.recorded.values);
    }
    (newer ? end3 : end2)();
    return 0;
}
