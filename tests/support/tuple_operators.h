#pragma once
// Operators that reduce to several values, with schedules for a GPU: the largest element and its place, a product of complex
// numbers, attention in one pass over keys and values.
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/schedule/schedule.h>

namespace gpu_operators {

using namespace ashlar;

// Of each row of x, by 64 threads: 64-bit places go through shared memory.
struct ArgMax {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor x = lang::make_input("x", f32, {M, N}), v = lang::make_output("v", f32, {M}), p = lang::make_output("p", i64, {M});
  Axis k{"k", N};
  std::array<Tensor, 2> best = compute("best", {M}, [&](Var i) { return argmax(x(i, k), k); });
  lang::Built built = (lang::bind(v, best[0]), lang::bind(p, best[1]), lang::build_program("argmax_rows", {x, v, p}));
  Schedule s;
  explicit ArgMax(const Target& target) : s(built, target) {
    auto [ko, ki] = s[best[0]].split(s[best[0]].reduction(), 64);
    s[best[0]].bind(s[best[0]].spatial<1>()[0], gpu::block_x).cross_thread_reduce(ki).bind(ki, gpu::thread_x);
  }
};

// Of rows of complex numbers in i32, two rows a block: both parts of a value are exchanged before either changes.
struct ComplexProduct {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor z = lang::make_input("z", i32, {M, N, 2}), re = lang::make_output("re", i32, {M}),
         im = lang::make_output("im", i32, {M});
  Axis k{"k", N};
  Reducer<2> times = reducer(
      "times", {i32, i32}, {1, 0},
      [](Values<2> l, Values<2> r) { return values(l[0] * r[0] - l[1] * r[1], l[0] * r[1] + l[1] * r[0]); }, Order::any);
  std::array<Tensor, 2> product =
      compute("product", {M}, [&](Var i) { return times(values(z(i, k, 0), z(i, k, 1)), k).from(values(2, -1)); });
  lang::Built built = (lang::bind(re, product[0]), lang::bind(im, product[1]), lang::build_program("complex", {z, re, im}));
  Schedule s;
  explicit ComplexProduct(const Target& target) : s(built, target) {
    Stage all = s[product[1]];
    auto [io, ii] = all.split(all.spatial<1>()[0], 2);
    auto [ko, ki] = all.split(all.reduction(), 64);
    all.bind(io, gpu::block_x).bind(ii, gpu::thread_y).cross_thread_reduce(ki).bind(ki, gpu::thread_x);
  }
};

// A thread a query; tiles of keys and values are shared, loaded one iteration ahead; what is of one query lies in registers.
// The maximum and the sum are the same for all columns of a row, and are kept once.
struct OnlineAttention {
  static constexpr int depth = 8, keys = 8, queries = 32;
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N", {.min = 1}};
  Tensor Q = lang::make_input("Q", f32, {M, depth}), K = lang::make_input("K", f32, {N, depth}),
         V = lang::make_input("V", f32, {N, depth}), O = lang::make_output("O", f32, {M, depth});
  Expr blocks = (N + (keys - 1)) / keys;
  Axis d{"d", depth}, e{"e", keys}, b{"b", blocks};
  Tensor score =
      compute("score", {M, blocks * keys}, [&](Var i, Var j) { return sum(select(j < N, Q(i, d) * K(j, d), 0), d); });
  Tensor top = compute("top", {M, blocks},
                       [&](Var i, Var t) { return maximum(select(t * keys + e < N, score(i, t * keys + e), lowest(f32)), e); });
  Tensor weight = compute("weight", {M, blocks, keys}, [&](Var i, Var t, Var u) {
    return select(t * keys + u < N, exp((score(i, t * keys + u) - top(i, t)) * 0.125), 0);
  });
  Tensor part = compute("part", {M, blocks}, [&](Var i, Var t) { return sum(weight(i, t, e), e); });
  Tensor mixed = compute("mixed", {M, blocks, depth}, [&](Var i, Var t, Var c) {
    return sum(select(t * keys + e < N, weight(i, t, e) * V(t * keys + e, c), 0), e);
  });
  Reducer<3> online = reducer(
      "online", {f32, f32, f32}, {lowest(f32), 0, 0},
      [](Values<3> l, Values<3> r) {
        Expr m = max(l[0], r[0]), el = exp((l[0] - m) * 0.125), er = exp((r[0] - m) * 0.125);
        return values(m, l[1] * el + r[1] * er, l[2] * el + r[2] * er);
      },
      Order::any);
  std::array<Tensor, 3> attend =
      compute("attend", {M, depth}, [&](Var i, Var c) { return online(values(top(i, b), part(i, b), mixed(i, b, c)), b); });
  Tensor result = compute("result", {M, depth}, [&](Var i, Var c) { return attend[2](i, c) / attend[1](i, c); });
  lang::Built built = (lang::bind(O, result), lang::build_program("online_attention", {Q, K, V, O}));
  Schedule s;
  explicit OnlineAttention(const Target& target) : s(built, target) {
    auto [i, c] = s[result].spatial<2>();
    auto [io, ii] = s[result].split(i, queries);
    s[result].reorder(io, ii, c).bind(io, gpu::block_x).bind(ii, gpu::thread_x);
    Stage all = s[attend[1]].compute_at(ii).store_in(Scope::registers).drop_dim(0, 1).drop_dim(1, 1);
    Loop block = all.reduction();
    all.reorder(block, all.spatial<2>()[0], all.spatial<2>()[1]);
    for (const Tensor& t : {mixed, part, weight, top, score}) s[t].compute_at(block).store_in(Scope::registers);
    // what lies in registers has constant indices
    s[result].unroll(c), all.unroll(all.spatial<2>()[1]);
    s[mixed].unroll(s[mixed].spatial<3>()[2]).unroll(s[mixed].reduction());
    s[weight].unroll(s[weight].spatial<3>()[2]);
    for (const Tensor& t : {part, top}) s[t].unroll(s[t].reduction());
    s[score].unroll(s[score].spatial<2>()[1]);
    std::vector<Stage> tiles{s.cache_read(K, {score}, Scope::shared, 0), s.cache_read(V, {mixed}, Scope::shared, 0)};
    for (const Stage& tile : tiles) {
      tile.compute_at(block);
      auto [row, column] = tile.spatial<2>();
      tile.bind(tile.split(tile.fuse(row, column), queries).inner, gpu::thread_x);
    }
    all.pipeline(block, {.stages = 2, .loads = tiles});
  }
};

}  // namespace gpu_operators
