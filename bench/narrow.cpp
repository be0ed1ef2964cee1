// Products and the 3 x 3 layers of ResNet-50 in u8 by i8 and in bf16, on one thread beside oneDNN.
#include <bench_bf16.h>
#include <bench_conv_bf16_128.h>
#include <bench_conv_bf16_256.h>
#include <bench_conv_bf16_512.h>
#include <bench_conv_bf16_64.h>
#include <bench_conv_u8s8_128.h>
#include <bench_conv_u8s8_256.h>
#include <bench_conv_u8s8_512.h>
#include <bench_conv_u8s8_64.h>
#include <bench_u8s8.h>
#include <fmt/core.h>

#include <time.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/isa.h"
#include "bench/peers.h"
#include "bench/suites.h"
#include "bench/workspace.h"

namespace bench {
namespace {

double processor_time() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// GOP/s of the instruction on 24 independent accumulators, nothing else: the floor of a kernel is its work at this rate.
#define EACH(row)                                                                                                           \
  row("2") row("3") row("4") row("5") row("6") row("7") row("8") row("9") row("10") row("11") row("12") row("13") row("14") \
      row("15") row("16") row("17") row("18") row("19") row("20") row("21") row("22") row("23") row("24") row("25")
#define CLEAR(k) "vpxord %%zmm" k ", %%zmm" k ", %%zmm" k "\n\t"
#define BYTES(k) "vpdpbusd %%zmm0, %%zmm1, %%zmm" k "\n\t"
#define HALVES(k) "vdpbf16ps %%zmm0, %%zmm1, %%zmm" k "\n\t"
#define TOUCHED                                                                                                             \
  "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", \
      "xmm14", "xmm15"
double peak(Narrow n) {
  constexpr std::int64_t rounds = 1'000'000;
  double least = 1e30;
  for (int t = 0; t < 7; ++t) {
    std::int64_t left = rounds;
    const double begin = processor_time();
    if (n == Narrow::u8s8)
      asm volatile(CLEAR("0") CLEAR("1") EACH(CLEAR) "1:\n\t" EACH(BYTES) "dec %0\n\tjnz 1b\n\tvzeroupper"
                   : "+r"(left)
                   :
                   : TOUCHED);
    else
      asm volatile(CLEAR("0") CLEAR("1") EACH(CLEAR) "1:\n\t" EACH(HALVES) "dec %0\n\tjnz 1b\n\tvzeroupper"
                   : "+r"(left)
                   :
                   : TOUCHED);
    least = std::min(least, processor_time() - begin);
  }
  return static_cast<double>(rounds) * 24 * (n == Narrow::u8s8 ? 128 : 64) / least / 1e9;
}

template <class T>
std::vector<T> random_values(std::int64_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& v : values) {
    v = static_cast<T>(engine());
    if (sizeof(T) == 2) v = static_cast<T>((v & 0x807f) | ((120 + engine() % 7) << 7));  // bf16 between 2^-7 and 1
  }
  return values;
}

// Two results that were computed in other orders: integers the same, floats near in terms of the sum's size.
template <class T>
void compare(const std::string& what, const std::vector<T>& found, const std::vector<T>& expected, double bound) {
  for (std::size_t k = 0; k < found.size(); ++k)
    if (!(std::abs(static_cast<double>(found[k]) - static_cast<double>(expected[k])) <= bound))
      throw std::runtime_error(what + ": element " + std::to_string(k) + " is " + std::to_string(found[k]) + ", oneDNN has " +
                               std::to_string(expected[k]));
}

// Races on one thread and on as many as are measured. `top`: the peak of one thread; that of several is taken to grow as the
// one of f32 does. The peer plans for the threads there are when it is made.
template <class Args, class Bytes, class Run, class MakePeer, class Compare>
void race(Report& report, const Machine& machine, const char* kernel, const std::string& shape, double work, double top,
          const Args& args, Bytes&& bytes, Run&& run, MakePeer&& make_peer, Compare&& compare_results) {
  for (int k = 0; k < (machine.threads > 1 ? 2 : 1); ++k) {
    const int threads = k == 0 ? 1 : machine.threads;
    onednn_threads(threads);
    if (ashlar_set_threads(threads) != ASHLAR_OK) throw std::runtime_error("the pool refuses this number of threads");
    Workspace workspace;
    workspace.reserve(bytes(&args, &workspace.context));
    const OnednnNarrow peer = make_peer();
    const auto call = [&] {
      if (run(&args, &workspace.context) != ASHLAR_OK) throw std::runtime_error(std::string(kernel) + " failed");
    };
    call(), peer.run();
    compare_results();
    const double peak = top * machine.fma[k] / machine.fma[0];
    report.race({kernel, shape, threads, work, "GOP/s", peak}, {{"ashlar", call}, {"onednn", [&] { peer.run(); }}});
    const Record ours = *report.find(kernel, shape, threads, "ashlar"), theirs = *report.find(kernel, shape, threads, "onednn");
    report.note(
        fmt::format("{:.2f} of oneDNN ({:.2f} in the fastest runs; {}); goal: at least 0.90; floor {:.3f} ms, taken {:.3f}",
                    theirs.median_ns / ours.median_ns, theirs.min_ns / ours.min_ns, peer.implementation(), work / peak / 1e6,
                    ours.median_ns / 1e6));
  }
}

template <class Left, class Right, class Result, class Args, class Bytes, class Run>
void product(Report& report, const Machine& machine, Narrow n, double top, Bytes&& bytes, Run&& run, const Args&) {
  constexpr std::int64_t N = 1024;
  const char* kernel = n == Narrow::u8s8 ? "matmul_u8s8" : "matmul_bf16";
  const std::vector<Left> A = random_values<Left>(N * N, 1);
  const std::vector<Right> B = random_values<Right>(N * N, 2);
  std::vector<Result> C(static_cast<std::size_t>(N * N)), D(C);
  const Args args{
      .A = A.data(), .B = B.data(), .C = C.data(), .M = N, .K = N, .N = N, .A_stride0 = N, .B_stride0 = N, .C_stride0 = N};
  race(
      report, machine, kernel, "1024x1024x1024", 2.0 * N * N * N, top, args, bytes, run,
      [&] { return OnednnNarrow::product(n, A.data(), B.data(), D.data(), N, N, N); },
      [&] { compare(kernel, C, D, n == Narrow::u8s8 ? 0 : 1e-3); });
}

template <class Left, class Right, class Result, class Args, class Bytes, class Run>
void layer(Report& report, const Machine& machine, Narrow n, double top, std::int64_t size, std::int64_t channels,
           Bytes&& bytes, Run&& run, const Args&) {
  constexpr std::int64_t block = 32;
  const std::int64_t step = n == Narrow::u8s8 ? 4 : 2;
  const char* kernel = n == Narrow::u8s8 ? "conv3x3_u8s8" : "conv3x3_bf16";
  const std::string shape = fmt::format("{}x{}x{}", size, size, channels);
  const std::vector<Left> X = random_values<Left>(size * size * channels, 3);
  const std::vector<Right> K = random_values<Right>(channels * channels * 9, 4);  // oihw
  std::vector<Right> packed(K.size());
  for (std::int64_t o = 0; o < channels; ++o)
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t t = 0; t < 9; ++t) {
        const std::int64_t to = (((o / block * 9 + t) * (channels / step) + c / step) * block + o % block) * step + c % step;
        packed[static_cast<std::size_t>(to)] = K[static_cast<std::size_t>((o * channels + c) * 9 + t)];
      }
  std::vector<Result> Y(static_cast<std::size_t>(size * size * channels)), Z(Y);
  const Args args{.X = X.data(),
                  .K = packed.data(),
                  .Y = Y.data(),
                  .H = size,
                  .W = size,
                  .B = channels / block,
                  .Y_stride0 = size * channels,
                  .Y_stride1 = channels,
                  .Y_stride2 = block};
  const double work = 18.0 * static_cast<double>(size * size * channels * channels);
  race(
      report, machine, kernel, shape, work, top, args, bytes, run,
      [&] { return OnednnNarrow::convolution(n, X.data(), K.data(), Z.data(), size, channels); },
      [&] { compare(kernel, Y, Z, n == Narrow::u8s8 ? 0 : 1e-2); });
}

#define PRODUCT(name, ...) product<__VA_ARGS__>(report, machine, kind, top, name##_workspace_bytes, name##_run, name##_args{})
#define LAYER(size, channels, name, ...) \
  layer<__VA_ARGS__>(report, machine, kind, top, size, channels, name##_workspace_bytes, name##_run, name##_args{})

}  // namespace

void narrow_suite(Report& report, const Machine& machine) {
  const auto wanted = [&](const char* product, const char* layers, bool can, const char* feature) {
    can = can && isa() == std::string_view("native");
    const bool any = report.wants(product) || report.wants(layers);
    if (any && !can) report.note(fmt::format("skipped: {} and {}, this machine has no {}", product, layers, feature));
    return any && can;
  };
  if (wanted("matmul_u8s8", "conv3x3_u8s8", __builtin_cpu_supports("avx512vnni"), "avx512vnni")) {
    const Narrow kind = Narrow::u8s8;
    const double top = peak(kind);
    report.note(fmt::format("vpdpbusd on 24 accumulators: {:.0f} GOP/s", top));
    if (report.wants("matmul_u8s8")) PRODUCT(bench_u8s8, std::uint8_t, std::int8_t, std::int32_t);
    if (report.wants("conv3x3_u8s8")) {
      LAYER(56, 64, bench_conv_u8s8_64, std::uint8_t, std::int8_t, std::int32_t);
      LAYER(28, 128, bench_conv_u8s8_128, std::uint8_t, std::int8_t, std::int32_t);
      LAYER(14, 256, bench_conv_u8s8_256, std::uint8_t, std::int8_t, std::int32_t);
      LAYER(7, 512, bench_conv_u8s8_512, std::uint8_t, std::int8_t, std::int32_t);
    }
  }
  if (wanted("matmul_bf16", "conv3x3_bf16", __builtin_cpu_supports("avx512bf16"), "avx512bf16")) {
    const Narrow kind = Narrow::bf16;
    const double top = peak(kind);
    report.note(fmt::format("vdpbf16ps on 24 accumulators: {:.0f} GFLOP/s", top));
    if (report.wants("matmul_bf16")) PRODUCT(bench_bf16, std::uint16_t, std::uint16_t, float);
    if (report.wants("conv3x3_bf16")) {
      LAYER(56, 64, bench_conv_bf16_64, std::uint16_t, std::uint16_t, float);
      LAYER(28, 128, bench_conv_bf16_128, std::uint16_t, std::uint16_t, float);
      LAYER(14, 256, bench_conv_bf16_256, std::uint16_t, std::uint16_t, float);
      LAYER(7, 512, bench_conv_bf16_512, std::uint16_t, std::uint16_t, float);
    }
  }
}

}  // namespace bench
