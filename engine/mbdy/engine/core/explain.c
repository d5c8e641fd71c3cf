/* What is wrong, in words: the variable, its value and the remedy. The same words whoever shows them. */

#include "inside.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void say(char *text, const char *format, ...) {
    va_list values;
    va_start(values, format);
    vsnprintf(text, MBDY_TEXT, format, values);
    va_end(values);
}

/* Length of a name without its index. */
static int stem(const char *name) { return (int)strcspn(name, "["); }

static void unfit_input(const mbdy_core *core, const mbdy_names *names, char *text) {
    const mbdy_model *m = core->model;
    const int place = core->fault;
    const double *u = core->looked_at;
    const int is_switch = place >= m->switches && place < m->switches + m->n_switches;
    if (is_switch)
        say(text, "input '%s': must be 0 or 1, got %g", names->inputs[place], u[place]);
    else if (isfinite(u[place]) && place != m->orbit_position)
        say(text, "input '%s': must be >= 0, got %g", names->inputs[place], u[place]);
    else if (isfinite(u[place]))
        say(text, "input '%.*s': must lead away from the attracting centre, got [%g, %g, %g] m", stem(names->inputs[place]), names->inputs[place], u[place], u[place + 1], u[place + 2]);
    else
        say(text, "input '%s': must be finite, got %g", names->inputs[place], u[place]);
}

/* A rule that a parameter breaks, with its elements. */
static void broken_rule(const mbdy_core *core, const mbdy_rule *rule, char *text) {
    const double *p = core->vector[MBDY_P] + rule->place;
    say(text, "parameter '%s': %s, got %s%.12g", rule->name, rule->text, rule->size > 1 ? "[" : "", p[0]);
    for (int i = 1; i < rule->size; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, MBDY_TEXT - used, ", %.12g%s", p[i], i + 1 < rule->size ? "" : "]");
    }
}

static void bad_parameter(const mbdy_core *core, const mbdy_names *names, char *text) {
    const int n_p = core->model->n_p;
    if (core->fault < n_p) {
        say(text, "parameter '%s': must be finite, got %g", names->parameters[core->fault], core->vector[MBDY_P][core->fault]);
        return;
    }
    int at = 0;
    while (at + 1 < names->n_rules && names->rules[at + 1].constant <= core->fault - n_p) at++;
    if (*names->rules[at].name)
        broken_rule(core, &names->rules[at], text);
    else
        say(text, "parameters: no finite linear equations follow from them; look at the operating point");
}

/* Numbers whose products with others leave what floats can hold. */
#define BEYOND 1e100

/* The largest of states (or start values), inputs and parameters, if it is beyond that. */
static int beyond(const mbdy_core *core, const mbdy_names *names, int start, char *text, size_t size) {
    const mbdy_model *m = core->model;
    const struct {
        const double *values;
        int n;
        const char *what, *const *names;
    } all[] = {{core->vector[start ? MBDY_S : MBDY_X], m->n_x, start ? "start value" : "state", start ? names->starts : names->states},
               {core->vector[MBDY_U], m->n_u, "input", names->inputs},
               {core->vector[MBDY_P], m->n_p, "parameter", names->parameters}};
    double most = BEYOND;
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < all[k].n; i++)
            if (fabs(all[k].values[i]) > most) {
                most = fabs(all[k].values[i]);
                snprintf(text, size, "%s '%s' is %g; check %s", all[k].what, all[k].names[i], all[k].values[i],
                         k || start ? "its unit" : "units, and whether the internal step is too long");
            }
    return most > BEYOND;
}

static void bad_start(const mbdy_core *core, const mbdy_names *names, char *text) {
    const mbdy_model *m = core->model;
    char cause[MBDY_TEXT / 4];
    const double *s = core->vector[MBDY_S];
    const int bad = mbdy_not_finite(s, m->n_x);
    if (bad >= 0) {
        say(text, "start value '%s': must be finite, got %g", names->starts[bad], s[bad]);
        return;
    }
    for (int i = 0; i < m->n_quaternions; i++) {
        const int at = m->quaternions[i];
        if (s[at] == 0.0 && s[at + 1] == 0.0 && s[at + 2] == 0.0 && s[at + 3] == 0.0) {
            say(text, "start value '%.*s': a quaternion must not be zero, set at least one of its four elements",
                stem(names->starts[at]), names->starts[at]);
            return;
        }
    }
    say(text, "no finite state follows from the start values and parameters: %s",
        beyond(core, names, 1, cause, sizeof cause) ? cause : "look at masses and inertias of zero");
}

/* A margin below it makes the axes of a joint lie in one plane. */
#define SINGULAR 1e-6

static void idle(const mbdy_core *core, const mbdy_names *names, char *text) {
    const mbdy_model *m = core->model;
    const char *speed = names->states[core->fault];
    const int body = (int)strcspn(speed, "."), joint = (int)(strrchr(speed, '.') - speed);
    char middle[MBDY_TEXT];
    snprintf(middle, sizeof middle, "%.*s.angle[2]", joint, speed);
    for (int i = 0; core->pivots[core->fault - m->n_coordinates + m->n_speeds] < SINGULAR && i < m->n_coordinates; i++)
        if (strcmp(names->states[i], middle) == 0) {
            const double angle = core->vector[MBDY_X][i] * 57.295779513082321;
            say(text,
                "'%.*s' is singular: its middle angle '%s' is %.9g deg, where its three axes lie in one plane and no rates "
                "turn the body about what is across it; start at another angle, prescribe it, or use a spherical joint",
                joint, speed, middle, angle);
            return;
        }
    say(text,
        "'%s' moves no inertia: give '%.*s' or a body that it carries mass or inertia there, or take the freedom away", speed,
        body, speed);
}

static void unclosed_gear(const mbdy_core *core, const char *gear, char *text) {
    const double amount = core->opening.amount;
    const char *unit = core->opening.turning ? "deg" : "m";
    const int parts = core->opening.kind == MBDY_PARTING || core->opening.kind == MBDY_SINGULAR;
    if (core->opening.kind == MBDY_BEYOND)
        say(text, "%s: cannot be closed: its numbers are beyond what floats can hold; check units, factors and offset", gear);
    else
        say(text,
            "%s: %.4g %s%s is left that neither its joints nor others can take: they are prescribed or locked, or held by "
            "other gears and loops; check its factors and offset, or give those that are held a start that agrees",
            gear, amount, unit, parts ? "/s of its rate" : " of its error");
}

static void unclosed(const mbdy_core *core, const char *loop, char *text) {
    const double amount = core->opening.amount;
    const char *unit = core->opening.turning ? "deg" : "m";
    if (strncmp(loop, "gear.", 5) == 0) {
        unclosed_gear(core, loop, text);
        return;
    }
    switch (core->opening.kind) {
        case MBDY_FAR:
            say(text,
                "%s: cannot be closed: %.4g %s of error is left in the nearest position that was found; check lengths, at "
                "and frame of what lies between its places, or start nearer to closure in [initial]",
                loop, amount, unit);
            return;
        case MBDY_CONTRADICTION:
            say(text,
                "%s: its rows contradict each other or the joints: %.4g %s of error is left that no motion changes; check "
                "at, frame and axis of both sides (hinges of a planar mechanism are parallel), or hold fewer rows",
                loop, amount, unit);
            return;
        case MBDY_MIRRORED:
            say(text,
                "%s: closes only with axes opposed that should be aligned: the mirrored position; turn frame_b by 180 "
                "deg, or check at, frame and axis of both sides",
                loop);
            return;
        case MBDY_PARTING:
            say(text,
                "%s: its places part at %.4g %s/s at the start, however the degrees of freedom that are not prescribed "
                "move; give the prescribed ones start speeds that agree in [initial], or free one of them",
                loop, amount, unit);
            return;
        case MBDY_SINGULAR:
            say(text,
                "%s: its places part at %.4g %s/s at the start, whatever speeds are tried: it is closed where it is almost "
                "singular; start elsewhere, or check lengths, at and frame of what lies between its places",
                loop, amount, unit);
            return;
        case MBDY_BENT:
            say(text,
                "%s: is closed only by bending that moves its place by %.4g %s, for which modes are not made: no inertia "
                "follows from them; check lengths, at and frame of what lies between its places, or start values",
                loop, amount, unit);
            return;
        case MBDY_BEYOND:
            say(text, "%s: cannot be closed: its numbers are beyond what floats can hold; check units and lengths", loop);
    }
}

/* Of a start value that closing may move, after a blank. */
static const char *unit_of(const mbdy_model *m, int place) {
    for (int k = 0; k < m->n_speeds; k++) {
        const int slides = m->motions[k] == MBDY_TRANSLATION;
        if (place == m->n_coordinates + k) return slides ? " m/s" : " rad/s";
        if (place == m->coordinates[k]) return slides ? " m" : m->motions[k] == MBDY_ANGLE ? " rad" : "";
    }
    return "";
}

void mbdy_tell_move(const mbdy_core *core, const mbdy_names *names, int place, char *text) {
    const char *what = strncmp(names->rows[0], "gear.", 5) == 0 ? "gears" : "loops"; /* those of loops are first */
    say(text,
        "start value '%s' contradicts the %s and was moved from %.9g to %.9g%s to close them; give fewer start values, for "
        "the %s to find the others, or those of a closed position",
        names->starts[place], what, mbdy_start_value(core, place), core->vector[MBDY_S_CLOSED][place], unit_of(core->model, place), what);
}

/* The state whose name has most of the name of what makes the system fast; else what moved fastest. */
static int left_first(const mbdy_core *core, const mbdy_names *names) {
    int place = core->fault, most = 0;
    if (core->pace.group < 0) return place;
    for (int i = 0; i < core->model->n_x; i++) {
        const char *cause = names->strengths[core->pace.group], *state = names->states[i];
        int same = 0;
        while (cause[same] && cause[same] == state[same]) same++;
        if (same > most) most = same, place = i;
    }
    return place;
}

static void bad_output(const mbdy_core *core, const mbdy_names *names, double time, double h, char *text) {
    char cause[MBDY_TEXT / 4];
    say(text, "no finite number follows for '%s' at %.12g s: ", names->outputs[core->fault], time);
    char *more = text + strlen(text);
    if (beyond(core, names, time == 0.0, cause, sizeof cause))
        snprintf(more, (size_t)(text + MBDY_TEXT - more), "%s", cause);
    else
        snprintf(more, (size_t)(text + MBDY_TEXT - more), "look at inputs and parameters; the internal step %g s may be too long", h);
}

static void failed(const mbdy_core *core, const mbdy_names *names, double time, double H, double h, char *text) {
    say(text, "state '%s' left the finite numbers between %.12g s and %.12g s, the state is as it was: ",
        names->states[left_first(core, names)], time, time + H);
    char *more = text + strlen(text);
    if (core->pace.group >= 0)
        mbdy_tell_pace(core, names, &core->pace, h, more, (size_t)(text + MBDY_TEXT - more));
    else
        if (!beyond(core, names, 0, more, (size_t)(text + MBDY_TEXT - more)))
            snprintf(more, (size_t)(text + MBDY_TEXT - more),
                 "look at inputs and parameters; a joint may move no inertia there, or the internal step %g s may be too long", h);
}

static void stuck(const mbdy_core *core, const mbdy_names *names, double time, char *text) {
    char others[MBDY_TEXT / 4];
    mbdy_name_stable(others, sizeof others);
    say(text,
        "state '%s' takes steps of %.3g s at %.12g s to keep the tolerance %g, the state is as it was: something is too fast, or has "
        "no end, there; look at inputs and parameters, give a larger tolerance%s",
        names->states[core->fault], core->stuck_stride, time + core->stuck_at, core->tolerance, others);
}

static void overfull(const mbdy_core *core, const mbdy_names *names, char *text) {
    const mbdy_model *m = core->model;
    int tank = 0;
    while (m->tanks[tank] != core->fault) tank++;
    say(text, "'%s' is %.12g kg, and the tank holds %.6g kg by its parameters; check its sizes, density or table, and units",
        names->states[core->fault], core->overfull, core->vector[MBDY_K][m->capacities[tank]]);
}

void mbdy_explain(const mbdy_core *core, int status, const mbdy_names *names, double time, double H, double h, char *text) {
    const int place = core->fault;
    switch (status) {
        case MBDY_OK: *text = '\0'; return;
        case MBDY_BAD_INPUT: unfit_input(core, names, text); return;
        case MBDY_BAD_PARAMETER: bad_parameter(core, names, text); return;
        case MBDY_BAD_START: bad_start(core, names, text); return;
        case MBDY_IDLE: idle(core, names, text); return;
        case MBDY_OVERFULL: overfull(core, names, text); return;
        case MBDY_UNCLOSED: unclosed(core, names->rows[place], text); return;
        case MBDY_CHATTERS:
            say(text,
                "friction changes between sticking and slipping more than 1000 times in one internal step between %.12g s and "
                "%.12g s, the state is as it was: look at efforts and inertias of joints with friction = { coulomb = ... }", time, time + H);
            return;
        case MBDY_OPPOSED:
            say(text,
                "'%s' is closed where nothing says which way to turn: its axes are opposed that should be aligned, or its lines "
                "in line that should be at a right angle; close it elsewhere, or turn frame_b by 180 deg (lines by 90 deg)",
                names->rows[place]);
            return;
        case MBDY_TORN:
            say(text,
                "'%s' came apart between %.12g s and %.12g s, the state is as it was: the internal step %g s may be too long "
                "for its time constant or for the motion, or the mechanism singular there",
                names->rows[place], time, time + H, h);
            return;
        case MBDY_FAILED:
            failed(core, names, time, H, h, text);
            return;
        case MBDY_STUCK:
            stuck(core, names, time, text);
            return;
        case MBDY_BAD_OUTPUT:
            bad_output(core, names, time + H, h, text);
            return;
        default:
            say(text, "communication step size: must be positive, finite and at most 1e9 internal steps of %g s, got %g s", h, H);
    }
}
