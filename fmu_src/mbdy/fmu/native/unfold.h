/* The variables of one model as variables.c has them, and what they are made into once: the tables of a plant_model. */

#ifndef MBDY_UNFOLD_H
#define MBDY_UNFOLD_H

#include "folded.h"
#include "plant.h"

/* `tables` are folded (folded.h): texts as two of the `pieces`, with a point between them where the second is not empty;
   names of the core, one list after the other, as texts; variables but for `starts`, in the order of plant_variable, with
   texts and `numbers` by their place; and rules, in the order of mbdy_rule. */
typedef struct {
    const char *const *pieces;
    const double *numbers, *starts;
    const int *tables;
    char *letters;
    const char **texts, **names;
    struct plant_variable *variables;
    mbdy_rule *rules;
    int *filled;
} plant_folded;

void plant_unfold(const plant_folded *it);

#endif
