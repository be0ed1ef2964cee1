#pragma once
// Parallel programs by hand that the tests of Vulkan share, as a schedule would make them.
#include <cmath>

#include <ashlar/ir/math.h>

#include "tests/interp/launch_builder.h"

namespace programs {

using namespace launches;

// out[i, j] = a[i, j] * s + b[j]: one thread an element; b is broadcast over rows.
inline Builder elementwise() {
  Builder b("elementwise");
  const Expr M = b.symbol("M"), N = b.symbol("N");
  const Id a = b.input("a", f32, {M, N}), row = b.input("row", f32, {N}), out = b.output("out", f32, {M, N});
  b.launch(ir::ceil_div(M * N, num(128)), 128, 0, [&](const Expr& block, const Expr& thread) {
    const Expr at = b.let("at", block * 128 + thread);
    b.when(ir::lt(at, M * N),
           [&] { b.store(out, at, ir::add(ir::mul(b.at(a, at), ir::float_const(f32, 1.5)), b.at(row, at % N))); });
  });
  return b;
}

// The same over vectors of four elements a thread; N is a multiple of 4.
inline Builder elementwise_vectors() {
  Builder b("elementwise_vectors");
  const Expr M = b.symbol("M"), N = b.symbol("N");
  const Id a = b.input("a", f32, {M, N}), row = b.input("row", f32, {N}), out = b.output("out", f32, {M, N});
  b.k.symbols.at(N.node()->id).multiple_of = 4;
  b.launch(ir::ceil_div(M * N, num(4 * 64)), 64, 0, [&](const Expr& block, const Expr& thread) {
    const Expr first = b.let("first", (block * 64 + thread) * 4);
    b.when(ir::lt(first, M * N), [&] {
      const Expr at = ir::ramp(first, num(1), 4), column = ir::ramp(first % N, num(1), 4);
      auto load = [&](Id id, const Expr& address) { return ir::load(id, "", f32.with_lanes(4), {&address, 1}); };
      b.store(out, at, ir::add(ir::mul(load(a, at), ir::broadcast(ir::float_const(f32, 1.5), 4)), load(row, column)));
    });
  });
  return b;
}

// A sum over N elements in two launches: 16 blocks sum strides of their own into the workspace, one block sums those.
inline Builder large_sum(Type t) {
  constexpr std::int64_t blocks = 16, threads = 64;
  Builder b("large_sum");
  const Expr N = b.symbol("N");
  const Id x = b.input("x", t, {N}), sum = b.output("sum", t, {num(1)});
  const Id partial = b.workspace("partial", t, blocks, 0);
  const Id acc = b.registers("acc", t, 1), tile = b.shared("tile", t, threads, 0);
  const Expr zero = t.is_float() ? ir::float_const(t, 0) : ir::int_const(t, 0);
  auto tree = [&](const Expr& thread) {
    b.store(tile, thread, b.at(acc, num(0)));
    b.block_barrier({});
    for (std::int64_t half = threads / 2; half > 0; half /= 2) {
      b.when(below(thread, half), [&] { b.store(tile, thread, ir::add(b.at(tile, thread), b.at(tile, thread + half))); });
      b.block_barrier({});
    }
  };
  b.launch(num(blocks), threads, threads * t.bytes(), [&](const Expr& block, const Expr& thread) {
    b.store(acc, num(0), zero);
    const Expr first = b.let("first", block * threads + thread);
    b.loop("step", ir::ceil_div(N - first, num(blocks * threads)), [&](const Expr& step) {
      b.store(acc, num(0), ir::add(b.at(acc, num(0)), b.at(x, first + step * (blocks * threads))));
    });
    tree(thread);
    b.when(below(thread, 1), [&] { b.store(partial, block, b.at(tile, num(0))); });
  });
  b.launch(num(1), threads, threads * t.bytes(), [&](const Expr&, const Expr& thread) {
    b.store(acc, num(0), zero);
    b.when(below(thread, blocks), [&] { b.store(acc, num(0), b.at(partial, thread)); });
    tree(thread);
    b.when(below(thread, 1), [&] { b.store(sum, num(0), b.at(tile, num(0))); });
  });
  b.k.workspace_shared = num(blocks * t.bytes());
  b.k.workspace_align = 64;
  return b;
}

// out[j, i] = in[i, j] through a padded tile of shared memory.
inline Builder transposition() {
  constexpr std::int64_t edge = 16;
  Builder b("transposition");
  const Expr M = b.symbol("M"), N = b.symbol("N");
  const Id in = b.input("in", f32, {M, N}), out = b.output("out", f32, {N, M});
  const Id tile = b.shared("tile", f32, edge * (edge + 1), 0);
  const Expr across = ir::ceil_div(N, num(edge));
  b.launch(across * ir::ceil_div(M, num(edge)), edge * edge, edge * (edge + 1) * 4, [&](const Expr& block, const Expr& thread) {
    const Expr row = b.let("row", block / across * edge), column = b.let("column", block % across * edge);
    const Expr y = b.let("y", thread / edge), x = b.let("x", thread % edge);
    b.when(ir::logic_and(ir::lt(row + y, M), ir::lt(column + x, N)),
           [&] { b.store(tile, y * (edge + 1) + x, b.at(in, (row + y) * N + column + x)); });
    b.block_barrier({"tile"});
    b.when(ir::logic_and(ir::lt(column + y, N), ir::lt(row + x, M)),
           [&] { b.store(out, (column + y) * M + row + x, b.at(tile, x * (edge + 1) + y)); });
  });
  return b;
}

// C = A B: blocks of 32x32, k in steps of 8 through shared memory, a register tile of 4x4 in each of 64 threads.
inline Builder matmul() {
  constexpr std::int64_t edge = 32, depth = 8, own = 4, threads = 64;
  Builder b("matmul");
  const Expr M = b.symbol("M"), K = b.symbol("K"), N = b.symbol("N");
  const Id A = b.input("A", f32, {M, K}), B = b.input("B", f32, {K, N}), C = b.output("C", f32, {M, N});
  const Id a = b.shared("a", f32, edge * depth, 0), w = b.shared("w", f32, depth * edge, edge * depth * 4);
  const Id acc = b.registers("acc", f32, own * own), left = b.registers("left", f32, own),
           right = b.registers("right", f32, own);
  const Expr across = ir::ceil_div(N, num(edge));
  b.launch(across * ir::ceil_div(M, num(edge)), threads, 2 * edge * depth * 4, [&](const Expr& block, const Expr& thread) {
    const Expr row = b.let("row", block / across * edge), column = b.let("column", block % across * edge);
    const Expr ty = b.let("ty", thread / (edge / own)), tx = b.let("tx", thread % (edge / own));
    for (std::int64_t r = 0; r < own * own; ++r) b.store(acc, num(r), ir::float_const(f32, 0));
    b.loop("ko", ir::ceil_div(K, num(depth)), [&](const Expr& ko) {
      b.loop("part", num(edge * depth / threads), [&](const Expr& part) {
        const Expr n = b.let("n", part * threads + thread);
        const Expr i = row + n / depth, k = ko * depth + n % depth;
        b.store(a, n, b.at(A, i * K + k, ir::logic_and(ir::lt(i, M), ir::lt(k, K))));
        const Expr kb = ko * depth + n / edge, j = column + n % edge;
        b.store(w, n, b.at(B, kb * N + j, ir::logic_and(ir::lt(kb, K), ir::lt(j, N))));
      });
      b.block_barrier({"a", "w"});
      b.loop("ki", num(depth), [&](const Expr& ki) {
        for (std::int64_t r = 0; r < own; ++r) b.store(left, num(r), b.at(a, (ty * own + r) * depth + ki));
        for (std::int64_t r = 0; r < own; ++r) b.store(right, num(r), b.at(w, ki * edge + tx * own + r));
        for (std::int64_t r = 0; r < own; ++r)
          for (std::int64_t s = 0; s < own; ++s)
            b.store(acc, num(r * own + s), ir::fma(b.at(left, num(r)), b.at(right, num(s)), b.at(acc, num(r * own + s))));
      });
      b.block_barrier({"a", "w"});
    });
    for (std::int64_t r = 0; r < own; ++r)
      for (std::int64_t s = 0; s < own; ++s) {
        const Expr i = row + ty * own + r, j = column + tx * own + s;
        b.when(ir::logic_and(ir::lt(i, M), ir::lt(j, N)), [&] { b.store(C, i * N + j, b.at(acc, num(r * own + s))); });
      }
  });
  return b;
}

// Softmax of rows, a block each: the largest, then the exponentials and their sum, then the quotients.
inline Builder row_softmax() {
  constexpr std::int64_t threads = 32;
  Builder b("row_softmax");
  const Expr M = b.symbol("M"), N = b.symbol("N");
  const Id x = b.input("x", f32, {M, N}), y = b.output("y", f32, {M, N});
  const Id tile = b.shared("tile", f32, threads, 0), acc = b.registers("acc", f32, 1), most = b.registers("most", f32, 1);
  const auto real = [](double v) { return ir::float_const(f32, v); };
  b.launch(M, threads, threads * 4, [&](const Expr& row, const Expr& thread) {
    const Expr mine = ir::ceil_div(N - thread, num(threads));
    auto element = [&](const Expr& step) { return row * N + thread + step * threads; };
    auto exponential = [&](const Expr& step) {
      return ir::expand_math(ir::unary(ir::Op::exp, ir::binary(ir::Op::sub, b.at(x, element(step)), b.at(most, num(0)))));
    };
    auto tree = [&](ir::Op op) {  // leaves the result in tile[0]
      b.store(tile, thread, b.at(acc, num(0)));
      b.block_barrier({});
      for (std::int64_t half = threads / 2; half > 0; half /= 2) {
        b.when(below(thread, half),
               [&] { b.store(tile, thread, ir::binary(op, b.at(tile, thread), b.at(tile, thread + half))); });
        b.block_barrier({});
      }
    };
    b.store(acc, num(0), real(-INFINITY));
    b.loop("step", mine, [&](const Expr& s) { b.store(acc, num(0), ir::max(b.at(acc, num(0)), b.at(x, element(s)))); });
    tree(ir::Op::max);
    b.store(most, num(0), b.at(tile, num(0)));
    b.block_barrier({});
    b.store(acc, num(0), real(0));
    b.loop("step", mine, [&](const Expr& s) { b.store(acc, num(0), ir::add(b.at(acc, num(0)), exponential(s))); });
    tree(ir::Op::add);
    b.loop("step", mine,
           [&](const Expr& s) { b.store(y, element(s), ir::binary(ir::Op::div, exponential(s), b.at(tile, num(0)))); });
  });
  return b;
}

// sum[i] = the sum of row i, one warp a row, by shuffles of every kind; `warp` lanes.
inline Builder warp_sums(Type t, int warp) {
  Builder b("warp_sums");
  const Expr M = b.symbol("M");
  const Id x = b.input("x", t, {M, num(warp)}), sum = b.output("sum", t, {M}), ends = b.output("ends", t, {M, num(warp)});
  const Id acc = b.registers("acc", t, 1), other = b.registers("other", t, 1);
  const ir::Intrinsic &across = b.intrinsic(ir::shuffle_xor(t, warp)), &up = b.intrinsic(ir::shuffle_up(t, warp)),
                      &down = b.intrinsic(ir::shuffle_down(t, warp)), &from = b.intrinsic(ir::shuffle_idx(t, warp));
  b.launch(
      ir::ceil_div(M, num(4)), 4 * warp, 0,
      [&](const Expr& block, const Expr& thread) {
        const Expr row = b.let("row", block * 4 + thread / warp), lane = b.let("lane", thread % warp);
        const Expr inside = ir::lt(row, M);
        b.store(acc, num(0), b.at(x, row * warp + lane, inside));
        for (std::int64_t mask = warp / 2; mask > 0; mask /= 2) {
          b.call(across, {{other, num(0)}, {acc, num(0)}, mask});
          b.store(acc, num(0), ir::add(b.at(acc, num(0)), b.at(other, num(0))));
        }
        b.when(ir::logic_and(inside, below(lane, 1)), [&] { b.store(sum, row, b.at(acc, num(0))); });
        b.store(acc, num(0), b.at(x, row * warp + lane, inside));
        b.call(up, {{other, num(0)}, {acc, num(0)}, 2});
        b.call(down, {{acc, num(0)}, {other, num(0)}, 3});
        b.call(from, {{other, num(0)}, {acc, num(0)}, 1});
        b.when(inside, [&] { b.store(ends, row * warp + lane, ir::add(b.at(acc, num(0)), b.at(other, num(0)))); });
      },
      Where::current(), warp);
  return b;
}

// y[i] = row i of x reversed, one warp a row, by way of shared memory that only its lanes touch; `warp` lanes.
inline Builder warp_reversed(Type t, int warp) {
  Builder b("warp_reversed");
  const Expr M = b.symbol("M");
  const Id x = b.input("x", t, {M, num(warp)}), y = b.output("y", t, {M, num(warp)});
  const Id tile = b.shared("tile", t, 4 * warp, 0);
  b.launch(
      ir::ceil_div(M, num(4)), 4 * warp, 4 * warp * t.bytes(),
      [&](const Expr& block, const Expr& thread) {
        const Expr row = b.let("row", block * 4 + thread / warp), lane = b.let("lane", thread % warp);
        const Expr inside = ir::lt(row, M);
        b.store(tile, thread, b.at(x, row * warp + lane, inside));
        b.warp_barrier({"tile"});
        b.when(inside, [&] { b.store(y, row * warp + lane, b.at(tile, thread / warp * warp + (warp - 1) - lane)); });
      },
      Where::current(), warp);
  return b;
}

}  // namespace programs
