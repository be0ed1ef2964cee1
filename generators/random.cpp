// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random numbers from counters: the seed and the offset are Scalars of each call.
#include "generators/op.h"
#include "generators/params.h"

namespace ashlar::generators {

namespace {

class RandomOp : public Op {
 protected:
  ops::RandomOptions options() {
    const Param<std::uint32_t> stream{"stream", 0, "each stream has independent numbers"};
    const Expr seed = scalar("seed", u64), offset = scalar("offset", u64);
    return {.seed = seed, .offset = offset, .stream = stream};
  }
};

struct RandomRow {
  const char* name;
  const char* formula;
  const char *first, *second;  // Scalars of f32; null: none
  Tensor (*apply)(const Shape&, const Operand& first, const Operand& second, const ops::RandomOptions&);
};
constexpr RandomRow randoms[] = {
    {"random_bits", "y = random words of 32 bits", nullptr, nullptr,
     [](const Shape& s, const Operand&, const Operand&, const ops::RandomOptions& o) {
       return Tensor(ops::random_bits(s, o));
     }},
    {"random_normal", "y = normally distributed numbers", "mean", "deviation",
     [](const Shape& s, const Operand& a, const Operand& b, const ops::RandomOptions& o) {
       return Tensor(ops::random_normal(s, a, b, o));
     }},
    {"random_uniform", "y = uniformly distributed numbers from low up to high", "low", "high",
     [](const Shape& s, const Operand& a, const Operand& b, const ops::RandomOptions& o) {
       return Tensor(ops::random_uniform(s, a, b, o));
     }},
};
class Random : public RandomOp {
 public:
  explicit Random(const RandomRow& row) {
    Extents extents;
    const Shape shape = Shape::of(extents.shape("shape", "M,N", "shape of y"));
    const ops::RandomOptions o = options();
    if (!row.first) {
      output("y", row.apply(shape, 0, 0, o));
      return;
    }
    const Expr first = scalar(row.first, f32), second = scalar(row.second, f32);
    output("y", row.apply(shape, Operand(first), Operand(second), o));
  }
};
const auto registered_randoms = register_rows<Random, randoms>("random");

class RandomBlocksOp : public RandomOp {
 public:
  RandomBlocksOp() {
    Extents extents;
    const Expr B = extents["B"];
    const ops::RandomBlocks blocks = ops::random_blocks(B * 4, options());
    for (int w = 0; w < 4; ++w) output(("w" + std::to_string(w)).c_str(), blocks.words()[static_cast<std::size_t>(w)]);
  }
};
ASHLAR_GENERATOR(
    RandomBlocksOp, "random_blocks", "random",
    "w0 .. w3 = the words of B blocks of Philox 4x32, [B] each: word w of block b is number 4 b + w of random_bits");

class DropoutOp : public RandomOp {
 public:
  DropoutOp() {
    const Param<Type> type = type_param(Kind::floats);
    Extents extents;
    const std::vector<Extent> shape = extents.shape("shape", "M,N", "shape of x and y");
    const Param<double> p{"p", 0.1, between(0.0, 0.999999), "the probability that an element is dropped"};
    const Param<bool> with_mask{"mask", false, "also output which elements are kept"};
    const Tensor x = input("x", type, shape);
    const ops::Dropout d = ops::dropout(x, p, options());
    output("y", d.result);
    if (with_mask) output("mask", d.mask);
  }
};
ASHLAR_GENERATOR(DropoutOp, "dropout", "random", "y = x / (1 - p) where a uniform number is at least p, else 0");

}  // namespace

}  // namespace ashlar::generators
