#include <string.h>

#include "schedule.h"

void mbdy_unfold(const mbdy_schedule *schedule) {
    if (MBDY_IS_FILLED(schedule->filled)) return;
    int *row = schedule->rows;
    for (const int *at = schedule->folded; *at;) {
        mbdy_folded table = mbdy_table(at);
        int before = 0;
        for (const int *more; (more = mbdy_next(&table)); row += table.width, before = table.width)
            for (int k = 0; k < table.width; k++) row[k] = more[k] + (before ? row[k - before] : 0);
        at = table.at;
    }
    MBDY_FILLED(schedule->filled);
}

/* Runs the kernels whose guards let them in the lane `by`, and moves what is left to be moved; the lanes, as bits, whose
   guards are the same everywhere, and whose results are right therefore. */
static unsigned play(const mbdy_schedule *schedule, real *const *bases, int by) {
    unsigned alike = (1u << MBDY_LANES) - 1u;
    const mbdy_run_of_kernel *run = (const mbdy_run_of_kernel *)(schedule->rows + schedule->runs);
    for (int i = 0; i < schedule->n_runs; i++, run++) {
        if (run->when >= 0) {
            const real *guard = bases[run->guard_segment] + run->guard;
            const int closed = MBDY_LANE(*guard, by) != 0;
            for (int lane = 0; lane < MBDY_LANES; lane++)
                if ((MBDY_LANE(*guard, lane) != 0) != closed) alike &= ~(1u << lane);
            if (closed != run->when) continue;
        }
        schedule->kernels[run->kernel](bases, schedule->segments + run->segments, schedule->rows + run->rows, run->n);
    }
    const mbdy_transfer *transfer = (const mbdy_transfer *)(schedule->rows + schedule->transfers);
    for (int i = 0; i < schedule->n_transfers; i++, transfer++)
        memcpy(bases[transfer->to_segment] + transfer->to, bases[transfer->from_segment] + transfer->from, (size_t)transfer->n * sizeof(real));
    return alike;
}

void mbdy_play(const mbdy_schedule *schedule, const real *const *arg, real *const *res, real *work) {
    real *bases[MBDY_SEGMENTS], *spare[MBDY_SEGMENTS], **results = bases + 1 + schedule->n_arg;
    bases[0] = (real *)schedule->constants;
    int segment = 1;
    for (int i = 0; i < schedule->n_arg; i++) {
        const size_t size = (size_t)schedule->arg_sizes[i];
        if (!arg[i]) memset(work, 0, size * sizeof *work);
        bases[segment++] = arg[i] ? (real *)arg[i] : work;
        if (!arg[i]) work += size;
    }
    for (int i = 0; i < schedule->n_res; i++) {
        bases[segment++] = res[i] ? res[i] : work;
        spare[i] = work;
        work += schedule->res_sizes[i];
    }
    bases[segment] = work;
    unsigned done = play(schedule, bases, 0);
    if (done + 1u == 1u << MBDY_LANES) return;
    memcpy(results, spare, sizeof *spare * (size_t)schedule->n_res);
    for (int by = 1; by < MBDY_LANES; by++) {
        if (done >> by & 1u) continue;
        const unsigned alike = play(schedule, bases, by) & ~done;
        for (int i = 0; i < schedule->n_res; i++)
            for (int k = 0; res[i] && k < schedule->res_sizes[i]; k++)
                for (int lane = 0; lane < MBDY_LANES; lane++)
                    if (alike >> lane & 1u) MBDY_LANE(res[i][k], lane) = MBDY_LANE(spare[i][k], lane);
        done |= alike;
    }
}
