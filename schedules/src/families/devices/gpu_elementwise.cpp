// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/schedules/gpu_elementwise.h>

#include <algorithm>

#include <ashlar/ir/at_line.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/operation.h>
#include <ashlar/ir/program.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/schedule/step.h>
#include <ashlar/schedules/lanes.h>

#include "schedules/src/families/devices/gpu.h"

namespace ashlar::schedules {

namespace {

using namespace detail;

constexpr int elements_of_thread = 32;  // at most: their position is computed once, and their loads are in flight together
constexpr double costly = 64;           // operations of an element that outweigh computing its position

// Elements of one access, for the widest type in memory.
int lanes_of_accesses(const Schedule& s, const ir::Stage& d) {
  int widest = 1;
  const auto meet = [&](ir::Id buffer) { widest = std::max(widest, s.scheduled().program.buffer(buffer).type.bytes()); };
  for (const ir::Id b : d.buffers) meet(b);
  for (const Expr& value : d.values)
    ir::walk(value, [&](const Expr& e) {
      if (ir::is(e, ir::Op::load)) meet(e.node()->id);
      return true;
    });
  return std::max(2, bytes_of_access / widest);
}

double operations(const ir::Stage& d) {
  double n = 0;
  for (const Expr& value : d.values)
    ir::walk(value, [&](const Expr& e) {
      n += ir::operation(ir::op_of(e)).laws.cost;
      return true;
    });
  return n;
}

int power_of_two_from(std::int64_t n) {
  int p = 1;
  while (p < n && p < 1 << 20) p *= 2;
  return p;
}

}  // namespace

void gpu_elementwise(Schedule& s, const Stage& stage, const GpuElementwiseOptions& o, Where where) {
  const AtLine line(where);
  const char* family = "gpu_elementwise";
  expect_device(family, s, where);
  if (s.target().device().kind != Device::Kind::cuda)
    refuse(family, "a CUDA device", "the target " + std::string(s.target().text()), where);
  const int threads = power_of_two_up_to(threads_or(o.threads, 256, s));
  expect_threads(family, "threads", s, threads, where);
  expect_option(family, "vectors", o.vectors, 0, where);
  expect_option(family, "lanes", o.lanes, 0, where);
  const ir::Stage& d = definition(s, stage);
  const char* expected = "a stage with dimensions that computes each point by itself";
  expect_own_points(family, expected, d, where);
  if (d.is_reduction() || d.spatial_rank() == 0)
    refuse(family, expected, d.name + (d.is_reduction() ? ", a reduction" : ", which has one point"), where);
  const int lanes = o.lanes > 0 ? o.lanes : lanes_of_accesses(s, d);
  expect_power_of_two(family, "lanes", lanes, where);
  std::vector<Loop> rows = stage.spatial_loops(where);
  const Loop row = rows.back();
  rows.pop_back();
  const std::int64_t length = number_or(row.extent(where), -1);
  if (length >= 0 && length % lanes != 0)
    refuse(family, "rows that are a multiple of " + std::to_string(lanes) + " elements", std::to_string(length), where);
  const std::int64_t in_row = length >= 0 ? std::max<std::int64_t>(1, length / lanes) : std::int64_t{1} << 20;
  int vectors = o.vectors > 0 ? o.vectors : operations(d) > costly ? 1 : std::clamp(elements_of_thread / lanes, 2, 4);
  int along = threads;  // a row
  if (!rows.empty()) {
    std::int64_t count = 1;
    for (const Loop& l : rows)
      count = std::min<std::int64_t>(1 << 20, count * std::max<std::int64_t>(1, number_or(l.extent(where), 1 << 20)));
    along = std::min(threads, power_of_two_from(in_row));
    along = std::clamp(threads / power_of_two_from(count), std::min(along, 32), along);
  }
  if (o.vectors == 0 && in_row <= along) vectors = 1;

  const Split each = stage.split(row, lanes, Tail::guard, where);
  const Split blocks = stage.split(each.outer, std::int64_t{along} * vectors, Tail::guard, where);
  const Split parts = stage.split(blocks.inner, along, Tail::exact, where);
  std::vector<Loop> order{blocks.outer, parts.inner, parts.outer, each.inner};
  if (!rows.empty()) {
    const Split of_block = stage.split(fused(stage, rows, where), threads / along, Tail::guard, where);
    order = {of_block.outer, blocks.outer, of_block.inner, parts.inner, parts.outer, each.inner};
    stage.reorder(order, where);
    stage.bind(of_block.outer, gpu::block_y, where).bind(of_block.inner, gpu::thread_y, where);
  } else {
    stage.reorder(order, where);
  }
  stage.bind(blocks.outer, gpu::block_x, where).bind(parts.inner, gpu::thread_x, where);
  stage.unroll(parts.outer, where).vectorize(each.inner, gpu::any_alignment, where);
}

}  // namespace ashlar::schedules
