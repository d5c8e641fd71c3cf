/* Who keeps the time: the monotonic clock, by absolute deadlines in integers; packets; or ticks from outside. */

#define _GNU_SOURCE
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "rig_inside.h"

/* A measured offset is taken out over the cycles until the next one: a part of it, and a share of the sum of those
   that could be. The period is never trimmed by more than a hundredth, and as usual where no offset comes for RIG_FORGET. */
#define TAKEN 3 / 10
#define SUMMED 1 / 20
#define MOST 100

int64_t rig_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * RIG_SECOND + now.tv_nsec;
}

void keeper_begin(rig *it) {
    const struct shared_head *head = it->setup.shared;
    it->part = 0;
    it->ticked = atomic_load(&head->ticks);
    it->disciplined = atomic_load(&head->offsets);
    it->since = it->integral = it->view.trim = 0;
    it->deadline = it->view.began = rig_now();
}

void keeper_pass(rig *it, int64_t n) {
    if (it->setup.keeper == RIG_TICK) it->ticked += (uint32_t)n;
    if (it->setup.keeper != RIG_WALL) return;
    for (int64_t i = 0; i < n; i++) {
        it->part += it->setup.part;
        it->deadline += it->setup.tick + (it->part < it->setup.part) + it->view.trim;
    }
}

static int64_t within(int64_t value, int64_t most) { return value > most ? most : value < -most ? -most : value; }

static void follow(rig *it) {
    const struct shared_head *head = it->setup.shared;
    const uint32_t offsets = atomic_load_explicit(&head->offsets, memory_order_acquire);
    it->since++;
    if (offsets == it->disciplined) {
        if (it->since > RIG_FORGET / it->setup.tick) it->integral = it->view.trim = 0;
        return;
    }
    const int64_t most = it->setup.tick / MOST, ahead = within(atomic_load(&head->offset), RIG_SECOND), cycles = it->since;
    const int64_t taken = -ahead * TAKEN / cycles, summed = -ahead * SUMMED / cycles;
    if (within(taken + it->integral + summed, most) == taken + it->integral + summed) {
        it->integral = within(it->integral + summed, most);
    } else if ((summed < 0) != (it->integral < 0)) {
        it->integral = 0; /* what was summed before works against it */
    }
    it->view.trim = within(taken + it->integral, most);
    it->disciplined = offsets, it->since = 0;
}

static int wait_for_clock(rig *it) {
    follow(it);
    keeper_pass(it, 1);
    it->woken = rig_now();
    const int behind = it->woken >= it->deadline; /* for the reason that it was before */
    for (; it->woken < it->deadline; it->woken = rig_now()) {
        if (it->stop) return 0;
        const int64_t to = it->deadline - it->woken < RIG_PATIENCE ? it->deadline : it->woken + RIG_PATIENCE;
        const struct timespec until = {.tv_sec = to / RIG_SECOND, .tv_nsec = to % RIG_SECOND};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    }
    count_time(&it->view.wake, it->woken - it->deadline);
    if (!behind) it->oversleeping = it->woken - it->deadline >= it->setup.tick;
    return 1;
}

static int wait_for_tick(rig *it) {
    struct shared_head *head = it->setup.shared;
    uint32_t ticks;
    while ((int32_t)((ticks = atomic_load_explicit(&head->ticks, memory_order_acquire)) - it->ticked) <= 0) {
        if (it->stop) return 0;
        it->ticked = ticks; /* a count that goes back begins anew */
        futex_wait(&head->ticks, ticks, RIG_PATIENCE);
    }
    it->ticked++;
    it->woken = it->deadline = rig_now();
    return 1;
}

static int wait_for_packet(rig *it) {
    while (!it->fresh) {
        if (it->stop) return 0;
        transport_receive(it, 1);
        const int64_t now = rig_now();
        if (!it->watching && it->setup.watchdog && now - it->pilot.heard >= it->setup.watchdog) {
            it->watching = 1;
            it->view.counters.watchdog++;
        }
        if (it->again && !it->fresh) transport_send(it);
        it->again = 0;
    }
    it->woken = it->deadline = rig_now();
    return 1;
}

int keeper_wait(rig *it) {
    switch (it->setup.keeper) {
        case RIG_WALL: return wait_for_clock(it);
        case RIG_TICK: return wait_for_tick(it);
        default: return wait_for_packet(it);
    }
}

int64_t keeper_missed(const rig *it, int64_t now) {
    const struct shared_head *head = it->setup.shared;
    if (it->setup.keeper == RIG_TICK) return (int32_t)(atomic_load(&head->ticks) - it->ticked);
    return it->setup.keeper == RIG_WALL ? (now - it->deadline) / it->setup.tick : 0;
}

void keeper_prepare(rig *it) {
    it->view.lack = 0;
    it->view.thread = (int64_t)syscall(SYS_gettid);
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    const struct sched_param first = {.sched_priority = (int)it->setup.priority};
    if (it->setup.priority && sched_setscheduler(0, SCHED_FIFO, &first) != 0) it->view.lack |= RIG_NO_PRIORITY;
    if (it->setup.lock && mlockall(MCL_CURRENT | MCL_ONFAULT) != 0) it->view.lack |= RIG_NO_LOCK;
}

void keeper_release(rig *it) {
    const struct sched_param usual = {.sched_priority = 0};
    if (it->setup.lock && !(it->view.lack & RIG_NO_LOCK)) munlockall();
    if (it->setup.priority && !(it->view.lack & RIG_NO_PRIORITY)) sched_setscheduler(0, SCHED_OTHER, &usual);
}
