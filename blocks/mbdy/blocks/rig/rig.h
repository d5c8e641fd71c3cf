/* A plant in real time: a loop that waits for a tick, takes inputs from packets, steps the plant and sends its outputs.

   Cycle k: wait for tick k + 1; act on the packets that came; step from the plant's k to k + 1; send the outputs of
   k + 1. Inputs that answer outputs within one period so act over the very period that follows these, as those of a
   controller of `simulate` do.

   rig_new allocates; nothing does while the loop runs. The plant is another library's, reached by its functions. */

#ifndef MBDY_RIG_H
#define MBDY_RIG_H

#include <stdint.h>

#include "plant.h"

enum rig_keeper { RIG_WALL = 0, RIG_LOCKSTEP = 1, RIG_TICK = 2 };

/* What is done where a cycle ends after the next tick, `missed` ticks late. HOLD: the plant stands still for them and goes
   on with the next tick. SKIP: their steps are made at once, without packets. CATCH_UP: their cycles are made as fast
   as can be. STOP: the run ends. */
enum rig_policy { RIG_HOLD = 0, RIG_SKIP = 1, RIG_CATCH_UP = 2, RIG_STOP = 3 };

/* Why a run has ended. */
enum rig_end { RIG_RUNNING = 0, RIG_DONE = 1, RIG_ASKED = 2, RIG_LATE = 3, RIG_FAULT = 4 };

/* What could not be had for the loop's thread, as bits. */
enum rig_lack { RIG_NO_PRIORITY = 1, RIG_NO_LOCK = 2 };

/* Faults on purpose. FREEZE: outputs stay as they are when it begins; BIAS: outputs are scale * value + amount, with
   noise of a `deviation`, as multiples of the `resolution`, where these are not 0; FORCE: inputs
   are `amount` whatever is commanded; the others are of packets to the plant (inputs) and from it (outputs): DROP leaves a
   share `amount` of them away, DELAY has what they carry `amount` cycles late. */
enum rig_fault_kind {
    RIG_FREEZE = 0, RIG_BIAS = 1, RIG_FORCE = 2, RIG_DROP_INPUTS = 3, RIG_DROP_OUTPUTS = 4, RIG_DELAY_INPUTS = 5,
    RIG_DELAY_OUTPUTS = 6
};

enum rig_size {
    RIG_SHARED_HEAD = 64, RIG_MAILBOX_HEAD = 16, RIG_RING_HEAD = 64, RIG_COUNTS = 25600, RIG_LISTENERS = 8, RIG_EVENTS = 4096,
    RIG_DELAY = 1024, RIG_TEXT = 1024, RIG_WARMING = 200, RIG_ROWS = 16384
};

struct rig_fault {
    int64_t kind, first, size; /* places in the outputs or inputs */
    double amount, scale, deviation, resolution;
    int64_t begin, end;        /* cycles; -1 for never: by a packet alone */
};

/* A fault that began (`on`) or ended. */
struct rig_event {
    double time; /* [s] of the plant */
    int64_t fault, on;
};

/* Who may send: an IPv4 address and mask, host order, and a port, 0 for any. */
struct rig_peer {
    int64_t address, mask, port;
};

struct rig_setup {
    double period;           /* [s] of the plant from tick to tick */
    int64_t tick;            /* [ns] of the clock, and what is beyond whole ones in 2^-64 ns */
    uint64_t part;
    int64_t keeper, policy;
    uint64_t layout, session, first; /* session and first sequence of the outputs, at random */
    int64_t watchdog, grace; /* [ns] 0 for none; outputs that may have been sent since those that inputs answer */
    int64_t safe;            /* whether inputs that are marked take their safe values under the watchdog */
    const double *safe_values, *safe_marks;
    int64_t socket;          /* -1 for none */
    const struct rig_peer *allowed;
    int64_t n_allowed;
    const unsigned char *key;
    int64_t key_size;
    void *shared, *ring;     /* ring of RIG_ROWS; may be NULL */
    int64_t mailboxes, room; /* whether packets go by shared memory; bytes of each mailbox */
    const struct rig_fault *faults;
    int64_t n_faults;
    int64_t priority, lock;  /* of SCHED_FIFO, 0 for none; whether memory is locked */
};

/* Packets that came, by what became of them; cycles; packets that went. */
struct rig_counters {
    uint64_t acted, greeted, commanded, late, replayed, reordered, foreign, truncated, malformed, forged, other_layout,
        other_session, watchdog, late_cycles, overslept, skipped, sent, unsent, dropped, cycles, /* `dropped` on purpose */
        unrecorded;                 /* rows of the ring for which there was no room */
};

/* Log-linear histogram of times [ns] (HdrHistogram's, 3 figures): `counts` by its index of the value. */
struct rig_histogram {
    uint64_t highest, lowest;
    double sum;
    uint64_t counts[RIG_COUNTS];
};

/* What is seen from outside while the loop runs. */
struct rig_view {
    struct rig_counters counters;
    struct rig_histogram wake, step, trip;
    struct rig_event events[RIG_EVENTS];
    int64_t n_events, end, status, lack, thread;
    int64_t lateness, began, trim; /* [ns] of the last cycle; when ticks began; what a period is longer than usual */
    char words[RIG_TEXT];
};

typedef struct rig rig;
typedef void rig_function(void);
typedef rig_function *rig_door(const char *name);

/* A rig of a plant whose library has `door`; NULL without memory. What the setup points at must live as long. */
rig *rig_new(plant *of, rig_door *door, const struct rig_setup *setup);
void rig_free(rig *it);
struct rig_view *rig_view_of(rig *it);

/* Before rig_run, in the thread that starts it: what ended the run before is forgotten. */
void rig_begin(rig *it);
/* Up to `steps` cycles in the calling thread, after some on scratch that leave the plant as it was; its rig_end. */
int rig_run(rig *it, double steps);
/* From another thread: end after the cycle that runs. */
void rig_stop(rig *it);
/* From another thread: `n` ticks; a measured offset [s] of the clock that the period is to follow, less ours. */
void rig_tick(rig *it, unsigned n);
void rig_discipline(rig *it, double offset);

/* HMAC-SHA256 of `n` bytes. */
void rig_seal(const unsigned char *key, size_t key_size, const unsigned char *bytes, size_t n, unsigned char *seal);

#endif
