// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What this machine has of the table's features, and its caches.
#include <ashlar/runtime/cpu.h>

#include "target/table.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace ashlar::targets {

namespace {
#if defined(__x86_64__)
constexpr Architecture here = Architecture::x86_64;
#elif defined(__aarch64__)
constexpr Architecture here = Architecture::aarch64;
#elif defined(__riscv)
constexpr Architecture here = Architecture::riscv64;
#else
constexpr Architecture here = Architecture::arm;
#endif
}  // namespace

bool has_here(const Feature& f) {
  const int number = number_of(f.of, f.name);  // of a user's file: nothing here can tell
  return f.of == here && number >= 0 && ashlar_cpu_missing(std::uint64_t{1} << number) == 0;
}

#if defined(__x86_64__)

// cpuid leaf 4 (Intel) or 0x8000001D (AMD), which share a layout.
void read_caches(std::int64_t (&bytes)[3]) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  __get_cpuid(0, &a, &b, &c, &d);
  const bool amd = b == signature_AMD_ebx;
  for (unsigned k = 0; k < 8; ++k) {
    if (!__get_cpuid_count(amd ? 0x8000001Du : 4u, k, &a, &b, &c, &d)) return;
    const unsigned type = a & 31, level = (a >> 5) & 7;
    if (type == 0) return;
    if (type == 2 || level < 1 || level > 3) continue;  // instructions
    bytes[level - 1] = static_cast<std::int64_t>((b >> 22) + 1) * (((b >> 12) & 1023) + 1) * ((b & 4095) + 1) *
                       (static_cast<std::int64_t>(c) + 1);
  }
}

#else

void read_caches(std::int64_t (&)[3]) {}

#endif

}  // namespace ashlar::targets
