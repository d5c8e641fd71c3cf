/* Variables by value reference: getting, setting, derivatives of inputs and outputs by time, partial derivatives. */

#include <math.h>
#include <string.h>

#include "plant.h"

/* Rates that differ by less, beside one, are one. */
#define SAME 1e-9

enum { RUNNING = PLANT_STEP | PLANT_EVENT | PLANT_CONTINUOUS | PLANT_STEPPING };

/* A reference that is a variable, or NULL after saying what is wrong with it. */
static const struct plant_variable *found(plant *it, unsigned ref) {
    if (ref >= (unsigned)it->own->n_variables) {
        plant_say(it, PLANT_ERROR, "there is no value reference %u: they end at %d", ref, it->own->n_variables - 1);
        return NULL;
    }
    const struct plant_variable *v = &it->own->variables[ref];
    if (v->size == 0) {
        plant_say(it, PLANT_ERROR, "value reference %u is '%s', an element: use that of its array", ref, v->name);
        return NULL;
    }
    return v;
}

int plant_find(plant *it, const unsigned refs[], size_t n) {
    if (n && !refs) return plant_say(it, PLANT_ERROR, "the value references are NULL");
    for (size_t i = 0; i < n; i++)
        if (!found(it, refs[i])) return PLANT_ERROR;
    return PLANT_OK;
}

/* The same of a type. */
static const struct plant_variable *known(plant *it, unsigned ref, int boolean) {
    const struct plant_variable *v = found(it, ref);
    if (v && v->boolean != boolean) {
        plant_say(it, PLANT_ERROR, "'%s' is a %s variable: neither set nor get it as another type", v->name,
                  v->boolean ? "Boolean" : "floating-point");
        return NULL;
    }
    return v;
}

int plant_check(plant *it, const unsigned refs[], size_t n, size_t size, int boolean) {
    size_t needed = 0;
    if (n && !refs) return plant_say(it, PLANT_ERROR, "the value references are NULL");
    for (size_t i = 0; i < n; i++) {
        const struct plant_variable *v = known(it, refs[i], boolean);
        if (!v) return PLANT_ERROR;
        needed += (size_t)v->size;
    }
    if (needed != size)
        return plant_say(it, PLANT_ERROR, "%zu values go with these value references, not %zu", needed, size);
    return PLANT_OK;
}

size_t plant_size_of(const plant *it, const unsigned refs[], size_t n) {
    size_t size = 0;
    for (size_t i = 0; i < n; i++)
        size += refs[i] < (unsigned)it->own->n_variables ? (size_t)it->own->variables[refs[i]].size : 1;
    return size;
}

int plant_refuse_type(plant *it, const char *call, const char *type) {
    return plant_say(it, PLANT_ERROR, "%s: there are no variables of type %s", call, type);
}

static const double *source(plant *it, const struct plant_variable *v) {
    const int initial = it->now.started == 0.0;
    switch (v->vector) {
        case PLANT_INPUT: return it->vector[MBDY_U] + v->place;
        case PLANT_PARAMETER: return it->vector[MBDY_P] + v->place;
        case PLANT_OUTPUT: return it->vector[MBDY_Y] + v->place;
        case PLANT_CALCULATED: return (initial ? it->vector[MBDY_Y] : it->first) + v->place;
        case PLANT_STATE: return v->place < it->model->n_x ? it->vector[MBDY_X] + v->place : mbdy_work_done(it->core);
        case PLANT_START: return it->vector[MBDY_S] + v->place;
        case PLANT_DERIVATIVE: return it->rates + v->place;
        case PLANT_INDICATOR: return it->margins + v->place;
        default: return &it->now.time;
    }
}

/* An importer's steps add what only a state of its solver can show: the output is zero without it, which is told once. */
static void tell_no_balance(plant *it, const struct plant_variable *v) {
    if (it->warned || v->vector != PLANT_OUTPUT || v->place != it->model->work_error) return;
    if (it->now.exchange == 0.0 || it->states > it->model->n_x) return;
    it->warned = 1;
    plant_say(it, PLANT_WARNING, "'%s' is 0 in this model exchange, which keeps no balance of work: that takes one state more, "
              "which an FMU has where [ports] of the model file asks for the output, outputs = [\"*\", \"%s\"]", v->name, v->name);
}

int plant_get(plant *it, const unsigned refs[], size_t n, double values[], size_t size, int boolean) {
    int status = plant_check(it, refs, n, size, boolean);
    if (status != PLANT_OK) return status;
    if (size && !values) return plant_say(it, PLANT_ERROR, "the place for the values is NULL");
    int outputs = 0, rates = 0, states = 0, margins = 0;
    for (size_t i = 0; i < n; i++) {
        const struct plant_variable *v = &it->own->variables[refs[i]];
        outputs |= v->vector == PLANT_OUTPUT || (v->vector == PLANT_CALCULATED && it->now.started == 0.0);
        rates |= v->vector == PLANT_DERIVATIVE;
        states |= v->vector == PLANT_STATE;
        margins |= v->vector == PLANT_INDICATOR;
    }
    if (outputs && (status = plant_refresh(it)) != PLANT_OK) return status;
    if (rates && (status = plant_get_rates(it, it->rates, (size_t)it->states)) != PLANT_OK) return status;
    if (margins && (status = plant_get_indicators(it, it->margins, (size_t)it->model->n_senses)) != PLANT_OK) return status;
    if (states && (status = plant_settle_constants(it)) != PLANT_OK) return status;
    for (size_t i = 0; i < n; i++) {
        const struct plant_variable *v = &it->own->variables[refs[i]];
        tell_no_balance(it, v);
        memcpy(values, source(it, v), sizeof(double) * (size_t)v->size);
        values += v->size;
    }
    return PLANT_OK;
}

/* Whether the variable can be set now; else says why not. */
static int settable(plant *it, const struct plant_variable *v) {
    const unsigned phase = (unsigned)it->now.phase;
    const char *what = v->vector == PLANT_OUTPUT       ? "is an output"
                       : v->vector == PLANT_CALCULATED ? "is calculated from the model"
                       : v->vector == PLANT_DERIVATIVE ? "is the derivative of a state"
                       : v->vector == PLANT_STATE      ? "is a state"
                       : v->vector == PLANT_INDICATOR  ? "is an event indicator"
                                                       : "is the time, which comes with other calls";
    if (phase == PLANT_TERMINATED)
        return plant_say(it, PLANT_ERROR, "'%s' not set: the FMU is terminated; reset it for another run", v->name);
    if (v->vector == PLANT_INPUT || v->vector == PLANT_PARAMETER) {
        if ((phase & (PLANT_CONTINUOUS | PLANT_STEPPING)) && (v->boolean || v->vector == PLANT_PARAMETER))
            return plant_say(it, PLANT_ERROR, "'%s' not set: it may jump only at events; enter event mode for it", v->name);
        return PLANT_OK;
    }
    if (v->start_at < 0) return plant_say(it, PLANT_ERROR, "'%s' not set: it %s and has no start value", v->name, what);
    if (phase & RUNNING)
        return plant_say(it, PLANT_ERROR,
                         "'%s' not set: a start value can be set before the first step only (until initialization mode ends); "
                         "reset first, or set a saved state",
                         v->name);
    return PLANT_OK;
}

/* The place of a variable that is set to `values`, after noting what is not up to date any more. */
static double *target(plant *it, const struct plant_variable *v, const double *values) {
    const size_t size = sizeof(double) * (size_t)v->size;
    if (it->now.phase == PLANT_EVENT && memcmp(source(it, v), values, size) != 0) it->now.renewed = 1.0;
    it->now.stale_outputs = 1.0;
    if (v->vector == PLANT_INPUT) return it->vector[it->manner & PLANT_AHEAD ? MBDY_U_END : MBDY_U] + v->place;
    if (v->vector == PLANT_PARAMETER) {
        it->now.stale_constants = 1.0;
        it->looked = 0;
        return it->vector[MBDY_P] + v->place;
    }
    it->now.stale_start = 1.0;
    return it->vector[MBDY_S] + v->start_at;
}

/* What else follows from a value that was set: starts are given; the start closes the loops that switches say. */
static void take_up(plant *it, const struct plant_variable *v, const double *values) {
    const size_t n = (size_t)v->size;
    if (v->vector == PLANT_INPUT) {
        if (!v->boolean || it->now.started != 0.0) return;
        it->now.stale_start = 1.0;
        if (it->manner & PLANT_AHEAD) memcpy(it->vector[MBDY_U] + v->place, values, sizeof(double) * n);
    } else if (v->vector != PLANT_PARAMETER) {
        for (size_t k = 0; k < n; k++) it->vector[MBDY_GIVEN][(size_t)v->start_at + k] = 1.0;
    }
}

int plant_usable(plant *it, const struct plant_variable *v, double value) {
    const int parameter = v->vector == PLANT_PARAMETER, input = v->vector == PLANT_INPUT;
    it->fault = input ? MBDY_BAD_INPUT : parameter ? MBDY_BAD_PARAMETER : MBDY_BAD_START;
    if (input && v->boolean && value != 0.0 && value != 1.0)
        return plant_say(it, PLANT_DISCARD, "input '%s': must be 0 or 1, got %g", v->name, value);
    if (!isfinite(value))
        return plant_say(it, PLANT_DISCARD, "%s '%s': must be finite, got %g",
                         input ? "input" : parameter ? "parameter" : "start value", v->name, value);
    if (!input && !parameter && mbdy_follows(it->model, v->start_at) && fabs(value - v->start) > SAME * (1.0 + fabs(v->start)))
        return plant_say(it, PLANT_DISCARD, "start value '%s': is %.9g, and the joint begins at the rate of its profile: leave it out",
                         v->name, value);
    if (value < v->minimum || value > v->maximum)
        return plant_say(it, PLANT_DISCARD, "%s '%s': must be %s %g, got %.12g",
                         input ? "input" : parameter ? "parameter" : "start value", v->name,
                         value < v->minimum ? ">=" : "<=", value < v->minimum ? v->minimum : v->maximum, value);
    return PLANT_OK;
}

int plant_set(plant *it, const unsigned refs[], size_t n, const double values[], size_t size, int boolean) {
    int status = plant_check(it, refs, n, size, boolean);
    if (status != PLANT_OK) return status;
    it->fault = MBDY_OK;
    if (size && !values) return plant_say(it, PLANT_ERROR, "the values are NULL");
    for (size_t i = 0; i < n; i++)
        if ((status = settable(it, &it->own->variables[refs[i]])) != PLANT_OK) return status;
    const double *value = values;
    for (size_t i = 0; it->manner & PLANT_REFUSES && i < n; i++)
        for (const struct plant_variable *v = &it->own->variables[refs[i]], *end = v + v->size; v < end; v++)
            if ((status = plant_usable(it, v, *value++)) != PLANT_OK) return status;
    for (size_t i = 0; i < n; i++) {
        const struct plant_variable *v = &it->own->variables[refs[i]];
        memcpy(target(it, v, values), values, sizeof(double) * (size_t)v->size);
        take_up(it, v, values);
        for (int k = 0; k < v->size; k++)
            if (status == PLANT_OK) status = plant_usable(it, v + k, values[k]);
        values += v->size;
    }
    return status;
}

int plant_set_input_derivatives(plant *it, const unsigned refs[], size_t n, const int orders[], const double values[]) {
    if (n && (!refs || !orders || !values)) return plant_say(it, PLANT_ERROR, "references, orders or values are NULL");
    for (size_t i = 0; i < n; i++) {
        const struct plant_variable *v = known(it, refs[i], 0);
        if (!v) return PLANT_ERROR;
        if (v->vector != PLANT_INPUT)
            return plant_say(it, PLANT_ERROR, "'%s' is no input: it has no derivative to be set", v->name);
        if (orders[i] != 1 && orders[i] != 2)
            return plant_say(it, PLANT_ERROR, "'%s': derivatives of inputs are of order 1 or 2, not %d", v->name, orders[i]);
        if (!isfinite(values[i]))
            return plant_say(it, PLANT_DISCARD, "derivative %d of '%s' is %g: it must be finite", orders[i], v->name, values[i]);
    }
    for (size_t i = 0; i < n; i++) {
        (orders[i] == 1 ? it->slope : it->bend)[it->own->variables[refs[i]].place] = values[i];
        it->now.order = fmax(it->now.order, orders[i]);
    }
    return PLANT_OK;
}

static int finite_result(plant *it, const unsigned refs[], size_t n, const double values[]) {
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < it->own->variables[refs[i]].size; k++)
            if (!isfinite(*values++))
                return plant_say(it, PLANT_DISCARD, "no finite derivative follows for '%s'",
                                 it->own->variables[refs[i] + (unsigned)k].name);
    return PLANT_OK;
}

static int has_partials(plant *it, int equation) {
    if (it->model->functions[equation]) return PLANT_OK;
    return plant_say(it, PLANT_ERROR, "this plant was made without such derivatives");
}

int plant_get_output_derivatives(plant *it, const unsigned refs[], size_t n, const int orders[], double values[], size_t size) {
    struct partial *d = it->partial;
    int status = has_partials(it, MBDY_OUTPUTS_CHANGES);
    if (status == PLANT_OK) status = plant_check(it, refs, n, size, 0);
    if (status != PLANT_OK) return status;
    if (n && (!orders || !values)) return plant_say(it, PLANT_ERROR, "orders or values are NULL");
    for (size_t i = 0; i < n; i++) {
        const struct plant_variable *v = &it->own->variables[refs[i]];
        if (v->vector != PLANT_OUTPUT) return plant_say(it, PLANT_ERROR, "'%s' is no output", v->name);
        if (orders[i] != 1)
            return plant_say(it, PLANT_ERROR, "'%s': derivatives of outputs are of order 1, not %d", v->name, orders[i]);
    }
    partial_clear(d);
    if ((status = plant_get_rates(it, d->x, (size_t)it->states)) != PLANT_OK) return status;
    memcpy(d->u, it->slope, sizeof(double) * (size_t)it->model->n_u);
    partial_forward(d, it->core, 0, 0, 0, 1);
    double *to = values;
    for (size_t i = 0; i < n; i++) {
        const struct plant_variable *v = &it->own->variables[refs[i]];
        memcpy(to, d->y + v->place, sizeof(double) * (size_t)v->size);
        to += v->size;
    }
    return finite_result(it, refs, n, values);
}

/* Partial derivatives */

/* Where the change of (or the gradient by) a known is, or NULL after saying why it is none. */
static double *known_change(plant *it, unsigned ref) {
    const struct plant_variable *v = &it->own->variables[ref];
    struct partial *d = it->partial;
    const int initial = it->now.started == 0.0;
    if (v->vector == PLANT_INPUT) return d->u + v->place;
    if (v->vector == PLANT_PARAMETER) return d->p + v->place;
    if (initial && v->start_at >= 0) return d->s + v->start_at;
    if (!initial && v->state >= 0) return d->x + v->state;
    plant_say(it, PLANT_ERROR, "'%s' is no known of partial derivatives: these are inputs, parameters and %s", v->name,
              initial ? "start values" : "states");
    return NULL;
}

static double *unknown_change(plant *it, unsigned ref) {
    const struct plant_variable *v = &it->own->variables[ref];
    if (v->vector == PLANT_OUTPUT || (v->vector == PLANT_CALCULATED && it->now.started == 0.0)) return it->partial->y + v->place;
    if (v->vector == PLANT_DERIVATIVE) return it->partial->dx + v->place;
    plant_say(it, PLANT_ERROR, "'%s' is no unknown of partial derivatives: these are outputs and derivatives of states",
              v->name);
    return NULL;
}

/* Checks references and sizes, brings the state up to date and clears all changes. */
static int prepare_partial(plant *it, const unsigned unknowns[], size_t n_unknowns, const unsigned knowns[], size_t n_knowns,
                           size_t of_unknowns, size_t of_knowns) {
    int status = plant_check(it, unknowns, n_unknowns, of_unknowns, 0);
    if (status == PLANT_OK) status = plant_check(it, knowns, n_knowns, of_knowns, 0);
    for (size_t i = 0; status == PLANT_OK && i < n_unknowns; i++)
        if (!unknown_change(it, unknowns[i])) status = PLANT_ERROR;
    for (size_t i = 0; status == PLANT_OK && i < n_knowns; i++)
        if (!known_change(it, knowns[i])) status = PLANT_ERROR;
    if (status == PLANT_OK) status = plant_settle(it);
    if (status == PLANT_OK) partial_clear(it->partial);
    return status;
}

static int has(const plant *it, const unsigned refs[], size_t n, int vector) {
    for (size_t i = 0; i < n; i++)
        if (it->own->variables[refs[i]].vector == vector) return 1;
    return 0;
}

static int no_derivative(plant *it) {
    return plant_say(it, PLANT_DISCARD, "start values that were given contradict the loops, which leaves no derivative: give fewer");
}

int plant_directional(plant *it, const unsigned unknowns[], size_t n_unknowns, const unsigned knowns[], size_t n_knowns,
                      const double seed[], size_t n_seed, double change[], size_t n_change) {
    int status = has_partials(it, MBDY_OUTPUTS_CHANGES);
    if (status == PLANT_OK) status = prepare_partial(it, unknowns, n_unknowns, knowns, n_knowns, n_change, n_seed);
    if (status != PLANT_OK) return status;
    if ((n_seed && !seed) || (n_change && !change)) return plant_say(it, PLANT_ERROR, "seed or sensitivity is NULL");
    for (size_t i = 0; i < n_knowns; i++) {
        double *to = known_change(it, knowns[i]);
        for (int k = 0; k < it->own->variables[knowns[i]].size; k++) to[k] += *seed++;
    }
    if (!partial_forward(it->partial, it->core, it->now.started == 0.0, has(it, knowns, n_knowns, PLANT_PARAMETER),
                         has(it, unknowns, n_unknowns, PLANT_DERIVATIVE),
                         has(it, unknowns, n_unknowns, PLANT_OUTPUT) || has(it, unknowns, n_unknowns, PLANT_CALCULATED)))
        return no_derivative(it);
    double *to = change;
    for (size_t i = 0; i < n_unknowns; i++) {
        const int size = it->own->variables[unknowns[i]].size;
        memcpy(to, unknown_change(it, unknowns[i]), sizeof(double) * (size_t)size);
        to += size;
    }
    return finite_result(it, unknowns, n_unknowns, change);
}

int plant_adjoint(plant *it, const unsigned unknowns[], size_t n_unknowns, const unsigned knowns[], size_t n_knowns,
                  const double seed[], size_t n_seed, double gradient[], size_t n_gradient) {
    int status = has_partials(it, MBDY_OUTPUTS_GRADIENTS);
    if (status == PLANT_OK) status = prepare_partial(it, unknowns, n_unknowns, knowns, n_knowns, n_seed, n_gradient);
    if (status != PLANT_OK) return status;
    if ((n_seed && !seed) || (n_gradient && !gradient)) return plant_say(it, PLANT_ERROR, "seed or sensitivity is NULL");
    for (size_t i = 0; i < n_unknowns; i++) {
        double *to = unknown_change(it, unknowns[i]);
        for (int k = 0; k < it->own->variables[unknowns[i]].size; k++) to[k] += *seed++;
    }
    if (!partial_reverse(it->partial, it->core, it->now.started == 0.0, has(it, knowns, n_knowns, PLANT_PARAMETER),
                         has(it, unknowns, n_unknowns, PLANT_DERIVATIVE),
                         has(it, unknowns, n_unknowns, PLANT_OUTPUT) || has(it, unknowns, n_unknowns, PLANT_CALCULATED)))
        return no_derivative(it);
    double *to = gradient;
    for (size_t i = 0; i < n_knowns; i++) {
        const int size = it->own->variables[knowns[i]].size;
        memcpy(to, known_change(it, knowns[i]), sizeof(double) * (size_t)size);
        to += size;
    }
    return finite_result(it, knowns, n_knowns, gradient);
}
