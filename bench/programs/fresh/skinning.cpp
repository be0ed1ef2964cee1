// fresh/skinning.cpp: a mesh that follows a skeleton. Each bone is placed relative to its parent, which comes before it; each
// vertex is moved by a mean of four bones, and its normal turned with it. Matrices are 3 x 4, a last row 0 0 0 1 left out.
#include <algorithm>

#include "bench/programs/program.h"

namespace {
std::vector<std::int32_t> skeleton(int bones) {
  std::mt19937_64 engine(5);
  std::vector<std::int32_t> parent{0};
  for (int b = 1; b < bones; ++b)
    parent.push_back(b - 1 - static_cast<std::int32_t>(engine() % static_cast<unsigned>(std::min(b, 4))));
  return parent;
}
}  // namespace

PROGRAM(p) {
  const Symbol B = p.size("B", 52, {.min = 1}), V = p.size("V", 9001, {.min = 1});
  const Tensor parent = p.in("parent", i32, {B}, numbers(skeleton(52)));
  const Tensor local = p.in("local", f32, {B, 3, 4}, uniform(-0.7, 0.7)),
               inverse = p.in("inverse", f32, {B, 3, 4}, uniform(-1, 1));
  const Tensor bone = p.in("bone", u8, {V, 4}, integers(0, 52)), weight = p.in("weight", u8, {V, 4}, integers(0, 128));
  const Tensor at = p.in("at", f32, {V, 3}, uniform(-1, 1)), normal = p.in("normal", f32, {V, 3}, uniform(-1, 1));
  const Axis k{"k", 3};
  const Tensor world = recur(
      "world", {B, 3, 4}, Along{0}, Lag{1}, [&](Var b, Var i, Var j) { return local(b, i, j); },
      [&](Prior y, Var b, Var i, Var j) {
        const Expr above = in_range(parent(b), 0, b);
        return sum(y(above, i, k) * local(b, k, j), k) + select(j == 3, y(above, i, 3), 0);
      });
  const Tensor turn =
      compute("turn", {B, 3, 4}, [&](Var b, Var i, Var j) { return sum(world(b, i, k) * inverse(b, k, j), k); });
  const Tensor skin =
      compute("skin", {B, 3, 4}, [&](Var b, Var i, Var j) { return turn(b, i, j) + select(j == 3, world(b, i, 3), 0); });
  const Axis w{"w", 4};
  const Tensor blend = compute("blend", {V, 3, 4}, [&](Var v, Var i, Var j) {
    return sum(f32(weight(v, w)) * (1.0f / 255) * skin(in_range(bone(v, w), 0, B), i, j), w);
  });
  p.out(compute("moved", {V, 3}, [&](Var v, Var i) { return sum(blend(v, i, k) * at(v, k), k).from(blend(v, i, 3)); }));
  const Tensor direction = compute("direction", {V, 3}, [&](Var v, Var i) { return sum(blend(v, i, k) * normal(v, k), k); });
  const Tensor square = compute("square", {V}, [&](Var v) { return sum(direction(v, k) * direction(v, k), k); });
  p.out(compute("turned", {V, 3}, [&](Var v, Var i) { return direction(v, i) / sqrt(square(v) + 1e-12f); }));
}
