// Rows, single elements, one large sum, a transposition: kernels that move data more than they compute, beside oneDNN, Eigen,
// OpenBLAS and Halide.
#include <bench_gelu.h>
#include <bench_gelu_fast.h>
#include <bench_layer_norm.h>
#include <bench_softmax.h>
#include <bench_softmax_fast.h>
#include <bench_sum.h>
#include <bench_transpose.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
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

// f(threads, which of the machine's figures), on one thread and on as many as are asked for.
template <class F>
void on_threads(const Machine& machine, F f) {
  for (int k = 0; k < (machine.threads > 1 ? 2 : 1); ++k) {
    const int threads = k == 0 ? 1 : machine.threads;
    onednn_threads(threads), openblas_threads(threads), halide_threads(threads);
    if (ashlar_set_threads(threads) != ASHLAR_OK) throw std::runtime_error("the pool refuses this number of threads");
    f(threads, machine.copy[k]);
  }
}

// A call of one kernel on memory of its own from call to call.
template <class With, class... Tensors>
std::function<void()> kernel(With with, Workspace& workspace, Tensors&... tensors) {
  return [with, &workspace, &tensors...] { apps::check(with(tensors..., &workspace.context), &workspace.error); };
}

void softmax(Report& report, const Machine& machine, std::int64_t rows, std::int64_t columns) {
  const Array<float> x = random_array<float>(rows * columns, -4, 4);
  std::vector<double> exact(x.size());
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto row = static_cast<std::size_t>(r * columns), end = row + static_cast<std::size_t>(columns);
    double total = 0;
    for (std::size_t e = row; e < end; ++e) total += exact[e] = std::exp(static_cast<double>(x[e]));
    for (std::size_t e = row; e < end; ++e) exact[e] /= total;
  }
  on_threads(machine, [&](int threads, double copy) {
    Sides<float> sides(rows * columns);
    Workspace workspace;
    workspace.reserve(std::size_t{1} << 20);
    apps::Tensor from(x.data(), {rows, columns}), y(sides.result(), {rows, columns});
    sides.add("ashlar", kernel(bench_softmax_with, workspace, from, y));
    sides.add("ashlar, fast", kernel(bench_softmax_fast_with, workspace, from, y));
    for (const OnednnVersion& v : onednns()) sides.add(v.impl, v.library->softmax(x.data(), sides.result(), rows, columns));
    if (threads == 1) sides.add("eigen", eigen_softmax(x.data(), sides.result(), rows, columns));
    sides.add("halide", halide_softmax(x.data(), sides.result(), rows, columns));
    sides.race(report,
               {"softmax", fmt::format("{}x{}", rows, columns), threads, 8.0 * static_cast<double>(x.size()), "GB/s", copy},
               exact, 1e-5);
  });
}

void layer_norm(Report& report, const Machine& machine, std::int64_t rows, std::int64_t columns) {
  const Array<float> x = random_array<float>(rows * columns, -4, 4), scale = random_array<float>(columns, 0.5, 2, 5),
                     shift = random_array<float>(columns, -1, 1, 6);
  std::vector<double> exact(x.size());
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* row = x.data() + r * columns;
    double mean = 0, squares = 0;
    for (std::int64_t c = 0; c < columns; ++c) mean += row[c] / static_cast<double>(columns);
    for (std::int64_t c = 0; c < columns; ++c) squares += (row[c] - mean) * (row[c] - mean);
    const double by = 1 / std::sqrt(squares / static_cast<double>(columns) + 1e-5);
    for (std::int64_t c = 0; c < columns; ++c) {
      const auto at = static_cast<std::size_t>(c);
      exact[static_cast<std::size_t>(r * columns) + at] = (row[c] - mean) * by * scale[at] + shift[at];
    }
  }
  on_threads(machine, [&](int threads, double copy) {
    Sides<float> sides(rows * columns);
    Workspace workspace;
    workspace.reserve(std::size_t{1} << 20);
    apps::Tensor from(x.data(), {rows, columns}), a(scale.data(), {columns}), b(shift.data(), {columns}),
        y(sides.result(), {rows, columns});
    sides.add("ashlar", kernel(bench_layer_norm_with, workspace, from, a, b, y));
    for (const OnednnVersion& v : onednns())
      sides.add(v.impl, v.library->layer_norm(x.data(), scale.data(), shift.data(), sides.result(), rows, columns, 1e-5f));
    if (threads == 1)
      sides.add("eigen", eigen_layer_norm(x.data(), scale.data(), shift.data(), sides.result(), rows, columns, 1e-5f));
    sides.add("halide", halide_layer_norm(x.data(), scale.data(), shift.data(), sides.result(), rows, columns));
    sides.race(report,
               {"layer_norm", fmt::format("{}x{}", rows, columns), threads, 8.0 * static_cast<double>(x.size()), "GB/s", copy},
               exact, 1e-5);
  });
}

void gelu(Report& report, const Machine& machine, std::int64_t n) {
  const Array<float> x = random_array<float>(n, -4, 4);
  std::vector<double> exact;
  for (const float v : x) exact.push_back(0.5 * v * (1 + std::erf(v / std::sqrt(2.0))));
  on_threads(machine, [&](int threads, double copy) {
    Sides<float> sides(n);
    Workspace workspace;
    apps::Tensor from(x.data(), {n}), y(sides.result(), {n});
    sides.add("ashlar", kernel(bench_gelu_with, workspace, from, y));
    sides.add("ashlar, fast", kernel(bench_gelu_fast_with, workspace, from, y));
    for (const OnednnVersion& v : onednns()) sides.add(v.impl, v.library->gelu(x.data(), sides.result(), n));
    sides.add("halide", halide_gelu(x.data(), sides.result(), n));
    sides.race(report, {"gelu", std::to_string(n), threads, 8.0 * static_cast<double>(n), "GB/s", copy}, exact, 1e-5);
  });
}

void sum(Report& report, const Machine& machine, std::int64_t n) {
  const Array<float> x = random_array<float>(n, 0, 1);
  double exact = 0;
  for (const float v : x) exact += v;
  on_threads(machine, [&](int threads, double copy) {
    Sides<float> sides(1);
    Workspace workspace;
    workspace.reserve(std::size_t{1} << 20);
    apps::Tensor from(x.data(), {n}), y(sides.result(), {});
    sides.add("ashlar", kernel(bench_sum_with, workspace, from, y));
    for (const OnednnVersion& v : onednns()) sides.add(v.impl, v.library->sum(x.data(), sides.result(), n));
    if (threads == 1) sides.add("eigen", eigen_sum(x.data(), sides.result(), n));
    sides.add("halide", halide_sum(x.data(), sides.result(), n));
    sides.race(report, {"sum", std::to_string(n), threads, 4.0 * static_cast<double>(n), "GB/s", copy}, {exact}, 1e-4);
  });
}

void transpose(Report& report, const Machine& machine, std::int64_t n) {
  const Array<float> x = random_array<float>(n * n, -1, 1);
  std::vector<double> exact(x.size());
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) exact[static_cast<std::size_t>(i * n + j)] = x[static_cast<std::size_t>(j * n + i)];
  on_threads(machine, [&](int threads, double copy) {
    Sides<float> sides(n * n);
    Workspace workspace;
    workspace.reserve(std::size_t{1} << 20);
    apps::Tensor from(x.data(), {n, n}), y(sides.result(), {n, n});
    sides.add("ashlar", kernel(bench_transpose_with, workspace, from, y));
    for (const OnednnVersion& v : onednns()) sides.add(v.impl, v.library->transpose(x.data(), sides.result(), n, n));
    if (threads == 1) {
      sides.add("eigen", eigen_transpose(x.data(), sides.result(), n, n));
      sides.add("openblas", openblas_transpose(x.data(), sides.result(), n, n));
    }
    sides.add("halide", halide_transpose(x.data(), sides.result(), n, n));
    sides.race(report, {"transpose", fmt::format("{}x{}", n, n), threads, 8.0 * static_cast<double>(n * n), "GB/s", copy},
               exact, 0);
  });
}

}  // namespace

void memory_suite(Report& report, const Machine& machine) {
  bool any = false;
  const auto wants = [&](const char* kernel) {
    if (!report.wants(kernel)) return false;
    if (const std::string missing = halide_missing(); !any && !missing.empty()) report.note(missing);
    any = true;
    return true;
  };
  if (wants("softmax")) softmax(report, machine, 1024, 1024), softmax(report, machine, 4096, 256);
  if (wants("layer_norm")) layer_norm(report, machine, 1024, 768);
  if (wants("gelu")) gelu(report, machine, 1 << 20);
  if (wants("sum")) sum(report, machine, 1 << 24);
  if (wants("transpose")) transpose(report, machine, 2048);
}

}  // namespace bench
