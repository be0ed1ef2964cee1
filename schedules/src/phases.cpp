// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Strided windows in which neighboring results share most elements: y(t) = sum over k of x(4 t + k) w(k). The elements that a
// tile reads are copied once, with every fourth element contiguous, so that vectors of results read neighbors.
//
//   for to                              a tile of results
//     x_phases[u % 4, u / 4]            for u / 64, u % 4, lanes
//     for k / 4, k % 4 (unrolled)       the terms, in their order
//       for ti                          vectors: x_phases[k % 4, t + k / 4]
//
// The points of a row may have a few values each, x(4 t + k, c). A phase then consists of points with their values, x_phases[u
// % 4, u / 4, c].
#include <algorithm>

#include "schedules/src/costs.h"
#include "schedules/src/draft.h"

namespace ashlar::schedules {
namespace {

using namespace costs::phases;

// `dim`: the one that is taken apart.
template <std::size_t N>
At<N + 1> in_phases(const std::array<Expr, N>& index, std::size_t dim, std::int64_t phases) {
  At<N + 1> to;
  std::copy(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(dim), to.index.begin());
  to.index[dim] = index[dim] % phases, to.index[dim + 1] = index[dim] / phases;
  std::copy(index.begin() + static_cast<std::ptrdiff_t>(dim) + 1, index.end(),
            to.index.begin() + static_cast<std::ptrdiff_t>(dim) + 2);
  return to;
}

void lies_in_phases(const Stage& copy, int rank, std::size_t dim, std::int64_t n, Where where) {
  if (rank == 1) copy.transform_layout([&](Var a) { return in_phases<1>({a}, dim, n); }, where);
  if (rank == 2) copy.transform_layout([&](Var a, Var b) { return in_phases<2>({a, b}, dim, n); }, where);
  if (rank == 3) copy.transform_layout([&](Var a, Var b, Var c) { return in_phases<3>({a, b, c}, dim, n); }, where);
  if (rank == 4) copy.transform_layout([&](Var a, Var b, Var c, Var e) { return in_phases<4>({a, b, c, e}, dim, n); }, where);
}

}  // namespace

std::optional<Phases> phases_of(const Draft& d, const ir::Stage& s, Id columns, std::int64_t values) {
  std::optional<Phases> found;
  const Sizes sizes = d.sizes();
  const auto terms = reduce_of(s);
  const std::size_t behind = values > 1 ? 1 : 0;  // the column in an index
  for (const Reading& r : readings_of(d.program(), s)) {
    if (r.of_init || r.at.size() <= behind) continue;
    const Index& at = r.at[r.at.size() - 1 - behind];
    const auto stride = at.coefficients.find(columns);
    if (stride == at.coefficients.end() || stride->second == 1 || stride->second == 0) continue;
    if (found || stride->second < 2 || stride->second > most_phases || at.bent || at.from_data || r.chosen || r.at.size() > 4 ||
        d.program().buffer(r.buffer).role != ir::Role::input)
      return std::nullopt;
    found = Phases{r.buffer, 0, stride->second, values};
    for (const auto& k : terms)
      if (const auto one = at.coefficients.find(k.id); one != at.coefficients.end() && one->second == 1) found->term = k.id;
    if (!found->term || sizes.extent(s, found->term) < least_windows * static_cast<double>(stride->second)) return std::nullopt;
  }
  return found;
}

void copy_phases(Draft& d, Id id, Id told, Loop place, const Phases& p) {
  const ir::Buffer b = d.program().buffer(p.buffer);
  const int lanes = std::max(1, d.s.target().lanes(b.type));
  d.attempt(told, b.name + " copied in " + count(static_cast<double>(p.stride)) + " phases", [&] {
    const Stage copy = d.s.cache_read(tensor_of(d.s, p.buffer, d.where), {d.handle(id)}, Scope::stack, 0, d.where);
    copy.compute_at(place, d.where);
    std::vector<Loop> order = copy.nest(d.where);
    const std::size_t dim = order.size() - (p.values > 1 ? 2 : 1);
    lies_in_phases(copy, b.rank, dim, p.stride, d.where);
    const Split runs = copy.split(order[dim], p.stride * lanes, Tail::pad, d.where);
    const Split of_run = copy.split(runs.inner, p.stride, Tail::exact, d.where);
    order[dim] = runs.outer;
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(dim) + 1, {of_run.inner, of_run.outer});
    reorder(d, copy, order);
    copy.unroll(of_run.inner, d.where);
    const Loop neighbors = p.values > 1 ? copy.fuse(of_run.outer, order.back(), d.where) : of_run.outer;
    if (lanes > 1) copy.vectorize(neighbors, d.where);
    schedule::finish(d.s.scheduled(), d.s.target());
  });
}

}  // namespace ashlar::schedules
