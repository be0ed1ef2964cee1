// Layers of ResNet-50 in f32, one picture: the 3 x 3 ones, a 1 x 1, the 7 x 7 at the beginning, beside oneDNN in the layouts
// that it chooses.
#include <bench_conv_f32_128.h>
#include <bench_conv_f32_1x1.h>
#include <bench_conv_f32_256.h>
#include <bench_conv_f32_512.h>
#include <bench_conv_f32_64.h>
#include <bench_conv_f32_stem.h>
#include <fmt/core.h>

#include <ashlar/target/target.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/support/tensor.h"
#include "bench/peers/onednn_library.h"
#include "bench/arrays.h"
#include "bench/isa.h"
#include "bench/suites.h"
#include "bench/workspace.h"

namespace bench {
namespace {

// The picture, weights and result as PyTorch has them, and in blocks of channels.
struct Layer {
  ConvolutionShape shape;
  std::int64_t out, in_block, block = 2 * ashlar::Target::parse(target_name()).lanes(ashlar::f32);
  Array<float> x, w, y;  // nchw, oihw, nchw
  Array<float> x_blocks, w_blocks, y_blocks;

  explicit Layer(const ConvolutionShape& s)
      : shape(s), out((s.size - 1) / s.stride + 1), in_block(std::min<std::int64_t>(s.channels, 32)) {
    const std::int64_t pixels = s.size * s.size, taps = s.window * s.window;
    x = random_array<float>(s.channels * pixels, -1, 1, 3), w = random_array<float>(s.outputs * s.channels * taps, -1, 1, 4);
    x_blocks.resize(x.size()), w_blocks.resize(w.size());
    y.resize(static_cast<std::size_t>(s.outputs * out * out), NAN), y_blocks = y;
    for (std::int64_t c = 0; c < s.channels; ++c)
      for (std::int64_t p = 0; p < pixels; ++p)
        x_blocks[at((c / in_block * pixels + p) * in_block + c % in_block)] = x[at(c * pixels + p)];
    for (std::int64_t o = 0; o < s.outputs; ++o)
      for (std::int64_t c = 0; c < s.channels; ++c)
        for (std::int64_t t = 0; t < taps; ++t)
          w_blocks[at((((o / block * (s.channels / in_block) + c / in_block) * taps + t) * in_block + c % in_block) * block +
                      o % block)] = w[at((o * s.channels + c) * taps + t)];
  }
  static std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }

  // Ours and what a peer took to y against sums in double precision at 1000 places, corners among them.
  void check(const std::string& peer) const {
    std::mt19937_64 engine(5);
    const auto draw = [&](std::int64_t n) { return static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(n)); };
    for (int p = 0; p < 1000; ++p) {
      const std::int64_t o = draw(shape.outputs), i = p < 100 ? p % 2 * (out - 1) : draw(out), j = p < 50 ? 0 : draw(out);
      double exact = 0, size = 0;
      for (std::int64_t c = 0; c < shape.channels; ++c)
        for (std::int64_t r = 0; r < shape.window; ++r)
          for (std::int64_t q = 0; q < shape.window; ++q) {
            const std::int64_t a = i * shape.stride + r - shape.window / 2, b = j * shape.stride + q - shape.window / 2;
            if (a < 0 || b < 0 || a >= shape.size || b >= shape.size) continue;
            const double term = static_cast<double>(x[at((c * shape.size + a) * shape.size + b)]) *
                                w[at(((o * shape.channels + c) * shape.window + r) * shape.window + q)];
            exact += term, size += std::abs(term);
          }
      const double ours = y_blocks[at(((o / block * out + i) * out + j) * block + o % block)],
                   theirs = y[at((o * out + i) * out + j)];
      for (const double found : {ours, theirs})
        if (!(std::abs(found - exact) <= 1e-6 * size + 1e-6))
          throw std::runtime_error(fmt::format("{} computes y({}, {}, {}) = {}, expected {}", found == ours ? "ashlar" : peer,
                                               o, i, j, found, exact));
    }
  }
};

template <class With>
void layer(Report& report, const Machine& machine, const char* kernel, const ConvolutionShape& shape, With with) {
  Layer l(shape);
  apps::Tensor x(l.x_blocks.data(), {1, shape.channels / l.in_block, shape.size, shape.size, l.in_block}),
      w(l.w_blocks.data(),
        {shape.outputs / l.block, shape.channels / l.in_block, shape.window, shape.window, l.in_block, l.block}),
      y(l.y_blocks.data(), {1, shape.outputs / l.block, l.out, l.out, l.block});
  const std::string name = fmt::format("{}x{}x{}>{}", shape.size, shape.size, shape.channels, shape.outputs);
  const double work = 2.0 * static_cast<double>(l.out * l.out * shape.outputs * shape.channels * shape.window * shape.window);
  for (int k = 0; k < (machine.threads > 1 ? 2 : 1); ++k) {
    const int threads = k == 0 ? 1 : machine.threads;
    onednn_threads(threads);
    if (ashlar_set_threads(threads) != ASHLAR_OK) throw std::runtime_error("the pool refuses this number of threads");
    Workspace workspace;
    workspace.reserve(std::size_t{64} << 20);
    const auto ours = [&] { apps::check(with(x, w, y, &workspace.context), &workspace.error); };
    std::vector<Contender> contenders{{"ashlar", ours}};
    ours();
    for (const OnednnVersion& v : onednns()) {
      const PreparedConvolution peer = v.library->convolution(shape, l.x.data(), l.w.data(), l.y.data());
      peer.call.run(), peer.take_result();
      l.check(v.impl);
      contenders.push_back({v.impl, peer.call.run});
      if (k == 0) report.note(fmt::format("{}: {}", v.impl, peer.call.about));
    }
    report.race({kernel, name, threads, work, "GFLOP/s", machine.fma[k]}, contenders);
  }
}

}  // namespace

void convolution_suite(Report& report, const Machine& machine) {
  if (report.wants("conv3x3_f32")) {
    layer(report, machine, "conv3x3_f32", {64, 64, 56, 3, 1}, bench_conv_f32_64_with);
    layer(report, machine, "conv3x3_f32", {128, 128, 28, 3, 1}, bench_conv_f32_128_with);
    layer(report, machine, "conv3x3_f32", {256, 256, 14, 3, 1}, bench_conv_f32_256_with);
    layer(report, machine, "conv3x3_f32", {512, 512, 7, 3, 1}, bench_conv_f32_512_with);
  }
  if (report.wants("conv1x1_f32")) layer(report, machine, "conv1x1_f32", {64, 256, 56, 1, 1}, bench_conv_f32_1x1_with);
  if (report.wants("conv7x7_f32")) layer(report, machine, "conv7x7_f32", {3, 64, 224, 7, 2}, bench_conv_f32_stem_with);
}

}  // namespace bench
