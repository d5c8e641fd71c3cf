/* The one function that a core's library shows: the core's own by name, for whoever loads it. */

#include "core.h"

#include <string.h>

#if defined(_WIN32)
#define SHOWN __declspec(dllexport)
#else
#define SHOWN __attribute__((visibility("default")))
#endif

typedef void mbdy_any(void);
#define DOOR(name) {#name, (mbdy_any *)name}
static const struct {
    const char *name;
    mbdy_any *function;
} doors[] = {
    DOOR(mbdy_this), DOOR(mbdy_new), DOOR(mbdy_free), DOOR(mbdy_size), DOOR(mbdy_vector), DOOR(mbdy_fault),
    DOOR(mbdy_prepare), DOOR(mbdy_start), DOOR(mbdy_check), DOOR(mbdy_latch), DOOR(mbdy_derivatives), DOOR(mbdy_outputs),
    DOOR(mbdy_advance), DOOR(mbdy_run), DOOR(mbdy_explain), DOOR(mbdy_moved), DOOR(mbdy_tell_move), DOOR(mbdy_freedoms), DOOR(mbdy_tell_lines), DOOR(mbdy_tell_closed), DOOR(mbdy_decide_there),
};

SHOWN mbdy_any *mbdy_door(const char *name);
SHOWN mbdy_any *mbdy_door(const char *name) {
    for (size_t i = 0; i < sizeof doors / sizeof doors[0]; i++)
        if (strcmp(doors[i].name, name) == 0) return doors[i].function;
    return NULL;
}
