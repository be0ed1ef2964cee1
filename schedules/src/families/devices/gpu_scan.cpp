// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/schedules/gpu_scan.h>

#include <algorithm>

#include <ashlar/ir/at_line.h>
#include <ashlar/ir/program.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/schedules/gpu_rows.h>
#include <ashlar/schedules/lanes.h>

#include "schedules/src/families/devices/gpu.h"

namespace ashlar::schedules {

namespace {

constexpr int most_part = 2048, part_of_totals = 256, each_of_totals = 4;

// The scan of the totals of a few parts, one thread for each row.
void serial_scan(const Stage& stage, Where where) {
  std::vector<Loop> rows = stage.spatial_loops(where);
  rows.pop_back();
  if (rows.empty()) return;  // one thread
  const Split threads = stage.split(detail::fused(stage, rows, where), 32, Tail::guard, where);
  stage.bind(threads.outer, gpu::block_x, where).bind(threads.inner, gpu::thread_x, where);
}

void scan_parts(Schedule& s, const Stage& stage, int part, int each, bool many, Where where) {
  std::vector<Loop> rows = stage.spatial_loops(where);
  const Loop steps = rows.back();
  rows.pop_back();
  const int threads = part / each, dims = static_cast<int>(rows.size());
  const Split parts = stage.split(steps, part, Tail::guard, where);
  const auto [total, carry, block] = stage.associative_scan(parts.outer, where);
  const Loop pieces = block.split(block.spatial_loops(where).back(), each, Tail::exact, where).outer;
  const auto [sum, before, own] = block.associative_scan(pieces, where);
  block.inline_(where);

  if (!rows.empty()) stage.bind(detail::fused(stage, rows, where), gpu::block_y, where);
  stage.bind(parts.outer, gpu::block_x, where);
  stage.bind(stage.split(parts.inner, threads, Tail::guard, where).inner, gpu::thread_x, where);
  for (const Stage& inside : {own, before, sum}) inside.compute_at(parts.outer, where).store_in(Scope::shared, where);
  for (const Stage& inside : {sum, own}) {
    const Loop piece = inside.spatial_loops(where)[static_cast<std::size_t>(dims) + 1];
    inside.bind(inside.split(piece, threads, Tail::guard, where).inner, gpu::thread_x, where);
  }
  own.align(dims + 2, each + 1, where);  // neighboring threads store to different banks
  gpu_rows(s, {total}, {}, where);
  if (many)
    scan_parts(s, carry, part_of_totals, each_of_totals, false, where);
  else
    serial_scan(carry, where);
}

}  // namespace

void gpu_scan(Schedule& s, const Stage& stage, const GpuScanOptions& o, Where where) {
  const AtLine line(where);
  const char* family = "gpu_scan";
  detail::expect_device(family, s, where);
  detail::expect_option(family, "part", o.part, 0, where);
  detail::expect_option(family, "each", o.each, 1, where);
  const ir::Stage& d = detail::definition(s, stage);
  const std::size_t rank = d.spatial_rank();
  if (!d.is_recurrence() || d.scan.kind == ir::ReducerKind::none || rank == 0 || d.along != std::vector<std::size_t>{rank - 1})
    refuse(family, "a scan along the last dimension", d.name, where);
  const std::int64_t length = detail::number_or(stage.spatial_loops(where).back().extent(where), std::int64_t{1} << 30);
  int part = o.part;
  const int most = std::min(most_part, o.each * s.target().device().max_threads);
  if (part == 0)
    for (part = o.each * 32; part < most && part < length;) part *= 2;
  if (part % o.each != 0)
    refuse(family, "parts of a multiple of " + std::to_string(o.each) + " steps, those of a thread", std::to_string(part),
           where);
  detail::expect_threads(family, "part / each", s, part / o.each, where);
  scan_parts(s, stage, part, o.each, (length + part - 1) / part > part_of_totals, where);
}

}  // namespace ashlar::schedules
