/* The one function that the rig's library shows: its own by name. */

#include <string.h>

#include "rig.h"

__attribute__((visibility("default"))) rig_function *mbdy_door(const char *name);

#define DOOR(name) {#name, (rig_function *)name}
static const struct {
    const char *name;
    rig_function *function;
} doors[] = {
    DOOR(rig_new), DOOR(rig_free), DOOR(rig_view_of), DOOR(rig_begin), DOOR(rig_run), DOOR(rig_stop), DOOR(rig_tick),
    DOOR(rig_discipline), DOOR(rig_seal),
};

rig_function *mbdy_door(const char *name) {
    for (size_t i = 0; i < sizeof doors / sizeof doors[0]; i++)
        if (strcmp(doors[i].name, name) == 0) return doors[i].function;
    return NULL;
}
