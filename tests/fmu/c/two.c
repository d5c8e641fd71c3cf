/* Two FMUs whose sources are linked into one program, each stepped in turn with the other. Compiled once for each, with its
   own FMI2_FUNCTION_PREFIX or FMI3_FUNCTION_PREFIX; the second, OTHER, has the program, which is told token and reference of
   either and prints that variable at the end. */

#include <stdio.h>
#include <stdlib.h>

#ifdef FMI2_FUNCTION_PREFIX
#include "fmi2Functions.h"
#else
#include "fmi3Functions.h"
#endif

enum { STEPS = 50 };
#define STEP 0.01
#define GOOD(call) do { if (call) exit(3); } while (0)

void *made_first(const char *token);
void *made_second(const char *token);
double value_first(void *it, int i, unsigned ref);
double value_second(void *it, int i, unsigned ref);
#ifdef OTHER
#define OF_THIS(name) name##_second
#else
#define OF_THIS(name) name##_first
#endif

#ifdef FMI2_FUNCTION_PREFIX
static void heard(void *environment, fmi2String name, fmi2Status status, fmi2String category, fmi2String message, ...) {
    (void)environment, (void)status;
    fprintf(stderr, "%s %s: %s\n", name, category, message);
}
static const fmi2CallbackFunctions callbacks = {heard, calloc, free, NULL, NULL};

void *OF_THIS(made)(const char *token) {
    void *it = fmi2Instantiate("it", fmi2CoSimulation, token, "", &callbacks, 0, 0);
    GOOD(!it || fmi2SetupExperiment(it, 0, 0.0, 0.0, 0, 0.0));
    GOOD(fmi2EnterInitializationMode(it) || fmi2ExitInitializationMode(it));
    return it;
}

double OF_THIS(value)(void *it, int i, unsigned ref) {
    double value;
    if (i < STEPS) GOOD(fmi2DoStep(it, STEP * i, STEP, 1));
    GOOD(fmi2GetReal(it, &ref, 1, &value));
    if (i == STEPS) fmi2FreeInstance(it);
    return value;
}
#else
static void heard(void *environment, fmi3Status status, fmi3String category, fmi3String message) {
    (void)environment, (void)status;
    fprintf(stderr, "%s: %s\n", category, message);
}

void *OF_THIS(made)(const char *token) {
    void *it = fmi3InstantiateCoSimulation("it", token, "", 0, 0, 0, 0, NULL, 0, NULL, heard, NULL);
    GOOD(!it || fmi3EnterInitializationMode(it, 0, 0.0, 0.0, 0, 0.0) || fmi3ExitInitializationMode(it));
    return it;
}

double OF_THIS(value)(void *it, int i, unsigned ref) {
    double value, last;
    bool event, terminate, early;
    if (i < STEPS) GOOD(fmi3DoStep(it, STEP * i, STEP, 1, &event, &terminate, &early, &last));
    GOOD(fmi3GetFloat64(it, &ref, 1, &value, 1));
    if (i == STEPS) fmi3FreeInstance(it);
    return value;
}
#endif

#ifdef OTHER
int main(int n, char **arguments) {
    if (n != 5) return 2;
    void *first = made_first(arguments[1]), *second = made_second(arguments[3]);
    double a = 0.0, b = 0.0;
    for (int i = 0; i <= STEPS; i++) {
        a = value_first(first, i, (unsigned)atoi(arguments[2]));
        b = value_second(second, i, (unsigned)atoi(arguments[4]));
    }
    printf("%.17g %.17g\n", a, b);
    return 0;
}
#endif
