// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Counter-based random numbers: Philox 4x32-10 (Salmon, Moraes, Dror and Shaw, Parallel random numbers: as easy as 1, 2, 3,
// 2011). A number depends only on a key and on its place, so it is the same with every schedule and on every target.
//
//   Scalar seed{"seed", u64}, offset{"offset", u64};
//   auto y = ops::dropout(x, 0.1, {.seed = seed, .offset = offset});
//
// Element e of a tensor, in row-major order, is word e % 4 of block offset + e / 4. The counter of a block is {low, high,
// stream, 0}; the key is the seed. To draw again from the same seed, advance the offset by the number of blocks used, or choose
// another stream.
#include <array>
#include <ashlar/ops/common.h>

namespace ashlar::ops {

struct RandomOptions {
  Operand seed = 0, offset = 0;  // u64, numbers or Scalars
  std::uint32_t stream = 0;
};

// One block: four words of 32 bits from a counter of four words and a key of two, all u32.
std::array<Expr, 4> philox4x32(std::array<Expr, 4> c, std::array<Expr, 2> k, int rounds = 10);

namespace detail {

Expr number_in_order(const Indices& i, const std::vector<Expr>& extents);
std::vector<Expr> extents_of(const Shape& s, Where where);

}  // namespace detail

// The blocks for a tensor of `count` elements: four tensors [ceil(count / 4)], u32. The ten rounds are five stages of two
// rounds each, which keeps the formulas small. A schedule inlines them or keeps them in registers.
struct RandomBlocks {
  std::vector<std::array<Tensor, 4>> rounds;
  const std::array<Tensor, 4>& words() const { return rounds.back(); }
};
RandomBlocks random_blocks(const Expr& count, const RandomOptions& o = {}, Where where = Where::current());

struct Random {
  RandomBlocks blocks;
  Tensor result;
  operator Tensor() const { return result; }
};
namespace detail {

template <class F>
Random random(const char* name, const Shape& shape, const RandomOptions& o, Where where, F value) {
  const std::vector<Expr> extents = extents_of(shape, where);
  Expr count = ir::index(1);
  for (const Expr& e : extents) count = ir::mul(count, e);
  Random r;
  r.blocks = random_blocks(count, o, where);
  r.result = compute(name, shape, [&](Indices i) { return value(r.blocks, number_in_order(i, extents)); }, where);
  return r;
}
// A number in [0, 1), a multiple of 2^-24.
Expr unit(const Expr& bits);

}  // namespace detail

// Random words of 32 bits, u32.
Random random_bits(const Shape& shape, const RandomOptions& o = {}, Where where = Where::current());
// Uniform in [low, high), f32: low + u (high - low), where u is one of 2^24 values from 0 to 1 - 2^-24. Rounding can still give
// high.
Random random_uniform(const Shape& shape, Operand low = 0, Operand high = 1, const RandomOptions& o = {},
                      Where where = Where::current());
// Normal, f32. Words 2 p and 2 p + 1 of a block give the elements sqrt(-2 log u) cos(2 pi v) and sqrt(-2 log u) sin(2 pi v),
// with u in (0, 1] (Box and Muller, 1958).
Random random_normal(const Shape& shape, Operand mean = 0, Operand deviation = 1, const RandomOptions& o = {},
                     Where where = Where::current());

// x / (1 - p) with probability 1 - p, otherwise 0. p is in [0, 1). `mask` is bool, and true for elements that are kept.
struct Dropout {
  RandomBlocks blocks;
  Tensor mask, result;
  operator Tensor() const { return result; }
};
Dropout dropout(const Tensor& x, double p, const RandomOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::ops
