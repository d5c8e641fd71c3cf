/* How the start closes loops, differentiated: what errors and rates a change leaves open is taken out by what may move. */

#include "partial.h"

#include <string.h>

static void closure(struct partial *d, mbdy_core *core, int linear, const double *first, double *const result[3]) {
    const double *const at[] = {mbdy_vector(core, MBDY_S_CLOSED), mbdy_vector(core, MBDY_U), mbdy_vector(core, MBDY_K)};
    for (int i = 0; i < 3; i++) d->res[i] = result[i];
    partial_evaluate(d, MBDY_CLOSURE_VALUES, linear, at, (const double *const[]){first, NULL, d->k});
}

int closing_forward(struct partial *d, mbdy_core *core) {
    double *const open_by[3] = {d->part, NULL, NULL};
    for (int of_speeds = 0; of_speeds < 2; of_speeds++) {
        closure(d, core, MBDY_CLOSURE_CHANGES, d->s, open_by);
        if (!mbdy_correct(core, of_speeds, d->part + of_speeds * d->model->n_rows, d->s)) return 0;
    }
    return 1;
}

/* The gradient by each row is what its correction alone would do. */
int closing_reverse(struct partial *d, mbdy_core *core) {
    const int n_x = d->model->n_x, n_rows = d->model->n_rows;
    double *rows = d->trail, *unit = rows + 2 * n_rows, *step = unit + n_rows, *s = d->part, *u = s + n_x, *k = u + d->model->n_u;
    for (int of_speeds = 1; of_speeds >= 0; of_speeds--) {
        memset(rows, 0, sizeof(double) * 3 * (size_t)n_rows);
        for (int i = 0; i < n_rows; i++) {
            double *gradient = rows + of_speeds * n_rows + i;
            memset(step, 0, sizeof(double) * (size_t)n_x);
            unit[i] = 1.0;
            if (!mbdy_correct(core, of_speeds, unit, step)) return 0;
            unit[i] = 0.0;
            for (int j = 0; j < n_x; j++) *gradient += d->s[j] * step[j];
        }
        closure(d, core, MBDY_CLOSURE_GRADIENTS, rows, (double *const[3]){s, u, k});
        partial_add(d->s, s, n_x);
        partial_add(d->k, k, d->model->n_k);
    }
    return 1;
}
