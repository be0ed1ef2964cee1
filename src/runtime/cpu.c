/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the machine has of the features in <ashlar/runtime/cpu.h>. */
#include <ashlar/runtime/cpu.h>

#include <stdio.h>

#include "internal.h"

#define BIT(number) (UINT64_C(1) << (number))
#define NAMED(number, constant, name) [number] = name,

typedef struct Machine { /* what is asked once */
  uint64_t has;
  uint64_t known; /* features of which that says whether they are here */
} Machine;

#if defined(__x86_64__)
#include <cpuid.h>
#include <stdatomic.h>

static const char* const kNames[] = {ASHLAR_X86_FEATURES(NAMED)};

enum State { kAny, kYmm = 0x6, kZmm = 0xe6, kTiles = 0x60000 }; /* bits of XCR0 */

static const struct {
  uint8_t feature, word, bit;
  uint32_t state;
} kWhere[] = {
    {ASHLAR_X86_SSE2, k1d, 26, kAny},         {ASHLAR_X86_SSE3, k1c, 0, kAny},
    {ASHLAR_X86_SSSE3, k1c, 9, kAny},         {ASHLAR_X86_SSE41, k1c, 19, kAny},
    {ASHLAR_X86_SSE42, k1c, 20, kAny},        {ASHLAR_X86_POPCNT, k1c, 23, kAny},
    {ASHLAR_X86_CX16, k1c, 13, kAny},         {ASHLAR_X86_SAHF, k81c, 0, kAny},
    {ASHLAR_X86_LZCNT, k81c, 5, kAny},        {ASHLAR_X86_BMI, k7b, 3, kAny},
    {ASHLAR_X86_BMI2, k7b, 8, kAny},          {ASHLAR_X86_MOVBE, k1c, 22, kAny},
    {ASHLAR_X86_AVX, k1c, 28, kYmm},          {ASHLAR_X86_F16C, k1c, 29, kYmm},
    {ASHLAR_X86_FMA, k1c, 12, kYmm},          {ASHLAR_X86_AVX2, k7b, 5, kYmm},
    {ASHLAR_X86_AVXVNNI, k71a, 4, kYmm},      {ASHLAR_X86_AVX512F, k7b, 16, kZmm},
    {ASHLAR_X86_AVX512CD, k7b, 28, kZmm},     {ASHLAR_X86_AVX512BW, k7b, 30, kZmm},
    {ASHLAR_X86_AVX512DQ, k7b, 17, kZmm},     {ASHLAR_X86_AVX512VL, k7b, 31, kZmm},
    {ASHLAR_X86_AVX512VBMI, k7c, 1, kZmm},    {ASHLAR_X86_AVX512VBMI2, k7c, 6, kZmm},
    {ASHLAR_X86_AVX512IFMA, k7b, 21, kZmm},   {ASHLAR_X86_AVX512VNNI, k7c, 11, kZmm},
    {ASHLAR_X86_AVX512BITALG, k7c, 12, kZmm}, {ASHLAR_X86_AVX512VPOPCNTDQ, k7c, 14, kZmm},
    {ASHLAR_X86_AVX512BF16, k71a, 5, kZmm},   {ASHLAR_X86_AVX512FP16, k7d, 23, kZmm},
    {ASHLAR_X86_GFNI, k7c, 8, kAny},          {ASHLAR_X86_AMX_TILE, k7d, 24, kTiles},
    {ASHLAR_X86_AMX_INT8, k7d, 25, kTiles},   {ASHLAR_X86_AMX_BF16, k7d, 22, kTiles},
};
_Static_assert(sizeof kWhere / sizeof *kWhere == ASHLAR_X86_FEATURE_COUNT, "each feature of cpu.h is found somewhere");

static const uint64_t kAmx = BIT(ASHLAR_X86_AMX_TILE) | BIT(ASHLAR_X86_AMX_INT8) | BIT(ASHLAR_X86_AMX_BF16);

static uint64_t saved_registers(void) { /* XCR0: what the operating system saves of a thread */
  uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t)high << 32 | low;
}

uint64_t ashlar_x86_features(const uint32_t* words, uint64_t saved) {
  uint64_t has = 0;
  for (size_t k = 0; k < sizeof kWhere / sizeof *kWhere; ++k)
    if ((words[kWhere[k].word] >> kWhere[k].bit & 1) != 0 && (saved & kWhere[k].state) == kWhere[k].state)
      has |= BIT(kWhere[k].feature);
  return has;
}

static uint64_t ask(void) {
  enum { kOsxsave = 1 << 27 };
  uint32_t words[kWords] = {0}, a = 0, b = 0, c = 0, d = 0, leaves = 0;
  uint64_t saved = 0;
  if (__get_cpuid(1, &a, &b, &words[k1c], &words[k1d]) && (words[k1c] & kOsxsave) != 0) saved = saved_registers();
  if (__get_cpuid_count(7, 0, &leaves, &words[k7b], &words[k7c], &words[k7d]) && leaves >= 1)
    __get_cpuid_count(7, 1, &words[k71a], &b, &c, &d);
  __get_cpuid(0x80000001u, &a, &b, &words[k81c], &d);
  return ashlar_x86_features(words, saved);
}

/* Whether this process may use tiles: Linux gives their registers to those that ask, for good. */
static bool tiles_permitted(void) {
#if defined(__linux__) && !defined(__ILP32__)
  enum { kArchPrctl = 158, kRequestPermission = 0x1023, kTileData = 18 };
  long result = 0;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"((long)kArchPrctl), "D"((long)kRequestPermission), "S"((long)kTileData)
                   : "rcx", "r11", "memory");
  return result == 0;
#else
  return false;
#endif
}

static Machine machine(uint64_t asked_for) {
  /* cpuid takes a trap each time on a virtual machine. Bits 63 and 62: asked at all, asked for tiles */
  static _Atomic uint64_t answer;
  const uint64_t asked = BIT(63), asked_tiles = BIT(62);
  const uint64_t before = atomic_load_explicit(&answer, memory_order_relaxed);
  uint64_t known = before;
  if ((known & asked) == 0) known = ask() | asked;
  if ((known & asked_tiles) == 0 && (asked_for & kAmx) != 0) {
    if ((known & kAmx) != 0 && !tiles_permitted()) known &= ~kAmx;
    known |= asked_tiles;
  }
  if (known != before) atomic_store_explicit(&answer, known, memory_order_relaxed);
  return (Machine){known & ~(asked | asked_tiles), UINT64_MAX};
}

#elif defined(__linux__) && (defined(__aarch64__) || defined(__arm__) || (defined(__riscv) && __riscv_xlen == 64))
#include <sys/auxv.h>

/* Where Linux says it: bits of AT_HWCAP and AT_HWCAP2, all of which must be set. Numbers, as older headers lack some names. */
typedef struct Where {
  uint8_t feature;
  uint32_t hwcap, hwcap2;
} Where;
enum { kHwcap = 16, kHwcap2 = 26 };

#if defined(__aarch64__)
static const char* const kNames[] = {ASHLAR_AARCH64_FEATURES(NAMED)};
static const Where kWhere[] = {{ASHLAR_AARCH64_NEON, 1u << 1, 0},     {ASHLAR_AARCH64_FULLFP16, 1u << 9 | 1u << 10, 0},
                               {ASHLAR_AARCH64_DOTPROD, 1u << 20, 0}, {ASHLAR_AARCH64_I8MM, 0, 1u << 13},
                               {ASHLAR_AARCH64_BF16, 0, 1u << 14},    {ASHLAR_AARCH64_SVE, 1u << 22, 0},
                               {ASHLAR_AARCH64_SVE2, 0, 1u << 1},     {ASHLAR_AARCH64_LSE, 1u << 8, 0}};
static const uint64_t kInferred = 0;
_Static_assert(sizeof kWhere / sizeof *kWhere == ASHLAR_AARCH64_FEATURE_COUNT, "each feature of cpu.h is found somewhere");
#elif defined(__arm__)
static const char* const kNames[] = {ASHLAR_ARM_FEATURES(NAMED)};
static const Where kWhere[] = {{ASHLAR_ARM_VFP3, 1u << 13, 0},
                               {ASHLAR_ARM_NEON, 1u << 12, 0},
                               {ASHLAR_ARM_HWDIV, 1u << 17, 0},
                               {ASHLAR_ARM_FP16, 1u << 16, 0},
                               {ASHLAR_ARM_VFP4, 1u << 16, 0}};
static const uint64_t kInferred = BIT(ASHLAR_ARM_FP16); /* a processor may have it without what shows it */
_Static_assert(sizeof kWhere / sizeof *kWhere == ASHLAR_ARM_FEATURE_COUNT, "each feature of cpu.h is found somewhere");
#else
static const char* const kNames[] = {ASHLAR_RISCV_FEATURES(NAMED)};
static const Where kWhere[] = {{ASHLAR_RISCV_M, 1u << 12, 0}, {ASHLAR_RISCV_A, 1u << 0, 0}, {ASHLAR_RISCV_F, 1u << 5, 0},
                               {ASHLAR_RISCV_D, 1u << 3, 0},  {ASHLAR_RISCV_C, 1u << 2, 0}, {ASHLAR_RISCV_V, 1u << 21, 0}};
static const uint64_t kInferred = 0;
_Static_assert(sizeof kWhere / sizeof *kWhere == ASHLAR_RISCV_FEATURE_COUNT, "each feature of cpu.h is found somewhere");
#endif

static Machine machine(uint64_t asked_for) {
  (void)asked_for;
  const unsigned long one = getauxval(kHwcap), two = getauxval(kHwcap2); /* a look into a list of twenty: nothing to keep */
  Machine m = {0, UINT64_MAX};
  for (size_t k = 0; k < sizeof kWhere / sizeof *kWhere; ++k)
    if ((one & kWhere[k].hwcap) == kWhere[k].hwcap && (two & kWhere[k].hwcap2) == kWhere[k].hwcap2)
      m.has |= BIT(kWhere[k].feature);
  m.known = ~kInferred | m.has;
  return m;
}

#else
static const char* const kNames[] = {NULL};
static Machine machine(uint64_t asked_for) {
  (void)asked_for;
  return (Machine){0, 0};
}
#endif

uint64_t ashlar_cpu_missing(uint64_t features) { return features & ~machine(features).has; }

uint64_t ashlar_cpu_lacks(uint64_t features) {
  const Machine m = machine(features);
  return features & m.known & ~m.has;
}

const char* ashlar_cpu_feature_name(int number) {
  return number >= 0 && (size_t)number < sizeof kNames / sizeof *kNames ? kNames[number] : NULL;
}

size_t ashlar_cpu_list(uint64_t features, char* text, size_t room) {
  size_t at = 0;
  text[0] = '\0';
  for (int number = 0; number < 64; ++number) {
    if ((features >> number & 1) == 0) continue;
    const char* name = ashlar_cpu_feature_name(number);
    const int written = name != NULL ? snprintf(text + at, room - at, "%s%s", at > 0 ? ", " : "", name)
                                     : snprintf(text + at, room - at, "%sfeature %d", at > 0 ? ", " : "", number);
    if (written < 0 || (size_t)written >= room - at) { /* only whole names */
      text[at] = '\0';
      break;
    }
    at += (size_t)written;
  }
  return at;
}
