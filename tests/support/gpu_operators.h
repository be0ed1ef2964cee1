#pragma once
// Operators with schedules for a GPU, written as a user would write them: elementwise with broadcasting, row softmax, the sum
// of a large vector, transposition, a product with shared and register tiles, 3x3 convolution, attention. Tests lower them for
// the interpreter and run them on devices.
//
//   gpu_operators::Softmax op{Target::parse("vulkan")};
//   lower(op.s.scheduled().program, ...);
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/schedule/schedule.h>

namespace gpu_operators {

using namespace ashlar;

// y = x + b, b along the rows
struct AddBias {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor x = lang::make_input("x", f32, {M, N}), b = lang::make_input("b", f32, {N}), y = lang::make_output("y", f32, {M, N});
  Tensor result = compute("result", {M, N}, [&](Var i, Var j) { return x(i, j) + b(j); });
  lang::Built built = (lang::bind(y, result), lang::build_program("add_bias", {x, b, y}));
  Schedule s;
  explicit AddBias(const Target& target) : s(built, target) {
    auto [i, j] = s[result].spatial<2>();
    auto [jo, ji] = s[result].split(j, 64);
    s[result].bind(i, gpu::block_y).bind(jo, gpu::block_x).bind(ji, gpu::thread_x);
  }
};

struct Transpose {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor x = lang::make_input("x", f32, {M, N}), y = lang::make_output("y", f32, {N, M});
  Tensor turned = compute("turned", {N, M}, [&](Var i, Var j) { return x(j, i); });
  lang::Built built = (lang::bind(y, turned), lang::build_program("transpose", {x, y}));
  Schedule s;
  explicit Transpose(const Target& target) : s(built, target) {
    auto [i, j] = s[turned].spatial<2>();
    auto [io, jo, ii, ji] = s[turned].tile(i, j, 32, 32);
    auto [iu, it] = s[turned].split(ii, 8);
    s[turned].reorder(io, jo, iu, it, ji).bind(io, gpu::block_y).bind(jo, gpu::block_x);
    s[turned].bind(it, gpu::thread_y).bind(ji, gpu::thread_x);
    Stage tile = s.cache_read(x, {turned}, Scope::shared);
    tile.compute_at(jo).align(1, 33);
    auto [r, c] = tile.spatial<2>();
    auto [ro, ri] = tile.split(r, 8);
    tile.bind(ri, gpu::thread_y).bind(c, gpu::thread_x);
  }
};

// C = A B: what the schedules below share.
struct Matrices {
  lang::DefinitionScope scope;
  Symbol M{"M", {.min = 1}}, N{"N", {.min = 1}}, K{"K", {.min = 1}};
  Tensor A = lang::make_input("A", f32, {M, K}), B = lang::make_input("B", f32, {K, N}),
         C = lang::make_output("C", f32, {M, N});
  Axis k{"k", K};
  Tensor product = compute("product", {M, N}, [&](Var i, Var j) { return sum(A(i, k) * B(k, j), k); });
  lang::Built built;
  Schedule s;
  Matrices(const char* name, const Target& target)
      : built((lang::bind(C, product), lang::build_program(name, {A, B, C}))), s(built, target) {}

  // Accumulators of 4 x 4 in the steps of 16 that the tiles of A and B, which all threads fill, are deep; the loop over steps.
  static Loop in_steps(const Stage& acc, const Stage& a, const Stage& b) {
    auto [ko, ki] = acc.split(acc.reduction(), 16);
    auto [ai, aj] = acc.spatial<2>();
    auto [aio, aii] = acc.split(ai, 4, Tail::pad);
    auto [ajo, aji] = acc.split(aj, 4, Tail::pad);
    acc.reorder(ko, ki, aio, ajo, aii, aji).unroll(aii).unroll(aji);
    for (const Stage& t : {a, b}) {
      t.compute_at(ko);
      auto [r, c] = t.spatial<2>();
      t.bind(t.fuse(r, c), gpu::threads);
    }
    return ko;
  }
};

struct Product : Matrices {
  explicit Product(const Target& target) : Matrices("product", target) {
    Stage acc = s.cache_write(product, Scope::registers);
    Stage a = s.cache_read(A, {acc}, Scope::shared, 0), b = s.cache_read(B, {acc}, Scope::shared, 0);
    auto [i, j] = s[product].spatial<2>();
    auto [bi, bj, i1, j1] = s[product].tile(i, j, 32, 32);
    auto [ti, tj, ii, ji] = s[product].tile(i1, j1, 4, 4);
    s[product].reorder(bi, bj, ti, tj, ii, ji).unroll(ii).unroll(ji);
    s[product].bind(bi, gpu::block_y).bind(bj, gpu::block_x).bind(ti, gpu::thread_y).bind(tj, gpu::thread_x);
    acc.compute_at(tj);
    in_steps(acc, a, b);
  }
};

// The same with the loads of the next tiles ahead of the products, and two virtual threads a thread along the columns.
struct PipelinedProduct : Matrices {
  PipelinedProduct(const Target& target, int stages, bool async_copy, int virtual_threads) : Matrices("pipelined", target) {
    Stage acc = s.cache_write(product, Scope::registers);
    Stage a = s.cache_read(A, {acc}, Scope::shared, 0), b = s.cache_read(B, {acc}, Scope::shared, 0);
    auto [i, j] = s[product].spatial<2>();
    auto [bi, bj, i1, j1] = s[product].tile(i, j, 32, 32);
    auto [v, j2] = s[product].split(j1, Parts{virtual_threads});
    auto [ti, tj, ii, ji] = s[product].tile(i1, j2, 4, 4);
    s[product].reorder(bi, bj, v, ti, tj, ii, ji).unroll(ii).unroll(ji);
    s[product].bind(bi, gpu::block_y).bind(bj, gpu::block_x).bind(ti, gpu::thread_y).bind(tj, gpu::thread_x);
    if (virtual_threads > 1) s[product].vthread(v);
    acc.compute_at(tj);
    const Loop ko = in_steps(acc, a, b);
    if (stages > 1) acc.pipeline(ko, {.stages = stages, .loads = {a, b}, .async_copy = async_copy});
  }
};

// A block a row, its columns over threads.
struct SoftmaxOfRows {
  static constexpr int threads = 64;
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N", {.min = 1}};
  Tensor x = lang::make_input("x", f32, {M, N}), y = lang::make_output("y", f32, {M, N});
  Axis k{"k", N}, l{"l", N};
  Tensor top = compute("top", {M}, [&](Var i) { return maximum(x(i, k), k); });
  Tensor e = compute("e", [&](Var i, Var j) { return exp(x(i, j) - top(i)); });
  Tensor total = compute("total", {M}, [&](Var i) { return sum(e(i, l), l); });
  Tensor result = compute("result", {M, N}, [&](Var i, Var j) { return e(i, j) / total(i); });
  lang::Built built;
  Schedule s;
  Loop row;
  SoftmaxOfRows(const char* name, const Target& target)
      : built((lang::bind(y, result), lang::build_program(name, {x, y}))), s(built, target) {
    s[e].inline_();
    auto [i, j] = s[result].spatial<2>();
    auto [jo, ji] = s[result].split(j, threads);
    s[result].bind(i, gpu::block_x).bind(ji, gpu::thread_x);
    row = i;
  }
};

// Each thread reduces its columns, then every thread the partial results of all.
struct Softmax : SoftmaxOfRows {
  explicit Softmax(const Target& target) : SoftmaxOfRows("softmax", target) {
    for (const Tensor& t : {total, top}) {
      auto [ko, ki] = s[t].split(s[t].reduction(), threads);
      Stage part = s[t].rfactor(ki);
      s[t].compute_at(row).store_in(Scope::registers);
      part.compute_at(row).store_in(Scope::shared);
      part.bind(part.spatial<2>()[1], gpu::thread_x);
    }
  }
};

// Each thread reduces its columns, and all get what the block's threads have.
struct SoftmaxTree : SoftmaxOfRows {
  explicit SoftmaxTree(const Target& target) : SoftmaxOfRows("softmax_tree", target) {
    for (const Tensor& t : {total, top}) {
      auto [ko, ki] = s[t].split(s[t].reduction(), threads);
      s[t].compute_at(row).store_in(Scope::registers);
      s[t].cross_thread_reduce(ki).bind(ki, gpu::thread_x);
    }
  }
};

// A warp a row, four rows a block: with lanes to exchange values by, no barrier.
struct RowSums {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor x = lang::make_input("x", f32, {M, N}), y = lang::make_output("y", f32, {M});
  Axis k{"k", N};
  Tensor total = compute("total", {M}, [&](Var i) { return sum(x(i, k), k); });
  lang::Built built = (lang::bind(y, total), lang::build_program("row_sums", {x, y}));
  Schedule s;
  explicit RowSums(const Target& target) : s(built, target) {
    auto [io, ii] = s[total].split(s[total].spatial<1>()[0], 4);
    auto [ko, ki] = s[total].split(s[total].reduction(), 32);
    s[total].bind(io, gpu::block_x).bind(ii, gpu::thread_y).cross_thread_reduce(ki).bind(ki, gpu::thread_x);
  }
};

struct SumOfVector {
  lang::DefinitionScope scope;
  Symbol N{"N", {.min = 1}};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {1});
  Axis k{"k", N};
  Tensor total = compute("total", {1}, [&](Var) { return sum(x(k), k); });
  lang::Built built;
  Schedule s;
  SumOfVector(const char* name, const Target& target)
      : built((lang::bind(y, total), lang::build_program(name, {x, y}))), s(built, target) {}
};

// Blocks sum pieces of 4096 by a tree over 128 threads, then one block sums those by a tree over all of its 256.
struct SumTree : SumOfVector {
  explicit SumTree(const Target& target) : SumOfVector("sum_tree", target) {
    auto [kb, ki] = s[total].split(s[total].reduction(), 4096);
    Stage blocks = s[total].rfactor(kb);  // one sum a piece
    auto [ko, kt] = blocks.split(blocks.reduction(), 128);
    blocks.compute_root();
    auto piece = blocks.spatial<2>();
    blocks.reorder(piece[1], piece[0]).bind(piece[1], gpu::block_x).cross_thread_reduce(kt).bind(kt, gpu::thread_x);
    auto [po, pi] = s[total].split(kb, 256);
    s[total].bind(s[total].spatial<1>()[0], gpu::block_x).cross_thread_reduce(pi).bind(pi, gpu::thread_x);
  }
};

// Blocks sum pieces of 4096, then one block sums those.
struct Sum : SumOfVector {
  explicit Sum(const Target& target) : SumOfVector("sum", target) {
    auto [kb, ki] = s[total].split(s[total].reduction(), 4096);
    Stage blocks = s[total].rfactor(kb);  // one sum a piece
    auto [ko, kt] = blocks.split(blocks.reduction(), 128);
    Stage parts = blocks.rfactor(kt);  // one a thread of it
    blocks.compute_root();
    auto piece = blocks.spatial<2>();
    blocks.reorder(piece[1], piece[0]).bind(piece[1], gpu::block_x);
    parts.compute_at(piece[1]).store_in(Scope::shared);
    parts.bind(parts.spatial<3>()[2], gpu::thread_x);
    s[total].bind(s[total].spatial<1>()[0], gpu::block_x);
  }
};

// 3x3, one channel in and many out, edges repeated.
struct Conv3x3 {
  lang::DefinitionScope scope;
  Symbol H{"H", {.min = 1}}, W{"W", {.min = 1}}, C{"C"}, D{"D"};
  Tensor x = lang::make_input("x", f32, {C, H, W}), w = lang::make_input("w", f32, {D, C, 3, 3}),
         y = lang::make_output("y", f32, {D, H, W});
  Axis c{"c", C}, u{"u", 3}, v{"v", 3};
  Tensor around = boundary::repeat(x);
  Tensor result = compute("result", {D, H, W},
                          [&](Var d, Var i, Var j) { return sum(w(d, c, u, v) * around(c, i + u - 1, j + v - 1), {c, u, v}); });
  lang::Built built = (lang::bind(y, result), lang::build_program("conv3x3", {x, w, y}));
  Schedule s;
  explicit Conv3x3(const Target& target) : s(built, target) {
    Stage acc = s.cache_write(result, Scope::registers);
    auto [d, i, j] = s[result].spatial<3>();
    auto [io, jo, ii, ji] = s[result].tile(i, j, 8, 16);
    s[result].reorder(d, io, jo, ii, ji).bind(d, gpu::block_z).bind(io, gpu::block_y).bind(jo, gpu::block_x);
    s[result].bind(ii, gpu::thread_y).bind(ji, gpu::thread_x);
    acc.compute_at(ji);
  }
};

// One query a block: its scores, then its probabilities, in shared memory; a thread a column of the values.
struct Attention {
  static constexpr int threads = 32, depth = 32;
  lang::DefinitionScope scope;
  Symbol H{"H"}, M{"M"}, N{"N", {.min = 1, .max = 512}};
  Tensor Q = lang::make_input("Q", f32, {H, M, depth}), K = lang::make_input("K", f32, {H, N, depth}),
         V = lang::make_input("V", f32, {H, N, depth}), O = lang::make_output("O", f32, {H, M, depth});
  Axis d{"d", depth}, j{"j", N}, k{"k", N}, l{"l", N};
  Tensor score = compute("score", {H, M, N}, [&](Var h, Var i, Var n) { return sum(Q(h, i, d) * K(h, n, d), d); });
  Tensor top = compute("top", {H, M}, [&](Var h, Var i) { return maximum(score(h, i, j), j); });
  Tensor weight = compute("weight", {H, M, N}, [&](Var h, Var i, Var n) { return exp((score(h, i, n) - top(h, i)) * 0.125); });
  Tensor total = compute("total", {H, M}, [&](Var h, Var i) { return sum(weight(h, i, k), k); });
  Tensor mixed = compute("mixed", {H, M, depth}, [&](Var h, Var i, Var c) { return sum(weight(h, i, l) * V(h, l, c), l); });
  Tensor result = compute("result", {H, M, depth}, [&](Var h, Var i, Var c) { return mixed(h, i, c) / total(h, i); });
  lang::Built built = (lang::bind(O, result), lang::build_program("attention", {Q, K, V, O}));
  Schedule s;
  explicit Attention(const Target& target) : s(built, target) {
    auto [h, i, c] = s[result].spatial<3>();
    s[result].bind(h, gpu::block_y).bind(i, gpu::block_x).bind(c, gpu::thread_x);
    s[mixed].compute_at(c).store_in(Scope::registers);
    auto one_value = [&](const Tensor& t) {  // each thread reduces a part, then every thread all parts
      auto [ko, ki] = s[t].split(s[t].reduction(), threads);
      Stage part = s[t].rfactor(ki);
      s[t].compute_at(i).store_in(Scope::registers);
      part.compute_at(i).store_in(Scope::shared);
      part.bind(part.spatial<3>()[2], gpu::thread_x);
    };
    auto row = [&](const Tensor& t) {
      s[t].compute_at(i).store_in(Scope::shared);
      s[t].bind(s[t].spatial<3>()[2], gpu::threads);
    };
    one_value(total), row(weight), one_value(top), row(score);
  }
};

}  // namespace gpu_operators
