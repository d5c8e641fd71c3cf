#include <string.h>

#include "schedule.h"

void mbdy_play(const mbdy_schedule *schedule, const double *const *arg, double *const *res, double *work) {
    double *bases[MBDY_SEGMENTS];
    bases[0] = (double *)schedule->constants;
    int segment = 1;
    for (int i = 0; i < schedule->n_arg; i++) {
        const size_t size = (size_t)schedule->arg_sizes[i];
        if (!arg[i]) memset(work, 0, size * sizeof *work);
        bases[segment++] = arg[i] ? (double *)arg[i] : work;
        if (!arg[i]) work += size;
    }
    for (int i = 0; i < schedule->n_res; i++) {
        bases[segment++] = res[i] ? res[i] : work;
        if (!res[i]) work += schedule->res_sizes[i];
    }
    bases[segment] = work;
    for (int i = 0; i < schedule->n_runs; i++) {
        const mbdy_run_of_kernel *run = &schedule->runs[i];
        if (run->when >= 0 && (bases[run->guard_segment][run->guard] != 0) != run->when) continue;
        run->kernel(bases, run->segments, run->rows, run->n);
    }
    for (int i = 0; i < schedule->n_transfers; i++) {
        const mbdy_transfer *transfer = &schedule->transfers[i];
        memcpy(bases[transfer->to_segment] + transfer->to, bases[transfer->from_segment] + transfer->from, (size_t)transfer->n * sizeof(double));
    }
}
