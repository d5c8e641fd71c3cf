/* Evidence: histograms of times, rows of the ring. */

#include <string.h>

#include "rig_inside.h"

enum { HALF = 1024 }; /* of the places of one power of two: 3 figures */

void count_time(struct rig_histogram *it, int64_t value) {
    uint64_t v = value > 0 ? (uint64_t)value : 0;
    int shift = 0;
    if (it->sum == 0.0 || v < it->lowest) it->lowest = v;
    if (v > it->highest) it->highest = v;
    it->sum += (double)v;
    while (v >> shift >= 2 * HALF) shift++;
    uint64_t place = (uint64_t)shift * HALF + (v >> shift);
    it->counts[place < RIG_COUNTS ? place : RIG_COUNTS - 1]++;
}

void ring_add(rig *it, uint32_t flags) {
    struct ring_head *head = it->setup.ring;
    if (!head) return;
    const uint64_t row = it->rows;
    if (row - atomic_load_explicit(&head->read, memory_order_acquire) >= RIG_ROWS) {
        it->view.counters.unrecorded++;
        atomic_fetch_add_explicit(&head->unrecorded, 1, memory_order_relaxed);
        return;
    }
    double *to = (double *)(void *)((char *)head + RIG_RING_HEAD) + row % RIG_ROWS * (it->n_u + it->n_y + 3);
    *to++ = it->start + it->setup.period * (double)it->cycle;
    memcpy(to, it->u, sizeof(double) * it->n_u), to += it->n_u;
    memcpy(to, it->shown, sizeof(double) * it->n_y), to += it->n_y;
    *to++ = flags;
    *to = 1e-9 * (double)it->view.lateness;
    atomic_store_explicit(&head->written, it->rows = row + 1, memory_order_release);
}
