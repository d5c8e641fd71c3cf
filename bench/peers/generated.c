/* The C that pinocchio_generate wrote, as a peer. */

#include <stdlib.h>

#include "pinocchio.h"

int aba(const double **given, double **found, long long *integers, double *work, int memory);
int aba_work(long long *arguments, long long *results, long long *integers, long long *work);

struct peer {
    struct system system;
    double *q, *v, *torques, *a, *work;
    long long *integers;
    const double **given;
    double **found;
    void *rooms[8];
    int n_rooms;
};

/* Zeros, freed with the peer. */
static void *room(struct peer *p, long long count, size_t size) {
    return p->rooms[p->n_rooms++] = calloc((size_t)count + 1, size);
}

void *peer_make(const double *numbers) {
    struct peer *p = calloc(1, sizeof *p);
    long long arguments, results, integers, work;
    aba_work(&arguments, &results, &integers, &work);
    p->system = system_of(numbers);
    const int n = p->system.n;
    p->q = room(p, n + 7, sizeof(double)), p->v = room(p, n + 6, sizeof(double)), p->a = room(p, n + 6, sizeof(double));
    p->torques = room(p, n + 6, sizeof(double)), p->work = room(p, work, sizeof(double));
    p->integers = room(p, integers, sizeof(long long));
    p->given = room(p, arguments, sizeof(double *)), p->found = room(p, results, sizeof(double *));
    pinocchio_state(&p->system, p->q, p->v, p->torques);
    return p;
}

void peer_free(void *peer) {
    struct peer *p = peer;
    while (p->n_rooms) free(p->rooms[--p->n_rooms]);
    free(p);
}

void peer_call(int count, void *peer) {
    struct peer *p = peer;
    for (int i = 0; i < count; i++) {
        p->given[0] = p->q, p->given[1] = p->v, p->given[2] = p->torques, p->found[0] = p->a;
        aba(p->given, p->found, p->integers, p->work, 0);
    }
}

void peer_accelerations(void *peer, double *found) {
    struct peer *p = peer;
    pinocchio_accelerations(&p->system, p->v, p->a, found);
}
