#pragma once
// Two small parallel programs: a reduction by a block through shuffles and shared memory, and a transposition through padded
// and through swizzled shared memory.
#include "tests/interp/launch_builder.h"

namespace launches::small {

constexpr std::int64_t blocks = 2;

// The rows that this block sums: block, block + 2, …
inline Expr rounds(const Expr& n, const Expr& block) { return ir::ceil_div(n - block, num(blocks)); }

inline Builder block_sum() {
  Builder b("block_sum");
  const Expr M = b.symbol("M"), N = b.symbol("N");
  const Id x = b.input("x", f32, {M, N}), sum = b.output("sum", f32, {M});
  const Id acc = b.registers("acc", f32, 1), other = b.registers("other", f32, 1), partial = b.shared("partial", f32, 8, 0);
  const ir::Intrinsic& shuffle = b.intrinsic(ir::shuffle_xor(f32));
  const auto add_lanes = [&](std::int64_t from) {
    for (std::int64_t mask = from; mask > 0; mask /= 2) {
      b.call(shuffle, {{other, num(0)}, {acc, num(0)}, mask});
      b.store(acc, num(0), ir::add(b.at(acc, num(0)), b.at(other, num(0))));
    }
  };
  b.launch(num(blocks), 256, 64, [&](const Expr& block, const Expr& thread) {
    const Expr lane = b.let("lane", thread % 32);
    b.loop("round", rounds(M, block), [&](Expr round) {
      const Expr row = b.let("row", block + round * blocks);
      b.store(acc, num(0), ir::float_const(f32, 0));
      b.loop("step", ir::ceil_div(N - thread, num(256)),
             [&](Expr step) { b.store(acc, num(0), ir::add(b.at(acc, num(0)), b.at(x, row * N + thread + step * 256))); });
      add_lanes(16);
      b.when(below(lane, 1), [&] { b.store(partial, thread / 32, b.at(acc, num(0))); });
      b.block_barrier({"partial"});
      b.when(below(thread, 32), [&] {
        b.store(acc, num(0), b.at(partial, lane, below(lane, 8)));
        add_lanes(4);
        b.when(below(lane, 1), [&] { b.store(sum, row, b.at(acc, num(0))); });
      });
      b.block_barrier({"partial"});
    });
  });
  return b;
}

enum class Tile { padded, swizzled };

inline Builder transposition(Tile form) {
  Builder b(form == Tile::padded ? "transposition_padded" : "transposition_swizzled");
  const Expr M = b.symbol("M"), N = b.symbol("N");
  const Id in = b.input("in", f32, {M, N}), out = b.output("out", f32, {N, M});
  const Id tile = b.shared("tile", f32, form == Tile::padded ? 32 * 33 : 32 * 32, 0);
  const auto place = [&](const Expr& y, const Expr& x) {
    return form == Tile::padded ? y * 33 + x : y * 32 + exclusive_or(x, y);
  };
  b.launch(num(blocks), 256, 32 * 33 * 4, [&](const Expr& block, const Expr& thread) {
    const Expr x = b.let("x", thread % 32), y = b.let("y", thread / 32);
    const Expr across = b.let("across", ir::ceil_div(N, num(32)));
    b.loop("round", rounds(ir::ceil_div(M, num(32)) * across, block), [&](Expr round) {
      const Expr number = b.let("number", block + round * blocks);
      const Expr top = b.let("top", number / across * 32), left = b.let("left", number % across * 32);
      b.loop("step", num(4), [&](Expr step) {
        const Expr row = y + step * 8;
        b.when(ir::logic_and(ir::lt(top + row, M), ir::lt(left + x, N)),
               [&] { b.store(tile, place(row, x), b.at(in, (top + row) * N + left + x)); });
      });
      b.block_barrier({"tile"});
      b.loop("step", num(4), [&](Expr step) {
        const Expr row = y + step * 8;
        b.when(ir::logic_and(ir::lt(left + row, N), ir::lt(top + x, M)),
               [&] { b.store(out, (left + row) * M + top + x, b.at(tile, place(x, row))); });
      });
      b.block_barrier({"tile"});
    });
  });
  return b;
}

}  // namespace launches::small
