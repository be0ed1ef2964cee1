// bf16 and f16 as they are stored, computed in f32: a product and the 3 x 3 layers of ResNet-50. The libraries have nothing for
// such elements where there are no instructions that multiply them, so they get the f32 that a pass of conversions makes, which
// is timed with them; weights of layers are converted beforehand.
#include <bench_conv_bf16_stored_128.h>
#include <bench_conv_bf16_stored_256.h>
#include <bench_conv_bf16_stored_512.h>
#include <bench_conv_bf16_stored_64.h>
#include <bench_conv_f16_stored_128.h>
#include <bench_conv_f16_stored_256.h>
#include <bench_conv_f16_stored_512.h>
#include <bench_conv_f16_stored_64.h>
#include <bench_stored_bf16.h>
#include <bench_stored_f16.h>

#include "bench/narrow.h"
#include "bench/peers/onednn_library.h"
#include "bench/peers/convert.h"
#include "bench/peers/peers.h"

namespace bench {
namespace {

// Between 1/128 and 1, of either sign.
std::uint32_t small_bf16(std::uint32_t drawn) { return (drawn & 0x807f) | ((120 + (drawn >> 16) % 7) << 7); }
std::uint32_t small_f16(std::uint32_t drawn) { return (drawn & 0x83ff) | ((8 + (drawn >> 16) % 7) << 10); }

struct Storage {
  const char* name;
  std::uint32_t (*draw)(std::uint32_t);
  void (*convert)(const std::uint16_t* from, float* to, std::int64_t n);

  std::vector<std::uint16_t> values(std::int64_t n, unsigned seed) const { return drawn<std::uint16_t>(n, seed, draw); }
  std::vector<float> floats(const std::vector<std::uint16_t>& from) const {
    std::vector<float> to(from.size());
    convert(from.data(), to.data(), static_cast<std::int64_t>(from.size()));
    return to;
  }
};
constexpr Storage bf16{"bf16", small_bf16, convert_bf16}, f16{"f16", small_f16, convert_f16};

template <class Args, class Bytes, class Run>
void product(Report& report, const Machine& machine, const Storage& stored, Bytes&& bytes, Run&& run, const Args&) {
  constexpr std::int64_t N = 1024;
  const std::string kernel = fmt::format("matmul_stored_{}", stored.name);
  const auto A = stored.values(N * N, 1), B = stored.values(N * N, 2);
  std::vector<float> C(A.size()), D(C), a(A.size()), b(A.size());
  const Args args{
      .A = A.data(), .B = B.data(), .C = C.data(), .M = N, .K = N, .N = N, .A_stride0 = N, .B_stride0 = N, .C_stride0 = N};
  const auto converted = [&](std::function<void()> multiply) {
    return [&, multiply = std::move(multiply)] {
      stored.convert(A.data(), a.data(), N * N), stored.convert(B.data(), b.data(), N * N);
      multiply();
    };
  };
  race_narrow(
      report, machine, kernel.c_str(), "1024x1024x1024", 2.0 * N * N * N, machine.fma[0], args, bytes, run,
      [&](int threads) {
        onednn_threads(threads), openblas_threads(threads), eigen_threads(threads);
        std::vector<NarrowPeer> peers{
            {"openblas, converted", converted([&] { openblas_matmul(a.data(), b.data(), D.data(), N, N, N); }), ""},
            {"eigen, converted", converted([&] { eigen_matmul(a.data(), b.data(), D.data(), N, N, N); }), ""}};
        for (const OnednnVersion& v : onednns()) {
          const Prepared p = v.library->matmul(a.data(), b.data(), D.data(), N, N, N);
          peers.push_back({v.impl + ", converted", converted(p.run), p.about});
        }
        return peers;
      },
      [&](const std::string& peer) { compare(kernel, peer, C, D, 1e-3); });
}

template <class Args, class Bytes, class Run>
void layer(Report& report, const Machine& machine, const Storage& stored, std::int64_t size, std::int64_t channels,
           Bytes&& bytes, Run&& run, const Args&) {
  const std::int64_t block = block_of_stored(channels), pixels = size * size;
  const std::string kernel = fmt::format("conv3x3_stored_{}", stored.name);
  const auto at = [](std::int64_t k) { return static_cast<std::size_t>(k); };
  const auto X = stored.values(pixels * channels, 3), K = stored.values(channels * channels * 9, 4);  // hwc, oihw
  const std::vector<std::uint16_t> packed = packed_weights(K.data(), channels, block, 1);
  const std::vector<float> x = stored.floats(X), w = stored.floats(K);
  std::vector<float> planes(x.size()), Y(x.size(), NAN), Z(Y), rows(Y), scratch(Y);
  for (std::int64_t p = 0; p < pixels; ++p)
    for (std::int64_t c = 0; c < channels; ++c) planes[at(c * pixels + p)] = x[at(p * channels + c)];
  const auto args = convolution_args<Args>(X, packed, Y, size, channels, block);
  std::vector<PreparedConvolution> convolutions;
  race_narrow(
      report, machine, kernel.c_str(), fmt::format("{}x{}x{}", size, size, channels),
      18.0 * static_cast<double>(pixels * channels * channels), machine.fma[0], args, bytes, run,
      [&](int threads) {
        onednn_threads(threads);
        std::vector<NarrowPeer> peers;
        for (const OnednnVersion& v : onednns()) {
          const PreparedConvolution p =
              v.library->convolution({channels, channels, size, 3, 1}, planes.data(), w.data(), Z.data());
          p.call.run(), p.take_result();
          peers.push_back({v.impl + ", converted",
                           [&, p] {
                             stored.convert(X.data(), scratch.data(), pixels * channels);
                             p.call.run();
                           },
                           p.call.about});
        }
        return peers;
      },
      [&](const std::string& peer) {
        for (std::int64_t c = 0; c < channels; ++c)
          for (std::int64_t p = 0; p < pixels; ++p) rows[at(p * channels + c)] = Z[at(c * pixels + p)];
        compare(kernel, peer, Y, rows, 1e-2);
      });
}

#define PRODUCT(stored, name) product(report, machine, stored, name##_workspace_bytes, name##_run, name##_args{})
#define LAYER(stored, size, channels, name) \
  layer(report, machine, stored, size, channels, name##_workspace_bytes, name##_run, name##_args{})

}  // namespace

void stored_suite(Report& report, const Machine& machine) {
  if (report.wants("matmul_stored_bf16")) PRODUCT(bf16, bench_stored_bf16);
  if (report.wants("matmul_stored_f16")) PRODUCT(f16, bench_stored_f16);
  if (report.wants("conv3x3_stored_bf16")) {
    LAYER(bf16, 56, 64, bench_conv_bf16_stored_64);
    LAYER(bf16, 28, 128, bench_conv_bf16_stored_128);
    LAYER(bf16, 14, 256, bench_conv_bf16_stored_256);
    LAYER(bf16, 7, 512, bench_conv_bf16_stored_512);
  }
  if (report.wants("conv3x3_stored_f16")) {
    LAYER(f16, 56, 64, bench_conv_f16_stored_64);
    LAYER(f16, 28, 128, bench_conv_f16_stored_128);
    LAYER(f16, 14, 256, bench_conv_f16_stored_256);
    LAYER(f16, 7, 512, bench_conv_f16_stored_512);
  }
}

}  // namespace bench
