/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Optional features of the processors of an architecture, as bits of a 64-bit word: those that a kernel needs
 * (ashlar_abi1_desc.features) and those that this machine has.
 *
 *   if (ashlar_cpu_missing(UINT64_C(1) << ASHLAR_X86_AVX2 | UINT64_C(1) << ASHLAR_X86_FMA) == 0) …       it has both
 *
 * Each architecture numbers its features separately. The numbers are frozen under ABI number 1; new features go to the end.
 * Names are those used in targets (docs/targets.md), which are LLVM's. The runtime cannot detect a feature that is not listed
 * here, so a library of several targets must not depend on one.
 *
 * How features are detected:
 *   x86-64            cpuid, and XCR0 for the registers that the system saves: 256 bits for the features from avx on, 512 bits
 *                     for avx512…, tiles for amx-…. Tiles also need Linux's permission for the process (arch_prctl,
 *                     ARCH_REQ_XCOMP_PERM), which is requested when amx-… is first asked for. Without it, and on other
 *                     systems, amx-… is missing.
 *   AArch64, ARM, RISC-V   on Linux and Android, AT_HWCAP and AT_HWCAP2.
 *   others            unknown: a library of several targets finds all features missing, the kernel of one target is not
 *                     checked. */
#ifndef ASHLAR_RUNTIME_CPU_H
#define ASHLAR_RUNTIME_CPU_H
#include <ashlar/runtime/desc.h>

/* X(number, constant, name) for each feature. The comment says where it is found: cpuid leaf.subleaf register[bit]; Linux's
 * HWCAP_… */
#define ASHLAR_X86_FEATURES(X)                                    \
  X(0, SSE2, "sse2")                        /* 1 edx[26] */       \
  X(1, SSE3, "sse3")                        /* 1 ecx[0] */        \
  X(2, SSSE3, "ssse3")                      /* 1 ecx[9] */        \
  X(3, SSE41, "sse4.1")                     /* 1 ecx[19] */       \
  X(4, SSE42, "sse4.2")                     /* 1 ecx[20] */       \
  X(5, POPCNT, "popcnt")                    /* 1 ecx[23] */       \
  X(6, CX16, "cx16")                        /* 1 ecx[13] */       \
  X(7, SAHF, "sahf")                        /* 80000001 ecx[0] */ \
  X(8, LZCNT, "lzcnt")                      /* 80000001 ecx[5] */ \
  X(9, BMI, "bmi")                          /* 7.0 ebx[3] */      \
  X(10, BMI2, "bmi2")                       /* 7.0 ebx[8] */      \
  X(11, MOVBE, "movbe")                     /* 1 ecx[22] */       \
  X(12, AVX, "avx")                         /* 1 ecx[28] */       \
  X(13, F16C, "f16c")                       /* 1 ecx[29] */       \
  X(14, FMA, "fma")                         /* 1 ecx[12] */       \
  X(15, AVX2, "avx2")                       /* 7.0 ebx[5] */      \
  X(16, AVXVNNI, "avxvnni")                 /* 7.1 eax[4] */      \
  X(17, AVX512F, "avx512f")                 /* 7.0 ebx[16] */     \
  X(18, AVX512CD, "avx512cd")               /* 7.0 ebx[28] */     \
  X(19, AVX512BW, "avx512bw")               /* 7.0 ebx[30] */     \
  X(20, AVX512DQ, "avx512dq")               /* 7.0 ebx[17] */     \
  X(21, AVX512VL, "avx512vl")               /* 7.0 ebx[31] */     \
  X(22, AVX512VBMI, "avx512vbmi")           /* 7.0 ecx[1] */      \
  X(23, AVX512VBMI2, "avx512vbmi2")         /* 7.0 ecx[6] */      \
  X(24, AVX512IFMA, "avx512ifma")           /* 7.0 ebx[21] */     \
  X(25, AVX512VNNI, "avx512vnni")           /* 7.0 ecx[11] */     \
  X(26, AVX512BITALG, "avx512bitalg")       /* 7.0 ecx[12] */     \
  X(27, AVX512VPOPCNTDQ, "avx512vpopcntdq") /* 7.0 ecx[14] */     \
  X(28, AVX512BF16, "avx512bf16")           /* 7.1 eax[5] */      \
  X(29, AVX512FP16, "avx512fp16")           /* 7.0 edx[23] */     \
  X(30, GFNI, "gfni")                       /* 7.0 ecx[8] */      \
  X(31, AMX_TILE, "amx-tile")               /* 7.0 edx[24] */     \
  X(32, AMX_INT8, "amx-int8")               /* 7.0 edx[25] */     \
  X(33, AMX_BF16, "amx-bf16")               /* 7.0 edx[22] */

#define ASHLAR_AARCH64_FEATURES(X)                           \
  X(0, NEON, "neon")         /* HWCAP_ASIMD */               \
  X(1, FULLFP16, "fullfp16") /* HWCAP_FPHP, HWCAP_ASIMDHP */ \
  X(2, DOTPROD, "dotprod")   /* HWCAP_ASIMDDP */             \
  X(3, I8MM, "i8mm")         /* HWCAP2_I8MM */               \
  X(4, BF16, "bf16")         /* HWCAP2_BF16 */               \
  X(5, SVE, "sve")           /* HWCAP_SVE */                 \
  X(6, SVE2, "sve2")         /* HWCAP2_SVE2 */               \
  X(7, LSE, "lse")           /* HWCAP_ATOMICS */

#define ASHLAR_ARM_FEATURES(X)                             \
  X(0, VFP3, "vfp3")       /* HWCAP_VFPv3 */               \
  X(1, NEON, "neon")       /* HWCAP_NEON */                \
  X(2, HWDIV, "hwdiv-arm") /* HWCAP_IDIVA */               \
  X(3, FP16, "fp16")       /* HWCAP_VFPv4, which has it */ \
  X(4, VFP4, "vfp4")       /* HWCAP_VFPv4 */

#define ASHLAR_RISCV_FEATURES(X) /* AT_HWCAP, a bit a letter */ \
  X(0, M, "m")                                                  \
  X(1, A, "a")                                                  \
  X(2, F, "f")                                                  \
  X(3, D, "d")                                                  \
  X(4, C, "c")                                                  \
  X(5, V, "v")

#ifdef __cplusplus
extern "C" {
#endif

#define ASHLAR_X86_NUMBER(number, constant, name) ASHLAR_X86_##constant = number,
#define ASHLAR_AARCH64_NUMBER(number, constant, name) ASHLAR_AARCH64_##constant = number,
#define ASHLAR_ARM_NUMBER(number, constant, name) ASHLAR_ARM_##constant = number,
#define ASHLAR_RISCV_NUMBER(number, constant, name) ASHLAR_RISCV_##constant = number,
enum { ASHLAR_X86_FEATURES(ASHLAR_X86_NUMBER) ASHLAR_X86_FEATURE_COUNT };
enum { ASHLAR_AARCH64_FEATURES(ASHLAR_AARCH64_NUMBER) ASHLAR_AARCH64_FEATURE_COUNT };
enum { ASHLAR_ARM_FEATURES(ASHLAR_ARM_NUMBER) ASHLAR_ARM_FEATURE_COUNT };
enum { ASHLAR_RISCV_FEATURES(ASHLAR_RISCV_NUMBER) ASHLAR_RISCV_FEATURE_COUNT };
#undef ASHLAR_X86_NUMBER
#undef ASHLAR_AARCH64_NUMBER
#undef ASHLAR_ARM_NUMBER
#undef ASHLAR_RISCV_NUMBER

/* The bits of `features` that this machine (its processor and its system) is not known to have; 0 if it can run code that needs
 * all of them. Features are detected once per process. */
ASHLAR_API uint64_t ashlar_cpu_missing(uint64_t features);
/* The name, such as "avx512vnni"; NULL if this machine's architecture has no feature of that number. */
ASHLAR_API const char* ashlar_cpu_feature_name(int number);

#ifdef __cplusplus
}
#endif
#endif
