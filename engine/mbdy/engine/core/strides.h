/* A stride, as strides.c makes it and crossings.c looks at it. */

#ifndef MBDY_STRIDES_H
#define MBDY_STRIDES_H

#include "inside.h"

/* Whether a stride is ahead, the length to be tried next [s], the last error, length of the stride and how far it is passed [s], the
   work until there, whether its last slope is known and the sides of indicators are, whether friction turns at its end, and how many strides were accepted and
   rejected. */
enum { AHEAD, NEXT, LAST_ERROR, LENGTH, PASSED, DONE, SLOPE, SIDES, TURNING, ACCEPTED, REJECTED, HEAD };

/* The vector STRIDE: that, state and inputs where it was left, end, last slope, polynomial, and by indicator the side of zero on which
   it is, 1 or -1, 0 while it is zero; twice the side to which it goes at the stride's end; and which friction turns there. And
   memory of an attempt. */
struct stride {
    const mbdy_strides *by;
    int n, each, indicators;
    double *head, *now, *u, *end, *slope, *terms, *sides, *turning, *error;
};

/* The sides of indicators at a state and inputs. */
void mbdy_sides(mbdy_core *core, const struct stride *s, const double *x, const double *u);

/* The first indicator that passes zero in the stride of h [s] whose polynomial was made, between two fractions of the communication
   step, and the part of the stride at which it has just done so; row -1 where none does. */
struct mbdy_crossing {
    int row;
    double part;
};
struct mbdy_crossing mbdy_crossing(mbdy_core *core, const struct stride *s, int order, double from, double to, double h);

/* The part of that stride at which friction begins to hold or to slip, which is noted for the turn there; above 1 where none does. */
double mbdy_turns_at(mbdy_core *core, const struct stride *s, int order, double from, double to);

#endif
