#pragma once
// A product of matrices by the instructions of ashlar/instructions/ampere.h, for all their types: one warp a block, 32 x 32
// results, tiles in shared memory whose rows do not meet in a bank, fragments by ldmatrix where there is one.
//
//   ampere_operators::Product op{Target::parse("cuda-sm_80"), {.a = bf16, .b = bf16, .columns_b = true}};
#include <ashlar/ashlar.h>
#include <ashlar/instructions/ampere.h>
#include <ashlar/lang/build_program.h>

namespace ampere_operators {

using namespace ashlar;

struct Options {
  Type a = f16, b = f16, sums = f32;
  ampere::Rounding rounding = ampere::Rounding::of_machine;
  bool columns_a = false, columns_b = false;          // A is [k, i], B is [k, j]
  bool skips = false;                                 // zeros of A, which is f32, skip their terms
  bool rounded = false;                               // A is f32 and is rounded to the type of B
  bool by_lanes() const { return skips || rounded; }  // a lane holds of A what it holds of sums
};

struct Product {
  lang::DefinitionScope scope;
  Symbol M, N, K;
  Tensor A, B, C;
  Axis k;
  Tensor product;
  lang::Built built;
  Schedule s;

  static Tensor factor(const char* name, Type t, Extent rows, Extent depth, bool columns) {
    const lang::ArgumentLayout dense{.order = lang::ArgumentLayout::Order::dense, .align = 16};
    return columns ? lang::make_input(name, t, {depth, rows}, dense) : lang::make_input(name, t, {rows, depth}, dense);
  }
  Product(const Target& target, const Options& o)
      : M("M", {.multiple_of = 32}),
        N("N", {.multiple_of = 32}),
        K("K", {.multiple_of = 64}),
        A(factor("A", o.a, M, K, o.columns_a)),
        B(factor("B", o.b, N, K, o.columns_b)),
        C(lang::make_output("C", o.sums, {M, N})),
        k("k", K),
        product(compute("product", {M, N},
                        [&](Var i, Var j) {
                          const Expr given = o.columns_a ? A(k, i) : A(i, k), a = o.rounded ? o.b(given) : given,
                                     b = o.columns_b ? B(k, j) : B(j, k);
                          const Expr term = o.sums(a) * o.sums(b);
                          return sum(o.skips ? select(o.sums(a) == 0, o.sums(0), term) : term, k);
                        })),
        built((lang::bind(C, product), lang::build_program("ampere_product", {A, B, C}))),
        s(built, target) {
    Stage acc = s.cache_write(product, Scope::fragment);
    auto [i, j] = s[product].spatial<2>();
    auto [bi, bj, wi, wj] = s[product].tile(i, j, 32, 32, Tail::exact);
    auto [one, whole] = s[product].split(wi, 32, Tail::exact);
    s[product].reorder(bi, bj, one, whole, wj);
    s[product].bind(bi, gpu::block_y).bind(bj, gpu::block_x).bind(one, gpu::warp);
    acc.compute_at(one);
    const int depth = ampere::depth(o.b), block_k = 2 * depth;
    auto [ko, ki] = acc.split(acc.reduction(), block_k, Tail::exact);
    auto [kk, kc] = acc.split(ki, depth, Tail::exact);
    auto [ai, aj] = acc.spatial<2>();
    auto [mi, mj, ci, cj] = acc.tile(ai, aj, 16, 16, Tail::exact);
    acc.reorder(ko, kk, mi, mj, ci, cj, kc);
    Stage a = s.cache_read(A, {acc}, Scope::shared), b = s.cache_read(B, {acc}, Scope::shared);
    for (const Stage& tile : {a, b}) {
      tile.compute_at(ko);
      auto [r, c] = tile.spatial<2>();
      auto [co, chunk] = tile.split(c, 16 / o.a.bytes(), Tail::exact);
      tile.vectorize(chunk).bind(tile.fuse(r, co), gpu::threads);
    }
    Stage left = s.cache_read(a, {acc}, Scope::fragment), right = s.cache_read(b, {acc}, Scope::fragment);
    const auto load = [&, at = kk](Stage to, Type t, bool columns, bool is_left) {
      to.compute_at(at);
      if ((columns && !loads_columns(t, is_left)) || (o.by_lanes() && is_left)) return;
      auto [r, c] = to.spatial<2>();
      auto [ro, co, ri, ci2] = to.tile(r, c, columns ? depth : 16, columns ? 16 : depth, Tail::exact);
      const auto lies = columns ? ampere::Lies::columns : ampere::Lies::rows;
      to.tensorize(ri, is_left ? ampere::load_left(t, lies) : ampere::load_right(t, lies));
      (void)ro, (void)co, (void)ci2;
    };
    load(left, o.a, o.columns_a, true), load(right, o.b, o.columns_b, false);
    acc.decompose_init(ko);
    const auto right_lies = o.columns_b ? ampere::Lies::columns : ampere::Lies::rows;
    const auto factor = o.rounded ? ampere::LeftFactor::rounded : ampere::LeftFactor::as_given;
    acc.tensorize(ci, o.skips         ? ampere::mma_skipping_zeros(o.b, factor)
                      : o.rounded     ? ampere::mma_rounding_left(o.b, factor)
                      : o.sums == i32 ? ampere::mma(o.a, o.b, right_lies)
                                      : ampere::mma(o.a, o.sums, o.rounding));
  }
  static bool loads_columns(Type t, bool is_left) { return t.bits == 16 || (!is_left && (t == i8 || t == u8)); }
};

// Every kind of product there is, by name.
inline std::vector<std::pair<const char*, Options>> kinds() {
  using ampere::Rounding;
  return {{"f16", {.a = f16, .b = f16}},
          {"f16 in f16", {.a = f16, .b = f16, .sums = f16}},
          {"bf16", {.a = bf16, .b = bf16}},
          {"tf32", {.a = f32, .b = f32, .rounding = Rounding::to_tf32}},
          {"3xtf32", {.a = f32, .b = f32, .rounding = Rounding::to_3xtf32}},
          {"f32, f16, skipping zeros", {.a = f32, .b = f16, .skips = true}},
          {"f32, bf16, skipping zeros", {.a = f32, .b = bf16, .skips = true}},
          {"f32 rounded to bf16, skipping zeros", {.a = f32, .b = bf16, .skips = true, .rounded = true}},
          {"f32 rounded to f16", {.a = f32, .b = f16, .rounded = true}},
          {"e4m3", {.a = e4m3, .b = e4m3}},
          {"e5m2", {.a = e5m2, .b = e5m2}},
          {"i8", {.a = i8, .b = i8, .sums = i32}},
          {"u8, i8", {.a = u8, .b = i8, .sums = i32}},
          {"i8, u8", {.a = i8, .b = u8, .sums = i32}},
          {"u8", {.a = u8, .b = u8, .sums = i32}}};
}

}  // namespace ampere_operators
