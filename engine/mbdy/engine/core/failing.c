/* Why a step left the finite numbers. */

#include "inside.h"

#include <math.h>
#include <string.h>

int mbdy_blame(mbdy_core *core, const double *u, double n, double h, int order) {
    const mbdy_model *m = core->model;
    const size_t size = sizeof(double) * (size_t)m->n_x;
    double *x = core->vector[MBDY_X], *last = core->x_last, *rates = core->slope[0], largest = -1.0;
    int place = -1;
    mbdy_stop_held(core, u, mbdy_gaps(core, u, INFINITY));
    mbdy_yield(core, u, h);
    for (double i = 0.0; place < 0 && i < n; i += 1.0) {
        memcpy(last, x, size);
        core->integrator->step(core, i / n, (i + 1.0) / n, h, order);
        mbdy_normalise(m, x);
        place = mbdy_not_finite(x, m->n_x);
    }
    mbdy_derivatives(core, last, u, rates);
    mbdy_yield(core, u, 0.0);
    for (int i = 0; i < m->n_x; i++)
        if (!mbdy_is_position(m, i) && !(fabs(rates[i]) <= largest)) {
            largest = isnan(rates[i]) ? INFINITY : fabs(rates[i]);
            place = i;
        }
    return place;
}
