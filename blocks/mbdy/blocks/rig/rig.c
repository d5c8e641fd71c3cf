/* The loop. */

#include "rig_inside.h"

#include <stdlib.h>
#include <string.h>

static double *doubles(size_t n) { return calloc(n + 1, sizeof(double)); }

rig *rig_new(plant *of, rig_door *door, const struct rig_setup *setup) {
    rig *it = calloc(1, sizeof *it);
    if (!it) return NULL;
    it->setup = *setup, it->plant = of;
    it->calls = (struct plant_calls){
        .advance = (int (*)(plant *, double, int))door("plant_advance"),
        .refresh = (int (*)(plant *))door("plant_refresh"),
        .check = (int (*)(mbdy_core *, const double *))door("mbdy_check"),
        .state_size = (size_t(*)(const plant *))door("plant_state_size"),
        .save = (int (*)(plant *, void *, size_t))door("plant_save"),
        .restore = (int (*)(plant *, const void *, size_t))door("plant_restore"),
    };
    const size_t n_u = it->n_u = (size_t)of->model->n_u, n_y = it->n_y = (size_t)of->model->n_y;
    const size_t seal = setup->key_size ? MBDY_PACKET_SEAL : 0, n_faults = (size_t)setup->n_faults;
    it->start = of->now.time, it->sequence = setup->first;
    it->u = of->vector[MBDY_U], it->y = of->vector[MBDY_Y];
    it->out_size = MBDY_PACKET_HEADER + sizeof(double) * n_y + seal;
    it->in_room = MBDY_PACKET_HEADER + sizeof(double) * (n_u + RIG_REQUEST) + MBDY_PACKET_SEAL + 1; /* one more tells what is too long */
    it->commanded = doubles(n_u), it->requested = doubles(n_u + RIG_REQUEST);
    it->shown = doubles(n_y), it->frozen = doubles(n_y);
    it->past_u = doubles(n_faults ? n_u * RIG_DELAY : 0), it->past_y = doubles(n_faults ? n_y * RIG_DELAY : 0);
    it->in = malloc(it->in_room), it->out = calloc(1, it->out_size), it->scratch = malloc(it->calls.state_size(of));
    it->acting = calloc(2 * n_faults + 1, 1);
    if (!(it->commanded && it->requested && it->shown && it->frozen && it->past_u && it->past_y && it->in && it->out && it->scratch &&
          it->acting)) {
        rig_free(it);
        return NULL;
    }
    it->asked = it->acting + n_faults;
    it->chance = setup->session | 1;
    if (setup->key_size) seal_prepare(&it->key, setup->key, (size_t)setup->key_size);
    return it;
}

void rig_free(rig *it) {
    if (!it) return;
    free(it->commanded), free(it->requested), free(it->shown), free(it->frozen), free(it->past_u), free(it->past_y);
    free(it->in), free(it->out), free(it->scratch), free(it->acting);
    free(it);
}

struct rig_view *rig_view_of(rig *it) { return &it->view; }

void rig_seal(const unsigned char *key, size_t key_size, const unsigned char *bytes, size_t n, unsigned char *seal) {
    struct seal_key prepared;
    seal_prepare(&prepared, key, key_size);
    seal_make(&prepared, bytes, n, seal);
}

void rig_begin(rig *it) {
    it->stop = 0;
    it->view.end = RIG_RUNNING, it->view.status = PLANT_OK, it->view.began = 0;
    it->view.words[0] = 0;
}

void rig_stop(rig *it) { it->stop = 1; }

void rig_tick(rig *it, unsigned n) {
    struct shared_head *head = it->setup.shared;
    atomic_fetch_add(&head->ticks, n);
    futex_wake(&head->ticks);
}

void rig_discipline(rig *it, double offset) {
    struct shared_head *head = it->setup.shared;
    const double most = 1.0; /* [s] more has no more effect */
    atomic_store(&head->offset, (int64_t)(RIG_SECOND * (offset > most ? most : offset < -most ? -most : offset)));
    atomic_fetch_add(&head->offsets, 1);
}

/* The plant's words during the loop, which takes no interpreter's lock. */
static void hear(void *owner, int status, const char *category, const char *message) {
    rig *it = owner;
    (void)category;
    if (status < it->view.status) return;
    it->view.status = status;
    strncpy(it->view.words, message, RIG_TEXT - 1);
}

static void ignore(void *owner, int status, const char *category, const char *message) {
    (void)owner, (void)status, (void)category, (void)message;
}

/* Steps on scratch, after which the plant is as it was: all that the loop needs has been in memory then. */
static void warm(rig *it) {
    plant *of = it->plant;
    plant_logger *logger = of->logger;
    of->logger = ignore;
    it->calls.save(of, it->scratch, it->calls.state_size(of));
    const int64_t most = rig_now() + RIG_WARM;
    for (int i = 0; i < RIG_WARMING && !it->stop && rig_now() < most; i++) {
        if (it->calls.advance(of, it->setup.period, MBDY_HELD) > PLANT_WARNING) break;
        memcpy(it->shown, it->y, sizeof(double) * it->n_y);
        wire_write(it, 0);
    }
    it->calls.restore(of, it->scratch, it->calls.state_size(of));
    of->logger = logger;
}

static void watch(rig *it) {
    if (it->setup.keeper == RIG_LOCKSTEP) {
        it->watching = 0;
        return;
    }
    it->quiet = it->fresh ? 0 : it->quiet + 1;
    const int acts = it->setup.watchdog && (int64_t)it->quiet * it->setup.tick >= it->setup.watchdog;
    if (acts && !it->watching) it->view.counters.watchdog++;
    it->watching = acts;
    for (size_t i = 0; acts && it->setup.safe && i < it->n_u; i++)
        if (it->setup.safe_marks[i] != 0.0) it->commanded[i] = it->setup.safe_values[i];
}

static int advance(rig *it) {
    faults_turn(it, 0); /* a packet may have asked for one */
    faults_on_inputs(it);
    const int64_t before = rig_now();
    const int status = it->calls.advance(it->plant, it->setup.period, MBDY_HELD);
    count_time(&it->view.step, rig_now() - before);
    if (status > PLANT_WARNING) return 0;
    it->cycle++;
    it->view.counters.cycles++;
    return 1;
}

static uint32_t flags_of(const rig *it) {
    return (it->watching ? MBDY_FLAG_WATCHDOG : 0u) | (it->late ? MBDY_FLAG_LATE : 0u) | (it->fresh ? 0u : MBDY_FLAG_HELD) |
           (faults_act(it, 0) ? MBDY_FLAG_FAULT : 0u);
}

/* The outputs of now as they are shown; `flags` with that of their faults. */
static uint32_t show(rig *it, uint32_t flags) {
    faults_turn(it, 1);
    faults_on_outputs(it);
    return flags | (faults_act(it, 1) ? MBDY_FLAG_FAULT : 0u);
}

/* Sends the outputs, with `flags` and what is said of this packet alone; the flags that they have. */
static uint32_t publish(rig *it, uint32_t flags, uint32_t alone) {
    it->sequence++;
    flags = show(it, flags);
    wire_write(it, flags | alone);
    transport_send(it);
    it->fresh = it->again = 0;
    return flags;
}

/* Counts a cycle that ends too late, and does what the policy says; whether the run goes on. */
static int judge(rig *it, int64_t *left) {
    const int64_t now = rig_now();
    int64_t missed = keeper_missed(it, now);
    it->view.lateness = now - it->deadline;
    it->late = missed > 0;
    if (!it->late) return 1;
    if (it->oversleeping) {
        it->view.counters.overslept++;
    } else {
        it->view.counters.late_cycles++;
    }
    if (it->setup.policy == RIG_STOP) return 0;
    if (it->setup.policy == RIG_CATCH_UP) return 1;
    keeper_pass(it, missed);
    it->view.counters.skipped += (uint64_t)missed;
    for (; it->setup.policy == RIG_SKIP && missed > 0 && *left > 0; missed--, --*left) {
        ring_add(it, show(it, flags_of(it)));
        if (!advance(it)) return 0;
    }
    return 1;
}

static int end_of(const rig *it) { return it->view.status > PLANT_WARNING ? RIG_FAULT : it->stop ? RIG_ASKED : RIG_LATE; }

static int loop(rig *it, int64_t left) {
    while (left > 0) {
        if (it->stop || !keeper_wait(it)) return RIG_ASKED;
        if (it->setup.keeper != RIG_LOCKSTEP) transport_receive(it, 0);
        watch(it);
        left--;
        if (!advance(it)) return RIG_FAULT;
        const int goes_on = judge(it, &left);
        if (!goes_on && it->view.status > PLANT_WARNING) return RIG_FAULT;
        ring_add(it, publish(it, flags_of(it), left > 0 && goes_on ? 0u : MBDY_FLAG_STOPPED));
        if (!goes_on) return end_of(it);
    }
    return RIG_DONE;
}

int rig_run(rig *it, double steps) {
    plant *of = it->plant;
    plant_logger *logger = of->logger;
    void *owner = of->owner;
    of->logger = hear, of->owner = it;
    memcpy(it->commanded, it->u, sizeof(double) * it->n_u);
    keeper_prepare(it);
    warm(it);
    keeper_begin(it);
    it->pilot.heard = it->view.began;
    int end = RIG_FAULT;
    if (it->calls.refresh(of) <= PLANT_WARNING) {
        ring_add(it, publish(it, MBDY_FLAG_HELD, 0u));
        end = loop(it, (int64_t)steps);
        if (end == RIG_ASKED || end == RIG_FAULT) publish(it, flags_of(it), MBDY_FLAG_STOPPED);
    }
    keeper_release(it);
    of->logger = logger, of->owner = owner;
    it->view.end = end;
    if (it->setup.ring) atomic_store(&((struct ring_head *)it->setup.ring)->closed, 1);
    return end;
}
