/* Saved states: a header, then all that an instance is but what follows from it. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "plant.h"

struct header {
    char magic[8], token[48];
    uint64_t order, doubles, sum;
};
static const char magic[8] = "mbdyfmu\1";
static const uint64_t byte_order = 0x0102030405060708u;

static const struct {
    int vector;
    size_t size;
} saved[] = {
    {MBDY_S, MBDY_NX}, {MBDY_X, MBDY_NX}, {MBDY_U, MBDY_NU},           {MBDY_P, MBDY_NP},
    {MBDY_Y, MBDY_NY}, {MBDY_K, MBDY_NK}, {MBDY_LATCHED, MBDY_NIMPULSES},
};
enum { SAVED = sizeof saved / sizeof saved[0], OWN = MBDY_NY + 2 * MBDY_NU };

static size_t doubles(void) {
    size_t n = PLANT_MOMENT + OWN;
    for (int i = 0; i < SAVED; i++) n += saved[i].size;
    return n;
}

static size_t state_size(void) { return sizeof(struct header) + sizeof(double) * doubles(); }

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
    struct header head = {.order = byte_order, .doubles = doubles()};
    unsigned char *at = (unsigned char *)state + sizeof head;
    const size_t own[] = {sizeof it->now, sizeof(double) * OWN};
    const void *const from[] = {&it->now, it->first};
    for (int i = 0; i < 2; i++) memcpy(at, from[i], own[i]), at += own[i];
    for (int i = 0; i < SAVED; i++) {
        memcpy(at, it->vector[saved[i].vector], sizeof(double) * saved[i].size);
        at += sizeof(double) * saved[i].size;
    }
    memcpy(head.magic, magic, sizeof magic);
    strncpy(head.token, plant_identity.token, sizeof head.token - 1);
    head.sum = sum_of((unsigned char *)state + sizeof head, doubles());
    memcpy(state, &head, sizeof head);
}

static int check(plant *it, const void *state, size_t size) {
    struct header head;
    struct plant_moment then;
    if (!state || size < sizeof head) return plant_say(it, PLANT_ERROR, "no saved state: %zu bytes are too few", size);
    memcpy(&head, state, sizeof head);
    if (memcmp(head.magic, magic, sizeof magic) != 0 || head.order != byte_order)
        return plant_say(it, PLANT_ERROR, "these bytes are no state of an FMU made by mbdy for machines of this kind");
    head.token[sizeof head.token - 1] = '\0';
    if (strcmp(head.token, plant_identity.token) != 0)
        return plant_say(it, PLANT_ERROR,
                         "the state is of another model or version (token %s), this is %s: set one of its own, the FMU is as it was",
                         head.token, plant_identity.token);
    if (size != state_size() || head.doubles != doubles() ||
        head.sum != sum_of((const unsigned char *)state + sizeof head, doubles()))
        return plant_say(it, PLANT_ERROR, "the saved state is damaged (%zu bytes): the FMU is as it was", size);
    memcpy(&then, (const char *)state + sizeof head, sizeof then);
    if (then.exchange != it->now.exchange)
        return plant_say(it, PLANT_ERROR, "the state is of an instance for %s: the FMU is as it was",
                         then.exchange != 0.0 ? "model exchange" : "co-simulation");
    return PLANT_OK;
}

int plant_set_state(plant *it, const void *state) {
    if (!state) return plant_say(it, PLANT_ERROR, "the state is NULL");
    const int status = check(it, state, state_size());
    if (status != PLANT_OK) return status;
    const unsigned char *at = (const unsigned char *)state + sizeof(struct header);
    const size_t own[] = {sizeof it->now, sizeof(double) * OWN};
    void *const to[] = {&it->now, it->first};
    for (int i = 0; i < 2; i++) memcpy(to[i], at, own[i]), at += own[i];
    for (int i = 0; i < SAVED; i++) {
        memcpy(it->vector[saved[i].vector], at, sizeof(double) * saved[i].size);
        at += sizeof(double) * saved[i].size;
    }
    return PLANT_OK;
}

int plant_get_state(plant *it, void **state) {
    if (!state) return plant_say(it, PLANT_ERROR, "the place for the state is NULL");
    if (!*state) *state = malloc(state_size());
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
    *size = state_size();
    return PLANT_OK;
}

int plant_serialize(plant *it, const void *state, void *bytes, size_t size) {
    if (!state || !bytes) return plant_say(it, PLANT_ERROR, "the state or the place for its bytes is NULL");
    if (size < state_size())
        return plant_say(it, PLANT_ERROR, "a state needs %zu bytes, not %zu", state_size(), size);
    memcpy(bytes, state, state_size());
    return PLANT_OK;
}

int plant_deserialize(plant *it, const void *bytes, size_t size, void **state) {
    if (!state) return plant_say(it, PLANT_ERROR, "the place for the state is NULL");
    const int status = check(it, bytes, size);
    if (status != PLANT_OK) return status;
    if (!*state) *state = malloc(size);
    if (!*state) return plant_say(it, PLANT_ERROR, "there is no memory for a state");
    memcpy(*state, bytes, size);
    return PLANT_OK;
}
