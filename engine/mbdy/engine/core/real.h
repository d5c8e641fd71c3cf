/* The number that kernels and integrators reckon with: one double, or a lane of a vector for each of MBDY_LANES runs.

   All that is here gives a lane the bits that it would have alone. */

#ifndef MBDY_REAL_H
#define MBDY_REAL_H

#include <math.h>
#include <string.h>

#ifndef MBDY_LANES
#define MBDY_LANES 1
#endif

typedef unsigned long long mbdy_word;

#if MBDY_LANES == 1
typedef double real;
typedef mbdy_word mbdy_bits;
typedef int mbdy_truth;
#define MBDY_LANE(value, lane) ((void)(lane), &(value))[0]
#define MBDY_CONSTANT(x) x
static inline real mbdy_all(double x) { return x; }
static inline int mbdy_everywhere(mbdy_truth c) { return c; }
static inline real mbdy_where(mbdy_truth c, real x) { return c ? x : 0.0; }
static inline real mbdy_either(mbdy_truth c, real x, real y) { return c ? x : y; }
static inline real mbdy_one(mbdy_truth c) { return c; }
#else
typedef double real __attribute__((vector_size(8 * MBDY_LANES)));
typedef mbdy_word mbdy_bits __attribute__((vector_size(8 * MBDY_LANES)));
typedef long long mbdy_truth __attribute__((vector_size(8 * MBDY_LANES)));
#define MBDY_LANE(value, lane) (value)[lane]
#if MBDY_LANES == 2
#define MBDY_CONSTANT(x) {x, x}
#elif MBDY_LANES == 4
#define MBDY_CONSTANT(x) {x, x, x, x}
#else
#define MBDY_CONSTANT(x) {x, x, x, x, x, x, x, x}
#endif
static inline real mbdy_all(double x) { return x - (real){0.0}; }
static inline int mbdy_everywhere(mbdy_truth c) {
    long long all = -1;
    for (int i = 0; i < MBDY_LANES; i++) all &= c[i];
    return all != 0;
}
static inline real mbdy_where(mbdy_truth c, real x) { return (real)(c & (mbdy_truth)x); }
static inline real mbdy_either(mbdy_truth c, real x, real y) { return (real)((c & (mbdy_truth)x) | (~c & (mbdy_truth)y)); }
static inline real mbdy_one(mbdy_truth c) { return mbdy_where(c, mbdy_all(1.0)); }
#endif

static inline mbdy_bits mbdy_bits_of(real x) {
    mbdy_bits b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static inline real mbdy_real_of(mbdy_bits b) {
    real x;
    memcpy(&x, &b, sizeof x);
    return x;
}

/* A function of one number, or of two, lane by lane. */
#define MBDY_LANE_BY_LANE(name, function)                                                    \
    static inline real name(real x) {                                                        \
        for (int i = 0; i < MBDY_LANES; i++) MBDY_LANE(x, i) = function(MBDY_LANE(x, i));    \
        return x;                                                                            \
    }
#define MBDY_LANE_BY_LANE_2(name, function)                                                              \
    static inline real name(real x, real y) {                                                            \
        for (int i = 0; i < MBDY_LANES; i++) MBDY_LANE(x, i) = function(MBDY_LANE(x, i), MBDY_LANE(y, i)); \
        return x;                                                                                        \
    }

MBDY_LANE_BY_LANE(mbdy_sqrt, sqrt)
MBDY_LANE_BY_LANE(mbdy_floor, floor)
MBDY_LANE_BY_LANE(mbdy_ceil, ceil)

static inline real mbdy_fabs(real x) { return mbdy_real_of(mbdy_bits_of(x) & ~(mbdy_word)0 >> 1); }
static inline real mbdy_fmin(real x, real y) { return mbdy_either((x < y) | (y != y), x, y); }
static inline real mbdy_fmax(real x, real y) { return mbdy_either((x > y) | (y != y), x, y); }

#endif
