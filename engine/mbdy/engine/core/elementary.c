/* Elementary functions of one number, and the reduction of large angles.

   Polynomials and constants of exp, log, atan and of the sines in elementary.h are those of fdlibm:

   Copyright (C) 1993, 2004 by Sun Microsystems, Inc. All rights reserved.
   Developed at SunPro, a Sun Microsystems, Inc. business.
   Permission to use, copy, modify, and distribute this software is freely granted, provided that this notice is preserved. */

/* These are of one number, whatever the lanes of those who call them. */
#undef MBDY_LANES
#define MBDY_LANES 1
#include "elementary.h"

#define PI 3.1415926535897931160
#define PI_REST 1.2246467991473531772e-16
#define LN2_HIGH 6.93147180369123816490e-01
#define LN2_LOW 1.90821492927058770002e-10
#define TWO_52 4503599627370496.0

/* Bits of 2/pi, after 64 zeros. */
static const mbdy_word two_over_pi[] = {
    0, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c,
    0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab, 0xf0cfbc209af4361d,
};

/* A product of two words. */
static mbdy_word product(mbdy_word x, mbdy_word y, mbdy_word *low) {
    const mbdy_word half = 0xffffffff, a = x >> 32, b = x & half, c = y >> 32, d = y & half;
    const mbdy_word middle = a * d + (b * d >> 32), other = b * c + (middle & half);
    *low = x * y;
    return a * c + (middle >> 32) + (other >> 32);
}

/* The sum of two numbers of which x is the larger one, and what it was rounded by. */
static double sum(double x, double y, double *rest) {
    const double all = x + y;
    *rest = y - (all - x);
    return all;
}

/* A product, and what it was rounded by (T. J. Dekker, A Floating-Point Technique for Extending the Available Precision,
   Numerische Mathematik 18, 1971). */
static double times(double x, double y, double *rest) {
    const double cut = 134217729.0, all = x * y;
    const double a = cut * x - (cut * x - x), b = x - a, c = cut * y - (cut * y - y), d = y - c;
    *rest = ((a * c - all) + a * d + b * c) + b * d;
    return all;
}

/* 2^k */
static double power_of_two(int k) { return mbdy_real_of((mbdy_word)(k + 1023) << 52); }

/* x less y, and what that was rounded by (D. E. Knuth, The Art of Computer Programming 2, 4.2.2). */
static double difference(double x, double y, double *rest) {
    const double all = x - y, part = all - x;
    *rest = (x - (all - part)) - (y + part);
    return all;
}

/* In four pieces of pi/2, of which three have 33 bits. */
static double less_moderate(double angle, double *rest, mbdy_word *quarters) {
    const double shifted = angle * MBDY_TWO_OVER_PI + MBDY_TO_WHOLE, n = shifted - MBDY_TO_WHOLE;
    double second, third;
    double y = difference(angle - n * MBDY_QUARTER, n * 6.077100506303966e-11, &second);
    y = difference(y, n * 2.0222662487111665e-21, &third);
    *quarters = mbdy_bits_of(shifted);
    const double little = (second + third) - n * 8.4784276603689e-32, all = y + little;
    *rest = (y - all) + little;
    return all;
}

/* The angle is a whole number of 53 bits times 2^e; times 192 of the bits of 2/pi, those before which make whole turns (M. H.
   Payne, R. N. Hanek, Radian Reduction for Trigonometric Functions, SIGNUM Newsletter 18, 1983). */
double mbdy_less_quarters(double angle, double *rest, mbdy_word *quarters) {
    const mbdy_word bits = mbdy_bits_of(angle), whole = (bits & ~(mbdy_word)0 >> 12) | (mbdy_word)1 << 52;
    const int e = (int)(bits >> 52 & 0x7ff) - 1075, at = e - 2 + 64, shift = at % 64;
    if (fabs(angle) < MBDY_MODERATE) return less_moderate(angle, rest, quarters);
    *rest = 0.0, *quarters = 0;
    if (!isfinite(angle)) return angle - angle;
    mbdy_word w[3], high[3], low[3];
    for (int i = 0; i < 3; i++) {
        const mbdy_word *word = two_over_pi + at / 64 + i;
        w[i] = shift ? word[0] << shift | word[1] >> (64 - shift) : word[0];
        high[i] = product(whole, w[i], &low[i]);
    }
    const mbdy_word second = low[1] + high[2], first = low[0] + high[1] + (second < low[1]);
    mbdy_word above = first << 2 | second >> 62, below = second << 2 | low[2] >> 62, count = first >> 62;
    double sign = angle < 0.0 ? -1.0 : 1.0;
    if (above >> 63) {
        count++, sign = -sign;
        below = ~below + 1;
        above = ~above + (below == 0);
    }
    *quarters = angle < 0.0 ? ~count + 1 : count;
    int zeros = 0;
    for (; zeros < 64 && !(above >> 63); zeros++) above = above << 1 | below >> 63, below <<= 1;
    const double scale = sign * power_of_two(-64 - zeros);
    const double large = (double)(above & ~(mbdy_word)0x7ff) * scale;
    const double little = ((double)(above & 0x7ff) + (double)(below >> 11) / (2.0 * TWO_52)) * scale;
    double lost;
    const double all = times(large, 0.5 * PI, &lost);
    return sum(all, lost + (large * (0.5 * PI_REST) + little * (0.5 * PI)), rest);
}

double mbdy_scalar_tan(double x) {
    double sine, cosine;
    mbdy_sincos(x, &sine, &cosine);
    return sine / cosine;
}

double mbdy_scalar_exp(double x) {
    if (!(x < 709.782712893383973096)) return x * INFINITY;
    if (x < -745.13321910194110842) return 0.0;
    const double k = floor(x * 1.44269504088896338700 + 0.5), high = x - k * LN2_HIGH, low = k * LN2_LOW, r = high - low, t = r * r;
    const double c = r - t * (1.66666666666666019037e-01 + t * (-2.77777777770155933842e-03 + t * (6.61375632143793436117e-05 +
                          t * (-1.65339022054652515390e-06 + t * 4.13813679705723846039e-08))));
    const int half = (int)k / 2;
    return (1.0 - ((low - r * c / (2.0 - c)) - high)) * power_of_two(half) * power_of_two((int)k - half);
}

/* A positive number as 2^k (1 + f), f from sqrt(1/2) - 1 to sqrt(2) - 1. */
static double fraction(double x, double *k) {
    const double scaled = x < 1e-300 ? x * TWO_52 : x;
    const mbdy_word bits = mbdy_bits_of(scaled) + (0x3ff0000000000000 - 0x3fe6a09e667f3bcd);
    *k = (double)(bits >> 52) - 1023.0 - (x < 1e-300 ? 52.0 : 0.0);
    return mbdy_real_of((bits & ~(mbdy_word)0 >> 12) + 0x3fe6a09e667f3bcd) - 1.0;
}

double mbdy_scalar_log(double x) {
    if (!(x > 0.0) || !(x < INFINITY)) return x == 0.0 ? -INFINITY : x > 0.0 ? x : NAN;
    double k;
    const double f = fraction(x, &k), half = 0.5 * f * f, s = f / (2.0 + f), z = s * s, w = z * z;
    const double odd = z * (6.666666666666735130e-01 + w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
    const double even = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
    return s * (half + (even + odd)) + k * LN2_LOW - half + f + k * LN2_HIGH;
}

double mbdy_scalar_log1p(double x) {
    const double u = 1.0 + x;
    return u > 0.0 && u < INFINITY ? mbdy_scalar_log(u) + (x - (u - 1.0)) / u : mbdy_scalar_log(u);
}

/* A rational function near zero (S. L. Moshier, Methods and Programs for Mathematical Functions, 1989). */
double mbdy_scalar_tanh(double x) {
    const double a = fabs(x), z = x * x;
    if (a < 0.625)
        return x + x * z * (((-9.64399179425052238628e-1 * z - 9.92877231001918586564e1) * z - 1.61468768441708447952e3) /
                            (((z + 1.12811678491632931402e2) * z + 2.23548839060100448583e3) * z + 4.84406305325125486048e3));
    return isnan(x) ? x : copysign(1.0 - 2.0 / (mbdy_scalar_exp(2.0 * a) + 1.0), x);
}

double mbdy_scalar_atan(double x) {
    static const double high[] = {0.0, 4.63647609000806093515e-01, 7.85398163397448278999e-01, 9.82793723247329054082e-01, 0.5 * PI};
    static const double low[] = {0.0, 2.26987774529616870924e-17, 3.06161699786838301793e-17, 1.39033110312309984516e-17, 0.5 * PI_REST};
    const double a = fabs(x);
    const int part = (a >= 0.4375) + (a >= 0.6875) + (a >= 1.1875) + (a >= 2.4375);
    const double y = part == 0 ? a : part == 1 ? (2.0 * a - 1.0) / (2.0 + a) : part == 2 ? (a - 1.0) / (a + 1.0) :
                     part == 3 ? (a - 1.5) / (1.0 + 1.5 * a) : -1.0 / a;
    const double z = y * y, w = z * z;
    const double odd = z * (3.33333333333329318027e-01 + w * (1.42857142725034663711e-01 + w * (9.09088713343650656196e-02 +
                            w * (6.66107313738753120669e-02 + w * (4.97687799461593236017e-02 + w * 1.62858201153657823623e-02)))));
    const double even = w * (-1.99999999998764832476e-01 + w * (-1.11111104054623557880e-01 + w * (-7.69187620504482999495e-02 +
                             w * (-5.83357013379057348645e-02 + w * -3.65315727442169155270e-02))));
    return copysign(high[part] - ((y * (odd + even) - low[part]) - y), x);
}

double mbdy_scalar_atan2(double y, double x) {
    if (isnan(x) || isnan(y)) return x + y;
    const double a = fabs(x), b = fabs(y);
    const double angle = b == 0.0 ? 0.0 : a == b ? 0.25 * PI : mbdy_scalar_atan(b / a);
    return copysign(signbit(x) ? PI - (angle - PI_REST) : angle, y);
}

double mbdy_scalar_asin(double x) { return mbdy_scalar_atan2(x, sqrt((1.0 - x) * (1.0 + x))); }

double mbdy_scalar_acos(double x) { return 2.0 * mbdy_scalar_atan2(sqrt(1.0 - x), sqrt(1.0 + x)); }

double mbdy_scalar_hypot(double x, double y) {
    const double most = fmax(fabs(x), fabs(y)), scale = most > 1e150 ? 0x1p-600 : most < 1e-150 ? 0x1p600 : 1.0;
    if (isinf(x) || isinf(y)) return INFINITY;
    const double a = x * scale, b = y * scale;
    return sqrt(a * a + b * b) / scale;
}

/* The logarithm of |x|, a positive number, in twice the precision, by the series of 2 atanh(f / (2 + f)). */
static double long_log(double x, double *rest) {
    double k, s_rest, z_rest, term_rest, lost, added = 0.0;
    const double f = fraction(x, &k), below = 2.0 + f, below_rest = f - (below - 2.0), s = f / below;
    const double back = times(s, below, &lost);
    s_rest = (((f - back) - lost) - s * below_rest) / below;
    const double z = times(s, s, &lost);
    z_rest = lost + 2.0 * s * s_rest;
    double term = 1.0 / 41.0;
    *rest = 0.0;
    for (int n = 39; n > 0; n -= 2) { /* term = 1/n + z term */
        const double first = 1.0 / n, first_rest = (1.0 - first * n) / n, more = times(z, term, &lost);
        term_rest = lost + z * *rest + z_rest * term;
        term = sum(first, more, &added);
        *rest = added + (first_rest + term_rest);
    }
    const double series = times(2.0 * s, term, &lost), series_rest = lost + 2.0 * (s * *rest + s_rest * term);
    const double whole = k * LN2_HIGH, all = k ? sum(whole, series, &added) : series;
    if (!k) added = 0.0;
    return sum(all, added + (series_rest + k * LN2_LOW), rest);
}

double mbdy_scalar_pow(double x, double y) {
    if (y == 0.0 || x == 1.0) return 1.0;
    if (isnan(x) || isnan(y)) return x + y;
    const int whole = floor(y) == y, odd = whole && fabs(y) < 2.0 * TWO_52 && floor(0.5 * y) != 0.5 * y;
    if (x < 0.0 && !whole && isfinite(x) && isfinite(y)) return NAN;
    const double sign = odd && signbit(x) ? -1.0 : 1.0, a = fabs(x);
    if (a == 1.0) return sign;
    if (isinf(y) || a == 0.0 || isinf(a)) return sign * ((a > 1.0) == (y > 0.0) ? INFINITY : 0.0);
    double log_rest, rest;
    const double logarithm = long_log(a, &log_rest);
    if (fabs(y) > 1e20) return (logarithm > 0.0) == (y > 0.0) ? INFINITY : 0.0;
    const double exponent = times(logarithm, y, &rest), value = mbdy_scalar_exp(exponent);
    rest += log_rest * y;
    return sign * (value > 0.0 && value < INFINITY ? value + value * rest : value);
}
