/* mbdy core: one system of one structure of model, stepped at a fixed internal step.

   The equations are functions in a table (model.h); these files hold the time stepping. A core is one block of memory
   made by mbdy_new; nothing allocates, locks or prints after that, and there is no global state. */

#ifndef MBDY_CORE_H
#define MBDY_CORE_H

#include <stddef.h>

#include "model.h"

#define MBDY_ABI 7

enum mbdy_status {
    MBDY_OK = 0,
    MBDY_BAD_INPUT = 1,     /* an input is not finite, or a switch not 0 or 1 */
    MBDY_BAD_PARAMETER = 2, /* a parameter is not finite, or no body can have such parameters; the constants are as before */
    MBDY_BAD_START = 3,     /* a start value is not finite or a quaternion is zero */
    MBDY_FAILED = 4,        /* the state left the finite numbers; the old one is back */
    MBDY_BAD_STEP = 5,      /* the communication or internal step is not positive and finite, or too many; or there is no
                               such order of the inputs */
    MBDY_UNCLOSED = 6,      /* the loops cannot be closed from the start; x is as before */
    MBDY_TORN = 7,          /* a closed loop came apart in the step; the old state is back */
    MBDY_BAD_OUTPUT = 8,    /* an output is not finite */
    MBDY_IDLE = 9,          /* a speed that is free moves no inertia */
    MBDY_OPPOSED = 10,      /* a loop is closed where no direction leads to closure; x is as before */
    MBDY_STUCK = 11,        /* strides became too short, or too many, to keep the tolerance; the old state is back */
    MBDY_CHATTERS = 12,     /* friction changes between sticking and slipping without end; the old state is back */
    MBDY_OVERFULL = 13      /* more is in a tank than it holds */
};

/* Order of the inputs over a communication step: they stay at u, go on the line from u to u_end, or on the parabola
   through u, u_mid at the middle and u_end. */
enum mbdy_order { MBDY_HELD = 0, MBDY_LINEAR = 1, MBDY_QUADRATIC = 2 };

/* LATCHED has the impulses of the latches of the last step; K the constants that mbdy_prepare makes; GIVEN is 1 for
   those of the start values in S that were given, which stay as they are where loops are closed, -1 for guesses, which
   move where the others alone do not close them, and 0 for those others; S_CLOSED has what mbdy_start made of S for that;
   WORK is the balance of work (work.c) of models with that output; STRIDE what integrators go on with whose steps adapt
   (strides.c). */
enum mbdy_vector {
    MBDY_S = 0, MBDY_X = 1, MBDY_U = 2, MBDY_U_END = 3, MBDY_P = 4, MBDY_Y = 5, MBDY_U_MID = 6, MBDY_LATCHED = 7,
    MBDY_K = 8, MBDY_GIVEN = 9, MBDY_S_CLOSED = 10, MBDY_WORK = 11, MBDY_STRIDE = 12, MBDY_VECTORS = 13
};

typedef struct mbdy_core mbdy_core;

/* What calls of any of a model's functions take: arguments, results, reals of work. */
void mbdy_room(const mbdy_model *model, int *n_arg, int *n_res, int *n_w);

/* A core of `model` with the integrator of that code, its vectors all zero; NULL without memory. `derivatives`, where it
   is not NULL, takes the place of the model's: it is called alike, with the parameters as a fourth argument. */
mbdy_core *mbdy_new(const mbdy_model *model, int integrator, mbdy_call *derivatives);
void mbdy_free(mbdy_core *core);
const mbdy_model *mbdy_model_of(const mbdy_core *core);
int mbdy_size(const mbdy_core *core, int vector);
double *mbdy_vector(mbdy_core *core, int vector);

/* Where the fault of the last status lies: a place in the vector of inputs, parameters, start values, states (that of a
   speed) or outputs, or a row of the loops; n_p and more a constant less n_p. */
int mbdy_fault(const mbdy_core *core);

/* Constants from parameters p, at which the origin of an attitude root keeps its place and velocity; then states x from start
   values s, with the loops closed that are closed in u.

   Start values that were given stay, and the others, guesses last, are those nearest to s that close the loops; prescribed
   and locked positions always stay. Where the given ones contradict the loops all are moved, as little as can be by their masses. */
int mbdy_prepare(mbdy_core *core);
int mbdy_start(mbdy_core *core);

/* MBDY_IDLE where a speed of x that is free in u moves no inertia: accelerations follow from nothing there. */
int mbdy_pivots(mbdy_core *core);

/* MBDY_OVERFULL where more is in a tank than it holds with the parameters as they are. */
int mbdy_check_tanks(mbdy_core *core);

/* Whether the start value at a place was given, and moved by the last mbdy_start by more than 1e-6. */
int mbdy_moved(const mbdy_core *core, int place);

/* Degrees of freedom that closed loops leave at S_CLOSED, of those that are not prescribed or locked in u; how many rows
   are closed, and how many of them are independent. For models with loops. */
int mbdy_freedoms(mbdy_core *core, int *rows, int *rank);

/* To the first order, what closing at S_CLOSED makes of errors (or rates of these, with `of_speeds`) of all rows: the change
   of coordinates (or speeds) that takes them out is added to `change` (n_x). 0 where start values that were given contradict
   the loops and were moved, which leaves no such change. For models with loops. */
int mbdy_correct(mbdy_core *core, int of_speeds, const double *residual, double *change);

/* MBDY_BAD_INPUT where an input (of the core's own u where NULL) cannot be used, which a step would say too. */
int mbdy_check(mbdy_core *core, const double *u);

/* MBDY_OPPOSED where a loop that is closed in u has axes that nothing says how to turn together, which a step would say
   too. */
int mbdy_opposed(mbdy_core *core);

/* x' and y at any state and input; the core's own x, u and y where a pointer is NULL. Impulses of the last step are in y
   with the core's own x. */
void mbdy_derivatives(mbdy_core *core, const real *x, const real *u, real *dx);
int mbdy_outputs(mbdy_core *core, const double *x, const double *u, double *y);

/* Joints locked by u that move stop at once, as by a latch, and so does what loops closed by u hold; the momentum of the
   system stays. 1 where some did. */
int mbdy_latch(mbdy_core *core);

/* Friction that sticks (of models with such). Which degrees of freedom it holds at the core's own state (or x) and inputs u is
   decided: those at rest whose efforts pass what holds them slip from now on. The same for another state, and back to what it
   was. And at an event of the core's own state, where what is held stops too: 1 where something did. The same where somebody else's
   steps have come to an event: 1 where anything changes. By degree of freedom the margin to the next event, which is there where
   that is below zero. */
void mbdy_decide(mbdy_core *core, const double *x, const double *u);
void mbdy_decide_there(mbdy_core *core, const double *x, const double *u);
void mbdy_decide_back(mbdy_core *core);
int mbdy_turn(mbdy_core *core, const double *u);
int mbdy_event(mbdy_core *core);
void mbdy_margins(mbdy_core *core, const double *x, const double *u, double *margins);

/* The balance of work (of models with that output) where steps are not the core's: none is kept until the next start; or the
   integral of all powers [J] is another's, who sets it, the power [W] being that of the last derivatives, and says when inputs
   have jumped (take), when derivatives are wanted under them (meet), and when they have followed a state on its way (follow).
   The inputs u, but of those that energy is stored against as they acted last. */
void mbdy_end_work(mbdy_core *core);
double *mbdy_work_done(mbdy_core *core);
double mbdy_power(const mbdy_core *core);
void mbdy_take_inputs(mbdy_core *core);
void mbdy_meet_inputs(mbdy_core *core);
void mbdy_follow_inputs(mbdy_core *core, double time);
const double *mbdy_acted(mbdy_core *core, const double *u);

/* The core's own x becomes this one, which is no work of its steps. */
void mbdy_put_state(mbdy_core *core, const double *x);

/* The instant [s] that profiles of joints are followed from; steps move it on. And the inputs with what these add (profiles.c),
   now, or u at a time. Sums of steps are compensated (Kahan), so that a million steps of 1 ms are 1000 s, however they are cut
   into calls: `lost` is what rounding took of them. */
void mbdy_set_time(mbdy_core *core, double time, double lost);
void mbdy_pass(double *time, double *lost, double H);
const double *mbdy_inputs_now(mbdy_core *core);
const double *mbdy_driven(mbdy_core *core, const double *u, double time);

/* Start values of joints that follow profiles are the profiles' rates at the instant; and whether that at a place is of those. */
void mbdy_profiles_start(const mbdy_core *core);
int mbdy_follows(const mbdy_model *model, int place);

/* The first instant after `time` where a profile bends, infinity where none does. */
double mbdy_next_bend(const mbdy_core *core, double time);

/* What changes k of points of profiles add to changes u of inputs, and gradients by u to those by k, at the instant. */
void mbdy_profiles_forward(const mbdy_core *core, const double *k, double *u);
void mbdy_profiles_reverse(const mbdy_core *core, const double *u, double *k);

/* Scales each quaternion of a vector like x to one, without turning its sign. */
void mbdy_normalise(const mbdy_model *model, real *x);

/* Locked joints and closed loops are latched. Then one communication step H in ceil(H/h - 1e-9) equal internal
   steps, the inputs held, linear or quadratic (booleans hold the value in u_end, or u where all is held); u and u_mid
   have the inputs of the end then. Small errors of closed loops are taken out at the end. On a fault x and impulses are
   as before. */
int mbdy_advance(mbdy_core *core, double H, double h, int order);

/* Steps that adapt keep the error of a state below `tolerance` times its size and its nominal size (n_x) together, which
   stay the caller's; the doubles that any integrator of a model goes on with (STRIDE); and how many strides were accepted and
   rejected since the start, and how long the next may be [s], 0 where nothing is known yet. Cores whose steps are equal have
   zeros. */
void mbdy_tolerate(mbdy_core *core, double tolerance, double *nominal);
size_t mbdy_most_strides(const mbdy_model *model);
void mbdy_strides_of(const mbdy_core *core, double counts[3]);

/* Where laws of effort have switched in the last call of mbdy_advance or mbdy_run, in their order: three numbers each, the time [s]
   since the begin of that call, the row of INDICATORS, and 1 where that rose above zero, -1 where it fell below; for friction that sticks the degree of freedom, behind
   those rows, and 1 where it begins to hold, -1 where it ends; behind these the first nozzle of a tank that
   runs empty, and 1; and how many. */
enum { MBDY_MOST_EVENTS = 1000 };
const double *mbdy_events(const mbdy_core *core, int *count);

/* What steps and latches change (states, inputs, impulses, the balance of work), put away in as many doubles as
   mbdy_kept_reals, and back; and back to what it was before the last mbdy_advance. */
size_t mbdy_kept_reals(const mbdy_core *core);
void mbdy_keep(const mbdy_core *core, double *kept);
void mbdy_put_back(mbdy_core *core, const double *kept);
void mbdy_go_back(mbdy_core *core);

/* `rows` communication steps in a row, inputs held or linear, with rows + 1 rows of `inputs`, one for each instant (the
   core's own u, held, where NULL); after each step the outputs at places `pick`, with the inputs of that instant, are
   written to `out`. Returns the status; *done says how many rows are whole: all, but of many strides, which it leaves to the next
   call. */
int mbdy_run(mbdy_core *core, int rows, double H, double h, int order, const double *inputs, const int *pick, int picked,
             double *out, int *done);

/* What `size` parameters from `place` in p, called `name`, must be: constants from `constant` on, up to the next rule's,
   are no numbers where they are not. Without a name these follow from no parameter alone. */
typedef struct mbdy_rule {
    int constant;
    const char *name, *text;
    int place, size;
} mbdy_rule;

/* Names for what is wrong: of inputs, parameters, states, start values, outputs, of the loop or gear of each row, of groups of
   what makes it fast; and the rules of parameters, by increasing constants. */
typedef struct mbdy_names {
    const char *const *inputs, *const *parameters, *const *states, *const *starts, *const *outputs, *const *rows,
        *const *strengths;
    int n_rules;
    const mbdy_rule *rules;
} mbdy_names;

enum { MBDY_TEXT = 1024 }; /* bytes of a text that mbdy_explain writes */

/* What a status means, in words: the variable, its value and the remedy. A step was of H [s] from `time` [s] with internal
   steps of h [s]. */
void mbdy_explain(const mbdy_core *core, int status, const mbdy_names *names, double time, double H, double h, char *text);

/* Which locked joints and closed loops are held by u and move, so that they stop next: their names, and how many. */
int mbdy_tell_held(mbdy_core *core, const mbdy_names *names, const double *u, char *text);

/* Whether the inertia (of model's `inertias`) breaks the triangle inequality, which is told then. */
int mbdy_tell_triangle(const mbdy_core *core, const mbdy_names *names, int inertia, char *text);
/* What a text warns of. */
enum mbdy_topic { MBDY_START_MOVED, MBDY_DOUBTFUL, MBDY_FAST_MOTION, MBDY_FAST_MODE, MBDY_FAST_LOOP };
typedef void mbdy_teller(void *owner, int topic, const char *text);

/* Tells of what steps of h [s] are too long for where the core stands: time constants of loops, and the fastest motion of all
   others. Takes memory for as long as it looks, and as many derivatives as there are states, or some hundred. */
void mbdy_tell_fast(mbdy_core *core, const mbdy_names *names, double h, mbdy_teller *tell, void *owner);

/* That the start value at a place was moved, from where to where, and the remedy. */
void mbdy_tell_move(const mbdy_core *core, const mbdy_names *names, int place, char *text);

/* The next of what closing loops did, at the start or while running, and is not told yet, 0 where nothing is left: which of
   two positions lines at a right angle took; and that a lever is so short that rounding spoils forces, or bending large. */
int mbdy_tell_lines(mbdy_core *core, const mbdy_names *names, char *text);
int mbdy_tell_closed(mbdy_core *core, const mbdy_names *names, char *text);

/* By mode, the amplitude that moves the material of its body as far as that is large, and the first mode of the body: starts
   and steps look from now on whether modes bend a body far, which is told once in a run. Both stay the caller's. */
void mbdy_watch_bending(mbdy_core *core, const double *amplitudes, const int *bodies);
void mbdy_note_bending(mbdy_core *core);
int mbdy_tell_bent(mbdy_core *core, const mbdy_names *names, char *text);

#endif
