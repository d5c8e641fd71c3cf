/* Accelerations from a dense mass matrix, and from G M^-1 G^T of the loops: dense.py says how the terms are made.

sizes.h has N freedoms (N_U of joints, N_ETA modes), M rows of loops, N_Q coordinates, MODES the place of the modal
displacements in x, and where the blocks of the mass matrix and of G^T go. */
#include <stdlib.h>

#include "schedule.h"
#include "sizes.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3") /* vectors of doubles, for long loops over rows */
#endif

enum { W = M + 1 }; /* columns of Y = [G^T, forces] and of A = [G M^-1 G^T, right] */

extern const mbdy_schedule mbdy_dense_terms;

static const int block_at[] = {BLOCK_AT}, column_at[] = {COLUMN_AT};
static double H[N * N], Y[N * W], A[W * W], column[N + W], multipliers[W], found[N];
static double blocks[BLOCKS + 1], columns[COLUMNS + 1], forces[N], right[W];

/* L D L^T of the lower triangle of a (n x n in rows of w), in place; a column w - 1 beyond it is divided by L. */
static void factor(double *a, int n, int w, int beyond) {
    for (int j = 0; j < n; j++) {
        double d = 1 / a[j * w + j];
        for (int k = j + 1; k < n; k++) column[k] = a[k * w + j];
        for (int i = j + 1; i < n; i++) {
            double l = column[i] * d, *row = a + i * w;
            for (int k = j + 1; k <= i; k++) row[k] -= l * column[k];
            row[j] = l;
            if (beyond) row[w - 1] -= l * a[j * w + w - 1];
        }
    }
}

static void solve(void) {
    factor(H, N, N, 0);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < i; k++) {
            double l = H[i * N + k];
            for (int c = 0; c < W; c++) Y[i * W + c] -= l * Y[k * W + c];
        }
    for (int i = 0; i < N; i++) {
        double d = 1 / H[i * N + i];
        for (int a = 0; a < M; a++) {
            double l = Y[i * W + a] * d;
            for (int c = 0; c <= a; c++) A[a * W + c] += l * Y[i * W + c];
            A[a * W + M] -= l * Y[i * W + M];
        }
    }
    factor(A, M, W, 1);
    for (int i = M - 1; i >= 0; i--) {
        double s = A[i * W + M] / A[i * W + i];
        for (int k = i + 1; k < M; k++) s -= A[k * W + i] * multipliers[k];
        multipliers[i] = s;
    }
    for (int i = 0; i < N; i++) {
        double s = Y[i * W + M];
        for (int a = 0; a < M; a++) s += Y[i * W + a] * multipliers[a];
        found[i] = s / H[i * N + i];
    }
    for (int i = N - 1; i >= 0; i--)
        for (int k = 0; k < i; k++) found[k] -= H[i * N + k] * found[i];
}

__attribute__((visibility("default"))) void repeat(int count, const double *x, const double *u, const double *k,
                                                   double *rates) {
    const double *given[ARGUMENTS] = {x, u, k};
    double *results[RESULTS] = {blocks, forces, columns, right, rates};
    mbdy_unfold(&mbdy_dense_terms);
    double *work = calloc(1 + (size_t)mbdy_dense_terms.work, sizeof *work);
    for (int turn = 0; turn < count; turn++) {
        mbdy_play(&mbdy_dense_terms, given, results, work);
        for (int i = 0; i < N * N; i++) H[i] = 0;
        for (int i = 0; i < N * W; i++) Y[i] = 0;
        for (int i = 0; i < W * W; i++) A[i] = 0;
        for (int i = 0; i < BLOCKS; i++) H[block_at[i]] = blocks[i];
        for (int i = 0; i < COLUMNS; i++) Y[column_at[i]] = columns[i];
        for (int i = 0; i < N; i++) Y[i * W + M] = forces[i];
        for (int i = 0; i < M; i++) A[i * W + M] = right[i];
        solve();
        for (int i = 0; i < N_U; i++) rates[N_Q + i] = found[i];
        for (int i = 0; i < N_ETA; i++) {
            rates[MODES + i] = x[MODES + N_ETA + i];
            rates[MODES + N_ETA + i] = found[N_U + i];
        }
    }
    free(work);
}
