// fresh/epidemic.cpp: an epidemic (SIR) in regions that travelers connect, each to its own number of others: who is infected
// on every day, the day of each region's peak, and the share of its people that were spared.
#include "bench/programs/program.h"

namespace {
std::vector<std::int32_t> offsets(int regions) {
  std::mt19937_64 engine(19);
  std::vector<std::int32_t> first{0};
  for (int r = 0; r < regions; ++r) first.push_back(first.back() + static_cast<std::int32_t>(engine() % 17));
  return first;
}
}  // namespace

PROGRAM(p) {
  const std::vector<std::int32_t> offset = offsets(395);
  const Symbol R = p.size("R", 395, {.min = 1}), T = p.size("T", 150, {.min = 1}), Z = p.size("Z", offset.back());
  const Tensor first = p.in("first", i32, {R + 1}, numbers(offset)), near = p.in("near", i32, {Z}, integers(0, 395));
  const Tensor travel = p.in("travel", f64, {Z}, uniform(0, 0.05)), people = p.in("people", f64, {R}, uniform(1e4, 1e6)),
               rate = p.in("rate", f64, {T}, uniform(0.2, 0.45)), seeds = p.in("seeds", f64, {R}, uniform(0, 20));
  const auto course = recur(
      "course", {T, R}, Along{0}, Lag{1}, [&](Var, Var r) { return values(people(r) - seeds(r), seeds(r)); },
      [&](Prior y, Var t, Var r) {
        const Tensor share =
            compute("share", {Range{Expr(1), T}, R}, [&](Var day, Var s) { return y[1](day - 1, s) / people(s); });
        const Tensor carried = compute("carried", {Range{Expr(1), T}, R}, [&](Var day, Var s) {
          const Axis e{"e", in_range(first(s), 0, Z + 1), in_range(first(s + 1), 0, Z + 1)};
          return sum(travel(e) * share(day, in_range(near(e), 0, R)), e);
        });
        const Expr open = y[0](t - 1, r), ill = y[1](t - 1, r);
        const Expr caught = min(open * rate(t) * (0.8 * share(t, r) + carried(t, r)), open);
        return values(open - caught, ill + caught - 0.12 * ill);
      });
  p.out(course[1]);
  const Axis t{"t", T};
  const auto peak = compute("peak", {R}, [&](Var r) { return argmax(course[1](t, r), t); });
  p.out(compute("day", {R}, [&](Var r) { return i32(peak[1](r)); }));
  p.out(compute("spared", {R}, [&](Var r) { return course[0](T - 1, r) / people(r); }));
}
