// Products and the 3 x 3 layers of ResNet-50 in u8 by i8 and, where there is an instruction for it, in bf16, beside oneDNN.
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

#include <ashlar/target/target.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/isa.h"
#include "bench/narrow.h"
#include "bench/peers/onednn_library.h"
#include "bench/suites.h"

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
// Of vpmaddwd and vpaddd of 256 bits, on 12 accumulators.
#define SOME(row) \
  row("4") row("5") row("6") row("7") row("8") row("9") row("10") row("11") row("12") row("13") row("14") row("15")
#define ZERO(k) "vpxor %%ymm" k ", %%ymm" k ", %%ymm" k "\n\t"
#define PAIRS(k) "vpmaddwd %%ymm0, %%ymm1, %%ymm2\n\tvpaddd %%ymm2, %%ymm" k ", %%ymm" k "\n\t"
double pairs_peak() {
  constexpr std::int64_t rounds = 1'000'000;
  double least = 1e30;
  for (int t = 0; t < 7; ++t) {
    std::int64_t left = rounds;
    const double begin = processor_time();
    asm volatile(ZERO("0") ZERO("1") SOME(ZERO) "1:\n\t" SOME(PAIRS) "dec %0\n\tjnz 1b\n\tvzeroupper" : "+r"(left) : : TOUCHED);
    least = std::min(least, processor_time() - begin);
  }
  return static_cast<double>(rounds) * 12 * 32 / least / 1e9;
}
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

bool native() { return isa() == std::string_view("native"); }

// Bytes of a picture: below 128 where the peer adds two products in 16 bits, which would be cut off (oneDNN before VNNI says
// so). Ours takes all of them.
std::uint32_t byte_of_a_picture(std::uint32_t drawn) { return native() ? drawn : drawn & 0x7f; }
std::uint32_t byte(std::uint32_t drawn) { return drawn; }
std::uint32_t between_128th_and_1(std::uint32_t drawn) { return (drawn & 0x807f) | ((120 + (drawn >> 16) % 7) << 7); }  // bf16
template <class T>
constexpr auto values_of = sizeof(T) == 2          ? between_128th_and_1
                           : std::is_unsigned_v<T> ? byte_of_a_picture
                                                   : byte;

// What each version of oneDNN has prepared.
template <class Prepare>
std::vector<NarrowPeer> peers_of(int threads, Prepare prepare) {
  onednn_threads(threads);
  std::vector<NarrowPeer> peers;
  for (const OnednnVersion& v : onednns()) {
    Prepared p = prepare(*v.library);
    peers.push_back({v.impl, std::move(p.run), std::move(p.about)});
  }
  return peers;
}

template <class Left, class Right, class Result, class Args, class Bytes, class Run>
void product(Report& report, const Machine& machine, Narrow n, double top, Bytes&& bytes, Run&& run, const Args&) {
  constexpr std::int64_t N = 1024;
  const char* kernel = n == Narrow::u8s8 ? "matmul_u8s8" : "matmul_bf16";
  const std::vector<Left> A = drawn<Left>(N * N, 1, values_of<Left>);
  const std::vector<Right> B = drawn<Right>(N * N, 2, values_of<Right>);
  std::vector<Result> C(static_cast<std::size_t>(N * N)), D(C);
  const Args args{
      .A = A.data(), .B = B.data(), .C = C.data(), .M = N, .K = N, .N = N, .A_stride0 = N, .B_stride0 = N, .C_stride0 = N};
  race_narrow(
      report, machine, kernel, "1024x1024x1024", 2.0 * N * N * N, top, args, bytes, run,
      [&](int threads) {
        auto peers =
            peers_of(threads, [&](const Onednn& o) { return o.narrow_product(n, A.data(), B.data(), D.data(), N, N, N); });
        if constexpr (std::is_same_v<Left, std::uint8_t>)
          if (!native()) peers.push_back(pairs_product(A.data(), B.data(), D.data(), N));
        return peers;
      },
      [&](const std::string& peer) { compare(kernel, peer, C, D, n == Narrow::u8s8 ? 0 : 1e-3); });
}

template <class Left, class Right, class Result, class Args, class Bytes, class Run>
void layer(Report& report, const Machine& machine, Narrow n, double top, std::int64_t size, std::int64_t channels,
           Bytes&& bytes, Run&& run, const Args&) {
  // Of bf16, two registers of AVX-512.
  const std::int64_t block = n == Narrow::u8s8 ? block_of_bytes(channels) : 32, step = n == Narrow::u8s8 && native() ? 4 : 2;
  const char* kernel = n == Narrow::u8s8 ? "conv3x3_u8s8" : "conv3x3_bf16";
  const std::string shape = fmt::format("{}x{}x{}", size, size, channels);
  const std::vector<Left> X = drawn<Left>(size * size * channels, 3, values_of<Left>);
  const std::vector<Right> K = drawn<Right>(channels * channels * 9, 4, values_of<Right>);  // oihw
  const std::vector<Right> packed = packed_weights(K.data(), channels, block, step);
  std::vector<Result> Y(static_cast<std::size_t>(size * size * channels)), Z(Y);
  const auto args = convolution_args<Args>(X, packed, Y, size, channels, block);
  const double work = 18.0 * static_cast<double>(size * size * channels * channels);
  race_narrow(
      report, machine, kernel, shape, work, top, args, bytes, run,
      [&](int threads) {
        auto peers = peers_of(
            threads, [&](const Onednn& o) { return o.narrow_convolution(n, X.data(), K.data(), Z.data(), size, channels); });
        if constexpr (std::is_same_v<Left, std::uint8_t>)
          if (!native()) peers.push_back(pairs_convolution(X.data(), K.data(), Z.data(), size, channels));
        return peers;
      },
      [&](const std::string& peer) { compare(kernel, peer, Y, Z, n == Narrow::u8s8 ? 0 : 1e-2); });
}

#define PRODUCT(name, ...) product<__VA_ARGS__>(report, machine, kind, top, name##_workspace_bytes, name##_run, name##_args{})
#define LAYER(size, channels, name, ...) \
  layer<__VA_ARGS__>(report, machine, kind, top, size, channels, name##_workspace_bytes, name##_run, name##_args{})

struct Registers {
  std::int64_t channels, registers;
};
constexpr Registers of_bytes[] = {BENCH_REGISTERS_OF_BYTES}, of_stored[] = {BENCH_REGISTERS_OF_STORED};

std::int64_t block_of(std::span<const Registers> layers, std::int64_t channels, std::int64_t lanes) {
  for (const Registers& layer : layers)
    if (layer.channels == channels) return layer.registers * lanes;
  throw std::runtime_error("no layer of " + std::to_string(channels) + " channels was compiled");
}

}  // namespace

std::int64_t block_of_bytes(std::int64_t channels) { return block_of(of_bytes, channels, native() ? 16 : 8); }
std::int64_t block_of_stored(std::int64_t channels) {
  return block_of(of_stored, channels, ashlar::Target::parse(target_name()).lanes(ashlar::f32));
}

void narrow_suite(Report& report, const Machine& machine) {
  const auto wanted = [&](const char* product, const char* layers, bool can, const char* feature) {
    const bool any = report.wants(product) || report.wants(layers);
    if (any && !can) report.note(fmt::format("skipped: {} and {}, no {} here", product, layers, feature));
    return any && can;
  };
  if (wanted("matmul_u8s8", "conv3x3_u8s8", !native() || __builtin_cpu_supports("avx512vnni"), "avx512vnni")) {
    const Narrow kind = Narrow::u8s8;
    const double top = native() ? peak(kind) : pairs_peak();
    report.note(native() ? fmt::format("vpdpbusd on 24 accumulators: {:.0f} GOP/s", top)
                         : fmt::format("vpmaddwd and vpaddd on 12 accumulators: {:.0f} GOP/s", top));
    if (report.wants("matmul_u8s8")) PRODUCT(bench_u8s8, std::uint8_t, std::int8_t, std::int32_t);
    if (report.wants("conv3x3_u8s8")) {
      LAYER(56, 64, bench_conv_u8s8_64, std::uint8_t, std::int8_t, std::int32_t);
      LAYER(28, 128, bench_conv_u8s8_128, std::uint8_t, std::int8_t, std::int32_t);
      LAYER(14, 256, bench_conv_u8s8_256, std::uint8_t, std::int8_t, std::int32_t);
      LAYER(7, 512, bench_conv_u8s8_512, std::uint8_t, std::int8_t, std::int32_t);
    }
  }
  if (wanted("matmul_bf16", "conv3x3_bf16", native() && __builtin_cpu_supports("avx512bf16"), "avx512bf16")) {
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
