/* The one plant: a system as whoever drives it meets it. Variables by reference, phases of its life, limits, time, starts,
   steps, events, saved states, partial derivatives, faults in words. A Python block, a Python FMU and native FMUs of every
   version of FMI are shells over it.

   Nothing allocates, locks or calls the system between plant_new and plant_free, but saving a state, and a look at how fast
   the system is after parameters were set. Functions return a
   status whose numbers are those of FMI 2 and 3, after saying why it is not OK. There is no global state. */

#ifndef MBDY_PLANT_H
#define MBDY_PLANT_H

#include <stddef.h>

#include "core.h"
#include "partial.h"

enum plant_status { PLANT_OK = 0, PLANT_WARNING = 1, PLANT_DISCARD = 2, PLANT_ERROR = 3, PLANT_FATAL = 4 };

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
    PLANT_INPUT = 0, PLANT_PARAMETER = 1, PLANT_OUTPUT = 2, PLANT_CALCULATED = 3, PLANT_DERIVATIVE = 4, PLANT_TIME = 5,
    PLANT_STATE = 6, PLANT_START = 7, PLANT_INDICATOR = 8
};

/* One scalar; its row is its value reference. An array's first element has its size, the others 0: their value references
   are not in use. `given`: of a start value what GIVEN of core.h has. */
struct plant_variable {
    const char *name;
    int vector, boolean;
    int place, size;
    int start_at; /* place in s, -1 where it has no start value of a state */
    int state;    /* place in x, -1 where it is no state */
    int given;
    double start, minimum, maximum, nominal;
};

/* What makes this plant another than the next: a token that its saved states have, the longest internal step [s], the
   integrator's code, its variables and the names of what can be wrong. */
typedef struct plant_model {
    const char *token;
    double step;
    int integrator;
    int n_variables;
    const struct plant_variable *variables;
    mbdy_names names;
} plant_model;

/* How it is driven, as bits: by model exchange; values that cannot be used are refused instead of kept until mended; inputs
   are those of the end of the next step, to which they go from where they are now. */
enum plant_manner { PLANT_EXCHANGE = 1, PLANT_REFUSES = 2, PLANT_AHEAD = 4 };

/* All that changes in an instance but the vectors. Numbers, so that a saved state is a row of doubles. */
struct plant_moment {
    double time, lost;                     /* [s]; what sums of steps have lost to rounding */
    double stop, tolerance;
    double timed;                          /* whether a time was given yet */
    double phase, exchange, started;       /* exchange: model exchange */
    double order;                          /* of the inputs over the next step, from their derivatives */
    double renewed;                        /* whether values of the equations were set at this event */
    double stale_constants, stale_start, stale_outputs;
};
#define PLANT_MOMENT (sizeof(struct plant_moment) / sizeof(double))

typedef void plant_logger(void *owner, int status, const char *category, const char *message);

typedef struct plant {
    const plant_model *own;
    const mbdy_model *model;
    mbdy_core *core;
    double *vector[MBDY_VECTORS]; /* the core's */
    double *first;                /* outputs at the end of initialization, of which calculated parameters are taken */
    double *slope, *bend;         /* first and second time derivative of the inputs over the next step */
    double *kept, *impulses;      /* what the core was (mbdy_keep) at the begin of a step in several calls, and the sum of its
                                     impulses */
    double *rates, *nominals;     /* derivatives of the states; how large these usually are */
    double *weighed;              /* tensors of inertia that were looked at last */
    double *margins;              /* to events of friction that sticks */
    double *amplitudes;           /* by mode, and the first mode of each one's body (mbdy_watch_bending) */
    int *bodies;
    double *numbers;              /* for a shell: room for as many as there are inputs */
    struct plant_moment now;
    struct partial *partial; /* NULL where there are no partial derivatives */
    plant_logger *logger;
    void *owner;
    unsigned categories;
    unsigned manner;
    int strict; /* nothing is discarded, it is an error: so the standards have it at the end of initialization */
    int fault;  /* mbdy_status of the last fault of the core or of a value */
    int topic;  /* mbdy_topic of the last warning */
    int states; /* continuous ones: n_x, and the work where that is one, the last */
    int warned; /* whether it was told that no balance of work is kept */
    int looked; /* whether it was told what the step is too long for, since a parameter was set */
} plant;

/* Life. A new plant is instantiated, with the model's start values; NULL without memory. `derivatives` where it is not
   NULL takes the place of the model's (core.h). */
plant *plant_new(const mbdy_model *model, const plant_model *own, mbdy_call *derivatives, unsigned manner,
                 plant_logger *logger, void *owner);
void plant_free(plant *it);
/* Of integrators whose steps adapt (core.h): the relative tolerance of states, how many steps were accepted and rejected and how long the next may be [s]; and where laws of effort switched in the last call. */
void plant_tolerate(plant *it, double tolerance);
void plant_strides(const plant *it, double counts[]);
const double *plant_events(const plant *it, int *count);
/* Whether the token (GUID) that an importer knows, which its standard calls `what`, is this plant's, and the variables that
   it requires are there; else says so. */
int plant_admit(plant *it, const char *what, const char *token, const unsigned required[], size_t n);
int plant_allowed(plant *it, const char *call, unsigned phases);
int plant_set_experiment(plant *it, double start, double stop, double tolerance);
int plant_enter_initialization(plant *it);
int plant_exit_initialization(plant *it, int next);
int plant_terminate(plant *it);
/* Everything is the model's again. */
void plant_reset(plant *it);
/* Time zero, the model's start values and inputs again, before the first step; parameters stay. */
void plant_rewind(plant *it);

/* Says that `status` is returned and why, through the logger if the category is on. Returns `status`. */
int plant_say(plant *it, int status, const char *format, ...);
/* Says what happened to whoever listens to events. */
void plant_note(plant *it, const char *format, ...);
int plant_set_categories(plant *it, int on, size_t n, const char *const names[]);
/* mbdy_status of the last fault, mbdy_topic of the last warning. */
int plant_fault(const plant *it);
int plant_topic(const plant *it);

/* The core's vector, the instant [s] in memory, and the core itself. */
double *plant_vector(plant *it, int vector);
double *plant_clock(plant *it);
int plant_phase_of(const plant *it);

/* Values by reference: all elements of arrays, one after the other. A value that cannot be used is kept, said at once
   (PLANT_DISCARD) and again by whatever needs it, until a good one is in its place; or refused, as the plant's manner is. */
int plant_get(plant *it, const unsigned refs[], size_t n, double values[], size_t size, int boolean);
int plant_set(plant *it, const unsigned refs[], size_t n, const double values[], size_t size, int boolean);
/* Whether there are such variables, whatever their type; else says so. */
int plant_find(plant *it, const unsigned refs[], size_t n);
int plant_check(plant *it, const unsigned refs[], size_t n, size_t size, int boolean);
/* How many values go with these references; those that there are not count one. */
size_t plant_size_of(const plant *it, const unsigned refs[], size_t n);
/* There are no variables of that type. */
int plant_refuse_type(plant *it, const char *call, const char *type);
int plant_set_input_derivatives(plant *it, const unsigned refs[], size_t n, const int orders[], const double values[]);
int plant_get_output_derivatives(plant *it, const unsigned refs[], size_t n, const int orders[], double values[], size_t size);

/* Whether a value of a variable can be used; else says so. */
int plant_usable(plant *it, const struct plant_variable *v, double value);

/* Makes constants and, until the start, the state follow what was set. */
int plant_settle_constants(plant *it);
/* The same, and checks the inputs. */
int plant_settle(plant *it);
/* y of this instant. */
int plant_refresh(plant *it);
/* The variable that is the state at a place in x. */
const char *plant_state_name(const plant *it, int place);
/* Says what a status of the core means; `step` [s] is that of the step which failed. */
int plant_explain(plant *it, int core_status, double step);

/* Which locked joints and closed loops stop next, as a list for those who listen to events; 0 where none do. */
int plant_stops(plant *it, char *text);

/* x' and y at any time, inputs and state, that of now where NULL. */
int plant_derivatives_at(plant *it, double time, const double *x, const double *u, double *dx);
int plant_outputs_at(plant *it, double time, const double *x, const double *u, double *y);

/* Co-simulation. `between`, where it is not null, is called after each internal step (`final` at the last) with its time and
   may set continuous inputs; it returns 1 to end the step there. *last is the time reached. */
typedef int plant_between(void *context, double time, int final);
int plant_step(plant *it, double time, double step, plant_between *between, void *context, double *last);

/* A communication step H [s] from where it is, the first one after initialization, with inputs of an order (core.h); then
   y. And many of them, as mbdy_run has it. */
int plant_advance(plant *it, double H, int order);
int plant_run(plant *it, int rows, double H, int order, const double *inputs, const int *pick, int picked, double *out, int *done);
/* The time after a step H [s] that was made otherwise. */
void plant_pass(plant *it, double H);
/* Inputs take the values set for the end of the next step at once. */
void plant_jump(plant *it);

/* Events and model exchange. `changed`: states jumped, or values of the equations were set: a solver has to begin anew. */
int plant_update(plant *it, int *changed);
/* The next instant that a solver has to begin anew at, where a profile bends; infinity where there is none. */
double plant_next_event(const plant *it);
/* An importer's step is over; whether quaternions have drifted, which an event takes out, or one of friction was passed. */
int plant_completed(plant *it);
int plant_set_time(plant *it, double time);
int plant_set_states(plant *it, const double x[], size_t n);
int plant_get_states(plant *it, double x[], size_t n);
int plant_get_rates(plant *it, double dx[], size_t n);
int plant_get_indicators(plant *it, double margins[], size_t n);
int plant_get_nominals(plant *it, double nominals[], size_t n);

/* Saved states, blocks of memory whose bytes are their serialized form too. One that is NULL is made. */
size_t plant_state_size(const plant *it);
int plant_get_state(plant *it, void **state);
int plant_set_state(plant *it, const void *state);
int plant_free_state(void **state);
int plant_serialized_size(plant *it, const void *state, size_t *size);
int plant_serialize(plant *it, const void *state, void *bytes, size_t size);
int plant_deserialize(plant *it, const void *bytes, size_t size, void **state);
/* The same without a block of its own: to and from bytes of the caller. */
int plant_save(plant *it, void *bytes, size_t size);
int plant_restore(plant *it, const void *bytes, size_t size);

/* Change of the unknowns along a change of the knowns, and gradients of unknowns by the knowns under seeds. */
int plant_directional(plant *it, const unsigned unknowns[], size_t n_unknowns, const unsigned knowns[], size_t n_knowns,
                      const double seed[], size_t n_seed, double change[], size_t n_change);
int plant_adjoint(plant *it, const unsigned unknowns[], size_t n_unknowns, const unsigned knowns[], size_t n_knowns,
                  const double seed[], size_t n_seed, double gradient[], size_t n_gradient);

/* The plant that is linked into this library; tables.c, generated. */
const plant_model *plant_this(void);

#endif
