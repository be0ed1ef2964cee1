// sparse/block_jacobi.cpp: a damped Jacobi step for a stiffness matrix of 3 x 3 blocks (BSR), one row of blocks for each node
// of a mesh.
#include "bench/programs/program.h"

namespace {
std::vector<std::int32_t> begins(std::int64_t rows) {  // 8 to 27 blocks in a row
  std::mt19937_64 random(17);
  std::vector<std::int32_t> at{0};
  for (std::int64_t r = 0; r < rows; ++r) at.push_back(at.back() + 8 + static_cast<std::int32_t>(random() % 20));
  return at;
}
}  // namespace

PROGRAM(p) {
  const std::vector<std::int32_t> rows = begins(3307);
  const Symbol nodes = p.size("nodes", 3307, {.min = 1}), Z = p.size("Z", rows.back());
  const Tensor first = p.in("first", i32, {nodes + 1}, numbers(rows)), col = p.in("col", i32, {Z}, integers(0, 3307));
  const Tensor block = p.in("block", f64, {Z, 3, 3}, uniform(-1, 1)),
               inverse = p.in("inverse", f64, {nodes, 3, 3}, uniform(-1, 1));
  const Tensor b = p.in("b", f64, {nodes, 3}, uniform(-1, 1)), x = p.in("x", f64, {nodes, 3}, uniform(-1, 1));

  const Axis c{"c", 3};
  const Tensor Ax = compute("Ax", {nodes, 3}, [&](Var i, Var r) {
    const Axis e{"e", in_range(first(i), 0, Z + 1), in_range(first(i + 1), 0, Z + 1)};
    return sum(block(e, r, c) * x(in_range(col(e), 0, nodes), c), {e, c});
  });
  const Tensor residual = compute("residual", {nodes, 3}, [&](Var i, Var r) { return b(i, r) - Ax(i, r); });
  const Tensor step = compute("step", {nodes, 3}, [&](Var i, Var r) { return sum(inverse(i, r, c) * residual(i, c), c); });
  p.out(compute("next", {nodes, 3}, [&](Var i, Var r) { return x(i, r) + 0.7 * step(i, r); }));
}
