// What the runtime says of this processor, against what Linux says of it.
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include <ashlar/runtime/cpu.h>

extern "C" std::uint64_t ashlar_x86_features(const std::uint32_t* words, std::uint64_t saved);  // internal.h

namespace {

constexpr std::uint64_t bit(int number) { return std::uint64_t{1} << number; }

[[maybe_unused]] std::set<std::string> flags_of_linux(const char* key) {  // of the first processor
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.compare(0, std::string(key).size(), key) == 0) {
      std::istringstream words(line.substr(line.find(':') + 1));
      return {std::istream_iterator<std::string>(words), {}};
    }
  return {};
}

}  // namespace

#if defined(__x86_64__) && defined(__linux__)
TEST_CASE("every feature of x86-64 is here where /proc/cpuinfo has it, and nowhere else") {
  static const struct {
    int number;
    const char* flag;
  } of_linux[] = {{ASHLAR_X86_SSE2, "sse2"},
                  {ASHLAR_X86_SSE3, "pni"},
                  {ASHLAR_X86_SSSE3, "ssse3"},
                  {ASHLAR_X86_SSE41, "sse4_1"},
                  {ASHLAR_X86_SSE42, "sse4_2"},
                  {ASHLAR_X86_POPCNT, "popcnt"},
                  {ASHLAR_X86_CX16, "cx16"},
                  {ASHLAR_X86_SAHF, "lahf_lm"},
                  {ASHLAR_X86_LZCNT, "abm"},
                  {ASHLAR_X86_BMI, "bmi1"},
                  {ASHLAR_X86_BMI2, "bmi2"},
                  {ASHLAR_X86_MOVBE, "movbe"},
                  {ASHLAR_X86_AVX, "avx"},
                  {ASHLAR_X86_F16C, "f16c"},
                  {ASHLAR_X86_FMA, "fma"},
                  {ASHLAR_X86_AVX2, "avx2"},
                  {ASHLAR_X86_AVXVNNI, "avx_vnni"},
                  {ASHLAR_X86_AVX512F, "avx512f"},
                  {ASHLAR_X86_AVX512CD, "avx512cd"},
                  {ASHLAR_X86_AVX512BW, "avx512bw"},
                  {ASHLAR_X86_AVX512DQ, "avx512dq"},
                  {ASHLAR_X86_AVX512VL, "avx512vl"},
                  {ASHLAR_X86_AVX512VBMI, "avx512vbmi"},
                  {ASHLAR_X86_AVX512VBMI2, "avx512_vbmi2"},
                  {ASHLAR_X86_AVX512IFMA, "avx512ifma"},
                  {ASHLAR_X86_AVX512VNNI, "avx512_vnni"},
                  {ASHLAR_X86_AVX512BITALG, "avx512_bitalg"},
                  {ASHLAR_X86_AVX512VPOPCNTDQ, "avx512_vpopcntdq"},
                  {ASHLAR_X86_AVX512BF16, "avx512_bf16"},
                  {ASHLAR_X86_AVX512FP16, "avx512_fp16"},
                  {ASHLAR_X86_GFNI, "gfni"},
                  {ASHLAR_X86_AMX_TILE, "amx_tile"},
                  {ASHLAR_X86_AMX_INT8, "amx_int8"},
                  {ASHLAR_X86_AMX_BF16, "amx_bf16"}};
  static_assert(sizeof of_linux / sizeof *of_linux == ASHLAR_X86_FEATURE_COUNT);
  const std::set<std::string> flags = flags_of_linux("flags");
  REQUIRE(flags.size() > 10);
  for (const auto& f : of_linux) {
    CAPTURE(f.flag);
    CHECK((ashlar_cpu_missing(bit(f.number)) == 0) == (flags.count(f.flag) == 1));
  }
}
#endif

#if defined(__x86_64__)
TEST_CASE("what the processor has counts where the system saves its registers") {
  const std::uint32_t all[7] = {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u}, none[7] = {};
  const auto here = [&](std::uint64_t saved, int number) { return (ashlar_x86_features(all, saved) & bit(number)) != 0; };
  constexpr std::uint64_t x87 = 1, xmm = 2, ymm = 4, zmm = 0xe0, tile_configuration = 1 << 17, tile_data = 1 << 18;
  const struct {
    std::uint64_t saved;
    bool avx, avx512, amx;
  } systems[] = {{0, false, false, false},
                 {x87 | xmm, false, false, false},
                 {x87 | ymm, false, false, false},
                 {x87 | xmm | ymm, true, false, false},
                 {x87 | xmm | zmm, false, false, false},
                 {x87 | xmm | ymm | 0x60, true, false, false},  // no upper 16 registers
                 {x87 | xmm | ymm | zmm, true, true, false},
                 {x87 | xmm | ymm | zmm | tile_data, true, true, false},
                 {x87 | xmm | ymm | zmm | tile_configuration | tile_data, true, true, true}};
  for (const auto& s : systems) {
    CAPTURE(s.saved);
    for (const int number : {ASHLAR_X86_SSE2, ASHLAR_X86_SSE42, ASHLAR_X86_BMI2, ASHLAR_X86_MOVBE, ASHLAR_X86_GFNI})
      CHECK(here(s.saved, number));
    for (const int number : {ASHLAR_X86_AVX, ASHLAR_X86_F16C, ASHLAR_X86_FMA, ASHLAR_X86_AVX2, ASHLAR_X86_AVXVNNI})
      CHECK(here(s.saved, number) == s.avx);
    for (int number = ASHLAR_X86_AVX512F; number <= ASHLAR_X86_AVX512FP16; ++number) CHECK(here(s.saved, number) == s.avx512);
    for (const int number : {ASHLAR_X86_AMX_TILE, ASHLAR_X86_AMX_INT8, ASHLAR_X86_AMX_BF16})
      CHECK(here(s.saved, number) == s.amx);
  }
  CHECK(ashlar_x86_features(all, ~std::uint64_t{0}) == bit(ASHLAR_X86_FEATURE_COUNT) - 1);
  CHECK(ashlar_x86_features(none, ~std::uint64_t{0}) == 0);
}
#endif

TEST_CASE("what is missing, of several features at once; numbers without a feature always are") {
  std::uint64_t missing = 0;
  for (int k = 0; k < 64; ++k) {
    CHECK((ashlar_cpu_missing(bit(k)) | bit(k)) == bit(k));
    missing |= ashlar_cpu_missing(bit(k));
    if (!ashlar_cpu_feature_name(k)) CHECK(ashlar_cpu_missing(bit(k)) == bit(k));
  }
  CHECK(ashlar_cpu_missing(UINT64_MAX) == missing);
  CHECK(ashlar_cpu_missing(0) == 0);
  CHECK(ashlar_cpu_feature_name(-1) == nullptr);
  CHECK(ashlar_cpu_feature_name(64) == nullptr);
#if defined(__x86_64__)
  CHECK(std::string(ashlar_cpu_feature_name(ASHLAR_X86_AVX512VNNI)) == "avx512vnni");
  CHECK(ashlar_cpu_missing(bit(ASHLAR_X86_SSE2)) == 0);
  CHECK(ashlar_cpu_feature_name(ASHLAR_X86_FEATURE_COUNT) == nullptr);
#endif
}
