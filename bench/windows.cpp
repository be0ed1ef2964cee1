// Depthwise convolutions and a box blur beside oneDNN and Halide.
#include <bench_box_blur.h>
#include <bench_depthwise_144.h>
#include <bench_depthwise_32.h>
#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "apps/support/tensor.h"
#include "bench/memory_race.h"
#include "bench/peers/onednn_library.h"
#include "bench/peers/peers.h"
#include "bench/suites.h"
#include "bench/workspace.h"

namespace bench {
namespace {

// A picture of channels, rows of pixels, one after the other, as [size, size, channels]; weights [3, 3, channels].
template <class With>
void depthwise(Report& report, const Machine& machine, std::int64_t channels, std::int64_t size, With with) {
  const std::int64_t n = channels * size * size;
  const Array<float> x = random_array<float>(n, -1, 1), w = random_array<float>(9 * channels, -1, 1, 5);
  Array<float> by_channel(w.size());  // oneDNN's order
  for (std::int64_t t = 0; t < 9; ++t)
    for (std::int64_t c = 0; c < channels; ++c)
      by_channel[static_cast<std::size_t>(c * 9 + t)] = w[static_cast<std::size_t>(t * channels + c)];
  std::vector<double> exact(x.size(), 0);
  for (std::int64_t i = 0; i < size; ++i)
    for (std::int64_t j = 0; j < size; ++j)
      for (std::int64_t r = 0; r < 3; ++r)
        for (std::int64_t q = 0; q < 3; ++q) {
          const std::int64_t a = i + r - 1, b = j + q - 1;
          if (a < 0 || b < 0 || a >= size || b >= size) continue;
          for (std::int64_t c = 0; c < channels; ++c)
            exact[static_cast<std::size_t>((i * size + j) * channels + c)] +=
                static_cast<double>(x[static_cast<std::size_t>((a * size + b) * channels + c)]) *
                w[static_cast<std::size_t>((r * 3 + q) * channels + c)];
        }
  for (int k = 0; k < (machine.threads > 1 ? 2 : 1); ++k) {
    const int threads = k == 0 ? 1 : machine.threads;
    onednn_threads(threads), halide_threads(threads);
    if (ashlar_set_threads(threads) != ASHLAR_OK) throw std::runtime_error("the pool refuses this number of threads");
    Sides<float> sides(n);
    Workspace workspace;
    apps::Tensor from(x.data(), {1, size, size, channels}), taps(w.data(), {3, 3, channels, 1}),
        y(sides.result(), {1, size, size, channels});
    sides.add("ashlar", [&] { apps::check(with(from, taps, y, &workspace.context), &workspace.error); });
    for (const OnednnVersion& v : onednns())
      sides.add(v.impl, v.library->depthwise(x.data(), by_channel.data(), sides.result(), channels, size, size));
    sides.add("halide", halide_depthwise(x.data(), w.data(), sides.result(), channels, size, size));
    sides.race(report,
               {"depthwise", fmt::format("{}x{}x{}", channels, size, size), threads, 8.0 * static_cast<double>(n), "GB/s",
                machine.copy[k]},
               exact, 1e-5);
  }
}

void box_blur(Report& report, const Machine& machine, std::int64_t width, std::int64_t height) {
  const std::int64_t columns = width - 8, rows = height - 2;
  const Array<std::uint16_t> x = random_array<std::uint16_t>(width * height, 0, 16384);
  Array<std::uint16_t> across(x.size());
  for (std::int64_t i = 0; i < height; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      const auto at = static_cast<std::size_t>(i * width + j);
      across[at] = static_cast<std::uint16_t>((x[at] + x[at + 1] + x[at + 2]) / 3);
    }
  std::vector<double> exact(static_cast<std::size_t>(rows * columns));
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      const auto at = static_cast<std::size_t>(i * width + j), row = static_cast<std::size_t>(width);
      exact[static_cast<std::size_t>(i * columns + j)] = (across[at] + across[at + row] + across[at + 2 * row]) / 3;
    }
  for (int k = 0; k < (machine.threads > 1 ? 2 : 1); ++k) {
    const int threads = k == 0 ? 1 : machine.threads;
    halide_threads(threads);
    if (ashlar_set_threads(threads) != ASHLAR_OK) throw std::runtime_error("the pool refuses this number of threads");
    Sides<std::uint16_t> sides(rows * columns);
    Workspace workspace;
    const bench_box_blur_args arguments{
        .x = x.data(), .y = sides.result(), .H = height, .W = width, .x_stride0 = width, .y_stride0 = columns};
    sides.add("ashlar", [&] { apps::check(bench_box_blur_run(&arguments, &workspace.context), &workspace.error); });
    sides.add("halide", halide_box_blur(x.data(), sides.result(), height, width));
    sides.race(report,
               {"box_blur", fmt::format("{}x{} u16", width, height), threads,
                2.0 * static_cast<double>(width * height + rows * columns), "GB/s", machine.copy[k]},
               exact, 0);
  }
}

}  // namespace

void windows_suite(Report& report, const Machine& machine) {
  if (report.wants("depthwise")) {
    depthwise(report, machine, 144, 56, bench_depthwise_144_with);
    depthwise(report, machine, 32, 112, bench_depthwise_32_with);
  }
  if (report.wants("box_blur")) box_blur(report, machine, 6408, 4802);
}

}  // namespace bench
