/* Laws that may be too steep for a step: what it cannot follow of them is taken implicitly, as inertias that degrees of
   freedom have besides in a step (efforts.py, lags). Here the inertias are measured that they have anyway. */

#include "inside.h"

#include <math.h>

/* Inertia of what does not move. */
#define HELD 1e300

/* Accelerations of all such degrees of freedom by one unit of effort at one of them, into `column`. */
static void accelerations(mbdy_core *core, const double *u, int at, double *column) {
    const mbdy_model *m = core->model;
    double *k = core->vector[MBDY_K], *pushed = core->slope[1];
    k[m->pushes[at]] = 1.0;
    mbdy_derivatives(core, NULL, u, pushed);
    k[m->pushes[at]] = 0.0;
    for (int i = 0; i < m->n_resisted; i++) column[i] = pushed[m->resisted[i]] - core->slope[0][m->resisted[i]];
}

/* Against each degree of freedom stands half of m_i = 1 / (A_ii sum_j |A_ij| / sqrt(A_ii A_jj)), A being the accelerations by
   unit efforts: as A is no larger than the diagonal matrix of 1 / m_i, all laws together are followed where each is. */
static void measure(mbdy_core *core, const double *u) {
    const mbdy_model *m = core->model;
    const int n = m->n_resisted;
    double *matrix = core->mobility, *k = core->vector[MBDY_K];
    if (!n) return;
    mbdy_derivatives(core, NULL, u, core->slope[0]);
    for (int j = 0; j < n; j++) accelerations(core, u, j, matrix + j * n);
    for (int i = 0; i < n; i++) {
        const double own = matrix[i * n + i];
        double sum = 0.0;
        for (int j = 0; j < n; j++)
            if (matrix[j * n + j] > 0.0) sum += fabs(matrix[i * n + j]) * sqrt(own / matrix[j * n + j]);
        k[m->yielding[i]] = sum > 0.0 ? fmin(0.5 / sum, HELD) : HELD;
    }
}

void mbdy_yield(mbdy_core *core, const double *u, double h) {
    const mbdy_model *m = core->model;
    if (!m->n_steps || core->derivatives) return;
    if (h > 0.0) measure(core, u);
    for (int i = 0; i < m->n_steps; i++) core->vector[MBDY_K][m->steps[i]] = h;
}
