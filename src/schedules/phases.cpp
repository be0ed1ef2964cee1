// Windows under a stride, of which neighbouring results have most elements in common: y(t) = sum over k of x(4 t + k) w(k).
// What a tile reads is copied once, every fourth element beside each other; then vectors of results read neighbours.
//
//   for to                              a tile of results
//     x_phases[u % 4, u / 4]            for u / 64, u % 4, lanes
//     for k / 4, k % 4 (unrolled)       the terms, in their order
//       for ti                          vectors: x_phases[k % 4, t + k / 4]
#include <algorithm>

#include "schedules/draft.h"

namespace ashlar::schedules {
namespace {

constexpr std::int64_t most_phases = 8;
constexpr double least_windows = 4;  // that an element is in

template <std::size_t N>
At<N + 1> in_phases(const std::array<Expr, N>& index, std::int64_t phases) {
  At<N + 1> to;
  std::copy(index.begin(), index.end() - 1, to.index.begin());
  to.index[N - 1] = index.back() % phases, to.index[N] = index.back() / phases;
  return to;
}

void lies_in_phases(const Stage& copy, int rank, std::int64_t n, Where where) {
  if (rank == 1) copy.transform_layout([&](Var a) { return in_phases<1>({a}, n); }, where);
  if (rank == 2) copy.transform_layout([&](Var a, Var b) { return in_phases<2>({a, b}, n); }, where);
  if (rank == 3) copy.transform_layout([&](Var a, Var b, Var c) { return in_phases<3>({a, b, c}, n); }, where);
  if (rank == 4) copy.transform_layout([&](Var a, Var b, Var c, Var e) { return in_phases<4>({a, b, c, e}, n); }, where);
}

}  // namespace

std::optional<Phases> phases_of(const Draft& d, const ir::Stage& s, Id columns) {
  std::optional<Phases> found;
  const Sizes sizes = d.sizes();
  const auto terms = reduce_of(s);
  for (const Reading& r : readings_of(d.program(), s)) {
    if (r.of_init || r.at.empty()) continue;
    const Index& last = r.at.back();
    const auto stride = last.coefficients.find(columns);
    if (stride == last.coefficients.end() || stride->second == 1 || stride->second == 0) continue;
    if (found || stride->second < 2 || stride->second > most_phases || last.bent || last.from_data || r.chosen ||
        r.at.size() > 4 || d.program().buffer(r.buffer).role != ir::Role::input)
      return std::nullopt;
    found = Phases{r.buffer, 0, stride->second};
    for (const auto& k : terms)
      if (const auto at = last.coefficients.find(k.id); at != last.coefficients.end() && at->second == 1) found->term = k.id;
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
    lies_in_phases(copy, b.rank, p.stride, d.where);
    std::vector<Loop> order = copy.nest(d.where);
    const Split runs = copy.split(order.back(), p.stride * lanes, Tail::pad, d.where);
    const Split of_run = copy.split(runs.inner, p.stride, Tail::exact, d.where);
    order.back() = runs.outer;
    order.insert(order.end(), {of_run.inner, of_run.outer});
    reorder(d, copy, order);
    copy.unroll(of_run.inner, d.where);
    if (lanes > 1) copy.vectorize(of_run.outer, d.where);
    schedule::finish(d.s.scheduled(), d.s.target());
  });
}

}  // namespace ashlar::schedules
