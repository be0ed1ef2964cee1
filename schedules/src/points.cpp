// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Short rows: reductions with too few terms to fill a vector, or with a reducer that keeps their order. Neighboring points are
// in lanes, and each lane reduces its own terms in order, so no bit differs.
//
//   for io                            16 points
//     x_rows, x_turned                rows of x, copied as they lie and transposed: x_turned[d, i]
//     distance: for j                 what is computed for these points alone, its points neighbors in memory
//       for d  (unrolled)
//         for ii  (lanes)
//     nearest: for j, for ii (lanes)
//
// Without the copies, lanes would be gathered one element at a time.
#include <algorithm>

#include <ashlar/instructions/shuffles.h>

#include "schedules/src/costs.h"
#include "schedules/src/draft.h"

namespace ashlar::schedules {
namespace {

using namespace costs::points;

std::int64_t lanes_of_points(const Draft& d, const ir::Stage& s) {
  return std::max(1, d.s.target().lanes(d.program().buffer(s.buffers.front()).type));
}

// The number of terms in all loops, if it is constant.
std::optional<std::int64_t> number_of_terms(const Draft& d, const ir::Stage& s) {
  std::int64_t n = 1;
  for (const auto& v : reduce_of(s)) {
    const auto extent = d.sizes().constant_extent(s, v.id);
    if (!extent) return std::nullopt;
    n *= std::max<std::int64_t>(1, *extent);
  }
  return n;
}

// An input of which each point reads a row, x(.., i, k): the rows of neighboring points form a small matrix.
struct Rows {
  Id buffer = 0;
  std::int64_t terms = 0;
};
std::vector<Rows> rows_read(const Draft& d, const ir::Stage& s, Id point) {
  std::vector<Rows> found;
  const auto readings = readings_of(d.program(), s);
  const Sizes sizes = d.sizes();
  std::set<Id> otherwise;
  for (const Reading& r : readings) {
    const ir::Buffer& b = d.program().buffer(r.buffer);
    const auto n = r.at.size();
    bool rows = n == 2 && b.role == ir::Role::input && !r.of_init && !r.chosen && b.type.lanes == 1 && r.at[0].plain(point);
    std::int64_t terms = 0;
    if (rows && r.at[1].coefficients.size() == 1) {
      const Id along = r.at[1].coefficients.begin()->first;
      terms = sizes.constant_extent(s, along).value_or(0);
      rows = r.at[1].plain(along) && along != point && terms > 1 && terms <= widest_turned;
    } else {
      rows = false;
    }
    if (!rows)
      otherwise.insert(r.buffer);
    else if (std::none_of(found.begin(), found.end(), [&](const Rows& x) { return x.buffer == r.buffer; }))
      found.push_back({r.buffer, terms});
  }
  std::erase_if(found, [&](const Rows& x) { return otherwise.count(x.buffer) > 0; });
  return found;
}

}  // namespace

bool takes_points(Draft& d, const ir::Stage& s) {
  if (!s.is_reduction() || s.scatters() || s.is_recurrence() || d.s.target().is_gpu() || d.s.target().has("sve") ||
      d.family(s.id).family != Family::row_reduction)
    return false;
  const auto dims = spatial_of(s);
  const std::int64_t lanes = lanes_of_points(d, s);
  const auto terms = number_of_terms(d, s);
  if (dims.empty() || !terms || *terms < 2 || *terms > costs::points::few_terms || lanes < 4) return false;
  if (regroups(d, s) && s.values.size() == 1 && *terms >= lanes_of(d, s)) return false;  // the terms fill vectors
  return d.sizes().extent(s, dims.back().id) >= static_cast<double>(2 * lanes);
}

Tile points_of(Draft& d, const ir::Stage& s) {
  Tile t;
  t.columns = static_cast<int>(spatial_of(s).size()) - 1, t.columns_by = lanes_of_points(d, s);
  return t;
}

void turn_rows(Draft& d, Id id, Id told, Loop place, std::size_t dim, std::int64_t points) {
  const Id point = spatial_of(d.stage(id))[dim].id;
  for (const Rows& x : rows_read(d, d.stage(id), point)) {
    const ir::Buffer& b = d.program().buffer(x.buffer);
    const Type type = b.type;
    const std::int64_t width = std::min<std::int64_t>(x.terms, std::max(1, d.s.target().lanes(type)));
    d.attempt(told, "rows of " + b.name + " transposed, " + count(static_cast<double>(points)) + " at a time", [&] {
      const Stage reader = d.handle(id);
      const Tensor source = tensor_of(d.s, x.buffer, d.where);
      const Stage rows = d.s.cache_read(source, {reader}, Scope::stack, 0, d.where);
      const Stage turned = d.s.cache_read(rows, {reader}, Scope::stack, d.where);
      turned.compute_at(place, d.where);
      turned.transform_layout([&](Var i, Var k) { return at(k, i); }, d.where);
      const auto [i, k] = turned.spatial<2>(d.where);
      const Split of_points = turned.split(i, points, Tail::pad, d.where),
                  of_terms = turned.split(k, width, Tail::pad, d.where);
      turned.reorder({of_points.outer, d.where}, of_terms.outer, of_terms.inner, of_points.inner);
      rows.compute_at(of_terms.outer, d.where);
      rows.vectorize(rows.spatial<2>(d.where)[1], d.where);
      turned.tensorize(of_terms.inner, shuffles::transpose(type, static_cast<int>(points), static_cast<int>(width)), d.where);
      schedule::finish(d.s.scheduled(), d.s.target());
    });
  }
}

void points_inside(Draft& d, Id id, Loop place, std::size_t dim, std::int64_t points) {
  const ir::Stage s = d.stage(id);
  const auto dims = spatial_of(s);
  turn_rows(d, id, id, place, dim, points);
  d.attempt(id, "", [&] { last_in_memory(d, id, static_cast<int>(dim)); }, "");
  if (s.is_reduction()) {
    Tile t;
    t.columns = static_cast<int>(dim), t.columns_by = points;
    return accumulate(d, id, t);
  }
  const Stage stage = d.handle(id);
  d.s.attempt([&] {
    std::vector<Loop> order;
    const Loop along = loop_over(d, stage, dims[dim].id);
    for (const Loop& l : stage.nest(d.where))
      if (!(l == along)) order.push_back(l);
    order.push_back(along);
    reorder(d, stage, order);
  });
  vectorize(d, id, loop_over(d, stage, dims[dim].id), std::nullopt);
  on_stack(d, id);
}

}  // namespace ashlar::schedules
