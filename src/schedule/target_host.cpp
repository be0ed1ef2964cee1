// What this machine has of the table's features, and its caches.
#include "schedule/target_table.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace ashlar::targets {

#if defined(__x86_64__)

namespace {

struct Known {
  std::string_view name;
  bool (*here)();
};
#define ASHLAR_HERE(text) {text, [] { return __builtin_cpu_supports(text) != 0; }}
const Known known[] = {ASHLAR_HERE("sse2"),       ASHLAR_HERE("sse3"),       ASHLAR_HERE("ssse3"),
                       ASHLAR_HERE("sse4.1"),     ASHLAR_HERE("sse4.2"),     ASHLAR_HERE("popcnt"),
                       ASHLAR_HERE("lzcnt"),      ASHLAR_HERE("bmi"),        ASHLAR_HERE("bmi2"),
                       ASHLAR_HERE("avx"),        ASHLAR_HERE("f16c"),       ASHLAR_HERE("fma"),
                       ASHLAR_HERE("avx2"),       ASHLAR_HERE("avxvnni"),    ASHLAR_HERE("avx512f"),
                       ASHLAR_HERE("avx512cd"),   ASHLAR_HERE("avx512bw"),   ASHLAR_HERE("avx512dq"),
                       ASHLAR_HERE("avx512vl"),   ASHLAR_HERE("avx512vbmi"), ASHLAR_HERE("avx512vbmi2"),
                       ASHLAR_HERE("avx512ifma"), ASHLAR_HERE("avx512vnni"), ASHLAR_HERE("avx512bitalg"),
                       ASHLAR_HERE("gfni"),       ASHLAR_HERE("avx512bf16"), ASHLAR_HERE("avx512vpopcntdq"),
                       ASHLAR_HERE("amx-tile"),   ASHLAR_HERE("amx-int8"),   ASHLAR_HERE("amx-bf16"),
                       ASHLAR_HERE("avx512fp16")};
#undef ASHLAR_HERE

}  // namespace

bool has_here(const Feature& f) {
  if (f.of != Architecture::x86_64) return false;
  for (const Known& k : known)
    if (k.name == f.name) return k.here();
  return false;  // a feature of a user's file: nothing here can tell
}

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

bool has_here(const Feature&) { return false; }
void read_caches(std::int64_t (&)[3]) {}

#endif

}  // namespace ashlar::targets
