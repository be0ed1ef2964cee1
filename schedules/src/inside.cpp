// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loops of a stage that is computed inside others: its terms in lanes, a tile of its results, or its last dimension in
// vectors.
#include <algorithm>
#include <set>

#include "schedules/src/costs.h"
#include "schedules/src/draft.h"

namespace ashlar::schedules {
namespace {

using namespace costs::inside;
using costs::cheap_term;

// Sums of few operations on elements at arbitrary places, where the indices of neighboring results are not contiguous either:
// lanes would have to gather the indices, then the elements.
//
//   distance(i) = sum over m of table(m, codes(i, m))
bool lies_anywhere(const Draft& d, const ir::Stage& s) {
  if (!s.is_reduction() || cost_of(s) >= cheap_term) return false;
  const Id last = spatial_of(s).back().id;
  bool from_data = false;
  for (const Reading& r : readings_of(d.program(), s)) {
    if (r.of_init || r.at.empty()) continue;
    const Index& x = r.at.back();
    const auto at = x.coefficients.find(last);
    from_data = from_data || x.from_data;
    if (!x.from_data && at != x.coefficients.end() && at->second == 1) return false;
  }
  return from_data;
}

void unroll_terms(Draft& d, Id id) {
  const auto terms = reduce_of(d.stage(id));
  std::int64_t statements = 1;
  bool all = true;
  for (std::size_t k = terms.size(); k-- > 0;) {
    const auto extent = d.sizes().constant_extent(d.stage(id), terms[k].id);
    if (!extent || *extent * statements > most_terms) {
      all = false;
      break;
    }
    statements *= std::max<std::int64_t>(1, *extent);
    const Stage stage = d.handle(id);
    d.attempt(id, "", [&] { stage.unroll(loop_over(d, stage, terms[k].id), d.where); });
  }
  d.done(id, all ? "terms unrolled" : "one term after the other");
  d.why(id, "its terms lie anywhere: lanes would gather more than they add");
}

// Factors that stages compute for one product only are stored transposed if neighboring results read elements that are far
// apart: in A(i, k) B(j, k), the j of B are then in lanes.
bool turn_factors(Draft& d, Id id, Id columns) {
  const ir::Stage s = d.stage(id);
  std::set<Id> turned;
  for (const Reading& r : readings_of(d.program(), s)) {
    if (r.of_init || r.at.empty()) continue;
    const bool last = r.at.back().moves_with(columns);
    if (last && r.at.back().plain(columns)) continue;
    std::optional<std::size_t> dim;
    for (std::size_t k = 0; k + 1 < r.at.size(); ++k)
      if (r.at[k].plain(columns)) dim = k;
    const bool moves = std::any_of(r.at.begin(), r.at.end(), [&](const Index& x) { return x.moves_with(columns); });
    if (!moves) continue;
    if (last || !dim || r.at.size() > 5 || !r.producer || !d.program().buffer(r.buffer).layout.map.empty()) return false;
    const ir::Stage& factor = d.stage(r.producer);
    if (factor.buffers.size() != 1 || is_output(d.program(), factor) || !is_untouched(d.program(), factor) ||
        readers_of(d.program(), factor).size() != 1 || factor.is_recurrence() || factor.scatters() || factor.is_reduction())
      return false;
    if (!turned.insert(r.producer).second) return false;
    const std::string name = spatial_of(factor)[*dim].name;
    if (!d.attempt(r.producer, "neighbors in memory along " + name,
                   [&] { last_in_memory(d, r.producer, static_cast<int>(*dim)), d.lies_along(r.producer, *dim); }))
      return false;
  }
  return !turned.empty();
}

}  // namespace

// Rows of sums, one tile of columns after the other, each summed in registers and then stored.
void sums_of_rows(Draft& d, Id id, const Tile& tile) {
  const Stage stage = d.handle(id);
  Stage sums = stage;
  Loop inner;
  const bool apart = d.attempt(id, "", [&] {
    sums = d.s.cache_write(stage, Scope::stack, d.where);
    d.made(sums.id(), id);
    const auto of = [&](int dim) { return loop_over(d, stage, spatial_of(d.stage(id))[static_cast<std::size_t>(dim)].id); };
    const Split split = stage.split(of(tile.columns), tile.columns_by, Tail::guard, d.where);
    const Loop rows = tile.rows < 0 ? split.inner : of(tile.rows);
    std::vector<Loop> order;
    for (const Loop& l : stage.nest(d.where))
      if (!(l == split.outer) && !(l == split.inner) && !(l == rows)) order.push_back(l);
    order.push_back(split.outer);
    if (tile.rows >= 0) order.push_back(rows);
    order.push_back(split.inner);
    reorder(d, stage, order);
    sums.compute_at(split.outer, d.where);
    inner = split.inner;
  });
  accumulate(d, apart ? sums.id() : id, tile);
  if (apart) vectors_of_tile(d, id, inner, tile);
}

namespace {

// The arrays that neighboring rows read at different places.
std::int64_t arrays_of_rows(const ir::Program& p, const ir::Stage& s, Id row) {
  std::set<Id> found;
  for (const Reading& r : readings_of(p, s))
    if (!r.of_init && std::any_of(r.at.begin(), r.at.end(),
                                  [&](const Index& x) { return std::find(x.uses.begin(), x.uses.end(), row) != x.uses.end(); }))
      found.insert(r.buffer);
  return static_cast<std::int64_t>(found.size());
}

}  // namespace

// An addition takes four cycles, and two may start in each cycle, so eight sums keep the adders busy. Only four if each row
// reads several arrays, because rows of a power of two fall into one set of the first-level cache.
std::optional<Loop> rows_side_by_side(Draft& d, Id id) {
  const ir::Stage s = d.stage(id);
  const auto dims = spatial_of(s);
  const auto terms = reduce_of(s);
  if (dims.empty() || (regroups(d, s) && !gathers_little(d.program(), s))) return std::nullopt;
  const std::int64_t arrays = std::max<std::int64_t>(1, arrays_of_rows(d.program(), s, dims.back().id));
  const std::int64_t rows =
      gathers_little(d.program(), s) ? least_side_by_side : std::max(least_side_by_side, most_side_by_side / arrays);
  if (d.sizes().extent(s, dims.back().id) < static_cast<double>(2 * rows)) return std::nullopt;
  for (const ir::IterVar& k : terms)
    if (d.sizes().from_data(s, k.id) || d.sizes().extent(s, k.id) < 2 * least_side_by_side) return std::nullopt;
  if (bounds_terms(s, dims.back().id)) return std::nullopt;
  std::optional<Loop> groups;
  d.attempt(id, count(static_cast<double>(rows)) + " rows side by side, each one term after the other", [&] {
    const Stage stage = d.handle(id);
    const Split split = stage.split(loop_over(d, stage, dims.back().id), rows, Tail::guard, d.where);
    innermost(d, stage, split.inner);
    stage.unroll(split.inner, d.where);
    groups = split.outer;
  });
  return groups;
}

void rows_in_lanes(Draft& d, Id id, const Tile& tile) {
  if (!d.attempt(
          id, "rows in " + count(static_cast<double>(tile.columns_by)) + " lanes, each one term after the other",
          [&] {
            const Stage stage = d.handle(id);
            const Split rows =
                stage.split(loop_over(d, stage, spatial_of(d.stage(id)).back().id), tile.columns_by, Tail::guard, d.where);
            innermost(d, stage, rows.inner);
            stage.vectorize(rows.inner, d.where);
            schedule::finish(d.s.scheduled(), d.s.target());
          },
          "one row after the other"))
    reduce_in_lanes(d, id);
  on_stack(d, id);
}

void schedule_inside(Draft& d, Id id, Loop place, const std::optional<Tile>& tile) {
  const ir::Stage s = d.stage(id);
  const Family family = d.family(id).family;
  if (few_results_together(d, id, false)) return;
  if (s.is_reduction() && tile) {
    if (tile->packed) pack_columns(d, id, id, *tile);
    if (tile->phases) copy_phases(d, id, id, place, *tile->phases);
    return accumulate(d, id, *tile);
  }
  const auto dims = spatial_of(s);
  const bool sum = family == Family::matmul || family == Family::column_reduction;
  if (family == Family::row_reduction || family == Family::full_reduction ||
      (sum && !dims.empty() && bounds_terms(s, dims.back().id))) {  // neighbors have other terms
    if (!rows_side_by_side(d, id)) reduce_in_lanes(d, id);
    on_stack(d, id);
    return;
  }
  if (dims.empty()) return;
  if (lies_anywhere(d, s)) {
    unroll_terms(d, id);
    on_stack(d, id);
    return;
  }
  const Sizes sizes = d.sizes();
  std::size_t v = dims.size() - 1;
  while (v > 0 && sizes.constant_extent(s, dims[v].id) == 1) --v;
  const bool turned = family == Family::matmul && turn_factors(d, id, dims[v].id);
  Tile row;  // of one row of results
  row.columns = static_cast<int>(v), row.lanes = std::max(1, lanes_of(d, s));
  if (turned || (sum && reads_along_columns(d, s, row) && row.lanes > 1)) {
    row.columns_by = vectors_of_columns(sizes.constant_extent(s, dims[v].id), row.lanes) * row.lanes;
    if (turned || row.columns_by > row.lanes) return sums_of_rows(d, id, row);
  }
  if (const auto last = d.last_in_memory(id)) v = *last;
  const Stage stage = d.handle(id);
  const Id variable = dims[v].id;
  d.s.attempt([&] { innermost(d, stage, loop_over(d, stage, variable)); });
  vectorize(d, id, loop_over(d, stage, variable), d.sizes().constant_extent(d.stage(id), variable));
  few_points(d, id);
  on_stack(d, id);
}

}  // namespace ashlar::schedules
