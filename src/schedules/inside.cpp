// The loops of a stage that is computed inside of others: its terms in lanes, a tile of its results, or its last dimension in
// vectors.
#include <algorithm>
#include <set>

#include "schedules/draft.h"

namespace ashlar::schedules {
namespace {

constexpr double little = 8;             // operations
constexpr std::int64_t most_terms = 64;  // of one result, each a statement

// Sums of few operations on elements that lie anywhere, at places that neighbouring results do not read side by side either:
// lanes would gather the places, then the elements.
//
//   distance(i) = sum over m of table(m, codes(i, m))
bool lies_anywhere(const Draft& d, const ir::Stage& s) {
  if (!s.is_reduction() || cost_of(s) >= little) return false;
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

// Factors of a product that stages compute for it alone, and of which neighbouring results read elements that lie apart, lie
// the other way round: A(i, k) B(j, k) has the j of B in lanes then.
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
    if (!d.attempt(r.producer, "neighbours in memory along " + name,
                   [&] { last_in_memory(d, r.producer, static_cast<int>(*dim)), d.lies_along(r.producer, *dim); }))
      return false;
  }
  return !turned.empty();
}

// A row of a product, a tile of columns after the other, each summed in registers and then stored.
void sums_of_row(Draft& d, Id id, const Tile& row) {
  const Stage stage = d.handle(id);
  Stage sums = stage;
  Loop inner;
  const bool apart = d.attempt(id, "", [&] {
    sums = d.s.cache_write(stage, Scope::stack, d.where);
    d.made(sums.id(), id);
    const Id columns = spatial_of(d.stage(id))[static_cast<std::size_t>(row.columns)].id;
    const Split split = stage.split(loop_over(d, stage, columns), row.columns_by, Tail::guard, d.where);
    std::vector<Loop> order;
    for (const Loop& l : stage.nest(d.where))
      if (!(l == split.outer) && !(l == split.inner)) order.push_back(l);
    order.push_back(split.outer), order.push_back(split.inner);
    reorder(d, stage, order);
    sums.compute_at(split.outer, d.where);
    inner = split.inner;
  });
  accumulate(d, apart ? sums.id() : id, row);
  if (apart) vectors_of_tile(d, id, inner, row);
}

// Sums that keep their order wait for the term before: those of several rows go on side by side. So do those whose lanes would
// be gathered.
bool rows_side_by_side(Draft& d, Id id) {
  constexpr std::int64_t rows = 4;
  const ir::Stage s = d.stage(id);
  const auto dims = spatial_of(s);
  const auto terms = reduce_of(s);
  if (dims.empty() || (regroups(d, s) && !gathers_little(d.program(), s)) || d.sizes().extent(s, dims.back().id) < 2 * rows)
    return false;
  for (const ir::IterVar& k : terms)
    if (d.sizes().from_data(s, k.id) || d.sizes().extent(s, k.id) < 2 * rows) return false;
  if (bounds_terms(s, dims.back().id)) return false;
  return d.attempt(id, count(static_cast<double>(rows)) + " rows side by side, each one term after the other", [&] {
    const Stage stage = d.handle(id);
    const Split split = stage.split(loop_over(d, stage, dims.back().id), rows, Tail::guard, d.where);
    std::vector<Loop> order;
    for (const Loop& l : stage.nest(d.where))
      if (!(l == split.inner)) order.push_back(l);
    order.push_back(split.inner);
    reorder(d, stage, order);
    stage.unroll(split.inner, d.where);
  });
}

}  // namespace

void schedule_inside(Draft& d, Id id, Loop place, const std::optional<Tile>& tile) {
  const ir::Stage s = d.stage(id);
  const Family family = d.family(id).family;
  if (few_results_together(d, id, false)) return;
  if (s.is_reduction() && tile) {
    if (tile->packed) pack_columns(d, id, id, *tile);
    if (tile->phases) copy_phases(d, id, id, place, *tile->phases);
    return accumulate(d, id, *tile);
  }
  if (s.is_reduction() && (family == Family::row_reduction || family == Family::full_reduction)) {
    if (!rows_side_by_side(d, id)) reduce_in_lanes(d, id);
    on_stack(d, id);
    return;
  }
  const auto dims = spatial_of(s);
  if (dims.empty()) return;
  if (lies_anywhere(d, s)) {
    unroll_terms(d, id);
    on_stack(d, id);
    return;
  }
  const Sizes sizes = d.sizes();
  std::size_t v = dims.size() - 1;
  while (v > 0 && sizes.constant_extent(s, dims[v].id) == 1) --v;
  if (family == Family::product && turn_factors(d, id, dims[v].id)) {
    const std::int64_t lanes = std::max(1, lanes_of(d, s));
    const auto extent = sizes.constant_extent(s, dims[v].id).value_or(4 * lanes);
    Tile row;  // of one row of results
    row.columns = static_cast<int>(v);
    row.columns_by = std::clamp<std::int64_t>((extent + lanes - 1) / lanes, 1, 4) * lanes;
    return sums_of_row(d, id, row);
  }
  if (const auto last = d.last_in_memory(id)) v = *last;
  const Stage stage = d.handle(id);
  const Id variable = dims[v].id;
  d.s.attempt([&] {
    std::vector<Loop> order;
    for (const Loop& l : stage.nest(d.where))
      if (!(l == loop_over(d, stage, variable))) order.push_back(l);
    order.push_back(loop_over(d, stage, variable));
    reorder(d, stage, order);
  });
  vectorize(d, id, loop_over(d, stage, variable), d.sizes().constant_extent(d.stage(id), variable));
  few_points(d, id);
  on_stack(d, id);
}

}  // namespace ashlar::schedules
