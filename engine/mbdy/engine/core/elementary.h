/* Elementary functions of mbdy's own, so that results have the same bits with every compiler, processor and C library.

   Nothing is used but IEEE's operations, which round alike everywhere where products and sums are not contracted. Sines and
   cosines are vectorised, the others go lane by lane. Errors: sin, cos, exp, log, atan less than 1 unit in the last
   place, tanh, log1p, atan2, hypot, pow less than 1.5, tan, asin, acos less than 2.5. */

#ifndef MBDY_ELEMENTARY_H
#define MBDY_ELEMENTARY_H

#include "prefix.h"
#include "real.h"

/* 33 bits of pi/2, angles below which quarter turns of so many bits are exact, and what rounds to a whole number when it is
   added: 1.5 * 2^52. */
#define MBDY_TWO_OVER_PI 0.63661977236758138
#define MBDY_QUARTER 1.57079632673412561417e+00
#define MBDY_MODERATE 1e6
#define MBDY_TO_WHOLE 6755399441055744.0

double mbdy_scalar_tan(double x);
double mbdy_scalar_asin(double x);
double mbdy_scalar_acos(double x);
double mbdy_scalar_atan(double x);
double mbdy_scalar_tanh(double x);
double mbdy_scalar_exp(double x);
double mbdy_scalar_log(double x);
double mbdy_scalar_log1p(double x);
double mbdy_scalar_atan2(double y, double x);
double mbdy_scalar_pow(double x, double y);
double mbdy_scalar_hypot(double x, double y);

MBDY_LANE_BY_LANE(mbdy_tan, mbdy_scalar_tan)
MBDY_LANE_BY_LANE(mbdy_asin, mbdy_scalar_asin)
MBDY_LANE_BY_LANE(mbdy_acos, mbdy_scalar_acos)
MBDY_LANE_BY_LANE(mbdy_atan, mbdy_scalar_atan)
MBDY_LANE_BY_LANE(mbdy_tanh, mbdy_scalar_tanh)
MBDY_LANE_BY_LANE(mbdy_exp, mbdy_scalar_exp)
MBDY_LANE_BY_LANE(mbdy_log, mbdy_scalar_log)
MBDY_LANE_BY_LANE(mbdy_log1p, mbdy_scalar_log1p)
MBDY_LANE_BY_LANE_2(mbdy_atan2, mbdy_scalar_atan2)
MBDY_LANE_BY_LANE_2(mbdy_pow, mbdy_scalar_pow)
MBDY_LANE_BY_LANE_2(mbdy_hypot, mbdy_scalar_hypot)

/* An angle of any size less whole quarter turns, as a sum of two numbers, and how many of these, modulo 4. */
double mbdy_less_quarters(double angle, double *rest, mbdy_word *quarters);

/* Both in one pass. Quarter turns are taken off in two pieces of pi/2, of which the first has 33 bits, so that products with
   whole numbers below 2^20 are exact (W. J. Cody, W. Waite, Software Manual for the Elementary Functions, 1980); angles
   beyond, or near to whole quarter turns, need more. Polynomials on [-pi/4, pi/4] with the rest of the angle: fdlibm's
   k_sin.c and k_cos.c (elementary.c). */
static inline void mbdy_sincos(real x, real *sine, real *cosine) {
    const real shifted = x * MBDY_TWO_OVER_PI + MBDY_TO_WHOLE, n = shifted - MBDY_TO_WHOLE;
    const real first = x - n * MBDY_QUARTER, second = n * 6.07710050650619224932e-11;
    mbdy_bits quarters = mbdy_bits_of(shifted);
    real y = first - second, rest = (first - y) - second;
    const mbdy_truth near = (mbdy_fabs(x) < MBDY_MODERATE) & ((mbdy_fabs(y) > 0x1p-10) | (n == 0.0));
    if (!mbdy_everywhere(near))
        for (int i = 0; i < MBDY_LANES; i++)
            if (!MBDY_LANE(near, i)) {
                double left;
                mbdy_word count;
                MBDY_LANE(y, i) = mbdy_less_quarters(MBDY_LANE(x, i), &left, &count);
                MBDY_LANE(rest, i) = left, MBDY_LANE(quarters, i) = count;
            }
    const real z = y * y, w = z * z, v = z * y;
    const real p = 8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04 + z * 2.75573137070700676789e-06) +
                   z * w * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10);
    const real s = y - ((z * (0.5 * rest - v * p) - rest) - v * -1.66666666666666324348e-01);
    const real q = z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * 2.48015872894767294178e-05)) +
                   w * w * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11));
    const real half = 0.5 * z, most = 1.0 - half;
    const real c = most + (((1.0 - most) - half) + (z * q - y * rest));
    const mbdy_truth even = (quarters & 1) == 0;
    *sine = mbdy_real_of(mbdy_bits_of(mbdy_either(even, s, c)) ^ (quarters & 2) << 62);
    *cosine = mbdy_real_of(mbdy_bits_of(mbdy_either(even, c, s)) ^ ((quarters + 1) & 2) << 62);
}

static inline real mbdy_sin(real x) {
    real sine, cosine;
    mbdy_sincos(x, &sine, &cosine);
    return sine;
}

static inline real mbdy_cos(real x) {
    real sine, cosine;
    mbdy_sincos(x, &sine, &cosine);
    return cosine;
}

#endif
