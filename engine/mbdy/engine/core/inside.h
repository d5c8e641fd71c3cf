/* What the files of the core share. */

#ifndef MBDY_INSIDE_H
#define MBDY_INSIDE_H

#include "core.h"
#include "elementary.h"

/* What an integrator whose steps adapt (strides) has besides: the order of its error; the terms of the polynomial within a stride,
   each of n_x + 1 values, the last of which is the work; an attempt of a stride from x with the `first` slope (and power), which
   gives its end, the error of that (n_x) and the work, and leaves x; the last slope and the polynomial of this attempt; and
   the first values of the polynomial at a part of the stride. */
typedef struct mbdy_strides {
    double order;
    int terms;
    double (*attempt)(mbdy_core *core, double from, double to, double h, int order, const double *first, double *end, double *error);
    const double *(*last)(const mbdy_core *core);
    void (*polynomial)(const mbdy_core *core, double h, const double *end, double work, double *terms);
    void (*between)(const double *terms, int each, int count, double part, double *values);
} mbdy_strides;

/* One integrator: `step` moves x by the internal step h, from and to being fractions of the communication step, and gives
   the work [J] of the powers at its stages;
   `reals` and `places` say how many doubles and ints it needs in core->work and core->work_places, NULL for none; `longest`
   the step with which it follows x'' + 2 decay x' + rate^2 x = 0, of its stability on the imaginary axis, NULL where any is;
   `strides` is NULL where steps are equal. */
typedef struct mbdy_integrator {
    real (*step)(mbdy_core *core, double from, double to, double h, int order);
    size_t (*reals)(const mbdy_model *model);
    size_t (*places)(const mbdy_model *model);
    double (*longest)(double stability, double rate, double decay);
    const mbdy_strides *strides;
    int even; /* the slope of speeds at the begin of a step is that of all of it */
} mbdy_integrator;

/* By code; integrators.c, which is generated from the table of integrators. */
extern const mbdy_integrator *const mbdy_integrators[];
extern const int mbdy_n_integrators;

/* By code, from the same table: the name, and how far along the imaginary axis an integrator is stable in units of 1/step (0
   where any step is). */
struct mbdy_limit {
    const char *name;
    double stability;
};
extern const struct mbdy_limit mbdy_limits[];

/* The fastest motion of a linear system where steps are too long for it: its rate [1/s], whether it swings, the longest step [s]
   with which the integrator follows it, and the group of parameters that makes it; -1 where none makes any so fast. */
struct mbdy_pace {
    double rate, longest;
    int swings, group;
};

/* Why loops cannot be closed: out of reach of any steps; no motion lessens the error; mirrored only; what is prescribed
   parts them; no speeds are found though nothing is held; bodies bend so far that their modes make no inertia; numbers that
   are not finite. */
enum mbdy_opening_kind { MBDY_FAR, MBDY_CONTRADICTION, MBDY_MIRRORED, MBDY_PARTING, MBDY_SINGULAR, MBDY_BENT, MBDY_BEYOND };

/* With the error that is left, of the loop of the row core->fault: [deg] where it is `turning`, else [m], or in a second. */
struct mbdy_opening {
    enum mbdy_opening_kind kind;
    int turning;
    double amount;
};

/* Of each degree of freedom with friction that sticks (sticking.c): what HOLDING has of the last look; the margins to its next
   event, their weights, rates at the begin of a part of a step, room for trials; whether it is tried as held, and passes zero
   now. With rows: inertia of each, its sense in outputs (`share`; 0 held, beyond 2 the part of breakaway that it takes), the part
   and bound that are being solved for, accelerations by breakaway efforts (n, n), and whether nothing is decided yet. */
struct mbdy_sticking {
    double *effort, *acceleration, *rate, *driven, *coulomb, *breakaway, *margin, *weight, *before, *found, *trial, *kept;
    double *inertia, *share, *kept_share, *hidden, *part, *reach, *mobility, *factors;
    int *tried, *turning, *side, anew;
};

struct mbdy_core {
    const mbdy_model *model;
    const mbdy_integrator *integrator;
    int method; /* its code */
    mbdy_call *derivatives;
    real *vector[MBDY_VECTORS];
    double *k_new;                      /* constants being made */
    double *x_last;                      /* of steps */
    real *x_stage, *slope[4], *u_stage;  /* of integrators */
    double *u_driven;   /* inputs with what profiles add */
    double now, now_lost, span; /* [s] the instant, while a communication step is made its begin, what rounding took of it; how long that is */
    double inside;      /* [s] an instant in the piece of profiles that is being stepped through, no number outside of steps */
    double across;      /* [s] the length of the internal step around it, 0 where none is whole */
    double *kept;                        /* by mbdy_keep, before the step */
    double *errors, *rates, *cosines; /* of the rows of loops */
    double *taken; /* by row, to be told: the angle from which lines went to a right angle, 0 where none did */
    double lever, bend; /* to be told: a lever [m] that is almost none, how far modes move a loop's row; 0 where nothing is */
    int lever_row, bend_row;
    const double *amplitudes; /* by mode, NULL where nobody said */
    const int *bodies;        /* by mode: the first one of its body */
    double bent;              /* to be told: how far a body bends of its size, 0 where nothing is, -1 once it was told */
    int bent_mode;            /* the first one of that body */
    double *pivots;         /* by speed; then the margins of their joints */
    double *mobility;       /* of degrees of freedom with laws that may be too steep for a step */
    double *work;           /* of the integrator */
    int *work_places;
    double *closing; /* work of closing loops at the start */
    int *closing_places;
    struct mbdy_opening opening;
    struct mbdy_pace pace; /* of the last look */
    struct mbdy_sticking sticking;
    const real **arg;
    real **res;
    real *w;
    int fault;
    double overfull;         /* [kg] what was found in a tank that does not hold it */
    unsigned prepared;       /* how often constants were made */
    real power;              /* [W] with the derivatives called last, that changes energy */
    double *flows;           /* by nozzle, before they were rationed: of u, u_mid and u_end; then whether its tank ends empty */
    double *x_begin, *u_change, *u_shifted; /* of what goes into inputs that energy is stored against */
    const double *looked_at; /* the inputs that were checked last */
    double tolerance, *nominal; /* of strides: relative to states and, by state, to how large these usually are */
    double *events;              /* threes of numbers, see mbdy_events; then five rows of indicators */
    int n_events;
    double since;                /* [s] from the begin of the call to that of the communication step */
    double stuck_at, stuck_stride; /* [s] where strides became too short or too many, since the communication step began */
};

/* Whether a place in x has a coordinate of a joint or a modal displacement. */
static inline int mbdy_is_position(const mbdy_model *m, int i) {
    const int modal = m->n_coordinates + m->n_speeds;
    return i < m->n_coordinates || (i >= modal && i < modal + m->n_modes);
}

/* Calls the equation with what is in core->arg and core->res. */
void mbdy_evaluate(mbdy_core *core, int equation);

/* How far from `from` towards `to`, fractions of the communication step, no profile bends, which is the piece from now on,
   until it is left. And what is added to the change of inputs over a part. */
double mbdy_enter_piece(mbdy_core *core, double from, double to);
void mbdy_leave_piece(mbdy_core *core);
void mbdy_profiles_change(const mbdy_core *core, double from, double part, double *change);

/* Inputs at a fraction of the communication step. */
const real *mbdy_inputs_at(mbdy_core *core, double fraction, int order);

/* Change of the inputs over a `part` of the communication step had they their rates at the fraction `from` all the way;
   switches stay. */
void mbdy_inputs_change(mbdy_core *core, double from, double part, int order, double *change);

size_t mbdy_work_reals(const mbdy_model *model);

/* The balance of work. It begins, with the energy of the core's own state; work of powers in an internal step is added [J],
   and energy that comes otherwise. */
void mbdy_begin_work(mbdy_core *core);
void mbdy_add_work(mbdy_core *core, double work);
void mbdy_shift(mbdy_core *core, double energy);

/* [J] Of the core's own state, with the inputs that acted last; and that changed from `before` by what is no step. */
double mbdy_energy(mbdy_core *core);
void mbdy_leap(mbdy_core *core, double before);

/* Whether inputs that energy is stored against change in the communication step; and the work that goes into them in the
   internal step h just made from core->x_begin. */
int mbdy_stores_vary(const mbdy_core *core, int order);
double mbdy_store_work(mbdy_core *core, double from, double to, double h, int order);

/* The inputs of the end act from now on. */
void mbdy_record_inputs(mbdy_core *core);

/* [J] The energy that steps have added were they at x, with `energy` that there under inputs u. */
double mbdy_work_error(mbdy_core *core, const double *x, const double *u, double energy);

/* How a communication step H goes: internal steps and their length (of strides the longest), the order of the inputs and those of
   its switches, how far loops were open at its begin, whether inputs change that energy is stored against, whether strides
   may go past its end, and whether a tank may run empty. */
struct mbdy_course {
    double H, n, h, open;
    int order, stores_vary, past, rationed;
    const double *acting;
};

/* mbdy_advance in three: all before the internal steps, these, and all after them; the last two where the first is MBDY_OK. */
int mbdy_begin(mbdy_core *core, double H, double h, int order, struct mbdy_course *course);
int mbdy_go(mbdy_core *core, const struct mbdy_course *by);
int mbdy_end(mbdy_core *core, const struct mbdy_course *by);

/* The communication step in strides, the last of which may go past its end and is gone on with where nothing has changed;
   mbdy_stand notes what that is seen by, at the end of any communication step. How many doubles there are of it, and that the next begins anew. */
int mbdy_stride(mbdy_core *core, const struct mbdy_course *by);
void mbdy_stand(mbdy_core *core);
size_t mbdy_stride_reals(const mbdy_model *model, const mbdy_integrator *integrator);
void mbdy_break_stride(mbdy_core *core);

/* Whether flows may empty a tank within n steps of h; flows of the internal step from..to of h that leave no less than nothing in
   tanks, and the flows of before again, with tanks empty then that these would empty. */
int mbdy_flows_end(mbdy_core *core, double n, double h, int order);
void mbdy_ration(mbdy_core *core, double from, double to, double h, int order);
void mbdy_end_ration(mbdy_core *core);

/* `mbdy_check_tanks` of the state, or start values, x. */
int mbdy_overfull(mbdy_core *core, const double *x);

/* How long a stride may be, `most` at most, that begins at a fraction of the communication step H and ends with the first tank;
   and tanks that it has emptied, which had the masses in the state `before` it, are empty to the bit: 1 where some are, and 1 for the
   first nozzle i of each. */
double mbdy_flow_room(mbdy_core *core, double from, double H, double most, int order);
int mbdy_emptied(mbdy_core *core, const double *before);
int mbdy_empties(const mbdy_core *core, int i);
/* What no function of a state gives, in the outputs y at x and u with that energy: the work error, impulses where these are
   the last step's; MBDY_BAD_OUTPUT where one is not finite. */
int mbdy_complete_outputs(mbdy_core *core, const double *x, const double *u, double *y, double energy, int latched);

/* The inputs of the end of a step of mbdy_run; switches stay as they are at its begin. */
void mbdy_enter_row(mbdy_core *core, const double *next);

/* Place of the first number that is not finite, or -1. */
int mbdy_not_finite(const double *values, int n);

/* What GAPS has of x and u; not where that is NULL. */
void mbdy_measure(mbdy_core *core, const double *x, const double *u, double *error, double *rate, double *cosine, double *lessening);

/* Errors of closed loops and rates that they should not have: the largest error below `largest`, the largest of all
   (core->fault says which) and the largest rate; NaN where one is none. And a row of a loop that has no direction to be
   closed in, or -1. */
struct mbdy_gaps {
    double error, widest, rate;
    int opposed;
};
struct mbdy_gaps mbdy_gaps(mbdy_core *core, const double *u, double largest);

/* Speeds in x that locks and loops do not allow go at once; the impulses that it takes where they are not NULL. */
void mbdy_stop(mbdy_core *core, double *x, const double *u, double *impulses);

/* Whether the lock at a place in `locks` holds a joint that moves; whether a row of a loop that switches is held and moves
   by more than numerical errors, at the rates of the last mbdy_gaps. */
int mbdy_lock_moves(const mbdy_core *core, const double *u, int lock);
int mbdy_row_moves(const mbdy_core *core, const double *u, int row);

/* Joints that are locked stop; loops that have been closed stop what they hold, if their `gaps` say that it moves. 1 where
   there was anything to stop. */
int mbdy_stop_held(mbdy_core *core, const double *u, struct mbdy_gaps gaps);

/* Friction that sticks: its memory; senses with which nothing is held; and unknown ones, for the next decision. */
size_t mbdy_sticking_reals(const mbdy_model *model);
void mbdy_sticking_room(mbdy_core *core, double *at, int *places);
void mbdy_loosen(mbdy_core *core);
void mbdy_forget(mbdy_core *core);

/* Senses that outputs show, of joints that share loads with rows; and those of steps again. */
void mbdy_show_shares(mbdy_core *core);
void mbdy_hide_shares(mbdy_core *core);

/* The internal step between two fractions of the communication step, in parts between its events; 0 where these do not end. */
int mbdy_slip(mbdy_core *core, const struct mbdy_course *by, double from, double to, double h);

/* Makes laws that may be too steep for steps of h act so that these follow them, at the state and inputs of now; as they
   are again with h = 0. */
void mbdy_yield(mbdy_core *core, const double *u, double h);

/* Whether steps of h are too long for the integrator to follow the fastest motion where the core stands, and which that is. */
int mbdy_pace(mbdy_core *core, double h, struct mbdy_pace *pace);

/* ` or integrator="..."` for those that are stable at any step. */
void mbdy_name_stable(char *text, size_t size);

/* The same in words. */
void mbdy_tell_pace(const mbdy_core *core, const mbdy_names *names, const struct mbdy_pace *pace, double h, char *text, size_t size);

/* Of n steps of h that leave the finite numbers from the state of now: the place in x of what moves fastest before it does so.
   The state is anything then. */
int mbdy_blame(mbdy_core *core, const double *u, double n, double h, int order);

/* MBDY_UNCLOSED for the bending that was noted. */
int mbdy_refuse_bending(mbdy_core *core);

/* Lines with such errors (by row) are about to be brought to a right angle, the nearer of two. */
void mbdy_note_lines(mbdy_core *core, const double *error);

/* Start values in S_CLOSED are moved until loops closed in u are closed; MBDY_UNCLOSED, with core->opening, where that
   cannot be. */
int mbdy_close(mbdy_core *core);
size_t mbdy_closing_reals(const mbdy_model *model);
size_t mbdy_closing_places(const mbdy_model *model);

/* A start value as it was given, of a quaternion scaled to one and with the sign of what became of it. */
double mbdy_start_value(const mbdy_core *core, int place);

/* Takes out what the integrator left of errors of closed loops and their rates; MBDY_TORN where those that were closed
   `before` are not any more. */
int mbdy_settle(mbdy_core *core, const double *u, double before);

#endif
