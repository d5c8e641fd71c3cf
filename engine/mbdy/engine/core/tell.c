/* What happens or is doubtful though nothing is wrong, in words. */

#include "inside.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* How far, of the largest, principal moments may go beyond the triangle inequality by rounding. */
#define ROUNDED_BY 1e-9

/* Root mean square of how far material is moved, of the size of its body, beyond which bending is not small: the tip of a beam
   goes twice as far. */
#define FAR_BENT 0.1

void mbdy_watch_bending(mbdy_core *core, const double *amplitudes, const int *bodies) {
    core->amplitudes = amplitudes;
    core->bodies = bodies;
}

void mbdy_note_bending(mbdy_core *core) {
    const mbdy_model *m = core->model;
    const double *modes = core->vector[MBDY_X] + m->n_coordinates + m->n_speeds;
    double square = 0.0;
    for (int i = 0; core->amplitudes && core->bent == 0.0 && i < m->n_modes; i++) {
        const double part = modes[i] / core->amplitudes[i];
        square = (core->bodies[i] == i ? 0.0 : square) + part * part;
        if (square > FAR_BENT * FAR_BENT) core->bent = sqrt(square), core->bent_mode = core->bodies[i];
    }
}

int mbdy_tell_bent(mbdy_core *core, const mbdy_names *names, char *text) {
    const char *mode = names->states[core->model->n_coordinates + core->model->n_speeds + core->bent_mode];
    if (!(core->bent > 0.0)) return 0;
    snprintf(text, MBDY_TEXT,
             "%.*s: its modes bend it far, its material by %.2g of its size in the mean and the tip of a beam by twice that: they are "
             "for small bending, beyond which lengths, loads and frequencies are no longer right; join several bodies that bend "
             "less, or look whether loads and stiffness are meant",
             (int)strcspn(mode, "."), mode, core->bent);
    core->bent = -1.0;
    return 1;
}

/* Adds a name of `length` letters to a list that begins with `text`, `at` being how long it is. */
static int listed(char *text, int at, const char *name, int length) {
    if (at < MBDY_TEXT - 1) snprintf(text + at, (size_t)(MBDY_TEXT - at), "%s'%.*s'", at ? ", " : "", length, name);
    return (int)strlen(text);
}

int mbdy_tell_held(mbdy_core *core, const mbdy_names *names, const double *u, char *text) {
    const mbdy_model *m = core->model;
    const char *joint = "", *loop = "";
    int n = 0, at = 0;
    *text = '\0';
    for (int i = 0; i < m->n_locks; i++) {
        const char *lock = names->inputs[m->locks[i]];
        const int length = (int)(strrchr(lock, '.') - lock);
        if (!mbdy_lock_moves(core, u, i) || strncmp(lock, joint, (size_t)length + 1) == 0) continue;
        at = listed(text, at, joint = lock, length), n++;
    }
    if (m->n_impulses > m->n_locks) mbdy_gaps(core, u, INFINITY);
    for (int i = 0; m->n_impulses > m->n_locks && i < m->n_rows; i++) {
        if (!mbdy_row_moves(core, u, i) || strcmp(names->rows[i], loop) == 0) continue;
        loop = names->rows[i];
        at = listed(text, at, loop, (int)strlen(loop)), n++;
    }
    return n;
}

/* The eigenvalues of a symmetric matrix come to its diagonal, by Jacobi's rotations. */
static void to_principal_axes(double a[3][3]) {
    for (int turn = 0; turn < 30; turn++) {
        const int p = turn % 3 == 2, q = 2 - (turn % 3 == 0), r = 3 - p - q;
        const double product = a[p][q];
        if (product == 0.0) continue;
        const double slope = (a[q][q] - a[p][p]) / (2.0 * product);
        const double t = copysign(1.0, slope) / (fabs(slope) + sqrt(slope * slope + 1.0)), c = 1.0 / sqrt(t * t + 1.0);
        const double of_p = c * (a[r][p] - t * a[r][q]), of_q = c * (t * a[r][p] + a[r][q]);
        a[p][p] -= t * product, a[q][q] += t * product;
        a[p][q] = a[q][p] = 0.0;
        a[r][p] = a[p][r] = of_p, a[r][q] = a[q][r] = of_q;
    }
}

int mbdy_tell_triangle(const mbdy_core *core, const mbdy_names *names, int inertia, char *text) {
    const int place = core->model->inertias[inertia];
    const double *p = core->vector[MBDY_P] + place;
    double a[3][3] = {{p[0], p[1], p[2]}, {p[1], p[3], p[4]}, {p[2], p[4], p[5]}};
    to_principal_axes(a);
    const double small = fmin(a[0][0], fmin(a[1][1], a[2][2])), large = fmax(a[0][0], fmax(a[1][1], a[2][2]));
    const double middle = fmax(fmin(a[0][0], a[1][1]), fmin(fmax(a[0][0], a[1][1]), a[2][2]));
    if (small + middle >= large * (1.0 - ROUNDED_BY)) return 0;
    snprintf(text, MBDY_TEXT,
             "parameter '%.*s': principal moments %.6g, %.6g, %.6g kg.m2 break the triangle inequality; no rigid body has a "
             "moment larger than the sum of the other two; check that it is meant",
             (int)strcspn(names->parameters[place], "["), names->parameters[place], small, middle, large);
    return 1;
}
