/* What the processor can run, by the levels of the x86-64 psABI. */
#include "internal.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <stdatomic.h>

static unsigned long long enabled_state(void) { /* XCR0: the registers that the operating system saves */
  unsigned low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (unsigned long long)high << 32 | low;
}

static bool has(unsigned word, unsigned bits) { return (word & bits) == bits; }

static int find_level(void) {
  unsigned a = 0, b = 0, c1 = 0, d = 0, b7 = 0, c = 0, c81 = 0;
  if (!__get_cpuid(1, &a, &b, &c1, &d) || !__get_cpuid(0x80000001u, &a, &b, &c81, &d)) return 1;
  if (!has(c1, bit_SSE3 | bit_SSSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_POPCNT | bit_CMPXCHG16B) || !has(c81, bit_LAHF_LM))
    return 1;
  if (!__get_cpuid_count(7, 0, &a, &b7, &c, &d) || !has(c1, bit_OSXSAVE)) return 2;
  const unsigned long long state = enabled_state();
  const bool v3 = has(c1, bit_AVX | bit_F16C | bit_FMA | bit_MOVBE) && has(b7, bit_AVX2 | bit_BMI | bit_BMI2) &&
                  has(c81, bit_LZCNT) && (state & 0x6) == 0x6;
  if (!v3) return 2;
  const bool v4 = has(b7, bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL) && (state & 0xe6) == 0xe6;
  return v4 ? 4 : 3;
}

int ashlar_abi1_x86_level(void) {
  static _Atomic int known; /* 0: not asked yet. Asking takes a trap each time on a virtual machine */
  int level = atomic_load_explicit(&known, memory_order_relaxed);
  if (level == 0) {
    level = find_level();
    atomic_store_explicit(&known, level, memory_order_relaxed);
  }
  return level;
}
#else
int ashlar_abi1_x86_level(void) { return 0; }
#endif
