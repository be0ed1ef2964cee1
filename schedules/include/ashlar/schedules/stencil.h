// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Windows over neighbours: filters of pictures, depthwise convolutions. Neighbours in memory are in lanes; results whose
// windows overlap are computed several at a time, so that they share what they read. Of a picture (the last two dimensions):
//
//   for all other dimensions, and strips     parallel, one loop
//     for part of a row                      where `columns` says so
//       for rows of the strip, `together`
//         stages of `sliding`, `at_row`      what these rows need
//         for vectors                        n lanes
//           stages of `in_registers`         `together` rows and a window's more, unrolled
//           for `together` rows              unrolled
//             for lanes                      vectorized
//
// With `channels_last` rows, pixels and channels are the last three dimensions, and `together` counts pixels:
//
//   for all other dimensions, rows, parts    parallel, one loop; parts of 4096 elements or a few more, of longer rows
//     for pixels, `together`
//       for vectors of channels
//         for window, `together` pixels      unrolled; the sums stay in registers
//           for lanes                        vectorized
//
//   schedules::stencil(s, s[y.sum], {.channels_last = true});                       // depthwise 3 x 3
//   schedules::stencil(s, s[y], {.strip = 64, .sliding = {{s[across], 4}}});        // separable: a ring of rows of `across`
//   schedules::stencil(s, s[y], {.together = 8, .in_registers = {{s[across], 3}}}); // separable: ten rows of `across` for
//   eight
//
// A sliding stage is computed row by row before the rows that read it, each row once in a strip, into a ring of so many rows. A
// stage in registers is computed for the rows that are computed together, so that a result does not wait for memory, and rows
// at both ends are computed twice. What is inlined is computed again by each reader: results are stored between, and what is
// read before a store is not known to be the same behind it. Vectors whose windows lie wholly inside run without masks. Right
// for every extent. Refused: a scatter or recurrence, a stage of fewer dimensions, sliding stages below several rows together,
// a GPU.
#include <utility>

#include <ashlar/schedules/lanes.h>

namespace ashlar::schedules {

struct Sliding {
  Stage stage;
  int rows = 0;  // of its ring, a power of two that holds a window; 0: all rows of a strip are stored
};
struct InRegisters {
  Stage stage;
  int window = 3;  // rows (of channels, pixels) of it that one result reads
};
struct StencilOptions {
  int lanes = 0;                      // 0: what a register holds of the widest type of each stage
  int together = 0;                   // 0: one row of a picture; of channels as many pixels as a quarter of the registers
  bool channels_last = false;         // lanes are channels
  int strip = 0;                      // rows of a strip; 0: 32 with sliding stages, 16 without; all rows where other loops are parallel
  int columns = 0;                    // elements of a row before the next row; 0: all
  std::vector<Sliding> sliding = {};  // readers before what they read
  std::vector<Stage> at_row = {};     // computed for each row, or the rows together; readers before what they read
  std::vector<InRegisters> in_registers = {};  // computed for the vectors of one iteration; readers before what they read
  std::vector<Stage> inlined = {};             // computed again wherever they are read
  std::vector<Tensor> prefetched = {};         // asked for `ahead` vectors before they are read
  int ahead = 8;
  bool parallel = true;
  bool stream = false;  // past the caches: results larger than they are
};

namespace detail {

constexpr std::int64_t part_elements = 4096;  // of a row of channels: work for a thread

// The sums of a window for the results of one iteration over `vectors`, unrolled.
inline void window_in_registers(const Schedule& s, const Stage& sums, Loop vectors, int together, int lanes, Where where) {
  sums.compute_at(vectors, where);
  const std::vector<Loop> points = loops_over(s, sums, false, where), window = loops_over(s, sums, true, where);
  // At most so many points: as splits of one iteration they are of a constant number.
  std::vector<Loop> inside = window;
  if (together > 1) inside.push_back(sums.split(points[points.size() - 2], together, Tail::guard, where).inner);
  if (lanes > 1) inside.push_back(sums.split(points.back(), lanes, Tail::guard, where).inner);
  if (inside.size() > 1) in_order(sums, inside, where);
  for (const Loop& k : window)
    if (number_or(k.extent(where), 100) <= 16) sums.unroll(k, where);
  if (together > 1) sums.unroll(inside[window.size()], where);
  if (lanes > 1) sums.vectorize(inside.back(), where);
}

// A stage that the results of one iteration over `vectors` read: whole vectors of `rows` rows at most, unrolled. It lies on the
// stack of a thread, as values of a constant number that the compiler has in registers as far as there are.
inline void rows_in_registers(const Schedule& s, const Stage& stage, Loop vectors, int rows, int lanes, Where where) {
  stage.compute_at(vectors, where).store_in(Scope::stack, where);
  const std::vector<Loop> points = loops_over(s, stage, false, where);
  std::vector<Loop> order;
  const Split of_rows = stage.split(points[points.size() - 2], rows, Tail::guard, where);
  if (lanes > 1) {
    const Split of_vectors = stage.split(points.back(), lanes, Tail::guard, where);
    order = {of_rows.outer, of_vectors.outer, of_rows.inner, of_vectors.inner};
    stage.vectorize(of_vectors.inner, where);
  } else {
    order = {of_rows.outer, points.back(), of_rows.inner};
  }
  in_order(stage, order, where);
  stage.unroll(of_rows.inner, where);
}

inline void expect_windows(const Schedule& s, const Stage& stage, const StencilOptions& o, int together, Where where) {
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

}  // namespace detail

inline void stencil(Schedule& s, const Stage& stage, const StencilOptions& o = {}, Where where = Where::current()) {
  detail::expect_processor("stencil", s, where);
  for (const auto& [name, value] :
       {std::pair{"lanes", o.lanes}, {"together", o.together}, {"strip", o.strip}, {"columns", o.columns}})
    detail::expect_option("stencil", name, value, 0, where);
  detail::expect_option("stencil", "ahead", o.ahead, 0, where);
  for (const Sliding& p : o.sliding) detail::expect_option("stencil", "rows of a sliding stage", p.rows, 0, where);
  const int together = o.together > 0 ? o.together : o.channels_last ? std::max(1, s.target().vector_registers() / 4) : 1;
  detail::expect_windows(s, stage, o, together, where);
  for (const Stage& p : o.inlined) p.inline_(where);
  const auto lanes_of = [&](const Stage& x) { return o.lanes > 0 ? o.lanes : detail::lanes_of(s, x); };
  const bool reduces = detail::definition(s, stage).is_reduction();
  const Stage sums = reduces ? s.cache_write(stage, Scope::registers, where) : stage;
  std::vector<Loop> outer = detail::loops_over(s, stage, false, where);
  const auto take_last = [&] {
    const Loop last = outer.back();
    outer.pop_back();
    return last;
  };
  Loop vectors = take_last(), pixels = o.channels_last ? take_last() : Loop(), row = take_last(), lane, part, several;
  const int lanes = lanes_of(stage), strip = o.strip > 0 ? o.strip : !outer.empty() ? 0 : o.sliding.empty() ? 16 : 32;
  // Pixels of a part of a row, of channels whose number is known; 0: rows are whole.
  const std::int64_t channels = o.channels_last ? detail::number_or(vectors.extent(where), 0) : 0,
                     of_part = channels > 0 ? (detail::part_elements - 1) / (channels * together) + 1 : 0;
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
  if (order.size() > 1) detail::in_order(stage, order, where);
  if (lane.id() != 0) stage.vectorize(lane, where);
  if (several.id() != 0) stage.unroll(several, where);
  const Loop around = outer.empty() ? Loop() : detail::fused(stage, outer, where);
  if (around.id() != 0 && o.parallel) stage.parallel(around, where);
  if (reduces) detail::window_in_registers(s, sums, vectors, together, lanes, where);

  const auto in_lanes = [&](const Stage& p) {
    const Loop along = detail::innermost_point(s, p, where);
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
    detail::rows_in_registers(s, p.stage, vectors, together + p.window - 1, lanes_of(p.stage), where);
  if (!o.prefetched.empty() && o.ahead > 0)
    for (const Tensor& x : o.prefetched) stage.prefetch(vectors, x, o.ahead, where);
  if (o.stream) stage.stream_store(where);
}

}  // namespace ashlar::schedules
