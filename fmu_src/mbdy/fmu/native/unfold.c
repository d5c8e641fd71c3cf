#include "unfold.h"

#include <string.h>

enum { WIDEST = 11 };

/* The next row of a table follows from the one before; 0 at its end, for the first row of another. */
static int next(mbdy_folded *table, int *row) {
    const int *more = mbdy_next(table), width = table->width;
    if (!more) {
        memset(row, 0, sizeof *row * WIDEST);
        *table = mbdy_table(table->at);
        return 0;
    }
    for (int k = 0; k < width; k++) row[k] += more[k];
    return 1;
}

static char *written(char *at, const char *text, size_t n) { return (char *)memcpy(at, text, n) + n; }

/* No place has another value on the way to its last: where threads fill it one may read what is there already (folded.h). */
void plant_unfold(const plant_folded *it) {
    if (MBDY_IS_FILLED(it->filled)) return;
    int row[WIDEST] = {0};
    mbdy_folded table = mbdy_table(it->tables);
    char *letter = it->letters;
    for (const char **text = it->texts; next(&table, row); text++) {
        const char *head = it->pieces[row[0]], *tail = it->pieces[row[1]];
        *text = letter;
        letter = written(letter, head, strlen(head));
        if (*tail) letter = written(written(letter, ".", 1), tail, strlen(tail));
        *letter++ = '\0';
    }
    for (const char **name = it->names; next(&table, row); name++) *name = it->texts[row[0]];
    const double *start = it->starts;
    for (struct plant_variable *v = it->variables; next(&table, row); v++) {
        v->name = it->texts[row[0]];
        v->vector = row[1], v->boolean = row[2], v->place = row[3], v->size = row[4];
        v->start_at = row[5], v->state = row[6], v->given = row[7];
        v->start = *start++, v->minimum = it->numbers[row[8]];
        v->maximum = it->numbers[row[9]], v->nominal = it->numbers[row[10]];
    }
    for (mbdy_rule *rule = it->rules; next(&table, row); rule++) {
        const mbdy_rule made = {row[0], it->texts[row[1]], it->texts[row[2]], row[3], row[4]};
        *rule = made;
    }
    MBDY_FILLED(it->filled);
}
