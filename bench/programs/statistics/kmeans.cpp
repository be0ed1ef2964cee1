// statistics/kmeans.cpp: the nearest of 12 centers for each point, and for each center how many points and their sum.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol N = p.size("N", 6000, {.min = 1});
  const Tensor x = p.in("x", f32, {N, 8}, uniform(-1, 1)), centers = p.in("centers", f32, {12, 8}, uniform(-1, 1));
  const Axis d{"d", 8}, c{"c", 12};
  const Tensor distance =
      compute("distance", {N, 12}, [&](Var i, Var j) { return sum((x(i, d) - centers(j, d)) * (x(i, d) - centers(j, d)), d); });
  const auto [least, nearest] = compute("nearest", {N}, [&](Var i) { return argmin(distance(i, c), c); });
  const Tensor of = nearest;
  p.out(scatter("sums", {12, 8}, Combine::add, 0.f, {{"i", N}, {"e", 8}},
                [&](Var i, Var e) { return put(x(i, e), in_range(of(i), 0, 12), e); }));
  p.out(scatter("counts", {12}, Combine::add, i32(0), {{"i", N}}, [&](Var i) { return put(i32(1), in_range(of(i), 0, 12)); }));
}
