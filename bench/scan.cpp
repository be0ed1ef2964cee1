// Running sums of 2^24 floats, as they are defined and in blocks, beside a plain loop.
#include <bench_scan.h>
#include <bench_scan_blocks.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/support/tensor.h"
#include "bench/suites.h"
#include "bench/workspace.h"

namespace bench {
namespace {

void plain_sums(const std::vector<float>& in, std::vector<float>& out) {
  float sum = 0;
  for (std::size_t n = 0; n < in.size(); ++n) out[n] = sum += in[n];
}

}  // namespace

void scan_suite(Report& report, const Machine& machine) {
  if (!report.wants("scan")) return;
  constexpr std::int64_t N = std::int64_t{1} << 24;
  std::mt19937 engine(5);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);  // sums that stay small: every order of adding is near the others
  std::vector<float> in(N), out(N), blocks(N), plain(N);
  for (float& v : in) v = uniform(engine);
  apps::Tensor tin(in.data(), {N}), tout(out.data(), {N}), tblocks(blocks.data(), {N});
  const double floor = 2.0 * N * sizeof(float);  // every element read once and written once
  for (int k = 0; k < (machine.threads > 1 ? 2 : 1); ++k) {
    const int threads = k == 0 ? 1 : machine.threads;
    if (ashlar_set_threads(threads) != ASHLAR_OK) throw std::runtime_error("the pool refuses this number of threads");
    Workspace workspace;
    const bench_scan_blocks_args args{.x = in.data(), .y = blocks.data(), .N = N};
    workspace.reserve(bench_scan_blocks_workspace_bytes(&args, &workspace.context));
    std::vector<Contender> contenders = {
        {"ashlar, in blocks",
         [&] { apps::check(bench_scan_blocks_with(tin, tblocks, &workspace.context), &workspace.error); }}};
    if (threads == 1) {
      contenders.push_back({"ashlar, as defined", [&] { apps::check(bench_scan(tin, tout)); }});
      contenders.push_back({"plain loop", [&] { plain_sums(in, plain); }});
    }
    report.race({"scan", "16777216", threads, floor, "GB/s", machine.copy[k]}, contenders);
    if (out != plain) throw std::runtime_error("scan: the sums in the order of the definition differ from the plain loop's");
    double exact = 0, largest = 0, reach = 0;
    for (std::size_t n = 0; n < in.size(); ++n) {
      exact += in[n];
      reach = std::max(reach, std::abs(exact));
      for (const float v : {out[n], blocks[n]}) {
        const double d = std::abs(v - exact);
        if (!(d <= largest)) largest = d;  // NaN too
      }
    }
    // rounding errors of half a unit of the largest sum, as they add up in a random walk, with room for a factor of 8
    if (!(largest <= 8 * std::sqrt(static_cast<double>(N)) * 0x1p-25 * reach))
      throw std::runtime_error("scan: a running sum is off by " + std::to_string(largest));
    if (threads == 1) report.note(fmt::format("largest difference from sums in double precision {:.1e}", largest));
  }
}

}  // namespace bench
