/* mbdy core: one plant of one model structure, stepped at a fixed internal step.

   Generated functions (model.c, made by CasADi) hold the equations; core.c holds the time stepping. A plant is
   one block of memory made by mbdy_new; nothing allocates, locks or prints after that. Vectors: s start values,
   x states, u inputs, p parameters, y outputs; their sizes are in config.h. */

#ifndef MBDY_CORE_H
#define MBDY_CORE_H

#if !defined(MBDY_API) /* else part of a larger library, which shows its own functions only */
#if defined(_WIN32)
#define MBDY_API __declspec(dllexport)
#else
#define MBDY_API __attribute__((visibility("default")))
#endif
#endif

#define MBDY_ABI 5

enum mbdy_status {
    MBDY_OK = 0,
    MBDY_BAD_INPUT = 1,     /* an input is not finite, or a switch not 0 or 1; mbdy_fault says which */
    MBDY_BAD_PARAMETER = 2, /* a parameter is not finite (mbdy_fault says which), or a body cannot have such
                               parameters (mbdy_fault less MBDY_NP is the place of a constant of that body); the
                               constants are as before */
    MBDY_BAD_START = 3,     /* a start value is not finite or a quaternion is zero; mbdy_fault says which */
    MBDY_FAILED = 4,        /* the state left the finite numbers; mbdy_fault says which; the old one is back */
    MBDY_BAD_STEP = 5,      /* the communication or internal step is not positive and finite, or too many; or there is
                               no such order of the inputs, or this core has no such integrator */
    MBDY_UNCLOSED = 6,      /* the loops cannot be closed from the start; mbdy_fault says which row; x is as before */
    MBDY_TORN = 7           /* a closed loop came apart in the step; mbdy_fault says which row; the old state is back */
};

/* Only cores with MBDY_IMPLICIT in their config.h have the linearly implicit one, which needs n_x by n_x doubles. */
enum mbdy_integrator { MBDY_RK4 = 0, MBDY_EULER = 1, MBDY_ROSENBROCK = 2 };

/* Order of the inputs over a communication step: they stay at u, go on the line from u to u_end, or on the parabola
   through u, u_mid at the middle and u_end. */
enum mbdy_order { MBDY_HELD = 0, MBDY_LINEAR = 1, MBDY_QUADRATIC = 2 };

/* LATCHED has the impulses of the latches of the last step; K the constants that mbdy_prepare makes. */
enum mbdy_vector { MBDY_S, MBDY_X, MBDY_U, MBDY_U_END, MBDY_P, MBDY_Y, MBDY_U_MID, MBDY_LATCHED, MBDY_K, MBDY_VECTORS };

typedef struct mbdy_core mbdy_core;

MBDY_API int mbdy_abi(void);
MBDY_API int mbdy_size(int vector);
MBDY_API mbdy_core *mbdy_new(void);
MBDY_API void mbdy_free(mbdy_core *core);
MBDY_API double *mbdy_vector(mbdy_core *core, int vector);
MBDY_API int mbdy_fault(const mbdy_core *core);

/* Constants from parameters p, then states x from start values s, with the loops closed that are closed in u. */
MBDY_API int mbdy_prepare(mbdy_core *core);
MBDY_API int mbdy_start(mbdy_core *core);

/* MBDY_BAD_INPUT where an input in u cannot be used, which a step would say too. */
MBDY_API int mbdy_check(mbdy_core *core);

/* x' and y at any state and input; the plant's own x, u and y where a pointer is null. Impulses of the last step are
   in y with the plant's own x. */
MBDY_API void mbdy_derivatives(mbdy_core *core, const double *x, const double *u, double *dx);
MBDY_API void mbdy_outputs(mbdy_core *core, const double *x, const double *u, double *y);

/* Joints locked by u that move stop at once, as by a latch, and so does what loops closed by u hold; the momentum of the
   system stays. 1 where some did. */
MBDY_API int mbdy_latch(mbdy_core *core);

/* Scales each quaternion of a vector like x to one, without turning its sign. */
MBDY_API void mbdy_normalise(double *x);

/* Locked joints and closed loops are latched. Then one communication step H in ceil(H/h - 1e-9) equal internal
   steps, the inputs held, linear or quadratic (booleans hold the value in u_end, or u where all is held); then y, with
   the inputs of the end, which u and u_mid then have too. Small errors of closed loops are taken out at the end. On a fault x and impulses are as before. */
MBDY_API int mbdy_step(mbdy_core *core, double H, double h, int integrator, int order);

/* mbdy_step without y. */
MBDY_API int mbdy_advance(mbdy_core *core, double H, double h, int integrator, int order);

/* `rows` communication steps in a row, inputs held or linear, with rows + 1 rows of `inputs`, one for each instant (the
   plant's own u, held, where null); after each step the outputs at places `pick`, with the inputs of that instant, are
   written to `out`. Returns the status; *done says how many rows are whole. */
MBDY_API int mbdy_run(mbdy_core *core, int rows, double H, double h, int integrator, int order,
                      const double *inputs, const int *pick, int picked, double *out, int *done);

#endif
