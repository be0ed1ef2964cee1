#pragma once
// Programs with schedules for tiles, as a user writes them.
#include "tests/tileir/lowered.h"

namespace tiles {

// y = max(x + b, 0), b along the rows; any extents
struct BiasRelu {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor x = lang::make_input("x", f32, {M, N}), b = lang::make_input("b", f32, {N}), y = lang::make_output("y", f32, {M, N});
  Tensor result = compute("result", {M, N}, [&](Var i, Var j) { return max(x(i, j) + b(j), 0); });
  lang::Built built = (lang::bind(y, result), lang::build_program("bias_relu", {x, b, y}));
  Schedule s = scheduled(built);
  BiasRelu() {
    auto [i, j] = s[result].spatial<2>();
    auto [io, jo, ii, ji] = s[result].tile(i, j, 4, 64);
    s[result].bind(io, gpu::block_y).bind(jo, gpu::block_x).as_tile(ii, ji);
  }
};

// y = (x(i - 1) + 2 x(i) + x(i + 1)) / 4 where there is a neighbor: accesses that are not tiles
struct Smooth {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  Tensor result = compute(
      "result", {N}, [&](Var i) { return select(i < 1, x(i), select(i + 1 < N, (x(i - 1) + 2 * x(i) + x(i + 1)) / 4, x(i))); });
  lang::Built built = (lang::bind(y, result), lang::build_program("smooth", {x, y}));
  Schedule s = scheduled(built);
  Smooth() {
    const Loop i = s[result].spatial<1>()[0];
    auto [io, ii] = s[result].split(i, 128);
    s[result].bind(io, gpu::block_x).as_tile(ii);
  }
};

// Softmax of rows, each in one tile
struct Softmax {
  lang::DefinitionScope scope;
  Symbol R{"R"};
  std::int64_t C;
  Axis c, d;
  Tensor x, y, most, e, total, result;
  lang::Built built;
  Schedule s;
  explicit Softmax(std::int64_t columns, std::int64_t width)
      : C(columns),
        c("c", C),
        d("d", C),
        x(lang::make_input("x", f32, {R, C})),
        y(lang::make_output("y", f32, {R, C})),
        most(compute("most", {R}, [&](Var i) { return maximum(x(i, c), c); })),
        e(compute("e", {R, C}, [&](Var i, Var j) { return exp(x(i, j) - most(i)); })),
        total(compute("total", {R}, [&](Var i) { return sum(e(i, d), d); })),
        result(compute("result", {R, C}, [&](Var i, Var j) { return e(i, j) / total(i); })),
        built((lang::bind(y, result), lang::build_program("softmax", {x, y}))),
        s(scheduled(built)) {
    auto [i, j] = s[result].spatial<2>();
    auto [io, ii] = s[result].split(i, 4);
    s[result].bind(io, gpu::block_x).as_tile(ii).as_tile(j, width);
    for (const Tensor& t : {total, e, most}) {
      s[t].compute_at(io);
      for (const Loop l : s[t].spatial_loops()) s[t].as_tile(l, l == s[t].spatial_loops()[0] ? 4 : width);
      for (const Loop l : s[t].reduction_loops()) s[t].as_tile(l, width);
    }
  }
};

// C = A B with sums in f32, tiles of tm x tn, steps of tk; an epilogue on the tile. Extents are multiples of `unit`.
struct Product {
  lang::DefinitionScope scope;
  std::int64_t unit = 1;
  Symbol M{"M", {.multiple_of = unit}}, N{"N", {.multiple_of = unit}}, K{"K", {.multiple_of = unit}};
  Tensor A = lang::make_input("A", bf16, {M, K}), B = lang::make_input("B", bf16, {K, N}),
         C = lang::make_output("C", bf16, {M, N});
  Axis k{"k", K};
  Tensor product = compute("product", {M, N}, [&](Var i, Var j) { return sum(f32(A(i, k)) * f32(B(k, j)), k); });
  Tensor result = compute("result", {M, N}, [&](Var i, Var j) { return bf16(product(i, j)); });
  lang::Built built = (lang::bind(C, result), lang::build_program("product", {A, B, C}));
  Schedule s = scheduled(built);
  explicit Product(std::int64_t tm = 16, std::int64_t tn = 32, std::int64_t tk = 16, std::int64_t multiple = 1)
      : unit(multiple) {
    auto [i, j] = s[result].spatial<2>();
    auto [io, jo, ii, ji] = s[result].tile(i, j, tm, tn);
    s[result].bind(io, gpu::block_x).bind(jo, gpu::block_y).as_tile(ii, ji);
    s[product].compute_at(jo);
    auto [pi, pj] = s[product].spatial<2>();
    auto [ko, ki] = s[product].split(s[product].reduction(), tk);
    s[product].reorder(ko, pi, pj, ki).as_tile(pi, tm).as_tile(pj, tn).as_tile(ki);
  }
};

}  // namespace tiles
