/* Saved states: a header, then all that an instance is but what follows from it. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "plant.h"

struct header {
    char magic[8], token[48];
    uint64_t order, doubles, sum;
};
static const char magic[8] = "mbdyfmu\2";
static const uint64_t byte_order = 0x0102030405060708u;

static const int saved[] = {
    MBDY_S, MBDY_GIVEN, MBDY_S_CLOSED, MBDY_X, MBDY_U, MBDY_U_MID, MBDY_U_END, MBDY_P, MBDY_Y, MBDY_K, MBDY_LATCHED, MBDY_WORK,
};
enum { SAVED = sizeof saved / sizeof saved[0] };

/* Doubles of the plant's own beside its vectors: outputs at the start, derivatives of the inputs. */
static size_t own_doubles(const plant *it) { return (size_t)(it->model->n_y + 2 * it->model->n_u); }

/* Without what integrators go on with whose steps adapt, which is behind the others. */
static size_t others(const plant *it) {
    size_t n = PLANT_MOMENT + own_doubles(it);
    for (int i = 0; i < SAVED; i++) n += (size_t)mbdy_size(it->core, saved[i]);
    return n;
}

static size_t doubles(const plant *it) { return others(it) + (size_t)mbdy_size(it->core, MBDY_STRIDE); }

size_t plant_state_size(const plant *it) { return sizeof(struct header) + sizeof(double) * doubles(it); }

/* A sum that tells damage (after Fowler, Noll and Vo's FNV-1a, eight bytes at a time). */
static uint64_t sum_of(const unsigned char *at, size_t n) {
    uint64_t sum = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, at + 8 * i, 8);
        sum = (sum ^ bits) * 0x100000001b3u;
        sum ^= sum >> 32;
    }
    return sum;
}

static void save(const plant *it, void *state) {
    struct header head = {.order = byte_order, .doubles = doubles(it)};
    unsigned char *at = (unsigned char *)state + sizeof head;
    const size_t own[] = {sizeof it->now, sizeof(double) * own_doubles(it)};
    const void *const from[] = {&it->now, it->first};
    for (int i = 0; i < 2; i++) memcpy(at, from[i], own[i]), at += own[i];
    for (int i = 0; i < SAVED; i++) {
        memcpy(at, it->vector[saved[i]], sizeof(double) * (size_t)mbdy_size(it->core, saved[i]));
        at += sizeof(double) * (size_t)mbdy_size(it->core, saved[i]);
    }
    memcpy(at, it->vector[MBDY_STRIDE], sizeof(double) * (size_t)mbdy_size(it->core, MBDY_STRIDE));
    memcpy(head.magic, magic, sizeof magic);
    strncpy(head.token, it->own->token, sizeof head.token - 1);
    head.sum = sum_of((unsigned char *)state + sizeof head, doubles(it));
    memcpy(state, &head, sizeof head);
}

static int switched(double value) { return value == 0.0 || value == 1.0; }

/* Whether it is one that an instance can be in, for a sum of its bytes tells no ill will. */
static int possible(const struct plant_moment *m) {
    int phase = PLANT_INSTANTIATED;
    while (phase <= PLANT_STEPPING && m->phase != phase) phase *= 2;
    return phase <= PLANT_STEPPING && (switched(m->order) || m->order == 2.0) && switched(m->timed) && switched(m->started) &&
           switched(m->renewed) && switched(m->stale_constants) && switched(m->stale_start) && switched(m->stale_outputs) &&
           isfinite(m->time) && isfinite(m->lost);
}

static int damaged(plant *it, size_t size) {
    return plant_say(it, PLANT_ERROR, "the saved state is damaged (%zu bytes): nothing was changed", size);
}

static int check(plant *it, const void *state, size_t size) {
    struct header head;
    struct plant_moment then;
    if (!state || size < sizeof head) return plant_say(it, PLANT_ERROR, "no saved state: %zu bytes are too few", size);
    memcpy(&head, state, sizeof head);
    if (memcmp(head.magic, magic, sizeof magic) != 0 || head.order != byte_order)
        return plant_say(it, PLANT_ERROR, "these bytes are no state saved by mbdy for machines of this kind");
    head.token[sizeof head.token - 1] = '\0';
    if (strcmp(head.token, it->own->token) != 0)
        return plant_say(it, PLANT_ERROR,
                         "the state is of another model or version (token %s), this is %s: set one of its own, nothing was changed",
                         head.token, it->own->token);
    const int known = head.doubles == doubles(it) || head.doubles == others(it) || head.doubles == others(it) + mbdy_most_strides(it->model);
    const int whole = known && size == sizeof head + sizeof(double) * head.doubles &&
                      head.sum == sum_of((const unsigned char *)state + sizeof head, head.doubles);
    if (whole) memcpy(&then, (const char *)state + sizeof head, sizeof then);
    if (!whole || !possible(&then)) return damaged(it, size);
    if (then.exchange != it->now.exchange)
        return plant_say(it, PLANT_ERROR, "the state is of an instance for %s: nothing was changed",
                         then.exchange != 0.0 ? "model exchange" : "co-simulation");
    return PLANT_OK;
}

int plant_restore(plant *it, const void *state, size_t size) {
    const int status = check(it, state, size);
    if (status != PLANT_OK) return status;
    const unsigned char *at = (const unsigned char *)state + sizeof(struct header);
    const size_t own[] = {sizeof it->now, sizeof(double) * own_doubles(it)};
    void *const to[] = {&it->now, it->first};
    for (int i = 0; i < 2; i++) memcpy(to[i], at, own[i]), at += own[i];
    for (int i = 0; i < SAVED; i++) {
        memcpy(it->vector[saved[i]], at, sizeof(double) * (size_t)mbdy_size(it->core, saved[i]));
        at += sizeof(double) * (size_t)mbdy_size(it->core, saved[i]);
    }
    const size_t stride = sizeof(double) * (size_t)mbdy_size(it->core, MBDY_STRIDE);
    memset(it->vector[MBDY_STRIDE], 0, stride);
    if (size == plant_state_size(it)) memcpy(it->vector[MBDY_STRIDE], at, stride);
    return PLANT_OK;
}

int plant_set_state(plant *it, const void *state) {
    return state ? plant_restore(it, state, plant_state_size(it)) : plant_say(it, PLANT_ERROR, "the state is NULL");
}

int plant_save(plant *it, void *bytes, size_t size) {
    if (!bytes || size != plant_state_size(it))
        return plant_say(it, PLANT_ERROR, "a state needs %zu bytes, not %zu", plant_state_size(it), size);
    save(it, bytes);
    return PLANT_OK;
}

int plant_get_state(plant *it, void **state) {
    if (!state) return plant_say(it, PLANT_ERROR, "the place for the state is NULL");
    if (!*state) *state = malloc(plant_state_size(it));
    if (!*state) return plant_say(it, PLANT_ERROR, "there is no memory for a state");
    save(it, *state);
    return PLANT_OK;
}

int plant_free_state(void **state) {
    if (!state) return PLANT_OK;
    free(*state);
    *state = NULL;
    return PLANT_OK;
}

int plant_serialized_size(plant *it, const void *state, size_t *size) {
    if (!state || !size) return plant_say(it, PLANT_ERROR, "the state or the place for its size is NULL");
    *size = plant_state_size(it);
    return PLANT_OK;
}

int plant_serialize(plant *it, const void *state, void *bytes, size_t size) {
    if (!state || !bytes) return plant_say(it, PLANT_ERROR, "the state or the place for its bytes is NULL");
    if (size < plant_state_size(it))
        return plant_say(it, PLANT_ERROR, "a state needs %zu bytes, not %zu", plant_state_size(it), size);
    memcpy(bytes, state, plant_state_size(it));
    return PLANT_OK;
}

int plant_deserialize(plant *it, const void *bytes, size_t size, void **state) {
    if (!state) return plant_say(it, PLANT_ERROR, "the place for the state is NULL");
    int status = check(it, bytes, size);
    if (status == PLANT_OK && size != plant_state_size(it)) status = damaged(it, size);
    if (status != PLANT_OK) return status;
    if (!*state) *state = malloc(size);
    if (!*state) return plant_say(it, PLANT_ERROR, "there is no memory for a state");
    memcpy(*state, bytes, size);
    return PLANT_OK;
}
