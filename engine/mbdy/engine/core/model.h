/* One structure of model: the sizes of its vectors, what lies where in them, and its equations as functions.

   Generated code (table.c) fills such a table; its functions are schedules (model.c, changes.c, gradients.c). A function that a
   model does not have is NULL. */

#ifndef MBDY_MODEL_H
#define MBDY_MODEL_H

#include "schedule.h"

/* Derivatives of somebody else's (second opinions). */
typedef void mbdy_call(const real **arg, real **res);

/* Vectors: s start values, x states, u inputs, p parameters, k constants that follow from p, y outputs.

   PREPARE k(p), START x(s, k), DERIVATIVES (x, u, k) x' and the power that changes energy,
   OUTPUTS (x, u, k) y and the energy; STEEPEST (k) the constants with which all laws
   of effort are as steep as they can be, where there are such; PIVOTS (x, u, k) by speed of a joint what it
   moves, not positive where that is no inertia, and how far the axes of three successive rotations are from lying in one
   plane, 1 at most; HOLDING (x, u, k) what holding.py has by degree of freedom with friction that sticks; LATCH (x, u, k) the state after locks and
   loops have stopped what they hold, and the impulses; of models with loops GAPS (x, u, k) the errors of their rows, rates
   that these should not have, cosines that vanish where no direction leads back, and rates that lessen errors, ASSEMBLE
   (x, u, k, largest) the state one Newton step nearer to closed loops, moved as impulses would move it, and RESTORE (x
   before that, x, u, k, largest) the state with the speeds that go with it and the momenta of before.

   INDICATORS (x, u, k) pass zero where laws of effort switch, for integrators that look for it.

   CLOSURE is the errors of GAPS, then the rates. Derivatives at one point: VALUES of the arguments are coefficients;
   CHANGES of these and of changes of arguments are changes of results, GRADIENTS of these and of seeds are gradients; of
   bodies in their own axes, which alone have derivatives by any parameter, SOME ones of those in frames along joints by x
   and u alone. JACOBIAN ones are of DERIVATIVES by x and u, their changes in several directions beside each other. */
enum mbdy_equation {
    MBDY_PREPARE, MBDY_START, MBDY_DERIVATIVES, MBDY_OUTPUTS, MBDY_STEEPEST, MBDY_PIVOTS, MBDY_HOLDING, MBDY_LATCH, MBDY_GAPS,
    MBDY_ASSEMBLE, MBDY_RESTORE, MBDY_INDICATORS,
    MBDY_PREPARE_VALUES, MBDY_START_VALUES, MBDY_DERIVATIVES_VALUES, MBDY_OUTPUTS_VALUES, MBDY_CLOSURE_VALUES,
    MBDY_DERIVATIVES_SOME_VALUES,
    MBDY_PREPARE_CHANGES, MBDY_START_CHANGES, MBDY_DERIVATIVES_CHANGES, MBDY_OUTPUTS_CHANGES, MBDY_CLOSURE_CHANGES,
    MBDY_PREPARE_GRADIENTS, MBDY_START_GRADIENTS, MBDY_DERIVATIVES_GRADIENTS, MBDY_OUTPUTS_GRADIENTS, MBDY_CLOSURE_GRADIENTS,
    MBDY_DERIVATIVES_SOME_CHANGES, MBDY_DERIVATIVES_SOME_GRADIENTS, MBDY_JACOBIAN_VALUES, MBDY_JACOBIAN_CHANGES,
    MBDY_EQUATIONS
};

/* What the speed of a joint changes; a quaternion has three, about outboard axes. */
enum mbdy_motion { MBDY_TRANSLATION, MBDY_ANGLE, MBDY_QUATERNION };

typedef struct mbdy_model {
    int n_x, n_u, n_p, n_y, n_k;
    int n_coordinates, n_speeds, n_modes; /* x has coordinates, speeds, modal displacements, modal rates, momenta */
    int n_quaternions;
    const int *quaternions; /* places in x */
    int switches, n_switches; /* place of the first in u, and how many */
    int orbit_position;       /* place in u, -1 without one */
    int mass_centre, mass_centre_velocity; /* places in x under an attitude root, -1 under others */
    int n_locks;
    const int *locks, *lock_speeds; /* places in u, and in x of the speeds that they stop */
    int n_impulses;
    const int *impulses; /* places in y, -1 where it has none; those of loops, so many, are last */
    int loop_impulses;
    int n_steps, n_resisted;
    const int *steps;    /* places in k of the step, for laws that may be too steep for it (yielding.c) */
    const int *resisted, *yielding, *pushes; /* by degree of freedom of such laws at joints: place in x of its speed; in k
                                                of its inertia, and of an effort that pushes it */
    int n_senses;
    const int *senses; /* places in k, by degree of freedom with friction that sticks (sticking.c) */
    int n_strengths;
    const int *strengths, *strength_groups; /* places in p of what laws of effort and modes scale with, and the group of each */
    int n_indicators; /* rows of INDICATORS, whether that is there or not */
    int n_loops;
    const int *decays;   /* by loop: place in k of the rate at which its errors decay */
    int work_error; /* place in y, -1 without it */
    int n_profiles;
    const int *profiles, *profile_rates, *profile_points, *profile_counts, *profile_smooth; /* places in u of accelerations, in s of
                                   rates, in k of the points (time, rate), how many, and whether rates are smooth */
    int n_stores;
    const int *stores; /* places in u of what energy is stored against: gravity, rests of springs */
    int n_flows;
    const int *flows, *flow_tanks; /* by nozzle: place in u of the flow out of a tank, in x of the mass in that; side by side */
    int n_tanks;
    const int *tanks, *capacities; /* place in x of the mass in each tank, in k of the mass that it holds */
    int n_rows;          /* scalar constraints of loops; what follows is for models that have some */
    int linear_rows;     /* so many of them, the last, are linear in the coordinates: those of gears */
    const int *coordinates, *motions, *prescribed;   /* by speed of a joint: the place in x of what it changes (where a
                                                        quaternion begins), what that is, whether it is always prescribed */
    int n_prescriptions;
    const int *prescriptions, *prescribed_speeds;    /* places in u of switches, and in x of the speeds that they prescribe */
    const int *stiffness;                            /* by mode: place in p */
    const int *row_loops, *row_turns, *row_switches; /* by row: its loop, whether it turns, place in u of what closes it,
                                                        -1 where it is always closed, -2 where it never is */
    int n_inertias;
    const int *inertias; /* places in p of the tensors of bodies (6, upper triangles) */
    int n_lengths, n_points;
    const int *lengths, *points; /* places in p of lengths, and of points (3), that say how large the mechanism is */
    double reach;                /* [m] arms of its loops, which say so too */
    const mbdy_schedule *functions[MBDY_EQUATIONS];
} mbdy_model;

/* The structure of model that is linked into this library or program. */
const mbdy_model *mbdy_this(void);

#endif
