/* One instance of the FMU, whatever the version of FMI: variables by value reference, phases of its life, time,
   steps, events, saved states, partial derivatives. fmi2.c and fmi3.c put the standards' names on it.

   Nothing allocates, locks or calls the system between plant_new and plant_free, but saving a state and saying what
   went wrong. Functions return a status whose numbers are those of FMI 2 and 3, after saying why it is not OK. */

#ifndef MBDY_PLANT_H
#define MBDY_PLANT_H

#include <stddef.h>

#include "config.h"
#include "core.h"
#include "fmu_config.h"
#include "partial.h"

enum plant_status { PLANT_OK, PLANT_WARNING, PLANT_DISCARD, PLANT_ERROR, PLANT_FATAL };

/* Phases, as bits so that a call can name those it belongs to. */
enum plant_phase {
    PLANT_INSTANTIATED = 1,
    PLANT_INITIALIZATION = 2,
    PLANT_STEP = 4,        /* co-simulation, between steps */
    PLANT_EVENT = 8,
    PLANT_CONTINUOUS = 16, /* model exchange */
    PLANT_TERMINATED = 32,
    PLANT_STEPPING = 64    /* co-simulation, inside a step (intermediate update) */
};

/* Log categories, as bits. */
enum plant_category { PLANT_LOG_ERROR = 1, PLANT_LOG_DISCARD = 2, PLANT_LOG_WARNING = 4, PLANT_LOG_EVENTS = 8, PLANT_LOG_ALL = 16 };

/* Where a variable lives: vector of the core (or what follows from one). */
enum plant_vector {
    PLANT_INPUT, PLANT_PARAMETER, PLANT_OUTPUT, PLANT_CALCULATED, PLANT_STATE, PLANT_START, PLANT_DERIVATIVE, PLANT_TIME
};

/* One scalar; its row in plant_variables is its value reference. An array's first element has its size, the others 0:
   their value references are not in use. */
struct plant_variable {
    const char *name;
    enum plant_vector vector;
    int boolean;
    int place, size;
    int start_at; /* place in s, -1 where it has no start value of a state */
    int state;    /* place in x, -1 where it is no state */
    double start, minimum, maximum, nominal;
};

/* A body and the place of its first constant in k; the last row has the end. */
struct plant_body {
    const char *name;
    int constants;
};

/* What makes this FMU another than the next: its token (GUID), the longest internal step [s], the integrator. */
struct plant_identity {
    const char *token;
    double step;
    int integrator;
};

extern const struct plant_identity plant_identity;
extern const struct plant_variable plant_variables[FMU_VARIABLES];
extern const struct plant_body plant_bodies[];
extern const char *const plant_loop_rows[];

/* All that changes in an instance but the vectors. Numbers, so that a saved state is a row of doubles. */
struct plant_moment {
    double time, stop, tolerance;
    double timed;                          /* whether a time was given yet */
    double phase, exchange, started;       /* exchange: model exchange */
    double order;                          /* of the inputs over the next step */
    double stale_constants, stale_start, stale_outputs;
};
#define PLANT_MOMENT (sizeof(struct plant_moment) / sizeof(double))

enum { PLANT_MOST_SAID = 1024 }; /* bytes of a message */
typedef void plant_logger(void *owner, int status, const char *category, const char *message);

typedef struct plant {
    mbdy_core *core;
    double *vector[MBDY_VECTORS]; /* the core's */
    double *first;                /* outputs at the end of initialization, of which calculated parameters are taken */
    double *slope, *bend;         /* first and second time derivative of the inputs over the next step */
    double *kept;                 /* x, u and impulses at the begin of a step in several calls, and the sum of its impulses */
    struct plant_moment now;
    struct partial *partial;
    plant_logger *logger;
    void *owner;
    unsigned categories;
    int strict; /* nothing is discarded, it is an error: so the standards have it at the end of initialization */
} plant;

/* Life. A new plant is instantiated, with the model's start values. */
plant *plant_new(int exchange, plant_logger *logger, void *owner);
void plant_free(plant *it);
int plant_allowed(plant *it, const char *call, unsigned phases);
int plant_set_experiment(plant *it, double start, double stop, double tolerance);
int plant_enter_initialization(plant *it);
int plant_exit_initialization(plant *it, enum plant_phase next);
void plant_reset(plant *it);

/* Says that `status` is returned and why, through the logger if the category is on. Returns `status`. */
int plant_say(plant *it, int status, const char *format, ...);
void plant_note(plant *it, const char *format, ...);
int plant_set_categories(plant *it, int on, size_t n, const char *const names[]);

/* Values by reference: all elements of arrays, one after the other. A value that cannot be used is kept, said at once
   (PLANT_DISCARD) and again by whatever needs it, until a good one is in its place. */
int plant_get(plant *it, const unsigned refs[], size_t n, double values[], size_t size, int boolean);
int plant_set(plant *it, const unsigned refs[], size_t n, const double values[], size_t size, int boolean);
int plant_check(plant *it, const unsigned refs[], size_t n, size_t size, int boolean);
int plant_set_input_derivatives(plant *it, const unsigned refs[], size_t n, const int orders[], const double values[]);
int plant_get_output_derivatives(plant *it, const unsigned refs[], size_t n, const int orders[], double values[], size_t size);

/* Makes constants and, until the start, the state follow what was set. */
int plant_settle_constants(plant *it);
/* The same, and checks the inputs. */
int plant_settle(plant *it);
/* y of this instant. */
int plant_refresh(plant *it);
/* The variable that is the state at a place in x. */
const char *plant_state_name(int place);
/* Says what a status of the core means; `step` [s] is that of the step which failed. */
int plant_explain(plant *it, int core_status, double step);

/* Co-simulation. `between`, where it is not null, is called after each internal step (`final` at the last) with its time and
   may set continuous inputs; it returns 1 to end the step there. *last is the time reached. */
typedef int plant_between(void *context, double time, int final);
int plant_step(plant *it, double time, double step, plant_between *between, void *context, double *last);

/* Events and model exchange. */
int plant_update(plant *it, int *changed);
int plant_drifted(const plant *it);
int plant_set_time(plant *it, double time);
int plant_set_states(plant *it, const double x[], size_t n);
int plant_get_states(plant *it, double x[], size_t n);
int plant_get_rates(plant *it, double dx[], size_t n);
int plant_get_nominals(plant *it, double nominals[], size_t n);

/* Saved states, blocks of memory whose bytes are their serialized form too. One that is NULL is made. */
int plant_get_state(plant *it, void **state);
int plant_set_state(plant *it, const void *state);
int plant_free_state(void **state);
int plant_serialized_size(plant *it, const void *state, size_t *size);
int plant_serialize(plant *it, const void *state, void *bytes, size_t size);
int plant_deserialize(plant *it, const void *bytes, size_t size, void **state);

/* Change of the unknowns along a change of the knowns, and gradients of unknowns by the knowns under seeds. */
int plant_directional(plant *it, const unsigned unknowns[], size_t n_unknowns, const unsigned knowns[], size_t n_knowns,
                      const double seed[], size_t n_seed, double change[], size_t n_change);
int plant_adjoint(plant *it, const unsigned unknowns[], size_t n_unknowns, const unsigned knowns[], size_t n_knowns,
                  const double seed[], size_t n_seed, double gradient[], size_t n_gradient);

#endif
