/* The neutral description of a system, as numbers in a row (bench/peers/system.py), and what every peer is asked for. */

#ifndef SYSTEM_H
#define SYSTEM_H

#ifdef __cplusplus
extern "C" {
#endif

/* Parent's place (-1: none), mass, mass centre from the origin, inertia about the mass centre, then of the hinge: its place
   from the parent's origin and its axis; frames of parent and body are parallel at angle zero. */
struct body {
    double parent, mass, com[3], inertia[9], at[3], axis[3];
};

/* A floating base and n hinged bodies. Of the base: inertial position and velocity of its origin, attitude (w, x, y, z) from
   base axes to inertial ones, omega in base axes. */
struct system {
    int n;
    const struct body *body;
    const double *position, *attitude, *velocity, *omega, *angles, *rates, *torques;
};

static inline struct system system_of(const double *numbers) {
    struct system s;
    s.n = (int)numbers[0];
    s.body = (const struct body *)(numbers + 1);
    s.position = numbers + 1 + 20 * (s.n + 1);
    s.attitude = s.position + 3, s.velocity = s.attitude + 4, s.omega = s.velocity + 3;
    s.angles = s.omega + 3, s.rates = s.angles + s.n, s.torques = s.rates + s.n;
    return s;
}

/* Base to inertial axes, or back. */
static inline void turned(const double *quaternion, const double *from, double *to, int back) {
    const double w = quaternion[0], *v = quaternion + 1, sign = back ? -1.0 : 1.0;
    const double t[3] = {2 * (v[1] * from[2] - v[2] * from[1]), 2 * (v[2] * from[0] - v[0] * from[2]),
                         2 * (v[0] * from[1] - v[1] * from[0])};
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        to[i] = from[i] + sign * w * t[i] + (v[j] * t[k] - v[k] * t[j]);
    }
}

/* What a peer's library has: a system made from numbers that stay, so many evaluations of its forward dynamics, and the
   accelerations found last: angular one of the base (base axes), inertial one of its origin, those of the hinges. */
void *peer_make(const double *numbers);
void peer_free(void *peer);
void peer_call(int count, void *peer);
void peer_accelerations(void *peer, double *found);

#ifdef __cplusplus
}
#endif

#endif
