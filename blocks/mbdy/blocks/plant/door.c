/* The one function that a plant's library shows: the plant's own and the core's by name, for whoever loads it. */

#ifdef PLANT_BATCH
#include "batch.h"
#else
#include "plant.h"
#endif

#include <string.h>

#if defined(_WIN32)
#define SHOWN __declspec(dllexport)
#else
#define SHOWN __attribute__((visibility("default")))
#endif

typedef void any_function(void);
#define DOOR(name) {#name, (any_function *)name}
static const struct {
    const char *name;
    any_function *function;
} doors[] = {
    DOOR(mbdy_this), DOOR(mbdy_new), DOOR(mbdy_free), DOOR(mbdy_size), DOOR(mbdy_vector), DOOR(mbdy_fault),
    DOOR(mbdy_prepare), DOOR(mbdy_start), DOOR(mbdy_check), DOOR(mbdy_latch), DOOR(mbdy_derivatives), DOOR(mbdy_outputs),
    DOOR(mbdy_advance), DOOR(mbdy_run), DOOR(mbdy_explain), DOOR(mbdy_tell_move), DOOR(mbdy_moved), DOOR(mbdy_freedoms), DOOR(mbdy_tell_lines), DOOR(mbdy_tell_closed),
#ifdef PLANT_TABLES
    DOOR(plant_this),
#endif
#ifdef PLANT_BATCH
    DOOR(batch_new), DOOR(batch_free), DOOR(batch_plant), DOOR(batch_groups), DOOR(batch_status), DOOR(batch_rewind), DOOR(batch_set),
    DOOR(batch_refresh), DOOR(batch_run),
#endif
    DOOR(plant_new), DOOR(plant_free), DOOR(plant_admit), DOOR(plant_allowed), DOOR(plant_set_experiment), DOOR(plant_enter_initialization),
    DOOR(plant_exit_initialization), DOOR(plant_terminate), DOOR(plant_reset), DOOR(plant_rewind), DOOR(plant_fault),
    DOOR(plant_topic),
    DOOR(plant_set_categories), DOOR(plant_vector), DOOR(plant_clock), DOOR(plant_phase_of), DOOR(plant_get),
    DOOR(plant_set), DOOR(plant_check), DOOR(plant_settle_constants), DOOR(plant_refresh), DOOR(plant_derivatives_at),
    DOOR(plant_outputs_at), DOOR(plant_step), DOOR(plant_advance), DOOR(plant_run), DOOR(plant_jump), DOOR(plant_state_size),
    DOOR(plant_set_states), DOOR(plant_size_of),
    DOOR(plant_refuse_type), DOOR(plant_save), DOOR(plant_restore), DOOR(plant_tolerate), DOOR(plant_strides), DOOR(plant_events),
};

SHOWN any_function *mbdy_door(const char *name);
SHOWN any_function *mbdy_door(const char *name) {
    for (size_t i = 0; i < sizeof doors / sizeof doors[0]; i++)
        if (strcmp(doors[i].name, name) == 0) return doors[i].function;
    return NULL;
}
