#include "bench/peaks.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string_view>
#include <thread>
#include <vector>

#include "apps/support/timing.h"
#include "bench/isa.h"

namespace bench {
namespace {

// Every kernel holds independent accumulators in registers, more than latency x throughput, and does nothing else.
constexpr std::int64_t burst = 400'000, sustained = 8'000'000;  // rounds: about 2 and 40 ms

#define TWELVE(row) \
  row("2") row("3") row("4") row("5") row("6") row("7") row("8") row("9") row("10") row("11") row("12") row("13")

// With `loads`, one operand of every second instruction comes from the first-level cache, as in a matrix product: the processor
// may run such code at a lower frequency.
// clang-format off
#define TOUCHED \
  "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13"
// clang-format on
alignas(64) const float operand[16] = {};

// clang-format off
#define TWELVE_OF(row, reg)                                                                                                \
  row(reg, "2") row(reg, "3") row(reg, "4") row(reg, "5") row(reg, "6") row(reg, "7") row(reg, "8") row(reg, "9") row(reg, "10") \
      row(reg, "11") row(reg, "12") row(reg, "13")
#define FMA_ROW(reg, k) "vfmadd231ps %%" reg "0, %%" reg "1, %%" reg k "\n\t"
#define FMA_LOAD(reg, k) "vbroadcastss (%1), %%" reg "1\n\t" FMA_ROW(reg, k)
#define XOR_512(reg, k) "vpxord %%" reg k ", %%" reg k ", %%" reg k "\n\t"
#define XOR_256(reg, k) "vxorps %%" reg k ", %%" reg k ", %%" reg k "\n\t"
#define FMA_LOOP(reg, clear, first)                                                              \
  clear(reg, "0") clear(reg, "1") TWELVE_OF(clear, reg) "1:\n\t" TWELVE_OF(first, reg) TWELVE_OF(FMA_ROW, reg) "dec %0\n\tjnz 1b\n\tvzeroupper"

// Multiply-adds of registers `reg` of `lanes` floats, which `clear` sets to 0.
#define FMA_PEAK(name, reg, lanes, clear)                                                                                    \
  double name(bool loads) {                                                                                                  \
    const std::int64_t rounds = loads ? sustained : burst;                                                                   \
    std::int64_t n = rounds;                                                                                                 \
    if (loads)                                                                                                               \
      asm volatile(FMA_LOOP(reg, clear, FMA_LOAD) : "+r"(n) : "r"(operand) : TOUCHED);                                       \
    else                                                                                                                     \
      asm volatile(FMA_LOOP(reg, clear, FMA_ROW) : "+r"(n) : : TOUCHED);                                                     \
    return static_cast<double>(rounds) * 24 * lanes * 2;                                                                     \
  }
FMA_PEAK(fma_512, "zmm", 16, XOR_512)
FMA_PEAK(fma_256, "ymm", 8, XOR_256)
#undef FMA_PEAK
#undef FMA_LOOP
#undef FMA_LOAD
#undef FMA_ROW
// clang-format on

double multiply_and_add_128(bool loads) {  // no fma: multiplications and additions, half of each
  const std::int64_t rounds = loads ? sustained : burst;
  std::int64_t n = rounds;
  // clang-format off
#define CLEAR(k) "xorps %%xmm" k ", %%xmm" k "\n\t"
#define MUL(k) "mulps %%xmm0, %%xmm" k "\n\t"
#define ADD(k) "addps %%xmm0, %%xmm" k "\n\t"
#define LOAD "movaps (%1), %%xmm0\n\t"
#define LOOP(load)                                                                                                   \
  CLEAR("0")                                                                                                         \
  CLEAR("1")                                                                                                         \
  TWELVE(CLEAR) "1:\n\t" load MUL("2") ADD("3") load MUL("4") ADD("5") load MUL("6") ADD("7") load MUL("8") ADD("9") \
      load MUL("10") ADD("11") load MUL("12") ADD("13") "dec %0\n\tjnz 1b"
  // clang-format on
  if (loads)
    asm volatile(LOOP(LOAD) : "+r"(n) : "r"(operand) : TOUCHED);
  else
    asm volatile(LOOP("") : "+r"(n) : : TOUCHED);
#undef LOOP
#undef LOAD
#undef CLEAR
#undef MUL
#undef ADD
  return static_cast<double>(rounds) * 12 * 4;
}

int widest() {
  if (isa() == std::string_view("native") && __builtin_cpu_supports("avx512f")) return 512;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 256 : 128;
}

// Runs body(thread) on all threads at once, several times; the seconds of the fastest time.
double together(int threads, int times, const std::function<void(int)>& body) {
  double least = 1e30;
  for (int t = 0; t < times; ++t) {
    std::atomic<int> ready{0};
    std::vector<double> begin(static_cast<std::size_t>(threads)), end(begin);
    auto run = [&](int who) {
      ready.fetch_add(1);
      while (ready.load() < threads) std::this_thread::yield();
      begin[static_cast<std::size_t>(who)] = apps::now();
      body(who);
      end[static_cast<std::size_t>(who)] = apps::now();
    };
    std::vector<std::thread> others;
    for (int who = 1; who < threads; ++who) others.emplace_back(run, who);
    run(0);
    for (std::thread& other : others) other.join();
    least = std::min(least, *std::max_element(end.begin(), end.end()) - *std::min_element(begin.begin(), begin.end()));
  }
  return least;
}

constexpr std::size_t elements = std::size_t{32} << 20;  // a thread's share of one array: 128 MB

double bandwidth(int threads, double bytes, const std::function<void(std::vector<float>*)>& body) {
  std::vector<std::vector<float>> arrays(3 * static_cast<std::size_t>(threads), std::vector<float>(elements, 1.0f));
  const double seconds = together(threads, 7, [&](int who) { body(&arrays[3 * static_cast<std::size_t>(who)]); });
  return bytes * static_cast<double>(elements) * threads / seconds / 1e9;
}

}  // namespace

double fma_peak(int threads, bool loads) {
  double operations = 0;
  const int bits = widest();
  const double seconds = together(threads, loads ? 7 : 25, [&](int who) {
    const double done = bits == 512 ? fma_512(loads) : bits == 256 ? fma_256(loads) : multiply_and_add_128(loads);
    if (who == 0) operations = done;
  });
  return operations * threads / seconds / 1e9;
}

std::string fma_kind() { return std::to_string(widest()) + (widest() == 128 ? "-bit vectors, no fma" : "-bit fma"); }

double copy_bandwidth(int threads) {
  return bandwidth(threads, 8, [](std::vector<float>* a) {
    std::memcpy(a[1].data(), a[0].data(), elements * sizeof(float));
    asm volatile("" : : "r"(a[1].data()) : "memory");
  });
}

double triad_bandwidth(int threads) {
  return bandwidth(threads, 12, [](std::vector<float>* a) {
    float* __restrict to = a[0].data();
    const float* __restrict x = a[1].data(), * __restrict y = a[2].data();
    for (std::size_t k = 0; k < elements; ++k) to[k] = x[k] + 3.0f * y[k];
    asm volatile("" : : "r"(to) : "memory");
  });
}

}  // namespace bench
