/* cpu.h - what vectors this CPU has, for code that has several versions of a loop.
 *
 * Built with TD_NO_SIMD, or on a CPU that is none of these, the scalar versions are used. */
#ifndef TD_SRC_BASE_CPU_H
#define TD_SRC_BASE_CPU_H

#if defined(__x86_64__) && defined(__GNUC__) && !defined(TD_NO_SIMD)
#define TD_X86 1
#else
#define TD_X86 0
#endif

typedef enum td_cpu {
    TD_CPU_SCALAR,
    TD_CPU_SSE2,
    TD_CPU_AVX2,   /* with AES, BMI1, BMI2, POPCNT */
    TD_CPU_AVX512, /* F, BW, DQ, VL, VBMI, VBMI2, and all of AVX2 */
} td_cpu;

/* The best that this CPU and its system offer. Cheap, thread-safe. */
static inline td_cpu td_cpu_best(void)
{
#if TD_X86
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("aes") ||
        !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2") ||
        !__builtin_cpu_supports("popcnt"))
        return TD_CPU_SSE2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512vbmi") &&
        __builtin_cpu_supports("avx512vbmi2"))
        return TD_CPU_AVX512;
    return TD_CPU_AVX2;
#else
    return TD_CPU_SCALAR;
#endif
}

#endif
