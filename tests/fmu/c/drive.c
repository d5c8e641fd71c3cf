/* drive SEED CALLS [THREADS]: that many random calls in each thread; then each thread's again, alone, with the same answers
   to the bit. Prints a line for each function with its answers by status, then all calls and the digest. */

#include "drive.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Thread_local struct drive d;

/* Checks */

/* Fowler, Noll and Vo's FNV-1a. */
void mix(const void *at, size_t n) {
    for (size_t i = 0; i < n; i++) d.digest = (d.digest ^ ((const unsigned char *)at)[i]) * 0x100000001b3u;
}

void failed(const char *what) {
    printf("seed %llu, call %ld, %s: %s; last message: %s\n", (unsigned long long)d.seed, d.made, calls[d.at.call].name, what,
           d.heard);
    exit(3);
}

plant *inside(const struct slot *s) { return *(plant **)s->it; }

void all_finite(const double values[], size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!isfinite(values[i])) failed("OK with a value that is not finite");
    mix(values, n * sizeof *values);
}

void finite_values(const struct values *v, int all) {
    const double *from = v->values;
    for (size_t i = 0; i < v->n; i++) {
        const struct plant_variable *row = &plant_this()->variables[v->refs[i]];
        if (all || (row->vector != PLANT_INPUT && row->vector != PLANT_PARAMETER)) all_finite(from, (size_t)row->size);
        from += row->size;
    }
}

void heard(struct slot *s, int status, const char *category, const char *message) {
    static const char *const names[] = {"logEvents", "logStatusWarning", "logStatusDiscard", "logStatusError"};
    if (status < 0 || status > 3 || strcmp(category, names[status]) != 0) failed("a message of the wrong category");
    if (!*message) failed("an empty message");
    s->said[status]++;
    snprintf(d.heard, sizeof d.heard, "%s", message);
    mix(message, strlen(message));
}

static void take(struct snapshot *to, const struct slot *s) {
    memset(to, 0, sizeof *to);
    if (!s->it) return;
    const plant *it = inside(s);
    memcpy(to->s, it->vector[MBDY_S], sizeof to->s);
    memcpy(to->given, it->vector[MBDY_GIVEN], sizeof to->given);
    if (it->now.started != 0.0) memcpy(to->x, it->vector[MBDY_X], sizeof to->x);
    if (it->now.started != 0.0) memcpy(to->latched, it->vector[MBDY_LATCHED], sizeof to->latched);
    memcpy(to->u, it->vector[MBDY_U], sizeof to->u);
    memcpy(to->p, it->vector[MBDY_P], sizeof to->p);
    memcpy(to->slope, it->slope, sizeof to->slope);
    memcpy(to->bend, it->bend, sizeof to->bend);
    to->time = it->now.time, to->stop = it->now.stop, to->tolerance = it->now.tolerance;
    to->phase = it->now.phase, to->order = it->now.order, to->started = it->now.started;
}

static _Thread_local struct snapshot before;

static void check_message(const struct slot *s, int status) {
    const unsigned categories = s->it ? inside(s)->categories : 0;
    const unsigned own = status == PLANT_DISCARD ? PLANT_LOG_DISCARD : PLANT_LOG_ERROR;
    if (status >= PLANT_DISCARD && s->logger && categories & (own | PLANT_LOG_ALL) && !s->said[status])
        failed("no message goes with the status");
}

/* Start values that contradict the loops leave no derivative. */
static int may_have_none(const struct slot *s, const struct call *call) {
    return inside(s)->now.started == 0.0 && inside(s)->model->n_rows && strstr(call->name, "Derivative");
}

int returned(struct slot *s, int status) {
    const struct call *call = &calls[d.at.call];
    struct snapshot after;
    if (status < PLANT_OK || status > PLANT_ERROR) failed("no such status belongs to it");
    d.counts[d.at.call][status]++;
    mix(&status, sizeof status);
    if (!s->it || !(call->phases[s->exchange] & (unsigned)s->phase)) {
        if (status != PLANT_ERROR) failed("allowed where it does not belong");
    } else if (d.at.wrong) {
        if (status < PLANT_DISCARD || (status == PLANT_DISCARD && s->clean && !d.at.doubtful))
            failed("a wrong argument is taken");
    } else if (d.at.bad) {
        if (status < PLANT_DISCARD) failed("a bad value is taken");
    } else if (s->clean && !d.at.doubtful && status != PLANT_OK
               && !(status == PLANT_DISCARD && may_have_none(s, call))) {
        failed("refused though all is good");
    }
    check_message(s, status);
    take(&after, s);
    const int refused = status == PLANT_ERROR || (status == PLANT_DISCARD && call->flags & KEEPS);
    if (refused && memcmp(&before, &after, sizeof after) != 0) failed("it changed something though it was refused");
    for (int i = 0; i < N_X; i++)
        if (!isfinite(after.x[i])) failed("a state is not finite");
    if (status != PLANT_ERROR && d.at.doubtful) s->clean = 0;
    return status == PLANT_OK;
}

void answered(int status) { d.counts[d.at.call][status]++; }

/* Life */

void born(struct slot *s, void *it, int exchange) {
    s->it = it;
    s->exchange = exchange;
    s->phase = PLANT_INSTANTIATED;
    s->clean = 1;
    memset(s->rates, 0, sizeof s->rates);
}

void gone(struct slot *s) {
    s->it = NULL;
    s->phase = 0;
}

void was_reset(struct slot *s) {
    struct snapshot now;
    double y[N_Y];
    s->phase = PLANT_INSTANTIATED;
    s->clean = 1;
    memset(s->rates, 0, sizeof s->rates);
    take(&now, s);
    read_outputs(s, y);
    if (memcmp(&now, &d.fresh[s->exchange], sizeof now) != 0 || memcmp(y, d.fresh_outputs[s->exchange], sizeof y) != 0)
        failed("a reset instance is not as a fresh one");
}

struct kept known_of(const struct slot *s, void *state) {
    struct kept known = {.it = state, .exchange = s->exchange, .phase = s->phase, .clean = s->clean};
    take(&known.then, s);
    return known;
}

void was_restored(struct slot *s, const struct kept *state) {
    struct snapshot now;
    take(&now, s);
    if (memcmp(&now, &state->then, sizeof now) != 0) failed("it is not as when the state was saved");
    s->phase = state->phase;
    s->clean = state->clean;
    memset(s->rates, 0, sizeof s->rates);
}

/* Drive */

static int some_call(const struct slot *s) {
    int all = 0;
    for (int i = 0; i < n_calls; i++) all += calls[i].weight;
    if (!s->it && !chance(10)) return (int)below(2); /* the first make instances */
    for (int tries = 0; tries < 50; tries++) {
        int64_t at = (int64_t)below((uint64_t)all);
        int k = 0;
        for (; at >= calls[k].weight; k++) at -= calls[k].weight;
        if (s->phase == PLANT_TERMINATED && !(calls[k].flags & AGAIN) && chance(2)) continue;
        if (s->phase == PLANT_STEPPING && calls[k].flags & LIFE) continue;
        if (!s->calm || calls[k].phases[s->exchange] & (unsigned)s->phase || chance(20)) return k;
    }
    return n_calls - 1;
}

void act(struct slot *s) {
    const struct attempt outer = d.at;
    const struct snapshot outer_before = before;
    int outer_said[5];
    memcpy(outer_said, s->said, sizeof outer_said);
    d.at = (struct attempt){.call = some_call(s)};
    d.at.clumsy = chance(s->calm ? 10 : 2);
    d.at.wild = !s->calm && chance(2);
    memset(s->said, 0, sizeof s->said);
    take(&before, s);
    d.made++;
    calls[d.at.call].make(s);
    if (s->it && s->phase != (int)inside(s)->now.phase) failed("it is in another phase than FMI says");
    for (int i = 0; i < d.at.used; i++) free(d.at.rooms[i]);
    d.at = outer;
    before = outer_before;
    memcpy(s->said, outer_said, sizeof outer_said);
}

struct run {
    uint64_t seed;
    long calls;
    struct drive end;
};

static void *drive(void *argument) {
    struct run *run = argument;
    memset(&d, 0, sizeof d);
    d.seed = run->seed;
    d.random = run->seed * 0x9e3779b97f4a7c15u | 1;
    d.digest = 0xcbf29ce484222325u;
    for (int exchange = 0; exchange < 2; exchange++) {
        struct slot s = {0};
        make_instance(&s, exchange);
        take(&d.fresh[exchange], &s);
        read_outputs(&s, d.fresh_outputs[exchange]);
        free_instance(&s);
    }
    for (int i = 0; i < SLOTS; i++) d.slots[i].calm = i % 2;
    while (d.made < run->calls) act(&d.slots[below(SLOTS)]);
    struct slot last = {0};
    make_instance(&last, 0);
    for (int i = 0; i < STATES; i++) free_state(&last, &d.states[i].it);
    free_instance(&last);
    for (int i = 0; i < SLOTS; i++) free_instance(&d.slots[i]);
    free(d.bytes);
    run->end = d;
    return NULL;
}

int main(int n, char **arguments) {
    enum { MOST = 16 };
    static struct run runs[MOST], alone;
    pthread_t threads[MOST];
    const uint64_t seed = n > 2 ? strtoull(arguments[1], NULL, 10) : 0;
    const int wanted = n > 3 ? atoi(arguments[3]) : 1;
    if (!seed || wanted < 1 || wanted > MOST) return fprintf(stderr, "drive SEED CALLS [THREADS]\n"), 2;
    for (int i = 0; i < wanted; i++) runs[i] = (struct run){.seed = seed + (uint64_t)i, .calls = atol(arguments[2])};
    for (int i = 1; i < wanted; i++)
        if (pthread_create(&threads[i], NULL, drive, &runs[i])) return 2;
    drive(&runs[0]);
    for (int i = 1; i < wanted; i++) pthread_join(threads[i], NULL);
    for (int i = 0; wanted > 1 && i < wanted; i++) {
        alone = runs[i];
        drive(&alone);
        if (alone.end.digest != runs[i].end.digest) return printf("seed %d: other answers alone\n", (int)runs[i].seed), 3;
    }
    long made = 0;
    for (int k = 0; k < n_calls; k++) {
        long sum[5] = {0};
        for (int i = 0; i < wanted; i++)
            for (int j = 0; j < 5; j++) sum[j] += runs[i].end.counts[k][j];
        printf("%s %ld %ld %ld %ld\n", calls[k].name, sum[0], sum[1], sum[2], sum[3]);
    }
    for (int i = 0; i < wanted; i++) made += runs[i].end.made;
    printf("calls %ld digest %016llx\n", made, (unsigned long long)runs[0].end.digest);
    return 0;
}
