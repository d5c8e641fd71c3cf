/* The attitude controller of ../quickstart in C, for the rig of its satellite, over UDP:

       mbdy rig ../quickstart/satellite.toml --header satellite.h
       cc -std=c99 -pedantic -Wall -O2 -ffp-contract=off controller.c -o controller
       ./controller 127.0.0.1 5001

   It may start before the rig or after it, and be ended and started again while the rig runs. */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "satellite.h"

enum { PATIENCE = 100000, SILENCES = 100 }; /* [us] until a packet is sent again; how often, until it gives up */

static const double TARGET[4] = {1.0, 0.0, 0.0, 0.0};      /* wanted attitude, quaternion w x y z */
static const double INERTIA[3] = {608.0, 57.4, 622.0};     /* kg.m2 about x, y, z */
static const double BANDWIDTH = 0.16, RATIO = 0.8;         /* rad/s; damping ratio */

/* Quaternion feedback: a spring towards the target and a damper, axis by axis. */
static void control(const struct mbdy_outputs *y, struct mbdy_inputs *u) {
    const double *q = y->bus_attitude, a = TARGET[0], b = TARGET[1], c = TARGET[2], d = TARGET[3];
    const double w = a * q[0] + b * q[1] + c * q[2] + d * q[3];
    const double error[3] = {a * q[1] - b * q[0] - c * q[3] + d * q[2], a * q[2] + b * q[3] - c * q[0] - d * q[1],
                             a * q[3] - b * q[2] + c * q[1] - d * q[0]};
    const double shorter = w >= 0.0 ? 1.0 : -1.0; /* q and -q are the same attitude */
    for (int i = 0; i < 3; i++) {
        const double stiffness = INERTIA[i] * (BANDWIDTH * BANDWIDTH), damping = 2 * RATIO * INERTIA[i] * BANDWIDTH;
        u->bus_torque[i] = -stiffness * 2 * shorter * error[i] - damping * y->bus_omega[i];
    }
}

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static uint64_t at_random(void) {
    uint64_t number = (uint64_t)now();
    FILE *source = fopen("/dev/urandom", "rb");
    if (source) {
        if (fread(&number, sizeof number, 1, source) != 1) number ^= (uint64_t)getpid();
        fclose(source);
    }
    return number;
}

/* Whether these are outputs of this model's rig. */
static int are_outputs(const struct mbdy_outputs *y, long size) {
    return size == (long)sizeof *y && y->head.magic == MBDY_PACKET_MAGIC && y->head.version == MBDY_PACKET_VERSION &&
           y->head.kind == MBDY_PACKET_OUTPUTS && y->head.layout == MBDY_LAYOUT && y->head.count == MBDY_OUTPUTS;
}

/* The newest outputs that are there; 0 if none come in time. */
static int receive(int link, struct mbdy_outputs *newest) {
    struct mbdy_outputs y;
    int got = 0;
    for (;;) {
        const long size = (long)recv(link, &y, sizeof y, got ? MSG_DONTWAIT : 0);
        if (size < 0) return got;
        if (are_outputs(&y, size)) *newest = y, got = 1;
    }
}

int main(int argc, char **argv) {
    static const struct mbdy_packet head = MBDY_INPUTS_HEAD;
    static const double start[MBDY_INPUTS] = MBDY_INPUTS_START;
    static struct mbdy_inputs u;
    static struct mbdy_outputs y;
    static struct sockaddr_in rig;
    const struct timeval patience = {0, PATIENCE};
    const struct timespec pause = {0, 1000L * PATIENCE};
    const int link = socket(AF_INET, SOCK_DGRAM, 0);
    uint64_t session = 0, last = 0;
    long answered = 0;
    int silences = 0;
    if (argc != 3 || inet_pton(AF_INET, argv[1], &rig.sin_addr) != 1) {
        fprintf(stderr, "usage: controller ADDRESS PORT\n");
        return 2;
    }
    rig.sin_family = AF_INET;
    rig.sin_port = htons((uint16_t)atoi(argv[2]));
    setsockopt(link, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (link < 0 || connect(link, (const struct sockaddr *)&rig, sizeof rig) != 0) {
        perror("controller");
        return 1;
    }
    u.head = head;
    u.head.session = at_random();
    u.head.sequence = 1;                                          /* answers 0: a packet that asks for outputs */
    memcpy((char *)&u + MBDY_PACKET_HEADER, start, sizeof start); /* what is left alone stays as the model file has it */
    while (silences < SILENCES) {
        u.head.sent = now();
        send(link, &u, sizeof u, 0);
        errno = 0;
        if (!receive(link, &y) || (y.head.session == session && y.head.sequence <= last)) {
            if (errno == ECONNREFUSED) nanosleep(&pause, NULL); /* nobody is there yet, or any more */
            silences++;
            continue; /* with the same packet: one was lost */
        }
        silences = 0;
        session = y.head.session, last = y.head.sequence;
        if (y.head.flags & MBDY_FLAG_STOPPED) break;
        control(&y, &u);
        u.head.answers = last;
        u.head.sequence++;
        answered++;
    }
    printf("%ld outputs answered\n", answered);
    return silences ? 1 : 0;
}
