/* Packets by UDP and by shared memory. Linux: futex, receive times of the kernel. */

#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "rig_inside.h"

int futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t patience) {
    const struct timespec most = {.tv_sec = patience / RIG_SECOND, .tv_nsec = patience % RIG_SECOND};
    return (int)syscall(SYS_futex, word, FUTEX_WAIT, value, &most, NULL, 0);
}

void futex_wake(_Atomic uint32_t *word) { syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0); }

static struct mailbox *mailbox_of(rig *it, int64_t which) {
    return (struct mailbox *)(void *)((char *)it->setup.shared + RIG_SHARED_HEAD + which * it->setup.room);
}

/* Whether inputs of this listener act, or did within the time after which another's may; beside one that greets also
   whether it has had less than RIG_SILENCE to begin. */
static int at_work(const rig *it, const struct listener *one, int64_t now, int acts) {
    if (one->acted) return one->acted == it->pilot.heard || now - one->acted < wire_patience(it);
    return !acts && now - one->since < RIG_SILENCE;
}

void transport_listen(rig *it, const struct sockaddr_in *at, int64_t now, int acts) {
    int place = 0, oldest = -1;
    for (; place < it->n_listeners; place++) {
        const struct listener *one = &it->listeners[place];
        if (one->at.sin_addr.s_addr == at->sin_addr.s_addr && one->at.sin_port == at->sin_port) break;
        if (!at_work(it, one, now, acts) && (oldest < 0 || one->heard < it->listeners[oldest].heard)) oldest = place;
    }
    if (place == RIG_LISTENERS) place = oldest; /* whoever greets takes no place of one that acts */
    if (place < 0) return;
    struct listener *one = &it->listeners[place];
    if (place == oldest || place == it->n_listeners) *one = (struct listener){.at = *at, .since = now};
    if (place == it->n_listeners) it->n_listeners++;
    one->heard = now;
    if (acts) one->acted = now;
}

static int allowed(const rig *it, const struct sockaddr_in *from) {
    const int64_t address = ntohl(from->sin_addr.s_addr), port = ntohs(from->sin_port);
    for (int64_t i = 0; i < it->setup.n_allowed; i++) {
        const struct rig_peer *peer = &it->setup.allowed[i];
        if ((address & peer->mask) == (peer->address & peer->mask) && (!peer->port || peer->port == port)) return 1;
    }
    return 0;
}

/* When the kernel took the datagram in, by our clock [ns]. */
static int64_t arrival(const struct msghdr *message) {
    for (struct cmsghdr *one = CMSG_FIRSTHDR(message); one; one = CMSG_NXTHDR((struct msghdr *)message, one))
        if (one->cmsg_level == SOL_SOCKET && one->cmsg_type == SO_TIMESTAMPNS) {
            struct timespec stamp, wall;
            memcpy(&stamp, CMSG_DATA(one), sizeof stamp);
            clock_gettime(CLOCK_REALTIME, &wall);
            return rig_now() - ((int64_t)(wall.tv_sec - stamp.tv_sec) * RIG_SECOND + (wall.tv_nsec - stamp.tv_nsec));
        }
    return rig_now();
}

static int take_datagram(rig *it, int flags) {
    struct sockaddr_in from;
    union {
        struct cmsghdr align;
        char room[128];
    } control;
    struct iovec part = {it->in, it->in_room};
    struct msghdr message = {.msg_name = &from, .msg_namelen = sizeof from, .msg_iov = &part, .msg_iovlen = 1,
                             .msg_control = control.room, .msg_controllen = sizeof control.room};
    const ssize_t n = recvmsg((int)it->setup.socket, &message, flags);
    if (n < 0) return errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR;
    if (message.msg_namelen != sizeof from || from.sin_family != AF_INET || !allowed(it, &from)) {
        it->view.counters.foreign++;
    } else {
        wire_take(it, it->in, (size_t)n, &from, arrival(&message));
    }
    return 1;
}

static int take_mail(rig *it, int64_t patience) {
    struct mailbox *box = mailbox_of(it, 0);
    uint32_t stamp = atomic_load_explicit(&box->stamp, memory_order_acquire);
    if (stamp == it->mail && patience) {
        futex_wait(&box->stamp, stamp, patience);
        stamp = atomic_load_explicit(&box->stamp, memory_order_acquire);
    }
    if (stamp == it->mail || stamp & 1) return 0;
    const size_t size = atomic_load_explicit(&box->size, memory_order_relaxed), room = (size_t)it->setup.room - RIG_MAILBOX_HEAD;
    const size_t n = size < it->in_room ? size : it->in_room; /* of what has no room the size alone is true: it is too long */
    memcpy(it->in, box->bytes, n < room ? n : room);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&box->stamp, memory_order_relaxed) != stamp) return 0;
    it->mail = stamp;
    wire_take(it, it->in, n, NULL, rig_now());
    return 1;
}

void transport_receive(rig *it, int wait) {
    const int by_socket = it->setup.socket >= 0, by_mail = it->setup.mailboxes != 0;
    if (by_mail) take_mail(it, wait ? RIG_PATIENCE : 0);
    if (!by_socket) return;
    if (wait) {
        take_datagram(it, 0); /* which the socket's own time limit ends */
        return;
    }
    for (int i = 0; i < RIG_AT_ONCE && take_datagram(it, MSG_DONTWAIT); i++) continue;
}

static void post(rig *it) {
    struct mailbox *box = mailbox_of(it, 1);
    const uint32_t stamp = atomic_load_explicit(&box->stamp, memory_order_relaxed) & ~1u;
    atomic_store_explicit(&box->stamp, stamp + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&box->size, (uint32_t)it->out_size, memory_order_relaxed);
    memcpy(box->bytes, it->out, it->out_size);
    atomic_store_explicit(&box->stamp, stamp + 2, memory_order_release);
    futex_wake(&box->stamp);
}

void transport_send(rig *it) {
    struct rig_counters *count = &it->view.counters;
    const int64_t now = rig_now();
    if (faults_lose(it, RIG_DROP_OUTPUTS)) {
        count->dropped++;
        return;
    }
    if (it->setup.mailboxes) post(it), count->sent++;
    for (int i = 0; i < it->n_listeners; i++) {
        struct listener *one = &it->listeners[i];
        if (now - one->heard > RIG_FORGET) {
            *one = it->listeners[--it->n_listeners], i--;
            continue;
        }
        const ssize_t n = sendto((int)it->setup.socket, it->out, it->out_size, MSG_DONTWAIT | MSG_NOSIGNAL,
                                 (const struct sockaddr *)&one->at, sizeof one->at);
        if (n == (ssize_t)it->out_size) {
            count->sent++;
        } else {
            count->unsent++;
        }
    }
}
