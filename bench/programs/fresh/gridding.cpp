// fresh/gridding.cpp: visibilities of a radio interferometer brought onto a regular grid. A sample weighs the less the more of
// them lie in its cell, and is spread over 7 x 7 cells by a kernel that is tabulated at eighths of a cell.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol G = p.size("G", 200, {.min = 8}), V = p.size("V", 5003, {.min = 1});
  const Tensor uv = p.in("uv", f32, {V, 2}, uniform(2, 199)), sample = p.in("sample", f32, {V, 2}, uniform(-1, 1)),
               kernel = p.in("kernel", f32, {8, 7}, uniform(0, 1));
  const auto cell = [&](const Expr& n, int axis) { return clamp(i64(i32(uv(n, axis))), 3, i64(G) - 4); };
  const auto part = [&](const Expr& n, int axis) {
    const Expr x = uv(n, axis);
    return clamp(i32((x - f32(i32(x))) * 8), 0, 7);
  };
  const Tensor hits = scatter("hits", {G, G}, Combine::add, 0, {V}, [&](Var n) { return put(1, cell(n, 1), cell(n, 0)); });
  const Tensor weight = compute("weight", {V}, [&](Var n) { return 1 / f32(hits(cell(n, 1), cell(n, 0))); });
  const Tensor grid = scatter("grid", {G, G, 2}, Combine::add, 0.f, {V, 7, 7, 2}, [&](Var n, Var dy, Var dx, Var c) {
    const Expr k = kernel(part(n, 1), dy) * kernel(part(n, 0), dx);
    return put(k * (weight(n) * sample(n, c)), cell(n, 1) + dy - 3, cell(n, 0) + dx - 3, c);
  });
  const Axis n{"n", V};
  const Tensor total = compute("total", [&] { return sum(weight(n), n); });
  p.out(compute("plane", {G, G, 2}, [&](Var y, Var x, Var c) { return grid(y, x, c) / total(); }));
}
