// dynamic/optimal_tree.cpp: the cost of the best binary search tree of each range of keys [i, j), which are looked up more or
// less often: a root, and the best trees left and right of it.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol N = p.size("N", 210, {.min = 1});
  const Tensor often = p.in("often", f64, {N}, uniform(0.1, 5));
  const Tensor below =
      scan("below", {N + 1}, Along{0}, Combine::add, [&](Var k) { return select(k < N, often(k), 0); }, Scan::exclusive);
  p.out(recur(
      "cost", {N + 1, N + 1}, Along{0, 1}.backwards(0), Lag{0}, [&](Var, Var) { return f64(0); },
      [&](Prior c, Var i, Var j) {
        const Axis root{"root", i, j};
        return select(i < j, minimum(c(i, root) + c(root + 1, j), root) + (below(j) - below(i)), 0);
      }));
}
