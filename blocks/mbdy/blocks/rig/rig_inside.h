/* What the files of the rig share. */

#ifndef MBDY_RIG_INSIDE_H
#define MBDY_RIG_INSIDE_H

#include <netinet/in.h>
#include <stdatomic.h>

#include "packet.h"
#include "rig.h"
#include "seal.h"

enum { RIG_SENT = 16384, RIG_SESSIONS = 1024, RIG_AT_ONCE = 512, RIG_REQUEST = 2 }; /* packets that are looked at in one cycle; doubles of a
                                                                                   fault's packet */
#define RIG_SECOND 1000000000
#define RIG_WARM RIG_SECOND         /* [ns] that steps on scratch take at most */
#define RIG_PATIENCE 50000000       /* [ns] a loop that waits looks that often whether it is to stop */
#define RIG_SILENCE RIG_SECOND      /* [ns] after which another session is taken, without a watchdog */
#define RIG_FORGET (10LL * RIG_SECOND) /* [ns] listeners and clocks that are silent for so long are told, and followed, no more */
#define RIG_OPERATOR 10000          /* outputs that may have been sent since those that a fault's packet answers */

/* Shared memory: this head, then two mailboxes. Others may write all of it: no place, width or size that the loop goes by
   is read from it unless it is held against what the rig knows. Futexes are `ticks` and the stamps. */
struct shared_head {
    uint32_t magic, version;
    uint64_t layout;
    _Atomic uint32_t ticks;
    uint32_t at_inputs, at_outputs, room;
    _Atomic int64_t offset; /* [ns] of the clock that is followed, less ours */
    _Atomic uint32_t offsets;
    uint32_t spare[5];
};

/* A packet of `size` bytes; `stamp` is odd while it is written. */
struct mailbox {
    _Atomic uint32_t stamp, size;
    uint64_t spare;
    unsigned char bytes[];
};

/* Recorded rows that another process drains: `read` is its own. */
struct ring_head {
    _Atomic uint64_t written, unrecorded;
    uint32_t width, capacity;
    _Atomic uint64_t read, closed;
    uint64_t spare[3];
};

/* Whose packets act, of one kind. */
struct commander {
    int at_work, used;
    uint64_t session, last, seen; /* `seen`: which of the 64 before the last have come, as bits */
    uint64_t sessions[RIG_SESSIONS];
    int64_t heard;                /* [ns] when it last acted */
};

struct listener {
    struct sockaddr_in at;
    int64_t since, heard, acted; /* [ns] when it came, sent last, and sent inputs that acted; 0 for never */
};

struct plant_calls {
    int (*advance)(plant *, double, int);
    int (*refresh)(plant *);
    int (*check)(mbdy_core *, const double *);
    size_t (*state_size)(const plant *);
    int (*save)(plant *, void *, size_t);
    int (*restore)(plant *, const void *, size_t);
};

struct rig {
    struct rig_setup setup;
    plant *plant;
    struct plant_calls calls;
    size_t n_u, n_y;
    double *u, *y;           /* the plant's */
    double *commanded;       /* inputs that a packet or the watchdog gave last */
    double *shown;           /* outputs as they are sent */
    double *frozen;          /* by output, what it stays at */
    double *past_u, *past_y; /* RIG_DELAY rows of each */
    double *requested;       /* of a packet that is looked at */
    double start;            /* [s] of the plant */
    void *scratch;
    unsigned char *in, *out; /* packets */
    size_t in_room, out_size;
    struct seal_key key;
    struct commander pilot, operator;
    struct listener listeners[RIG_LISTENERS];
    int n_listeners;
    unsigned char *acting;   /* by fault: whether it acts, and whether a packet has it act */
    unsigned char *asked;
    uint64_t chance;         /* state of the random numbers */
    int fresh, again;        /* inputs came for this cycle; the last outputs are to be sent again */
    int quiet, watching, late, oversleeping;
    uint64_t sequence, answered; /* of the outputs; of the inputs that acted last */
    int64_t cycle;
    int64_t deadline, woken;
    uint64_t part;
    int64_t sent[RIG_SENT];  /* [ns] when outputs were sent */
    uint32_t mail, ticked, disciplined;
    uint64_t rows;           /* that were written into the ring */
    int64_t since, integral; /* cycles since an offset came; [ns] */
    _Atomic int stop;
    struct rig_view view;
};

int64_t rig_now(void);

/* keeper.c: waits for the next tick; 0 where the run is to end. What a cycle that ended at `now` was late for, in ticks. */
int keeper_wait(rig *it);
int64_t keeper_missed(const rig *it, int64_t now);
/* The next tick is that of `n` further ones. */
void keeper_pass(rig *it, int64_t n);
void keeper_begin(rig *it);
/* What the loop's thread needs, as far as it is permitted; and back again. */
void keeper_prepare(rig *it);
void keeper_release(rig *it);

/* wire.c: a packet that came from `from` (NULL: by shared memory) at an instant [ns], acted on if it is good; outputs as
   a packet. */
void wire_take(rig *it, const unsigned char *bytes, size_t n, const struct sockaddr_in *from, int64_t at);
void wire_write(rig *it, uint32_t flags);
int64_t wire_patience(const rig *it);
int wire_silent(const rig *it, const struct commander *who, int64_t now);

/* transport.c: packets that are there, or with `wait` those that come within RIG_PATIENCE; the written packet to all who listen. */
void transport_receive(rig *it, int wait);
void transport_send(rig *it);
void transport_listen(rig *it, const struct sockaddr_in *at, int64_t now, int acts);
int futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t patience);
void futex_wake(_Atomic uint32_t *word);

/* on_purpose.c: faults on purpose. */
void faults_turn(rig *it, int of_outputs_too); /* what begins and what ends now */
void faults_ask(rig *it, double which, double on);
int faults_act(const rig *it, int on_outputs);
int faults_lose(rig *it, int kind);
void faults_on_inputs(rig *it);
void faults_on_outputs(rig *it);

/* counts.c */
void count_time(struct rig_histogram *it, int64_t value);
void ring_add(rig *it, uint32_t flags);

#endif
