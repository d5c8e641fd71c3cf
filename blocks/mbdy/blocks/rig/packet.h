/* Packets of a rig, on the wire and in shared memory: this header, then doubles; all of it little-endian. */
#ifndef MBDY_PACKET_H
#define MBDY_PACKET_H

#include <stdint.h>

enum mbdy_packet_fact {
    MBDY_PACKET_MAGIC = 0x5944424d, /* the letters MBDY */
    MBDY_PACKET_VERSION = 1,
    MBDY_PACKET_HEADER = 64, /* bytes before the doubles */
    MBDY_PACKET_SEAL = 32    /* bytes behind them where the rig has a key: HMAC-SHA256 of all before */
};

enum mbdy_packet_kind { MBDY_PACKET_INPUTS = 1, MBDY_PACKET_OUTPUTS = 2, MBDY_PACKET_FAULT = 3 };

/* Flags of outputs. */
enum mbdy_packet_flag {
    MBDY_FLAG_WATCHDOG = 1, /* nobody commands: the safe inputs act */
    MBDY_FLAG_LATE = 2,     /* this cycle was late */
    MBDY_FLAG_HELD = 4,     /* no inputs came for this cycle: the last ones act */
    MBDY_FLAG_FAULT = 8,    /* a fault on purpose acts */
    MBDY_FLAG_STOPPED = 16  /* the last packet: the plant has stopped */
};

struct mbdy_packet {
    uint32_t magic;
    uint16_t version;
    uint16_t kind;
    uint64_t layout;   /* which variables follow, of which model */
    uint64_t session;  /* chosen at random by the sender when it starts */
    uint64_t sequence; /* rises by one with each packet of the session */
    uint64_t answers;  /* sequence of the packet of the other side that this one follows from; 0: none */
    double time;       /* [s] of the plant */
    int64_t sent;      /* [ns] the sender's monotonic clock, for measurements alone */
    uint32_t flags;
    uint32_t count; /* doubles that follow */
};

#endif
