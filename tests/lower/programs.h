#pragma once
// The algorithms that tests of lowering transform.
#include "handmade.h"

namespace handmade {

struct Elementwise : Handmade {
  Expr n = symbol("N");
  Id a = input("A", f32, {n}), b = output("B", f32, {n});
  Id stage_b = stage("B", b, {{"i", n}}, {}, [&](const Point& i) { return ir::mul(read(a, {i[0]}), number(f32, 2)); });
  Elementwise() : Handmade("scale") {}
};

struct Matmul : Handmade {
  Expr m = symbol("M"), n = symbol("N"), k = symbol("K");
  Id a = input("A", f32, {m, k}), b = input("B", f32, {k, n}), c = output("C", f32, {m, n});
  Id product = stage(
      "C", c, {{"i", m}, {"j", n}}, {{"k", k}},
      [&](const Point& i) { return ir::mul(read(a, {i[0], i[2]}), read(b, {i[2], i[1]})); }, ir::ReducerKind::sum,
      number(f32, 0));
  Matmul() : Handmade("matmul") {}

  // Tiles of i by j results, in blocks of k: their loops, in the order io, jo, ko, ki, ii, ji.
  struct Tiled {
    Id io, jo, ko, ki, ii, ji;
  };
  Tiled tiled(std::int64_t i, std::int64_t j, std::int64_t by_k) {
    const auto [io, ii] = split(axis(product, "i"), i);
    const auto [jo, ji] = split(axis(product, "j"), j);
    const auto [ko, ki] = split(axis(product, "k"), by_k);
    reorder({io, jo, ko, ki, ii, ji});
    return {io, jo, ko, ki, ii, ji};
  }
};

// Two stages; the borders repeat.
struct Blur : Handmade {
  Expr h = symbol("H"), w = symbol("W");
  Id in = input("in", f32, {h, w}), out = output("out", f32, {h, w}), across = temporary("across", f32, 2);
  Expr clamped(const Expr& e, const Expr& extent) const {
    return ir::max(ir::min(e, ir::sub(extent, ir::index(1))), ir::index(0));
  }
  Id stage_across = stage("across", across, {{"y", {}}, {"x", {}}}, {}, [&](const Point& i) {
    Expr sum = number(f32, 0);
    for (int t = -1; t <= 1; ++t) sum = ir::add(sum, read(in, {clamped(i[0], h), clamped(ir::add(i[1], ir::index(t)), w)}));
    return sum;
  });
  Id stage_out = stage("out", out, {{"y", h}, {"x", w}}, {}, [&](const Point& i) {
    Expr sum = number(f32, 0);
    for (int t = -1; t <= 1; ++t) sum = ir::add(sum, read(across, {ir::add(i[0], ir::index(t)), i[1]}));
    return sum;
  });
  Blur() : Handmade("blur") {}
};

}  // namespace handmade
