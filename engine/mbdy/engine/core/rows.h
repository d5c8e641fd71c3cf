/* Linear equations of least norm by one-sided Jacobi rotations, of any rank; matrices (m x n) lie by rows.

   J. Demmel, K. Veselic, Jacobi's method is more accurate than QR (1992). */

#ifndef MBDY_ROWS_H
#define MBDY_ROWS_H

#include <math.h>

enum { MBDY_SWEEPS = 40 };

static inline double row_product(const double *a, const double *b, int n) {
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static inline double row_norm(const double *a, int n) { return sqrt(row_product(a, a, n)); }

/* The largest size of an element; NaN where one is none. */
static inline double row_largest(const double *a, int n) {
    double most = 0.0;
    for (int i = 0; i < n; i++)
        if (!isnan(most) && !(fabs(a[i]) <= most)) most = fabs(a[i]);
    return most;
}

static inline void row_rotate(double *a, double *b, int n, double cosine, double sine) {
    for (int i = 0; i < n; i++) {
        const double x = a[i], y = b[i];
        a[i] = cosine * x - sine * y;
        b[i] = sine * x + cosine * y;
    }
}

/* Rows A = U S V^T become the orthogonal S V^T, and the right-hand side r becomes U^T r. */
static inline void rows_orthogonal(double *rows, double *right, int m, int n) {
    for (int sweep = 0, rotated = 1; sweep < MBDY_SWEEPS && rotated; sweep++) {
        rotated = 0;
        for (int i = 0; i + 1 < m; i++)
            for (int j = i + 1; j < m; j++) {
                double *a = rows + i * n, *b = rows + j * n;
                const double aa = row_product(a, a, n), bb = row_product(b, b, n), ab = row_product(a, b, n);
                if (!(fabs(ab) > 1e-15 * sqrt(aa) * sqrt(bb))) continue;
                const double zeta = (bb - aa) / (2.0 * ab);
                const double tangent = copysign(1.0, zeta) / (fabs(zeta) + sqrt(1.0 + zeta * zeta));
                const double cosine = 1.0 / sqrt(1.0 + tangent * tangent), sine = cosine * tangent;
                row_rotate(a, b, n, cosine, sine);
                row_rotate(right + i, right + j, 1, cosine, sine);
                rotated = 1;
            }
    }
}

/* The largest square of a singular value of orthogonal rows. */
static inline double rows_largest_square(const double *rows, int m, int n) {
    double largest = 0.0;
    for (int i = 0; i < m; i++) largest = fmax(largest, row_product(rows + i * n, rows + i * n, n));
    return largest;
}

/* x (n) of least norm that brings A x next to r, from orthogonal rows: singular values below `rank` of the largest count
   as zero, and `damping` is added to the squares of the others. Returns how many those are. */
static inline int rows_solve(const double *rows, const double *right, int m, int n, double rank, double damping, double *x) {
    const double least = rank * rank * rows_largest_square(rows, m, n);
    int count = 0;
    for (int k = 0; k < n; k++) x[k] = 0.0;
    for (int i = 0; i < m; i++) {
        const double *row = rows + i * n, square = row_product(row, row, n);
        if (!(square > least)) continue;
        count++;
        for (int k = 0; k < n; k++) x[k] += right[i] / (square + damping) * row[k];
    }
    return count;
}

#endif
