/* How Pinocchio writes state and accelerations of a system whose joints were added in order, a free flyer first. */

#ifndef PINOCCHIO_STATE_H
#define PINOCCHIO_STATE_H

#include "system.h"

static inline void pinocchio_state(const struct system *s, double *q, double *v, double *torques) {
    for (int i = 0; i < 3; i++) q[i] = s->position[i], q[3 + i] = s->attitude[1 + i], v[3 + i] = s->omega[i];
    q[6] = s->attitude[0];
    turned(s->attitude, s->velocity, v, 1);
    for (int i = 0; i < 6; i++) torques[i] = 0.0;
    for (int i = 0; i < s->n; i++) q[7 + i] = s->angles[i], v[6 + i] = s->rates[i], torques[6 + i] = s->torques[i];
}

static inline void pinocchio_accelerations(const struct system *s, const double *v, const double *a, double *found) {
    double of_origin[3];
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        of_origin[i] = a[i] + s->omega[j] * v[k] - s->omega[k] * v[j];
        found[i] = a[3 + i];
    }
    turned(s->attitude, of_origin, found + 3, 0);
    for (int i = 0; i < s->n; i++) found[6 + i] = a[6 + i];
}

#endif
