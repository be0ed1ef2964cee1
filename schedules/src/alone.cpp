// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recurrences and scatters, whose loops must keep an order. Dimensions along which points are independent run on the thread
// pool and in lanes, or interleaved if each step waits for the previous one. The other loops stay as they were written, except
// for tables, which are computed in wavefronts. A recurrence stores only the steps that are still read.
#include <algorithm>
#include <bit>

#include <ashlar/ir/recurrence.h>
#include <ashlar/schedules/gather.h>

#include "schedules/src/costs.h"
#include "schedules/src/draft.h"

namespace ashlar::schedules {
namespace {

using namespace costs::alone;
using costs::most_nodes;
using costs::worth_parallel;

// If neighboring steps update neighbors, they run in lanes, and blocks of them on the thread pool. Otherwise parts of the
// steps run on the pool, if a result for each part is small compared with the steps.
//
// The last loops that together have few steps, no two of which update the same element: a small window of channels, grid(y +
// dy, x + dx, c). There are as many lanes as steps.
//
// How many loops these are; 0: none.
std::size_t few_steps_in_lanes(Draft& d, Id id) {
  const ir::Stage s = d.stage(id);
  const auto steps = reduce_of(s);
  const int lanes = lanes_of(d, s);
  std::vector<std::int64_t> together;  // of the last loop, the last two, ...
  for (std::size_t k = steps.size(); k-- > 0;) {
    const auto n = d.sizes().constant_extent(s, steps[k].id);
    const std::int64_t all = n.value_or(INT64_MAX) > 4 * lanes ? INT64_MAX : *n * (together.empty() ? 1 : together.back());
    if (all > 4 * lanes) break;
    together.push_back(all);
  }
  for (std::size_t many = together.size(); many > 0; --many) {
    const std::int64_t n = together[many - 1];
    if (n < 2) continue;
    if (d.attempt(id, count(static_cast<double>(n)) + " neighbors in lanes", [&] {
          const Stage stage = d.handle(id);
          Loop all = loop_over(d, stage, steps.back().id);
          for (std::size_t k = 1; k < many; ++k)
            all = stage.fuse(loop_over(d, stage, steps[steps.size() - 1 - k].id), all, d.where);
          stage.vectorize(all, d.where);
          schedule::finish(d.s.scheduled(), d.s.target());
        }))
      return many;
  }
  return 0;
}

// Unrolls the last loops of few steps that are not in lanes, so that common parts are computed once. The number of the put is
// then a constant, which decides selects on it.
//
//   density(r, c) += (1 - fy) * (1 - fx);  density(r, c + 1) += (1 - fy) * fx;  ...
void few_steps_unrolled(Draft& d, Id id, std::size_t in_lanes) {
  const ir::Stage s = d.stage(id);
  const auto steps = reduce_of(s);
  std::size_t nodes = 0;
  for (const auto* formulas : {&s.values, &s.targets})
    for (const Expr& e : *formulas) nodes += ir::node_count(e);
  std::int64_t all = 1;
  for (std::size_t k = steps.size() - in_lanes; k-- > 0;) {
    const std::int64_t n = d.sizes().constant_extent(s, steps[k].id).value_or(INT64_MAX);
    if (n < 1 || n > most_steps / all || static_cast<std::size_t>(all * n) * nodes > most_nodes) break;
    all *= n;
    const Stage stage = d.handle(id);
    if (!d.attempt(id, "", [&] {
          stage.unroll(loop_over(d, stage, steps[k].id), d.where);
          schedule::finish(d.s.scheduled(), d.s.target());
        }))
      return;
  }
  if (all > 1) d.done(id, count(static_cast<double>(all)) + " steps unrolled");
}

bool scatter_in_lanes(Draft& d, Id id, bool parallel) {
  const ir::Stage& s = d.stage(id);
  const auto steps = reduce_of(s);
  if (d.sizes().constant_extent(s, steps.back().id).value_or(INT64_MAX) < lanes_of(d, s))
    if (const std::size_t many = few_steps_in_lanes(d, id)) {
      few_steps_unrolled(d, id, many);
      return true;
    }
  const Expr& last = s.targets.back();
  const bool neighbors = ir::is(last, ir::Op::var) &&
                         std::any_of(steps.begin(), steps.end(), [&](const auto& v) { return v.id == last.node()->id; });
  if (neighbors)
    return d.attempt(id, std::string("neighbors in lanes") + (parallel ? ", blocks of them in parallel" : ""), [&] {
      scatter_add(d.s, d.handle(id), {.parallel = parallel}, d.where);
      schedule::finish(d.s.scheduled(), d.s.target());
    });
  if (!parallel || !regroups(d, s) || d.most().terms(s) < 8 * static_cast<double>(parts) * d.most().points(s)) return false;
  return d.attempt(id, count(static_cast<double>(parts)) + " parts of the steps in parallel, each with a result of its own",
                   [&] {
                     scatter_add(d.s, d.handle(id), {.parts = parts}, d.where);
                     schedule::finish(d.s.scheduled(), d.s.target());
                   });
}

// The distance of the farthest read along a dimension; nothing if it is not constant.
std::optional<std::int64_t> lag_of(const ir::Program& p, const ir::Stage& s, std::size_t dim) {
  std::int64_t most = 0;
  for (const ir::SelfRead& r : ir::self_reads(p, s)) {
    if (!r.back[dim] || *r.back[dim] < 0) return std::nullopt;
    most = std::max(most, *r.back[dim]);
  }
  return most;
}

// Whether lowering computes a single row one vector of steps at a time (lower/scan_lanes.cpp).
bool scans_in_lanes(const Draft& d, const ir::Stage& s) {
  const ir::ReducerKind kind = s.scan.kind;
  const bool floats = d.program().buffer(s.buffers.front()).type.is_float();
  return kind == ir::ReducerKind::minimum || kind == ir::ReducerKind::maximum ||
         (!floats && (kind == ir::ReducerKind::sum || kind == ir::ReducerKind::product));
}

// Interleaves rows, so that one proceeds while another waits: as many as keep their state in half of the registers and, above
// two, touch at most 8 lines of arrays at once, since rows of a power of two fall into one set of the first-level cache.
// Returns the loop over groups of rows, if there is one.
std::optional<Loop> side_by_side(Draft& d, Id id, Id rows) {
  const ir::Stage s = d.stage(id);
  std::optional<Loop> groups;
  if (!ir::stages_inside(d.program(), s).empty() || scans_in_lanes(d, s)) return groups;
  const auto lag = lag_of(d.program(), s, s.along.back());
  if (!lag || *lag == 0) return groups;
  const auto state = static_cast<std::uint64_t>(*lag) * s.buffers.size();
  const auto room = static_cast<std::uint64_t>(std::max(2, d.s.target().vector_registers() / 2)) / state;
  std::set<Id> arrays;  // with rows of their own; except for rings of steps
  const std::vector<Id> readers = readers_of(d.program(), s);
  for (const Id b : s.buffers) {  // what later steps alone read is not stored
    const bool read = std::any_of(readers.begin(), readers.end(), [&](Id reader) {
      const auto all = readings_of(d.program(), d.stage(reader));
      return reader != id && std::any_of(all.begin(), all.end(), [&](const Reading& r) { return r.buffer == b; });
    });
    if (d.program().buffer(b).layout.map.empty() && (read || d.program().buffer(b).role != ir::Role::temporary))
      arrays.insert(b);
  }
  const Id step = s.iters[s.along.back()].id;
  for (const Reading& r : readings_of(d.program(), s)) {
    const auto moves = [&](Id variable) {
      return std::any_of(r.at.begin(), r.at.end(), [&](const Index& x) { return x.moves_with(variable) && !x.from_data; });
    };
    const bool own = std::find(s.buffers.begin(), s.buffers.end(), r.buffer) != s.buffers.end();
    if (!own && moves(rows) && moves(step)) arrays.insert(r.buffer);
  }
  const auto most = std::min<std::uint64_t>(std::max<std::size_t>(2, 8 / std::max<std::size_t>(1, arrays.size())), room);
  const auto many = static_cast<std::int64_t>(most == 0 ? 0 : std::bit_floor(most));
  if (many < 2 || d.sizes().constant_extent(s, rows).value_or(INT64_MAX) < many) return groups;
  d.attempt(id, std::to_string(many) + " rows side by side", [&] {
    const Stage stage = d.handle(id);
    const Split split = stage.split(loop_over(d, stage, rows), many, Tail::peel, d.where);
    innermost(d, stage, split.inner);
    stage.unroll(split.inner, d.where);
    groups = split.outer;
  });
  return groups;
}

// A table whose elements wait for the one above and the previous one: the tiles of a diagonal run on the thread pool. In each
// tile, 4 rows are interleaved, each one column behind the row above, so they read each other's elements in registers.
//
//   for tiles                                 of 32 rows by 512 columns
//     for io in a diagonal (pool)
//       for im in 8
//         for points in 512 + 3
//           row 0 at points, row 1 at points - 1, row 2 at points - 2, row 3 at points - 3
bool in_wavefronts(Draft& d, Id id, bool parallel) {
  const ir::Stage s = d.stage(id);
  const auto dims = spatial_of(s);
  if (s.along.size() != 2 || s.along[0] + 2 != dims.size() || s.along[1] + 1 != dims.size()) return false;
  if (!ir::stages_inside(d.program(), s).empty() || cost_of(s) > side_by_side_cost) return false;
  bool waits = false;       // in its own row
  std::int64_t behind = 1;  // columns, that a row is behind the one above it
  for (const ir::SelfRead& r : ir::self_reads(d.program(), s)) {
    const auto &up = r.back[s.along[0]], &left = r.back[s.along[1]];
    if (!up || !left || *up < 0 || (*up == 0 && *left < 0)) return false;
    waits = waits || *up == 0;
    if (*up > 0) behind = std::max(behind, (1 - *left + *up - 1) / *up);
  }
  if (behind > most_behind) return false;
  const auto rows = d.sizes().constant_extent(s, dims[s.along[0]].id);
  if (!waits || rows.value_or(INT64_MAX) < 2 * rows_of_front) return false;
  const std::string what = std::to_string(rows_of_front) + " rows side by side, each " +
                           (behind == 1 ? "a column" : std::to_string(behind) + " columns") + " behind the one above";
  if (behind > 1)  // a tile would wait for the one to its right
    return d.attempt(id, what, [&] {
      const Stage stage = d.handle(id);
      const auto [im, ii] = stage.split(loop_over(d, stage, dims[s.along[0]].id), rows_of_front, Tail::guard, d.where);
      const Loop points = stage.skew(ii, loop_over(d, stage, dims[s.along[1]].id), behind, d.where);
      reorder(d, stage, {im, points, ii});
      stage.unroll(ii, d.where);
    });
  return d.attempt(id, what + (parallel ? ", tiles of a diagonal in parallel" : ""), [&] {
    const Stage stage = d.handle(id);
    const auto [io, jo, i, ji] = stage.tile(loop_over(d, stage, dims[s.along[0]].id), loop_over(d, stage, dims[s.along[1]].id),
                                            rows_of_tile, columns_of_tile, Tail::guard, d.where);
    const auto [im, ii] = stage.split(i, rows_of_front, Tail::guard, d.where);
    const Loop tiles = stage.skew(io, jo, 1, d.where), points = stage.skew(ii, ji, 1, d.where);
    reorder(d, stage, {tiles, io, im, points, ii});
    stage.tighten(io, d.where);
    if (parallel) stage.parallel(io, d.where);
    stage.unroll(ii, d.where);
  });
}

// Unrolls a row of a few vectors. The next step then reads the row in registers, and a partial last vector is not loaded right
// after it was stored under a mask, which would stall.
void row_in_registers(Draft& d, Id id, std::int64_t extent) {
  const ir::Stage s = d.stage(id);
  const int lanes = lanes_that_fill(extent, lanes_of(d, s));
  if (lanes < 2 || extent <= lanes || !ir::stages_inside(d.program(), s).empty()) return;
  const auto lag = lag_of(d.program(), s, s.along.back());
  if (!lag || *lag == 0) return;
  const std::int64_t vectors = (extent + lanes - 1) / lanes, state = *lag * static_cast<std::int64_t>(s.buffers.size());
  std::size_t nodes = 0;
  for (const Expr& e : s.values) nodes += ir::node_count(e);
  if (2 * vectors * state > d.s.target().vector_registers() || static_cast<std::size_t>(vectors) * nodes > most_nodes) return;
  const Stage stage = d.handle(id);
  d.attempt(id, count(static_cast<double>(vectors)) + " vectors of a row in registers", [&] {
    const std::vector<Loop> loops = stage.nest(d.where);
    stage.unroll(loops[loops.size() - 2], d.where);
    schedule::finish(d.s.scheduled(), d.s.target());
  });
}

}  // namespace

void keep_steps(Draft& d, Id id) {
  const ir::Stage s = d.stage(id);
  if (is_output(d.program(), s)) return;
  for (const std::size_t dim : s.along) {
    const auto lag = lag_of(d.program(), s, dim);
    if (!lag || *lag == 0) continue;
    const auto slots = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(*lag) + 1));
    d.attempt(id, "a ring of " + std::to_string(slots) + " steps along " + spatial_of(s)[dim].name,
              [&] { d.handle(id).fold(static_cast<int>(dim), slots, d.where); });
  }
}

void schedule_alone(Draft& d, Id id) {
  const ir::Stage s = d.stage(id);
  const Family family = d.family(id).family;
  const auto dims = spatial_of(s);
  const Sizes sizes = d.sizes();
  std::vector<std::size_t> free;  // dimensions that may stand anywhere
  for (std::size_t k = 0; k < dims.size(); ++k) {
    const bool ordered = std::find(s.along.begin(), s.along.end(), k) != s.along.end();
    if (!ordered && !s.scattered(dims[k].id)) free.push_back(k);
  }
  if (family == Family::external) return;
  const double work = family == Family::scatter ? d.most().terms(s) * (cost_of(s) + an_update)
                                                : d.most().points(s) * d.most().terms(s) * cost_of(s);
  if (family == Family::scatter && scatter_in_lanes(d, id, d.options.parallel && work >= worth_parallel)) return;
  if (family == Family::recurrence) keep_steps(d, id);
  if (family == Family::scatter) few_steps_unrolled(d, id, 0);
  if (free.empty()) {
    if (family == Family::recurrence && in_wavefronts(d, id, d.options.parallel && work >= worth_parallel)) return;
    return d.done(id, "as it was written: no dimension is free of the order");
  }
  const Stage stage = d.handle(id);
  const auto extent = sizes.constant_extent(s, dims[free.back()].id);
  // the last one in lanes, innermost
  const bool vectors = free.back() + 1 == dims.size();
  bool parallel = !d.options.parallel || work < worth_parallel;
  std::optional<Loop> groups;
  if (!vectors && family == Family::recurrence) groups = side_by_side(d, id, dims[free.back()].id);
  for (const std::size_t k : free) {
    if (parallel || (vectors && k == free.back())) break;
    if (sizes.extent(s, dims[k].id) < 2) continue;
    parallel = d.attempt(id, dims[k].name + " in parallel", [&] {
      const Loop loop = groups && k == free.back() ? *groups : loop_over(d, stage, dims[k].id);
      std::vector<Loop> order{loop};
      for (const Loop& l : stage.nest(d.where))
        if (!(l == loop) && family == Family::recurrence) order.push_back(l);
      reorder(d, stage, order);
      stage.parallel(loop, d.where);
    });
  }
  if (!vectors) {
    if (family == Family::recurrence && !groups) in_wavefronts(d, id, false);
    return;
  }
  const int lanes = lanes_of(d, s);
  const Id v = dims[free.back()].id;
  // As wide as two blocks allow: within a row of a block the following lines are prefetched, but not across rows.
  const std::int64_t all = extent.value_or(INT64_MAX), width = (all > 32 * lanes ? 32 : 16) * std::max(1, lanes);
  if (!parallel && all > width && d.attempt(id, "pieces of " + dims[free.back()].name + " in parallel", [&] {
        const Split split = stage.split(loop_over(d, stage, v), width, Tail::guard, d.where);
        std::vector<Loop> order{split.outer};
        for (const Loop& l : stage.nest(d.where))
          if (!(l == split.outer) && !(l == split.inner)) order.push_back(l);
        order.push_back(split.inner);
        reorder(d, stage, order);
        stage.parallel(split.outer, d.where);
        stage.vectorize(split.inner, lanes, d.where);
        if (cost_of(s) <= short_step) stage.unroll(split.inner, 4, d.where);
      }))
    return;
  d.s.attempt([&] {
    innermost(d, stage, loop_over(d, stage, v));
    if (!vectorize(d, id, loop_over(d, stage, v), extent)) refuse("vectorize", "lanes", "none", d.where);
  });
  if (family == Family::recurrence && extent) row_in_registers(d, id, *extent);
}

}  // namespace ashlar::schedules
