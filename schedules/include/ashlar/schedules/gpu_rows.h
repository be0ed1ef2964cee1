// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Operators on rows, on a device: reductions over the last dimensions and what is computed of them for each element, in one
// launch. The stages are named in the order in which they are computed; the last one is the result.
//
//   auto y = ops::softmax(x);
//   schedules::gpu_rows(s, {s[y.maximum], s[y.exp], s[y.sum], s[y.result]});
//
//   for row in rows                        block_x; all dimensions but those of a row as one loop
//     maximum: for ko, for ki in 256       thread_x: the threads of a block reduce a part each, all of them get the whole
//     sum:     the same, with exp inlined
//     result:  for jo, for ji in 256       thread_x, with exp inlined
//
// Of short rows a block has several, side by side along thread_y. What is computed along a row between two reductions is
// inlined: each reader computes it again, which costs less than memory for rows of any length; one value of a row (1 / sqrt of
// a variance) is computed by every thread, once. Sums are regrouped, by the shape of the block alone; a reduction that forbids
// it (strict_sum) is done whole by every thread of its row. Right for every extent. Refused: a processor, no stage, more
// dimensions of rows than the result has, a scatter or recurrence, an output before the result, more threads than a block has.
#include <ashlar/schedules/gpu.h>
#include <ashlar/schedules/rows.h>

namespace ashlar::schedules {

struct GpuRowsOptions {
  int dims = -1;    // dimensions of the result that count rows; -1: those of the reductions
  int threads = 0;  // along a row; 0: a quarter of its length where that is known, between 32 and 256
  int rows = 0;     // of a block; 0: as many as 256 threads have
};

namespace detail {

// Each thread reduces a part, and all of them get the whole; or, where sums may not be regrouped, each does all of it.
inline void reduce_over_threads(Schedule& s, const Stage& stage, int threads, Where where) {
  (void)s.attempt([&] {
    const Loop terms = fused(stage, loops_over(s, stage, true, where), where);
    const Loop each = stage.split(terms, threads, Tail::guard, where).inner;
    stage.cross_thread_reduce(each, where).bind(each, gpu::thread_x, where);
  });
}

inline void elements_over_threads(const Stage& stage, const std::vector<Loop>& elements, int threads, Where where) {
  const Split split = stage.split(fused(stage, elements, where), threads, Tail::guard, where);
  stage.bind(split.inner, gpu::thread_x, where);
}

}  // namespace detail

inline void gpu_rows(Schedule& s, const std::vector<Stage>& stages, const GpuRowsOptions& o = {},
                     Where where = Where::current()) {
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
  std::vector<Loop> outer = detail::loops_over(s, result, false, where);
  if (dims > static_cast<int>(outer.size()))
    refuse("gpu_rows", "at most the " + std::to_string(outer.size()) + " dimensions of " + detail::definition(s, result).name,
           std::to_string(dims), where);
  // The loops over what a row has: the terms of a reduction, or the dimensions behind those that count rows.
  const auto along = [&](const Stage& stage) {
    std::vector<Loop> loops = detail::loops_over(s, stage, reduces(stage), where);
    if (!reduces(stage)) loops.erase(loops.begin(), loops.begin() + std::min<std::ptrdiff_t>(dims, std::ssize(loops)));
    return loops;
  };
  std::int64_t longest = 1;
  for (const Stage& stage : stages) {
    std::int64_t n = 1;
    for (const Loop& l : along(stage)) n = std::min<std::int64_t>(1024, n * detail::number_or(l.extent(where), 1024));
    longest = std::max(longest, n);
  }
  const int threads = o.threads > 0 ? o.threads : std::clamp(detail::power_of_two_up_to(longest / 4), 32, 256);
  const int rows = o.rows > 0 ? o.rows : std::max(1, 256 / threads);
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
    detail::reduce_over_threads(s, result, threads, where);
  else if (!elements.empty())
    detail::elements_over_threads(result, elements, threads, where);
  if (row.id() == 0) {  // one result, or several of terms that are no row: launches of their own
    for (const Stage& stage : kept) gpu_rows(s, {stage}, o, where);
    return;
  }
  for (std::size_t k = kept.size(); k-- > 0;) {
    const Stage& stage = kept[k];
    stage.compute_at(row, where);
    if (reduces(stage)) {
      stage.store_in(Scope::registers, where);
      detail::reduce_over_threads(s, stage, threads, where);
    } else {
      const std::vector<Loop> own = along(stage);
      stage.store_in(own.empty() ? Scope::registers : Scope::shared, where);
      if (!own.empty()) detail::elements_over_threads(stage, own, threads, where);
    }
  }
}

}  // namespace ashlar::schedules
