// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Random numbers from counters: Philox 4x32-10 (Salmon, Moraes, Dror and Shaw, Parallel random numbers: as easy as 1, 2, 3,
// 2011). A number is a function of a key and of its place, so it is the same under any schedule, and on any target.
//
//   Scalar seed{"seed", u64}, offset{"offset", u64};
//   auto y = ops::dropout(x, 0.1, {.seed = seed, .offset = offset});
//
// Element e of a tensor, in row-major order, is word e % 4 of block offset + e / 4: counter {low, high, stream, 0} with the
// seed as key. Whoever draws twice from one seed moves the offset on by the blocks that were used, or takes another stream.
#include <array>
#include <ashlar/ops/common.h>

namespace ashlar::ops {

struct RandomOptions {
  Operand seed = 0, offset = 0;  // u64, numbers or Scalars
  std::uint32_t stream = 0;
};

// One block: four words of 32 bits from a counter of four and a key of two, all u32.
std::array<Expr, 4> philox4x32(std::array<Expr, 4> c, std::array<Expr, 2> k, int rounds = 10);

namespace detail {

Expr number_in_order(const Indices& i, const std::vector<Expr>& extents);
std::vector<Expr> extents_of(const Shape& s, Where where);

}  // namespace detail

// The blocks that a tensor of so many elements draws from: four tensors [ceil(count / 4)] of u32. The ten rounds are five
// stages of two, so that each formula stays small; a schedule inlines them or keeps them in registers.
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
// [0, 1), a multiple of 2^-24.
Expr unit(const Expr& bits);

}  // namespace detail

// Words of 32 bits.
Random random_bits(const Shape& shape, const RandomOptions& o = {}, Where where = Where::current());
// f32, from low, up to but not high: low + u (high - low), u one of 2^24 values from 0. Rounding may give high.
Random random_uniform(const Shape& shape, Operand low = 0, Operand high = 1, const RandomOptions& o = {},
                      Where where = Where::current());
// f32, normal: of words 2 p and 2 p + 1 of a block the elements sqrt(-2 log u) cos(2 pi v) and sin (Box and Muller, 1958), u in
// (0, 1].
Random random_normal(const Shape& shape, Operand mean = 0, Operand deviation = 1, const RandomOptions& o = {},
                     Where where = Where::current());

// x / (1 - p) where a uniform number is at least p, else 0; p in [0, 1). mask: bool, what stays.
struct Dropout {
  RandomBlocks blocks;
  Tensor mask, result;
  operator Tensor() const { return result; }
};
Dropout dropout(const Tensor& x, double p, const RandomOptions& o = {}, Where where = Where::current());

}  // namespace ashlar::ops
