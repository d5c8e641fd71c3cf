/* Arguments of random calls. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "drive.h"

/* Chance (xorshift64*) */

static uint64_t next(void) {
    d.random ^= d.random >> 12;
    d.random ^= d.random << 25;
    d.random ^= d.random >> 27;
    return d.random * 0x2545f4914f6cdd1du;
}

uint64_t below(uint64_t n) { return (next() >> 16) % n; }
int chance(int of) { return below((uint64_t)of) == 0; }
double uniform(double low, double high) { return low + (high - low) * (double)below(1 << 24) / (1 << 24); }
int slip(void) { return d.at.clumsy && chance(8); }
int poison(void) { return d.at.wild && chance(6); }

double bad_number(void) {
    static const double bad[] = {NAN,    INFINITY, -INFINITY, 1e308, -1e308, 1e200,  -1e160, 5e-324,
                                 1e-310, -0.0,     0.0,       -1.0,  1e30,   1e-200, 1e9,    -1e100};
    return bad[below(sizeof bad / sizeof bad[0])];
}

/* Arguments */

void *room(size_t n, size_t size) {
    void *made = calloc(n, size);
    if (d.at.used == ROOMS) failed("too many arguments");
    return d.at.rooms[d.at.used++] = made;
}

int gettable(const struct slot *s, const struct plant_variable *v) { return (void)s, (void)v, 1; }
int is_output(const struct slot *s, const struct plant_variable *v) { return (void)s, v->vector == PLANT_OUTPUT; }
int is_input(const struct slot *s, const struct plant_variable *v) { return (void)s, v->vector == PLANT_INPUT; }

int settable(const struct slot *s, const struct plant_variable *v) {
    if (s->phase == PLANT_TERMINATED) return 0;
    if (s->phase & (PLANT_CONTINUOUS | PLANT_STEPPING)) return v->vector == PLANT_INPUT && !v->boolean;
    return v->vector == PLANT_INPUT || v->vector == PLANT_PARAMETER || (v->start_at >= 0 && s->phase & BEFORE);
}

int is_known(const struct slot *s, const struct plant_variable *v) {
    return v->vector == PLANT_INPUT || v->vector == PLANT_PARAMETER || (s->phase & BEFORE ? v->start_at : v->state) >= 0;
}

int is_unknown(const struct slot *s, const struct plant_variable *v) {
    return v->vector == PLANT_OUTPUT || v->vector == PLANT_DERIVATIVE || (v->vector == PLANT_CALCULATED && s->phase & BEFORE);
}

static unsigned some_ref(const struct slot *s, fits *fit, int boolean, int good) {
    for (int tries = 0; tries < 1000; tries++) {
        const unsigned ref = (unsigned)below(n_variables() + (good ? 0 : 20));
        const int fitting = ref < n_variables() && plant_this()->variables[ref].size > 0 && plant_this()->variables[ref].boolean == boolean &&
                            fit(s, &plant_this()->variables[ref]);
        if (fitting == good) return ref;
    }
    d.at.wrong = 1; /* none fits here */
    return 4294967295u;
}

/* A value that a variable can have; a start value is its own. */
static double good_value(const struct plant_variable *v) {
    if (v->boolean) return (double)chance(2);
    if (v->vector == PLANT_INPUT && v->start == 0.0) return uniform(-0.5, 0.5);
    return v->start * uniform(0.95, 1.05);
}

struct values some_values(struct slot *s, fits *fit, int boolean, int given) {
    struct values v = {.n = chance(10) ? 0 : 1 + below(6)};
    v.refs = room(v.n, sizeof *v.refs);
    for (size_t i = 0; i < v.n; i++) {
        const int wrong = slip();
        d.at.wrong |= wrong;
        v.refs[i] = some_ref(s, fit, boolean, !wrong);
        v.size += v.refs[i] < n_variables() ? (size_t)plant_this()->variables[v.refs[i]].size : 1;
    }
    v.values = room(v.size, sizeof *v.values);
    double *to = v.values;
    for (size_t i = 0; given && i < v.n; i++) {
        const struct plant_variable *row = v.refs[i] < n_variables() ? &plant_this()->variables[v.refs[i]] : NULL;
        for (int k = 0; row && k < row->size; k++) {
            const int poisoned = !boolean && poison();
            *to++ = poisoned ? bad_number() : good_value(row + k);
            d.at.doubtful |= poisoned;
        }
    }
    if (v.n && chance(2) && slip()) v.refs = NULL, d.at.wrong = 1;
    if (v.size && chance(2) && slip()) v.values = NULL, d.at.wrong = 1;
    if (!v.n && chance(2)) v.refs = NULL, v.values = NULL;
    return v;
}

double step_size(void) {
    static const double good[] = {1e-3, 1e-3, 5e-3, 2.5e-3, 1e-4, 0.02};
    static const double bad[] = {0.0, -1e-3, NAN, INFINITY, -INFINITY, 1e308, 1e7};
    static const double odd[] = {5e-324, 1e-310, 1e-15, 1e-9};
    if (!poison()) return good[below(sizeof good / sizeof good[0])];
    d.at.doubtful = 1;
    if (chance(3)) return odd[below(sizeof odd / sizeof odd[0])];
    d.at.bad = 1;
    return bad[below(sizeof bad / sizeof bad[0])];
}

double time_of_step(const struct slot *s) {
    const double now = s->it ? inside(s)->now.time : 0.0;
    if (!poison()) return now;
    d.at.doubtful = 1;
    d.at.bad = s->it && inside(s)->now.timed != 0.0;
    return now + (chance(3) ? NAN : chance(2) ? -1.0 : 1.0);
}

struct kept *some_state(const struct slot *s) {
    for (int tries = 0; tries < 20; tries++) {
        struct kept *state = &d.states[below(STATES)];
        if (state->it && (state->exchange == s->exchange || slip())) {
            d.at.wrong |= state->exchange != s->exchange;
            return state;
        }
    }
    d.at.wrong = 1;
    return NULL;
}

void *some_bytes(const struct slot *s, size_t *n) {
    const size_t after_token = 8 + strlen(plant_this()->token) + 1, header = 56; /* between them nothing is meant */
    const int cut = d.bytes && slip(), flipped = d.bytes && slip();
    *n = !d.bytes ? below(200) : cut ? below(d.n_bytes) : d.n_bytes;
    char *bytes = room(*n, 1);
    if (d.bytes) memcpy(bytes, d.bytes, *n);
    const size_t where = below(d.n_bytes + 1);
    const int flips = flipped && where < *n && (where < after_token - 1 || where >= header);
    if (flips) bytes[where] = (char)(bytes[where] ^ (1 << below(8)));
    if (cut || flips || !d.bytes || d.packed.exchange != s->exchange) d.at.wrong = 1;
    return bytes;
}

/* A vector like the states, and its size, either wrong after a slip. */
double *some_vector(size_t *n) {
    const int size = slip(), nowhere = slip();
    *n = size ? (chance(2) ? 0 : N_X - 1) : N_X;
    d.at.wrong |= size || nowhere;
    return nowhere ? NULL : room(*n, sizeof(double));
}

void next_states(const struct slot *s, double x[], size_t n) {
    for (size_t i = 0; s->it && i < n; i++) {
        x[i] = inside(s)->vector[MBDY_X][i] + 1e-3 * s->rates[i];
        if (!d.at.wild || !chance(30)) continue;
        x[i] = bad_number();
        d.at.doubtful = 1;
        d.at.bad |= !isfinite(x[i]);
    }
}

int *some_orders(size_t n, int most) {
    int *made = room(n, sizeof *made);
    for (size_t i = 0; i < n; i++) {
        const int wrong = slip();
        d.at.wrong |= wrong;
        made[i] = wrong ? (chance(2) ? 0 : most + 1) : 1 + (int)below((uint64_t)most);
    }
    if (n && slip()) made = NULL, d.at.wrong = 1;
    return made;
}

const char **some_categories(size_t *n) {
    static const char *const all[] = {"logStatusError", "logStatusDiscard", "logStatusWarning", "logEvents", "logAll"};
    *n = below(4);
    const char **names = room(*n, sizeof *names);
    for (size_t i = 0; i < *n; i++) {
        const int wrong = slip();
        names[i] = !wrong ? all[below(5)] : chance(2) ? NULL : "logUnheardOf";
        d.at.wrong |= wrong;
    }
    if (*n && slip()) names = NULL, d.at.wrong = 1;
    return names;
}
