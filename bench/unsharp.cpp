// Unsharp masking of 3x1536x2560 floats beside the same stages as plain loops.
#include <fmt/core.h>
#include <bench_unsharp.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/support/tensor.h"
#include "apps/unsharp/plain.h"
#include "bench/arrays.h"
#include "bench/peers/memory.h"
#include "bench/suites.h"
#include "bench/workspace.h"

namespace bench {

void unsharp_suite(Report& report, const Machine& machine) {
  if (!report.wants("unsharp")) return;
  constexpr std::int64_t C = 3, H = 1536, W = 2560;
  const Array<float> in = random_array<float>(C * H * W, 0, 1);
  Array<float> plain_out(in.size()), halide_out(in.size());
  unsharp::Plain plain(C, H, W);
  const std::string shape = "3x1536x2560";
  const double plain_traffic =
      10.0 * static_cast<double>(H * W) * sizeof(float);  // five stages: each written once, read at least once
  const double floor = 2.0 * static_cast<double>(in.size()) * sizeof(float);  // every pixel read once and written once
  Array<float> out(in.size());
  apps::Tensor tin(in.data(), {C, H, W}), tout(out.data(), {C, H, W});
  for (int k = 0; k < (machine.threads > 1 ? 2 : 1); ++k) {
    const int threads = k == 0 ? 1 : machine.threads;
    if (ashlar_set_threads(threads) != ASHLAR_OK) throw std::runtime_error("the pool refuses this number of threads");
    const bench_unsharp_args args{.in = in.data(),
                                  .out = out.data(),
                                  .H = H,
                                  .W = W,
                                  .in_stride0 = H * W,
                                  .in_stride1 = W,
                                  .out_stride0 = H * W,
                                  .out_stride1 = W};
    Workspace workspace;
    const std::size_t bytes = bench_unsharp_workspace_bytes(&args, &workspace.context);
    workspace.reserve(bytes);
    std::vector<Contender> contenders = {
        {"ashlar", [&] { apps::check(bench_unsharp_with(tin, tout, &workspace.context), &workspace.error); }}};
    if (threads == 1) contenders.push_back({"plain loops", [&] { plain.run(in.data(), plain_out.data()); }});
    halide_threads(threads);
    const Prepared halide = halide_unsharp(in.data(), halide_out.data(), H, W);
    if (halide.run) contenders.push_back({"halide", halide.run});
    report.race({"unsharp", shape, threads, floor, "GB/s", machine.copy[k]}, contenders);
    double largest = 0;
    for (std::size_t e = 0; e < out.size(); ++e) {
      const double d = std::abs(static_cast<double>(out[e]) - plain_out[e]);
      if (!(d <= largest)) largest = d;  // NaN too
    }
    for (std::size_t e = 0; halide.run && e < out.size(); ++e)
      if (!(std::abs(static_cast<double>(halide_out[e]) - plain_out[e]) <= 1e-4))
        throw std::runtime_error("unsharp: Halide's pipeline and the plain loops differ");
    if (!(largest <= 1e-5))
      throw std::runtime_error("unsharp: the kernel and the plain loops differ by " + std::to_string(largest));
    const Record *ours = report.find("unsharp", shape, 1, "ashlar"), *theirs = report.find("unsharp", shape, 1, "plain loops");
    if (threads == 1) {
      report.note(fmt::format("{:.2f} times as fast as the plain loops; largest difference {:.1e}",
                              theirs->median_ns / ours->median_ns, largest));
      report.note(fmt::format(
          "bytes: floor {:.1f} MB (each pixel read once, written once), {:.2f} MB of intermediates in the caches; the plain "
          "loops write and read {:.1f} MB of intermediates",
          floor / 1e6, static_cast<double>(bytes) / 1e6, plain_traffic / 1e6));
    }
  }
}

}  // namespace bench
