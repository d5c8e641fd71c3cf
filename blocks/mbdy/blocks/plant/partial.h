/* Exact directional and adjoint derivatives of the equations about one state (changes.c, gradients.c). Vectors of changes and
   of gradients have the shapes of the core's. */

#ifndef MBDY_PARTIAL_H
#define MBDY_PARTIAL_H

#include "core.h"

enum { PARTIAL_FUNCTIONS = MBDY_PREPARE_CHANGES - MBDY_PREPARE_VALUES };

/* Arguments of one function, with the coefficients there behind them, once they are `known`. */
struct partial_point {
    double *at;
    int known;
};

struct partial {
    const mbdy_model *model;
    int work; /* whether the work is a state, the last of x and dx */
    double *s, *x, *u, *p, *k; /* changes of the knowns in, or gradients by them out */
    double *dx, *y;            /* changes of the unknowns out, or seeds in */
    double *end;     /* of the vectors, which lie in one block that begins at s */
    double *w, *part;
    double *trail; /* of closing_partial.c */
    const double **arg;
    double **res;
    struct partial_point points[PARTIAL_FUNCTIONS];
    double *memory; /* of the points */
};

/* Into d->res what a function's VALUES at arguments `at` and its `linear` CHANGES or GRADIENTS make of what is `given`. */
void partial_evaluate(struct partial *d, int values, int linear, const double *const at[], const double *const given[]);
struct partial *partial_new(const mbdy_model *model);
void partial_free(struct partial *d);
void partial_clear(struct partial *d);
void partial_add(double *sum, const double *part, int n);

/* The change of a vector like x (quaternions scaled to one) from the change of `s` that it was scaled from, or the gradient
   by `s` from that by the scaled vector: the map is symmetric. */
void partial_scaling(const mbdy_model *model, const double *s, double *change);

/* The start closes loops: the change of start values by this, or their gradients (and those by k) before it. 0 where start
   values that were given contradict the loops, which leaves no derivative. */
int closing_forward(struct partial *d, mbdy_core *core);
int closing_reverse(struct partial *d, mbdy_core *core);

/* What follows from changes of s or x, u and, where `parameters`, p. `initial`: x follows from s. 0 as closing_forward. */
int partial_forward(struct partial *d, mbdy_core *core, int initial, int parameters, int want_rates, int want_outputs);

/* The gradients by s or x, u and, where `parameters`, p from the seeds in dx and y. */
int partial_reverse(struct partial *d, mbdy_core *core, int initial, int parameters, int of_rates, int of_outputs);

#endif
