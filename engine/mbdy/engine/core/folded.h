/* Tables of whole numbers that are said by how rows follow from those before, and filled once.

   A table is the width of its rows, then how many of them in turn are the one before (zeros before the first) plus which
   numbers, and so on; a 0 in place of how many ends it. */

#ifndef MBDY_FOLDED_H
#define MBDY_FOLDED_H

typedef struct {
    const int *at;
    int width, left;
} mbdy_folded;

static inline mbdy_folded mbdy_table(const int *at) {
    const mbdy_folded table = {at + 1, *at, at[1]};
    return table;
}

/* What the next row adds to the one before; NULL at the end, when `at` is where another table begins. */
static inline const int *mbdy_next(mbdy_folded *table) {
    if (!table->left && *table->at) table->at += 1 + table->width, table->left = *table->at;
    if (!table->left) return table->at++, (const int *)0;
    table->left--;
    return table->at + 1;
}

/* What is filled once is filled as the library is loaded, before threads can ask for it. Where a compiler cannot say so it
   is filled by each that asks: all write the same numbers into their places. */
#ifdef __GNUC__
#define MBDY_AT_LOAD(name, fill, what) \
    static __attribute__((constructor)) void name(void) { fill(what); }
#define MBDY_IS_FILLED(flag) (*(flag))
#define MBDY_FILLED(flag) (*(flag) = 1)
#else
#define MBDY_AT_LOAD(name, fill, what)
#define MBDY_IS_FILLED(flag) ((void)(flag), 0)
#define MBDY_FILLED(flag) ((void)(flag))
#endif

#endif
