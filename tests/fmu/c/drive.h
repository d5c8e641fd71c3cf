/* Random calls of every function of FMI on several instances, in right and wrong order, with good and bad values, and
   what must hold after each. drive.c has what FMI 2 and 3 share; drive2.c and drive3.c the functions. */

#ifndef DRIVE_H
#define DRIVE_H

#include <stddef.h>
#include <stdint.h>

#include "plant.h"
#include "sizes.h"

enum {
    BEFORE = PLANT_INSTANTIATED | PLANT_INITIALIZATION,
    RUNNING = PLANT_STEP | PLANT_EVENT | PLANT_CONTINUOUS | PLANT_STEPPING,
    ANY = BEFORE | RUNNING | PLANT_TERMINATED,
    OUTSIDE = ANY & ~PLANT_STEPPING,
    SLOTS = 6,
    STATES = 6,
    ROOMS = 32,
    MOST_CALLS = 80
};

/* An instance and what is known of it from outside. */
struct slot {
    void *it;
    int exchange, events, early, logger, calm; /* calm: most calls are such that they must succeed */
    int phase, clean;                          /* clean: has good values only */
    int said[5];                               /* messages by status since the call began */
    double rates[N_X];
};

/* What a refused call leaves alone, and a saved state brings back. */
struct snapshot {
    double s[N_X], given[N_X], x[N_X], u[N_U], p[N_P], slope[N_U], bend[N_U], latched[N_IMPULSES];
    double time, stop, tolerance, phase, order, started;
};

/* A saved state, with what is known of the instance that it was taken from. */
struct kept {
    void *it;
    int exchange, phase, clean;
    struct snapshot then;
};

/* One call: its arguments' memory, each block as large as it must be, and what they make of it. */
struct attempt {
    int call;
    int clumsy, wild; /* whether arguments may be wrong, and values bad */
    int wrong;        /* an error must follow */
    int bad;          /* anything but OK must follow */
    int doubtful;     /* nothing is sure */
    void *rooms[ROOMS];
    int used;
};

/* One thread's own. */
struct drive {
    uint64_t seed, random, digest;
    struct slot slots[SLOTS];
    struct kept states[STATES], packed; /* packed: of `bytes` */
    void *bytes;
    size_t n_bytes;
    struct attempt at;
    char heard[200]; /* the last message */
    long made, counts[MOST_CALLS][5];
    struct snapshot fresh[2]; /* of an instance just made: co-simulation, model exchange */
    double fresh_outputs[2][N_Y];
};
extern _Thread_local struct drive d;

enum flag {
    LIFE = 1,  /* makes or ends an instance: not from inside a step */
    KEEPS = 2, /* changes nothing where it answers "discard" */
    AGAIN = 4  /* leads out of the end */
};

/* A function of FMI, how often it is called, and the phases it belongs to in co-simulation and in model exchange. */
struct call {
    const char *name;
    void (*make)(struct slot *);
    int weight;
    unsigned phases[2];
    int flags;
};
extern const struct call calls[];
extern const int n_calls;

static inline unsigned n_variables(void) { return (unsigned)plant_this()->n_variables; }

/* References and values of a call, as good or bad as the attempt allows. */
struct values {
    unsigned *refs;
    size_t n;
    double *values;
    size_t size;
};
typedef int fits(const struct slot *, const struct plant_variable *);

fits gettable, settable, is_output, is_input, is_known, is_unknown;
struct values some_values(struct slot *s, fits *fit, int boolean, int given);
int chance(int of);
uint64_t below(uint64_t n);
double uniform(double low, double high);
double bad_number(void);
int slip(void);   /* whether an argument is to be wrong */
int poison(void); /* whether a value is to be bad */
void *room(size_t n, size_t size);
double step_size(void);
double time_of_step(const struct slot *s);

double *some_vector(size_t *n); /* like the states; it and its size may be wrong */
void next_states(const struct slot *s, double x[], size_t n);
int *some_orders(size_t n, int most);
const char **some_categories(size_t *n);

/* What a call answered: checked, counted, part of the digest. Returns whether it is OK. */
int returned(struct slot *s, int status);
void answered(int status); /* the same for one that answers no status */
void all_finite(const double values[], size_t n);
void finite_values(const struct values *v, int all);
void failed(const char *what);
void mix(const void *at, size_t n);
void act(struct slot *s);
void heard(struct slot *s, int status, const char *category, const char *message);
plant *inside(const struct slot *s);

/* An instance was made or ended, reset, or given a state. */
void born(struct slot *s, void *it, int exchange);
void gone(struct slot *s);
void was_reset(struct slot *s);
void was_restored(struct slot *s, const struct kept *state);
struct kept known_of(const struct slot *s, void *state);
/* A saved state for the instance; one of another kind (a slip) or none. */
struct kept *some_state(const struct slot *s);
/* The packed state, perhaps damaged. */
void *some_bytes(const struct slot *s, size_t *n);

/* drive2.c, drive3.c */
void make_instance(struct slot *s, int exchange);
void free_instance(struct slot *s);
void free_state(struct slot *s, void **state);
void read_outputs(struct slot *s, double y[N_Y]);

#endif
