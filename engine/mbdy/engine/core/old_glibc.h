/* On Linux, libm's functions under the versions that every glibc since 2.17 (2012) has: a linker would take the newest
   of the machine that builds (exp of 2.29, hypot of 2.35), which older machines lack. The results are the same. For
   shared libraries that are linked with libm alone, which mbdy's are: it asks for them by MBDY_OLD_GLIBC. */
#if defined(MBDY_OLD_GLIBC) && defined(__linux__) && defined(__PIC__) && !defined(__PIE__) && (defined(__x86_64__) || defined(__aarch64__))
#include <features.h>
#if defined(__GLIBC__)
#if defined(__x86_64__)
#define MBDY_OLD(name) __asm__(".symver " #name "," #name "@GLIBC_2.2.5");
#else
#define MBDY_OLD(name) __asm__(".symver " #name "," #name "@GLIBC_2.17");
#endif
MBDY_OLD(acos) MBDY_OLD(acosh) MBDY_OLD(asin) MBDY_OLD(asinh) MBDY_OLD(atan) MBDY_OLD(atan2) MBDY_OLD(atanh)
MBDY_OLD(cos) MBDY_OLD(cosh) MBDY_OLD(erf) MBDY_OLD(exp) MBDY_OLD(expm1) MBDY_OLD(fmod) MBDY_OLD(hypot)
MBDY_OLD(log) MBDY_OLD(log10) MBDY_OLD(log1p) MBDY_OLD(pow) MBDY_OLD(remainder) MBDY_OLD(sin) MBDY_OLD(sincos)
MBDY_OLD(sinh) MBDY_OLD(sqrt) MBDY_OLD(tan) MBDY_OLD(tanh)
#endif
#endif
