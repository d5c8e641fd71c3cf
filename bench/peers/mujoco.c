/* MuJoCo's forward dynamics (mj_forward) as a peer: all but the smooth dynamics switched off. */

#include <mujoco/mujoco.h>
#include <stdlib.h>

#include "system.h"

struct peer {
    mjModel *model;
    mjData *data;
    int n, *speeds;
};

static void copied(int n, double *to, const double *from) {
    for (int i = 0; i < n; i++) to[i] = from[i];
}

void *peer_make(const double *numbers) {
    const struct system s = system_of(numbers);
    const size_t count = (size_t)s.n + 1;
    struct peer *p = malloc(sizeof *p);
    mjSpec *spec = mj_makeSpec();
    mjsBody **body = malloc(count * sizeof *body);
    spec->compiler.degree = 0;
    for (int i = 0; i <= s.n; i++) {
        const struct body *b = s.body + i;
        const int parent = (int)b->parent, places[6] = {0, 4, 8, 1, 2, 5};
        body[i] = mjs_addBody(i ? body[parent] : mjs_findBody(spec, "world"), NULL);
        body[i]->mass = b->mass, body[i]->explicitinertial = 1;
        copied(3, body[i]->pos, b->at), copied(3, body[i]->ipos, b->com);
        for (int k = 0; k < 6; k++) body[i]->fullinertia[k] = b->inertia[places[k]];
        if (i) {
            mjsJoint *joint = mjs_addJoint(body[i], NULL);
            joint->type = mjJNT_HINGE;
            copied(3, joint->axis, b->axis);
        } else {
            mjs_addFreeJoint(body[i]);
        }
    }
    if (!(p->model = mj_compile(spec, NULL))) return NULL;
    mj_setConst(p->model, p->data = mj_makeData(p->model));
    p->model->opt.disableflags = mjDSBL_CONSTRAINT | mjDSBL_EQUALITY | mjDSBL_FRICTIONLOSS | mjDSBL_LIMIT | mjDSBL_CONTACT |
                                 mjDSBL_GRAVITY | mjDSBL_ACTUATION | mjDSBL_SENSOR | mjDSBL_WARMSTART;
    copied(3, p->data->qpos, s.position), copied(4, p->data->qpos + 3, s.attitude);
    copied(3, p->data->qvel, s.velocity), copied(3, p->data->qvel + 3, s.omega);
    p->n = s.n, p->speeds = malloc(count * sizeof *p->speeds);
    for (int i = 0; i < s.n; i++) {
        const int place = p->model->body_dofadr[mjs_getId(body[i + 1]->element)];
        p->data->qpos[place + 1] = s.angles[i], p->data->qvel[place] = s.rates[i];
        p->data->qfrc_applied[place] = s.torques[i], p->speeds[i] = place;
    }
    free(body), mj_deleteSpec(spec);
    return p;
}

void peer_free(void *peer) {
    struct peer *p = peer;
    mj_deleteData(p->data), mj_deleteModel(p->model), free(p->speeds), free(p);
}

/* Steps of MuJoCo's own RK4 without torques; then position, attitude, velocity, omega, angles and rates. */
void peer_run(int steps, double h, void *peer, double *state) {
    const struct peer *p = peer;
    mjData *d = p->data;
    p->model->opt.integrator = mjINT_RK4, p->model->opt.timestep = h;
    mju_zero(d->qfrc_applied, (int)p->model->nv);
    for (int i = 0; i < steps; i++) mj_step(p->model, d);
    copied(7, state, d->qpos), copied(6, state + 7, d->qvel);
    for (int i = 0; i < p->n; i++) state[13 + i] = d->qpos[p->speeds[i] + 1], state[13 + p->n + i] = d->qvel[p->speeds[i]];
}

void peer_call(int count, void *peer) {
    const struct peer *p = peer;
    for (int i = 0; i < count; i++) mj_forward(p->model, p->data);
}

void peer_accelerations(void *peer, double *found) {
    const struct peer *p = peer;
    copied(3, found, p->data->qacc + 3), copied(3, found + 3, p->data->qacc);
    for (int i = 0; i < p->n; i++) found[6 + i] = p->data->qacc[p->speeds[i]];
}
