// dynamic/shortest_paths.cpp: the lengths of the shortest ways between all places (Floyd-Warshall), in 16 bits, 65535 being no
// way; then how many places each reaches, and how far the farthest of them is. Lengths from 900 on are roads that do not exist.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol N = p.size("N", 190, {.min = 1});
  const Tensor length = p.in("length", u16, {N, N}, integers(1, 30000));
  const Tensor road =
      compute("road", {N, N}, [&](Var i, Var j) { return select(i == j, 0, select(length(i, j) < 900, length(i, j), 65535)); });
  const Tensor way = recur(
      "way", {N + 1, N, N}, Along{0}, Lag{1}, [&](Var, Var i, Var j) { return road(i, j); },
      [&](Prior d, Var k, Var i, Var j) { return min(d(k - 1, i, j), add_sat(d(k - 1, i, k - 1), d(k - 1, k - 1, j))); });
  const Tensor apart = compute("apart", {N, N}, [&](Var i, Var j) { return way(N, i, j); });
  const Axis j{"j", N};
  p.out(apart);
  p.out(compute("reached", {N}, [&](Var i) { return sum(select(apart(i, j) < 65535, i32(1), 0), j); }));
  p.out(compute("farthest", {N}, [&](Var i) { return maximum(select(apart(i, j) < 65535, apart(i, j), 0), j); }));
}
