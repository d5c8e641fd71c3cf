/* Kernels for several directions, whose numbers lie beside each other: as many at once as a vector of the processor has.
   Vectors have the bits of numbers one by one: none of their instructions does two operations. */

#ifndef MBDY_BESIDE_H
#define MBDY_BESIDE_H

#ifdef __GNUC__
#define MBDY_VECTOR(bytes) __attribute__((vector_size(bytes), aligned(8), may_alias))
#else
#define MBDY_VECTOR(bytes)
#endif

/* A kernel of a body that takes the numbers l to l + BESIDE of each place at once, as `beside`. */
#define MBDY_KERNEL_OF(bytes, target, name, ...)                                          \
    target static void name(double *const *b, const int *s, const int *t, int n) {        \
        typedef double beside MBDY_VECTOR(bytes);                                         \
        enum { BESIDE = sizeof(beside) / sizeof(double) };                                \
        __VA_ARGS__                                                                       \
    }

#if defined(__GNUC__) && !defined(__clang__) && defined(__linux__) && defined(__x86_64__)
#define MBDY_KERNEL_BESIDE(kernel, ...)                                                   \
    MBDY_KERNEL_OF(16, , kernel##_of_two, __VA_ARGS__)                                    \
    MBDY_KERNEL_OF(32, __attribute__((target("avx2"))), kernel##_of_four, __VA_ARGS__)    \
    void kernel(double *const *b, const int *s, const int *t, int n) {                    \
        if (__builtin_cpu_supports("avx2")) kernel##_of_four(b, s, t, n);                 \
        else kernel##_of_two(b, s, t, n);                                                 \
    }
#else
#define MBDY_KERNEL_BESIDE(kernel, ...)                                                   \
    MBDY_KERNEL_OF(16, , kernel##_of_two, __VA_ARGS__)                                    \
    void kernel(double *const *b, const int *s, const int *t, int n) { kernel##_of_two(b, s, t, n); }
#endif

#endif
