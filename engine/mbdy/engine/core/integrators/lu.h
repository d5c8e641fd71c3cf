/* Linear equations by triangular factors with partial pivoting; matrices (n x n) lie by columns. */

#ifndef MBDY_LU_H
#define MBDY_LU_H

#include <math.h>

static inline void exchange(double *a, double *b) {
    const double kept = *a;
    *a = *b;
    *b = kept;
}

/* The factors in the place of `matrix`, rows k and rows[k] exchanged at step k. A singular matrix gives numbers that are
   not finite here or when it is solved. */
static inline void lu_factor(double *matrix, int *rows, int n) {
    for (int k = 0; k < n; k++) {
        double *own = matrix + k * n;
        int p = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(own[i]) > fabs(own[p])) p = i;
        rows[k] = p;
        for (int j = 0; j < n; j++) exchange(matrix + j * n + k, matrix + j * n + p);
        for (int i = k + 1; i < n; i++) own[i] /= own[k];
        for (int j = k + 1; j < n; j++) {
            double *other = matrix + j * n;
            const double above = other[k];
            for (int i = k + 1; i < n; i++) other[i] -= own[i] * above;
        }
    }
}

/* The solution in the place of the right-hand side b. */
static inline void lu_solve(const double *matrix, const int *rows, int n, double *b) {
    for (int k = 0; k < n; k++) exchange(b + k, b + rows[k]);
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++) b[i] -= matrix[k * n + i] * b[k];
    for (int k = n - 1; k >= 0; k--) {
        b[k] /= matrix[k * n + k];
        for (int i = 0; i < k; i++) b[i] -= matrix[k * n + i] * b[k];
    }
}

#endif
