// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/schedules/gpu_rows.h>

#include <algorithm>

#include <ashlar/ir/build.h>
#include <ashlar/ir/program.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/schedules/gpu.h>
#include <ashlar/schedules/lanes.h>
#include <ashlar/schedules/rows.h>

#include "schedules/src/families/gpu.h"
#include "schedules/src/families/rows.h"

namespace ashlar::schedules {

namespace {

using namespace detail;

// Each thread reduces a part, and all of them get the whole; or, where sums may not be regrouped, each does all of it.
void reduce_over_threads(Schedule& s, const Stage& stage, int threads, Where where) {
  (void)s.attempt([&] {
    const Loop terms = fused(stage, stage.reduction_loops(where), where);
    const Loop each = stage.split(terms, threads, Tail::guard, where).inner;
    stage.cross_thread_reduce(each, where).bind(each, gpu::thread_x, where);
  });
}

void elements_over_threads(const Stage& stage, const std::vector<Loop>& elements, int threads, Where where) {
  const Split split = stage.split(fused(stage, elements, where), threads, Tail::guard, where);
  stage.bind(split.inner, gpu::thread_x, where);
}

}  // namespace

void gpu_rows(Schedule& s, const std::vector<Stage>& stages, const GpuRowsOptions& o, Where where) {
  detail::expect_device("gpu_rows", s, where);
  if (stages.empty()) refuse("gpu_rows", "at least one stage, the result as the last one", "none", where);
  detail::expect_option("gpu_rows", "dims", o.dims, -1, where);
  detail::expect_option("gpu_rows", "threads", o.threads, 0, where);
  detail::expect_option("gpu_rows", "rows", o.rows, 0, where);
  for (const Stage& stage : stages)
    detail::expect_own_points("gpu_rows", "reductions and stages that compute each element by itself",
                              detail::definition(s, stage), where);
  const Stage result = stages.back();
  const int dims = o.dims >= 0 ? o.dims : detail::rows_of(s, stages, where);
  const auto reduces = [&](const Stage& stage) { return detail::definition(s, stage).is_reduction(); };
  std::vector<Loop> outer = result.spatial_loops(where);
  if (dims > static_cast<int>(outer.size()))
    refuse("gpu_rows", "at most the " + std::to_string(outer.size()) + " dimensions of " + detail::definition(s, result).name,
           std::to_string(dims), where);
  // The loops over what a row has: the terms of a reduction, or the dimensions behind those that count rows.
  const auto along = [&](const Stage& stage) {
    std::vector<Loop> loops = reduces(stage) ? stage.reduction_loops(where) : stage.spatial_loops(where);
    if (!reduces(stage)) loops.erase(loops.begin(), loops.begin() + std::min<std::ptrdiff_t>(dims, std::ssize(loops)));
    return loops;
  };
  std::int64_t longest = 1;
  for (const Stage& stage : stages) {
    std::int64_t n = 1;
    for (const Loop& l : along(stage)) n = std::min<std::int64_t>(1024, n * detail::number_or(l.extent(where), 1024));
    longest = std::max(longest, n);
  }
  const int most = detail::threads_or(0, 256, s);
  const int threads = o.threads > 0 ? o.threads : std::clamp(detail::power_of_two_up_to(longest / 4), 32, most);
  const int rows = o.rows > 0 ? o.rows : std::max(1, most / threads);
  detail::expect_threads("gpu_rows", "threads", s, threads, where);
  detail::expect_threads("gpu_rows", "rows * threads", s, std::int64_t{rows} * threads, where);

  std::vector<Stage> kept;  // but the result, in order
  for (std::size_t k = 0; k + 1 < stages.size(); ++k)
    if (reduces(stages[k]) || along(stages[k]).empty() || s.attempt([&] { stages[k].inline_(where); }))
      kept.push_back(stages[k]);

  std::vector<Loop> elements = along(result);
  outer.resize(static_cast<std::size_t>(dims));
  Loop row;  // where what a row needs is computed
  if (!outer.empty()) {
    row = detail::fused(result, outer, where);
    if (rows > 1) {
      const Split of_block = result.split(row, rows, Tail::guard, where);
      result.bind(of_block.outer, gpu::block_x, where).bind(row = of_block.inner, gpu::thread_y, where);
    } else {
      result.bind(row, gpu::block_x, where);
    }
  } else if (!kept.empty() && !reduces(result) && !elements.empty()) {  // one row, one block
    const Split whole = result.split(detail::fused(result, elements, where), Parts{1}, Tail::guard, where);
    result.bind(row = whole.outer, gpu::block_x, where);
    elements = {whole.inner};
  }
  if (reduces(result))
    reduce_over_threads(s, result, threads, where);
  else if (!elements.empty())
    elements_over_threads(result, elements, threads, where);
  if (row.id() == 0) {  // one result, or several of terms that are no row: launches of their own
    for (const Stage& stage : kept) gpu_rows(s, {stage}, o, where);
    return;
  }
  for (std::size_t k = kept.size(); k-- > 0;) {
    const Stage& stage = kept[k];
    stage.compute_at(row, where);
    if (reduces(stage)) {
      stage.store_in(Scope::registers, where);
      reduce_over_threads(s, stage, threads, where);
    } else {
      const std::vector<Loop> own = along(stage);
      stage.store_in(own.empty() ? Scope::registers : Scope::shared, where);
      if (!own.empty()) elements_over_threads(stage, own, threads, where);
    }
  }
}

}  // namespace ashlar::schedules
