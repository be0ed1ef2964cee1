// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions inside the steps of a recurrence: a triangular solve, a factorization, a table filled from all earlier cells.
//
//   for ro (pool)                              pieces of what is free of the order
//     for t                                    the steps
//       x_sum: for k; 4 vectors along r        sums of a piece in registers
//       for r (lanes)
//
// If no contiguous dimension is independent of the order, the terms are in lanes.
#include <algorithm>

#include <ashlar/ir/recurrence.h>
#include <ashlar/schedules/lanes.h>

#include "schedules/src/costs.h"
#include "schedules/src/inside_steps.h"

namespace ashlar::schedules {
namespace {

using namespace costs::steps;
using costs::worth_parallel;

// Whether the variable moves the last index of a read by one.
bool steps_along(const Reading& r, Id variable) {
  if (r.of_init || r.at.empty()) return false;
  const auto at = r.at.back().coefficients.find(variable);
  return at != r.at.back().coefficients.end() && at->second == 1;
}
bool reads_along(const ir::Program& p, const ir::Stage& s, Id variable) {
  const auto all = readings_of(p, s);
  return std::any_of(all.begin(), all.end(), [&](const Reading& r) { return steps_along(r, variable); });
}

}  // namespace

bool only_along(const ir::Program& p, const ir::Stage& s, Id variable) {
  for (const Reading& r : readings_of(p, s))
    for (std::size_t k = 0; k < r.at.size(); ++k)
      if (const auto& uses = r.at[k].uses; std::find(uses.begin(), uses.end(), variable) != uses.end())
        if (k + 1 < r.at.size() || !steps_along(r, variable)) return false;
  return reads_along(p, s, variable);
}

bool follows(const ir::Stage& recurrence, Id variable, const ir::Stage& s, std::size_t dim) {
  bool found = false, other = false;
  for (const Expr& value : recurrence.values)
    ir::walk(value, [&](const Expr& e) {
      if (ir::is(e, ir::Op::load) && std::find(s.buffers.begin(), s.buffers.end(), e.node()->id) != s.buffers.end()) {
        const Expr& at = ir::args_of(e)[dim];
        (ir::is(at, ir::Op::var) && at.node()->id == variable ? found : other) = true;
      }
      return true;
    });
  return found && !other;
}

bool one_point(const Draft& d, const ir::Stage& s, Id variable) {
  for (const ir::Root& r : ir::nests_of(d.program(), s.id).front()->get<ir::NestStmt>().roots) {
    if (r.iter != variable) continue;
    ir::Substitution late;  // loops around, of which sizes take 0
    for (const Id v : ir::free_vars(r.extent))
      if (!d.program().symbols.count(v)) late.emplace_back(v, ir::index(64));
    return d.sizes().of(r.extent) <= 1 && d.sizes().of(ir::substitute(r.extent, late)) <= 1;
  }
  return false;
}

namespace {

// The last dimension of a stage, if a step computes many points along it and they are contiguous.
std::optional<std::size_t> columns_of(const Draft& d, const ir::Stage& s) {
  const auto nests = ir::nests_of(d.program(), s.id);
  if (nests.size() != 1) return {};
  for (std::size_t k = spatial_of(s).size(); k-- > 0;)
    if (!bounds_terms(s, s.iters[k].id) && !one_point(d, s, s.iters[k].id) && reads_along(d.program(), s, s.iters[k].id))
      return k;
  return {};
}

// The last dimension along which a step computes many points.
std::optional<std::size_t> last_of_many(const Draft& d, const ir::Stage& s) {
  for (std::size_t k = spatial_of(s).size(); k-- > 0;)
    if (!one_point(d, s, s.iters[k].id)) return k;
  return {};
}

// The dimension of an elementwise stage that should be contiguous: if only one reduction reads it, with terms along the last
// dimension and results in lanes along another one, that other one.
//
//   w(b, o) = f(x(b), x(o));  pull(b) = sum over j of w(b, j) ..       in lanes along b, so that w lies as w(o, b)
std::size_t beside(const Draft& d, const ir::Stage& s, std::size_t last) {
  const std::vector<Id> readers = readers_of(d.program(), s);
  if (readers.size() != 1 || !d.stage(readers.front()).is_reduction() || s.spatial_rank() > 5) return last;
  const ir::Stage& reader = d.stage(readers.front());
  const auto columns = columns_of(d, reader);
  if (!columns) return last;
  std::optional<std::size_t> found;
  for (const Reading& r : readings_of(d.program(), reader)) {
    if (r.producer != s.id) continue;
    for (std::size_t k = 0; k < r.at.size(); ++k) {
      const bool moves = r.at[k].moves_with(reader.iters[*columns].id);
      if (moves && (r.of_init || k == last || !r.at[k].plain(reader.iters[*columns].id) || found.value_or(k) != k)) return last;
      if (moves) found = k;
    }
  }
  if (!found) return last;
  const Id variable = s.iters[*found].id;  // along which what the stage itself reads must not lie apart
  for (const Reading& r : readings_of(d.program(), s))
    for (std::size_t k = 0; k < r.at.size(); ++k)
      if (r.at[k].moves_with(variable) && (k + 1 < r.at.size() || !steps_along(r, variable))) return last;
  return *found;
}

// An elementwise stage, with neighbors in lanes.
void points_of_a_step(Draft& d, Id id) {
  const ir::Stage s = d.stage(id);
  const auto last = last_of_many(d, s);
  if (!last) return;
  const Stage stage = d.handle(id);
  std::size_t lanes = beside(d, s, *last);
  const Id variable = s.iters[lanes].id;
  if (lanes != *last && !d.attempt(id, "neighbors along " + s.iters[lanes].name, [&] {
        const Loop inner = loop_over(d, stage, variable);
        std::vector<Loop> order;
        for (std::size_t k = lanes + 1; k < spatial_of(s).size(); ++k) order.push_back(loop_over(d, stage, s.iters[k].id));
        order.push_back(inner);
        reorder(d, stage, order);
        lies_last(stage, s.spatial_rank(), static_cast<int>(lanes), d.where);
      }))
    lanes = *last;
  vectorize(d, id, loop_over(d, stage, s.iters[lanes].id), d.sizes().constant_extent(s, s.iters[lanes].id));
  few_points(d, id);
}

// A short dimension next to the columns: results along it share the loads along the columns.
std::optional<std::size_t> rows_beside(const Draft& d, const ir::Stage& s, std::size_t columns) {
  const auto all = readings_of(d.program(), s);
  for (std::size_t k = 0; k < spatial_of(s).size(); ++k) {
    const auto extent = d.sizes().constant_extent(s, s.iters[k].id);
    if (k == columns || !extent || *extent < 2 || *extent > most_rows_beside || one_point(d, s, s.iters[k].id)) continue;
    const auto uses = [&](const Reading& r, Id v) {
      return std::any_of(r.at.begin(), r.at.end(),
                         [&](const Index& x) { return std::find(x.uses.begin(), x.uses.end(), v) != x.uses.end(); });
    };
    if (std::any_of(all.begin(), all.end(),
                    [&](const Reading& r) { return uses(r, s.iters[columns].id) && !uses(r, s.iters[k].id); }))
      return k;
  }
  return {};
}

// For sums of neighbors: as many vectors, and rows, as the registers hold.
Tile tile_along(const Draft& d, const ir::Stage& s, std::size_t columns) {
  const auto extent = d.sizes().constant_extent(s, s.iters[columns].id);
  const std::int64_t lanes = lanes_for(extent, std::max(1, d.s.target().lanes(d.program().buffer(s.buffers.front()).type)));
  Tile tile;
  tile.columns = static_cast<int>(columns), tile.lanes = lanes;
  tile.columns_by = vectors_of_columns(extent, lanes) * lanes;
  if (const auto rows = rows_beside(d, s, columns)) {
    tile.rows = static_cast<int>(*rows), tile.rows_by = d.sizes().constant_extent(s, s.iters[*rows].id).value();
    const std::int64_t room = d.s.target().vector_registers() / 2 / tile.rows_by;
    tile.columns_by = std::min(tile.columns_by, std::max<std::int64_t>(1, room) * lanes);
  }
  return tile;
}

// Sums of neighbors, in their own tile, which is copied when it is complete. So its last vectors may have spare lanes.
//
//   for jo
//     sums[0 .. 64) = 0
//     for k: sums[0 .. 64) += ..
//     for ji: y[jo * 64 + ji] = sums[ji]
void columns_in_tiles(Draft& d, Id id, const Tile& tile) {
  const std::int64_t lanes = tile.lanes;
  std::optional<Stage> sums;
  d.attempt(id, "tiles of their own", [&] {
    const Stage stage = d.handle(id), made = d.s.cache_write(stage, Scope::stack, d.where);
    const Stage copy = d.handle(id);
    const Split split = copy.split(loop_over(d, copy, spatial_of(d.stage(id))[static_cast<std::size_t>(tile.columns)].id),
                                   tile.columns_by, Tail::guard, d.where);
    std::vector<Loop> order;
    const Loop row =
        tile.rows < 0 ? split.inner : loop_over(d, copy, d.stage(id).iters[static_cast<std::size_t>(tile.rows)].id);
    for (const Loop& l : copy.nest(d.where))
      if (!(l == split.outer) && !(l == split.inner) && !(l == row)) order.push_back(l);
    order.push_back(split.outer);
    if (tile.rows >= 0) order.push_back(row);
    order.push_back(split.inner);
    reorder(d, copy, order);
    made.compute_at(split.outer, d.where);
    Loop lane = split.inner;
    if (tile.columns_by > lanes) {
      const Split halves = copy.split(lane, lanes, Tail::exact, d.where);
      copy.unroll(halves.outer, d.where);
      lane = halves.inner;
    }
    if (lanes > 1) copy.vectorize(lane, d.where);
    sums = made;
  });
  if (sums) d.made(sums->id(), id);
  accumulate(d, sums ? sums->id() : id, tile);
}

// The last dimension of a reduction with many results that have the same terms, in one loop.
std::optional<std::size_t> results_of_same_terms(const Draft& d, const ir::Stage& s, std::int64_t least) {
  const auto terms = reduce_of(s);
  const auto last = last_of_many(d, s);
  if (!last || terms.size() != 1) return {};
  if (d.sizes().constant_extent(s, s.iters[*last].id).value_or(INT64_MAX) < least) return {};
  if (bounds_terms(s, s.iters[*last].id)) return {};
  return last;
}

// Results that add their terms in order are interleaved, so that several proceed while each waits for its last sum.
bool results_side_by_side(Draft& d, Id id) {
  const ir::Stage s = d.stage(id);
  const auto last = results_of_same_terms(d, s, results_together);
  if (!last) return false;
  const ir::IterVar& row = s.iters[*last];
  return d.attempt(id, count(static_cast<double>(results_together)) + " results side by side along " + row.name, [&] {
    const Stage stage = d.handle(id);
    const Split rows = stage.split(loop_over(d, stage, row.id), results_together, Tail::peel, d.where);
    std::vector<Loop> order{rows.outer};
    for (std::size_t k = *last + 1; k < s.iters.size(); ++k) order.push_back(loop_over(d, stage, s.iters[k].id));
    order.push_back(rows.inner);
    reorder(d, stage, order);
    stage.unroll(rows.inner, d.where);
  });
}

// For a reduction with several values, a step computes one tile at a time and reads it at once.
//
//   for t
//     for jo
//       best[0 .. 64) over all k
//       for ji: y[t, jo * 64 + ji] = f(best[ji])
std::optional<Id> tiles_of_a_step(Draft& d, Id recurrence, std::size_t last,
                                  const std::vector<std::pair<Id, std::optional<std::size_t>>>& inside) {
  const ir::Stage s = d.stage(recurrence);
  const ir::IterVar v = s.iters[last];
  for (const auto& [id, columns] : inside) {
    const ir::Stage r = d.stage(id);
    if (!columns || r.buffers.size() < 2 || readers_of(d.program(), r).size() != 1 || !follows(s, v.id, r, *columns)) continue;
    const std::int64_t lanes = std::max(1, d.s.target().lanes(d.program().buffer(r.buffers.front()).type));
    Tile tile;
    tile.columns = static_cast<int>(*columns);
    tile.columns_by = vectors_of_columns(d.sizes().constant_extent(s, v.id), lanes) * lanes;
    const int own = lanes_of(d, s);
    if (own < 2 || tile.columns_by % own != 0) continue;
    if (!d.attempt(recurrence, "tiles of " + count(static_cast<double>(tile.columns_by)) + " along " + v.name, [&] {
          const Stage stage = d.handle(recurrence);
          const Split split = stage.split(loop_over(d, stage, v.id), tile.columns_by, Tail::guard, d.where);
          d.handle(id).compute_at(split.outer, d.where);
          stage.vectorize(split.inner, own, d.where);
        }))
      continue;
    accumulate(d, id, tile);
    return id;
  }
  return {};
}

// Whether a reduction starts from elements instead of a number.
bool starts_from_elements(const ir::Program& p, const ir::Stage& s) {
  const auto all = readings_of(p, s);
  return std::any_of(all.begin(), all.end(), [](const Reading& r) { return r.of_init; });
}

// Terms in lanes, for several results at once: the sum of a single result is short compared with adding its lanes.
bool lanes_side_by_side(Draft& d, Id id) {
  const ir::Stage s = d.stage(id);
  const auto last = results_of_same_terms(d, s, rows_of_lanes);
  const int lanes = lanes_of(d, s);
  if (!last || lanes < 2 || !regroups(d, s) || starts_from_elements(d.program(), s)) return false;
  const Id terms = reduce_of(s).front().id;
  if (!only_along(d.program(), s, terms)) return false;
  return d.attempt(
      id, count(static_cast<double>(rows_of_lanes)) + " results at once, each in a vector of " + std::to_string(lanes), [&] {
        const Stage stage = d.handle(id);
        const Split rows = stage.split(loop_over(d, stage, s.iters[*last].id), rows_of_lanes, Tail::guard, d.where);
        const detail::InterleavedRows together{rows_of_lanes, rows.outer, rows.inner, *last};
        if (!detail::reduce_in_lanes(d.s, stage, rows.inner, loop_over(d, stage, terms), lanes, 1, d.where, together))
          refuse("reduce_in_lanes", "a reduction whose lanes have sums of their own", s.name, d.where);
        schedule::finish(d.s.scheduled(), d.s.target());
      });
}

// Whether a select depends on the variable.
bool chooses_by(const ir::Stage& s, Id variable) {
  bool found = false;
  for (const Expr& value : s.values)
    ir::walk(value, [&](const Expr& e) {
      found = found || (ir::is(e, ir::Op::select) && ir::uses_var(ir::args_of(e)[0], variable));
      return !found;
    });
  return found;
}

// Elements that a step stores far apart, each with divisions or functions: computed in lanes, stored one by one.
void points_apart(Draft& d, Id recurrence) {
  const ir::Stage s = d.stage(recurrence);
  if (cost_of(s) < worth_storing_apart) return;
  for (std::size_t k = spatial_of(s).size(); k-- > 0;) {
    if (std::find(s.along.begin(), s.along.end(), k) != s.along.end()) continue;
    if (chooses_by(s, s.iters[k].id)) return;  // lanes that are left out
    d.s.attempt([&] {
      const Stage stage = d.handle(recurrence);
      if (!vectorize(d, recurrence, loop_over(d, stage, s.iters[k].id), d.sizes().constant_extent(s, s.iters[k].id)))
        refuse("vectorize", "lanes", "none", d.where);
    });
    return;
  }
}

// Whether lanes of terms would be refused, would each have to start from elements, or would be too few to pay for adding them.
bool waits_in_lanes(const Draft& d, const ir::Stage& s) {
  return !regroups(d, s) || lanes_of(d, s) <= few_lanes || !only_along(d.program(), s, reduce_of(s).back().id) ||
         starts_from_elements(d.program(), s);
}

// Terms that are neighbors in memory; of a minimum or maximum, which takes several operations a term, in one factor at least.
bool terms_in_lanes(const ir::Program& p, const ir::Stage& s) {
  const Id terms = reduce_of(s).back().id;
  const bool chooses = s.reducer.kind == ir::ReducerKind::minimum || s.reducer.kind == ir::ReducerKind::maximum;
  return chooses ? reads_along(p, s, terms) : only_along(p, s, terms);
}

}  // namespace

bool is_fresh(const ir::Program& p, const ir::Stage& s) {
  if (!s.is_recurrence()) return is_untouched(p, s);
  const auto nests = ir::nests_of(p, s.id);
  if (nests.size() != 1 || ir::path_to(p, nests.front()->id).size() != 1) return false;
  bool fresh = true;
  ir::walk(nests.front()->body(), [&](const ir::Stmt& x) {
    if (const ir::LoopStmt* loop = x.as<ir::LoopStmt>())
      fresh = fresh && loop->kind == ir::LoopKind::serial && p.axis(loop->axis).origin == ir::Axis::Origin::root;
  });
  return fresh;
}

void schedule_steps(Draft& d, Id recurrence) {
  const ir::Stage s = d.stage(recurrence);
  const auto dims = spatial_of(s);
  const std::size_t last = dims.size() - 1;
  const bool free = std::find(s.along.begin(), s.along.end(), last) == s.along.end();
  const auto extent = d.sizes().constant_extent(s, dims[last].id);
  const std::int64_t lanes = lanes_for(extent, std::max(1, lanes_of(d, s)));
  bool pieces = false;
  std::vector<std::pair<Id, std::optional<std::size_t>>> inside;
  for (const Id id : ir::stages_inside(d.program(), s)) {
    const ir::Stage& r = d.stage(id);
    if (!r.is_reduction() || r.scatters()) continue;
    const auto columns = columns_of(d, r);
    pieces = pieces || (free && columns && follows(s, dims[last].id, r, *columns));
    inside.emplace_back(id, columns);
  }
  const Stage stage = d.handle(recurrence);
  Id held = 0;  // in tiles of the step
  if (pieces) {
    std::optional<Split> split;
    const bool one = extent && *extent <= 4 * lanes;  // piece
    if (!one)
      d.attempt(recurrence, "pieces of " + count(static_cast<double>(4 * lanes)) + " along " + dims[last].name, [&] {
        // What is between the steps stands in the way of a loop that leaves them: it goes in and comes back.
        const Loop steps = loop_over(d, stage, dims[s.along.back()].id);
        const Split made = stage.split(loop_over(d, stage, dims[last].id), 4 * lanes, Tail::guard, d.where);
        const auto all = ir::stages_inside(d.program(), d.stage(recurrence));  // producers first
        for (std::size_t k = all.size(); k-- > 0;) d.handle(all[k]).compute_at(made.inner, d.where);
        std::vector<Loop> order{made.outer};
        for (const Loop& l : stage.nest(d.where))
          if (!(l == made.outer) && !(l == made.inner)) order.push_back(l);
        order.push_back(made.inner);
        reorder(d, stage, order);
        for (const Id id : all) d.handle(id).compute_at(steps, d.where);
        split = made;
      });
    if (split && d.options.parallel && d.most().points(s) * cost_of(s) >= worth_parallel)
      d.attempt(recurrence, "these pieces in parallel", [&] { stage.parallel(split->outer, d.where); });
    if (const auto tiled = split ? std::nullopt : tiles_of_a_step(d, recurrence, last, inside))
      held = *tiled;
    else if (lanes > 1)
      d.attempt(recurrence, "vectors of " + count(static_cast<double>(lanes)) + " along " + dims[last].name, [&] {
        stage.vectorize(split ? split->inner : loop_over(d, stage, dims[last].id), static_cast<int>(lanes), d.where);
      });
  } else {
    rows_of_steps(d, recurrence);
    if (free) vectorize(d, recurrence, loop_over(d, stage, dims[last].id), d.sizes().constant_extent(s, dims[last].id));
  }
  for (const Id id : ir::stages_inside(d.program(), d.stage(recurrence)))
    if (const ir::Stage& r = d.stage(id); !r.is_reduction() && !r.scatters() && !r.is_recurrence()) points_of_a_step(d, id);
  if (!free) points_apart(d, recurrence);
  for (const auto& [id, columns] : inside) {
    if (id == held) continue;
    const ir::Stage r = d.stage(id);
    const auto fixed = reduce_of(r).empty() ? std::nullopt : d.sizes().constant_extent(r, reduce_of(r).back().id);
    // Of all earlier steps one has half of them, in the mean.
    const double terms = fixed ? static_cast<double>(*fixed) : d.sizes().extent(s, dims[s.along.back()].id) / 2;
    if (columns)
      columns_in_tiles(d, id, tile_along(d, r, *columns));
    else if (!free && sums_ahead(d, recurrence, id))
      d.why(id, "terms of earlier blocks are there when a block begins");
    else if (lanes_side_by_side(d, id))
      d.why(id, "each sum waits for the one before");
    else if (const auto results = waits_in_lanes(d, r) ? results_of_same_terms(d, r, results_together) : std::nullopt;
             results && turn_matrix(d, recurrence, id, tile_along(d, r, *results)))
      columns_in_tiles(d, id, tile_along(d, r, *results));
    else if (waits_in_lanes(d, r) && results_side_by_side(d, id))
      d.why(id, "each sum waits for the one before");
    else if (terms_in_lanes(d.program(), r))
      reduce_in_lanes(d, id, terms);
  }
  few_points(d, recurrence);
  keep_steps(d, recurrence);
}

}  // namespace ashlar::schedules
