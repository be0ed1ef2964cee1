// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/schedules/stencil.h>

#include <algorithm>
#include <utility>

#include <ashlar/ir/build.h>
#include <ashlar/ir/program.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/schedules/lanes.h>

namespace ashlar::schedules {

namespace {

using namespace detail;

constexpr std::int64_t part_elements = 4096;  // of a row of channels: work for a thread

// The sums of a window for the results of one iteration over `vectors`, unrolled.
void window_in_registers(const Stage& sums, Loop vectors, int together, int lanes, Where where) {
  sums.compute_at(vectors, where);
  const std::vector<Loop> points = sums.spatial_loops(where), window = sums.reduction_loops(where);
  // At most so many points: as splits of one iteration they are of a constant number.
  std::vector<Loop> inside = window;
  if (together > 1) inside.push_back(sums.split(points[points.size() - 2], together, Tail::guard, where).inner);
  if (lanes > 1) inside.push_back(sums.split(points.back(), lanes, Tail::guard, where).inner);
  if (inside.size() > 1) sums.reorder(inside, where);
  for (const Loop& k : window)
    if (number_or(k.extent(where), 100) <= 16) sums.unroll(k, where);
  if (together > 1) sums.unroll(inside[window.size()], where);
  if (lanes > 1) sums.vectorize(inside.back(), where);
}

// A stage that the results of one iteration over `vectors` read: whole vectors of `rows` rows at most, unrolled. It lies on the
// stack of a thread, as values of a constant number that the compiler has in registers as far as there are.
void rows_in_registers(const Stage& stage, Loop vectors, int rows, int lanes, Where where) {
  stage.compute_at(vectors, where).store_in(Scope::stack, where);
  const std::vector<Loop> points = stage.spatial_loops(where);
  std::vector<Loop> order;
  const Split of_rows = stage.split(points[points.size() - 2], rows, Tail::guard, where);
  if (lanes > 1) {
    const Split of_vectors = stage.split(points.back(), lanes, Tail::guard, where);
    order = {of_rows.outer, of_vectors.outer, of_rows.inner, of_vectors.inner};
    stage.vectorize(of_vectors.inner, where);
  } else {
    order = {of_rows.outer, points.back(), of_rows.inner};
  }
  stage.reorder(order, where);
  stage.unroll(of_rows.inner, where);
}

void expect_windows(const Schedule& s, const Stage& stage, const StencilOptions& o, int together, Where where) {
  const ir::Stage& d = definition(s, stage);
  const int rank = o.channels_last ? 3 : 2;
  if (d.scatters() || d.is_recurrence() || d.spatial_rank() < rank)
    refuse("stencil", "a stage of " + std::to_string(rank) + " dimensions or more, computed of windows",
           d.name + (d.scatters()        ? ", a scatter"
                     : d.is_recurrence() ? ", a recurrence"
                                         : " of rank " + std::to_string(d.spatial_rank())),
           where);
  if (!o.sliding.empty() && !o.channels_last && together > 1)
    refuse("stencil", "one row at a time above stages that slide (the last rows of a strip would leave a gap)",
           std::to_string(together) + " together", where);
  for (const InRegisters& p : o.in_registers) {
    const ir::Stage& in = definition(s, p.stage);
    expect_option("stencil", "window of a stage in registers", p.window, 1, where);
    if (in.scatters() || in.is_recurrence() || in.is_reduction() || in.spatial_rank() < 2)
      refuse("stencil", "stages in registers that compute each element of two dimensions or more by itself", in.name, where);
  }
}

}  // namespace

void stencil(Schedule& s, const Stage& stage, const StencilOptions& o, Where where) {
  detail::expect_processor("stencil", s, where);
  for (const auto& [name, value] :
       {std::pair{"lanes", o.lanes}, {"together", o.together}, {"strip", o.strip}, {"columns", o.columns}})
    expect_option("stencil", name, value, 0, where);
  expect_option("stencil", "ahead", o.ahead, 0, where);
  for (const Sliding& p : o.sliding) expect_option("stencil", "rows of a sliding stage", p.rows, 0, where);
  const int together = o.together > 0 ? o.together : o.channels_last ? std::max(1, s.target().vector_registers() / 4) : 1;
  expect_windows(s, stage, o, together, where);
  for (const Stage& p : o.inlined) p.inline_(where);
  const auto lanes_of = [&](const Stage& x) { return o.lanes > 0 ? o.lanes : detail::lanes_of(s, x); };
  const bool reduces = detail::definition(s, stage).is_reduction();
  const Stage sums = reduces ? s.cache_write(stage, Scope::registers, where) : stage;
  std::vector<Loop> outer = stage.spatial_loops(where);
  const auto take_last = [&] {
    const Loop last = outer.back();
    outer.pop_back();
    return last;
  };
  Loop vectors = take_last(), pixels = o.channels_last ? take_last() : Loop(), row = take_last(), lane, part, several;
  const int lanes = lanes_of(stage), strip = o.strip > 0 ? o.strip : !outer.empty() ? 0 : o.sliding.empty() ? 16 : 32;
  // Pixels of a part of a row, of channels whose number is known; 0: rows are whole.
  const std::int64_t channels = o.channels_last ? detail::number_or(vectors.extent(where), 0) : 0,
                     of_part = channels > 0 ? (part_elements - 1) / (channels * together) + 1 : 0;
  const bool in_parts = of_part > 0 && strip == 0 && detail::number_or(pixels.extent(where), INT64_MAX) > of_part * together;
  if (lanes > 1) {
    const Split split = stage.split(vectors, lanes, Tail::guard, where);
    vectors = split.outer, lane = split.inner;
  }
  if (o.columns > 0) {
    const Split split = stage.split(vectors, std::max(1, o.columns / lanes), Tail::guard, where);
    part = split.outer, vectors = split.inner;
    stage.tighten(vectors, where);
  }
  if (together > 1) {
    Loop& grouped = o.channels_last ? pixels : row;
    const Split split = stage.split(grouped, together, Tail::guard, where);
    grouped = split.outer, several = split.inner;
  }
  if (o.channels_last && strip == 0) {
    outer.push_back(row), row = Loop();
    if (in_parts) {
      const Split split = stage.split(pixels, of_part, Tail::guard, where);
      stage.tighten(split.inner, where);
      outer.push_back(split.outer), pixels = split.inner;
    }
  } else if (strip > 0) {
    const Split split = stage.split(row, o.channels_last ? strip : std::max(1, strip / together), Tail::guard, where);
    outer.push_back(split.outer), row = split.inner;
    stage.tighten(row, where);
  }
  std::vector<Loop> order;
  for (const Loop l : {part, row, pixels, vectors, several, lane})
    if (l.id() != 0) order.push_back(l);
  if (order.size() > 1) stage.reorder(order, where);
  if (lane.id() != 0) stage.vectorize(lane, where);
  if (several.id() != 0) stage.unroll(several, where);
  const Loop around = outer.empty() ? Loop() : detail::fused(stage, outer, where);
  if (around.id() != 0 && o.parallel) stage.parallel(around, where);
  if (reduces) window_in_registers(sums, vectors, together, lanes, where);

  const auto in_lanes = [&](const Stage& p) {
    const Loop along = detail::innermost_point(p, where);
    const int own = lanes_of(p);
    if (along.id() != 0 && own > 1 && !detail::definition(s, p).is_reduction()) p.vectorize(along, own, where);
  };
  const Loop each_row = row.id() != 0 ? row : around, storage = part.id() != 0 ? part : around;
  for (const Sliding& p : o.sliding) {
    if (storage.id() != 0 && row.id() != 0) p.stage.store_at(storage, where);
    p.stage.compute_at(each_row, where);
    if (row.id() != 0) {
      p.stage.slide(row, where);
      if (p.rows > 0) p.stage.fold(detail::definition(s, p.stage).spatial_rank() - 2 - o.channels_last, p.rows, where);
    }
    in_lanes(p.stage);
  }
  for (const Stage& p : o.at_row) {
    p.compute_at(each_row, where);
    in_lanes(p);
  }
  for (const InRegisters& p : o.in_registers)
    rows_in_registers(p.stage, vectors, together + p.window - 1, lanes_of(p.stage), where);
  if (!o.prefetched.empty() && o.ahead > 0)
    for (const Tensor& x : o.prefetched) stage.prefetch(vectors, x, o.ahead, where);
  if (o.stream) stage.stream_store(where);
}

}  // namespace ashlar::schedules
