/* Packets: what they must be to act, and outputs as packets. */

#include <string.h>

#include "rig_inside.h"

_Static_assert(sizeof(struct mbdy_packet) == MBDY_PACKET_HEADER, "packets are as they lie in memory");

int64_t wire_patience(const rig *it) { return it->setup.watchdog ? it->setup.watchdog : RIG_SILENCE; }

int wire_silent(const rig *it, const struct commander *who, int64_t now) {
    if (!who->at_work || (who == &it->pilot && it->watching)) return 1;
    return now - who->heard >= wire_patience(it);
}

static int used_before(const struct commander *who, uint64_t session) {
    for (int i = 0; i < who->used && i < RIG_SESSIONS; i++)
        if (who->sessions[i] == session) return 1;
    return 0;
}

/* Whether a packet of this session and sequence may act; else counts why not. */
static int in_order(rig *it, const struct commander *who, const struct mbdy_packet *head, int64_t at) {
    struct rig_counters *count = &it->view.counters;
    if (!who->at_work || head->session != who->session) {
        if (wire_silent(it, who, at) && !used_before(who, head->session)) return 1;
        return count->other_session++, 0;
    }
    if (head->sequence > who->last) return 1;
    const uint64_t before = who->last - head->sequence;
    if (before < 64 && !(who->seen >> before & 1)) return count->reordered++, 0;
    return count->replayed++, 0;
}

/* Takes note of a packet, whatever becomes of it. */
static void note(struct commander *who, const struct mbdy_packet *head) {
    if (head->session != who->session || head->sequence > who->last) return;
    const uint64_t before = who->last - head->sequence;
    if (before < 64) who->seen |= UINT64_C(1) << before;
}

static void acted(struct commander *who, const struct mbdy_packet *head, int64_t at) {
    if (!who->at_work || head->session != who->session) {
        who->sessions[who->used++ % RIG_SESSIONS] = head->session;
        who->session = head->session, who->at_work = 1, who->seen = 1;
        if (who->used == 2 * RIG_SESSIONS) who->used = RIG_SESSIONS;
    } else {
        const uint64_t ahead = head->sequence - who->last;
        who->seen = ahead < 64 ? who->seen << ahead | 1 : 1;
    }
    who->last = head->sequence;
    who->heard = at;
}

static void command(rig *it, const struct mbdy_packet *head, const struct sockaddr_in *from, int64_t at) {
    struct rig_counters *count = &it->view.counters;
    const uint64_t age = it->sequence - head->answers;
    if (age > (uint64_t)it->setup.grace) {
        count->late++;
        return;
    }
    if (it->calls.check(it->plant->core, it->requested) != MBDY_OK) {
        count->malformed++;
        return;
    }
    acted(&it->pilot, head, at);
    memcpy(it->commanded, it->requested, sizeof(double) * it->n_u);
    if (age < RIG_SENT) count_time(&it->view.trip, at - it->sent[head->answers % RIG_SENT]);
    it->fresh = 1, it->answered = head->sequence;
    count->acted++;
    if (from) transport_listen(it, from, at, 1);
}

static void request(rig *it, const struct mbdy_packet *head, int64_t at) {
    const double which = it->requested[0], on = it->requested[1];
    if (it->sequence - head->answers > RIG_OPERATOR) {
        it->view.counters.late++;
    } else if (!(which >= 0.0 && which < (double)it->setup.n_faults && (on == 0.0 || on == 1.0)) || which != (double)(int64_t)which) {
        it->view.counters.malformed++;
    } else {
        acted(&it->operator, head, at);
        faults_ask(it, which, on);
        it->view.counters.commanded++;
    }
}

void wire_take(rig *it, const unsigned char *bytes, size_t n, const struct sockaddr_in *from, int64_t at) {
    struct rig_counters *count = &it->view.counters;
    struct mbdy_packet head;
    if (faults_lose(it, RIG_DROP_INPUTS)) {
        count->dropped++;
        return;
    }
    if (n < sizeof head) {
        count->truncated++;
        return;
    }
    memcpy(&head, bytes, sizeof head);
    const int inputs = head.kind == MBDY_PACKET_INPUTS;
    const size_t doubles = inputs ? it->n_u : RIG_REQUEST, seal = it->setup.key_size ? MBDY_PACKET_SEAL : 0;
    const size_t body = sizeof head + sizeof(double) * doubles;
    if (head.magic != MBDY_PACKET_MAGIC || head.version != MBDY_PACKET_VERSION || !(inputs || head.kind == MBDY_PACKET_FAULT)) {
        count->malformed++;
    } else if (head.layout != it->setup.layout) {
        count->other_layout++;
    } else if (head.count != doubles || n > body + seal) {
        count->malformed++;
    } else if (n < body + seal) {
        count->truncated++;
    } else if (seal && !seal_holds(&it->key, bytes, body, bytes + body)) {
        count->forged++;
    } else if (inputs && head.answers == 0) {
        count->greeted++;
        if (from) transport_listen(it, from, at, 0);
        it->again = 1;
    } else {
        struct commander *who = inputs ? &it->pilot : &it->operator;
        if (inputs && who->at_work && head.session == who->session && head.sequence == who->last) it->again = 1;
        memcpy(it->requested, bytes + sizeof head, sizeof(double) * doubles);
        if (!in_order(it, who, &head, at)) {
            note(who, &head);
        } else if (inputs) {
            command(it, &head, from, at);
        } else {
            request(it, &head, at);
        }
    }
}

void wire_write(rig *it, uint32_t flags) {
    const struct mbdy_packet head = {
        .magic = MBDY_PACKET_MAGIC, .version = MBDY_PACKET_VERSION, .kind = MBDY_PACKET_OUTPUTS, .layout = it->setup.layout,
        .session = it->setup.session, .sequence = it->sequence, .answers = it->answered,
        .time = it->start + it->setup.period * (double)it->cycle, .sent = rig_now(), .flags = flags, .count = (uint32_t)it->n_y,
    };
    const size_t body = sizeof head + sizeof(double) * it->n_y;
    memcpy(it->out, &head, sizeof head);
    memcpy(it->out + sizeof head, it->shown, sizeof(double) * it->n_y);
    if (it->setup.key_size) seal_make(&it->key, it->out, body, it->out + body);
    it->sent[it->sequence % RIG_SENT] = head.sent;
}
