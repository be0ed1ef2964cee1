#pragma once
// Matrix products in f32 for extents of any size (schedules/matmul_by_size.h); bias and activation are applied to a tile when
// its last block of k has been added.
//
//   matmul         C = A B
//   matmul_bias    C = activation(A B + bias)
#include <ashlar/generator/generator.h>
#include <ashlar/schedules/matmul_by_size.h>

namespace product {

using namespace ashlar;

enum class Activation { none, relu, gelu };
}  // namespace product
template <>
struct ashlar::ParamNames<product::Activation> {
  static constexpr NamedValue<product::Activation> values[] = {
      {"none", product::Activation::none}, {"relu", product::Activation::relu}, {"gelu", product::Activation::gelu}};
};
namespace product {

class Product : public Generator {
 public:
  Param<int> tile_i{"tile_i", 0, between(0, 64), "rows of a register tile; 0: as many as the target's registers hold"};
  Param<int> block_k{"block_k", 512, between(1, 65536), "steps of k between two visits of C"};
  Param<int> block_j{"block_j", 0, between(0, 65536),
                     "panels of B in a block; 0: as many as fill the second-level cache twice"};
  Param<int> ahead{"ahead", 32, between(0, 4096),
                   "steps of k that the panel of B is asked for before it is needed; 0: it is not"};
  Symbol M{"M", {.min = 1}}, N{"N", {.min = 1}}, K{"K", {.min = 1}};
  Input A{"A", f32, {M, K}}, B{"B", f32, {K, N}};

 protected:
  Tensor multiply(const char* name) {
    Axis k{"k", K};
    return compute(name, {{"i", M}, {"j", N}}, [&](Var i, Var j) { return sum(A(i, k) * B(k, j), k); });
  }

  schedules::MatmulOptions options(bool padded) const {
    return {.tile_i = tile_i, .block_k = block_k, .block_j = block_j, .ahead = ahead, .padded = padded};
  }
};

class Matmul : public Product {
 public:
  Output C{"C", f32, {M, N}};
  void algorithm() override { C = multiply("C"); }
  void schedule(Schedule& s) override { schedules::matmul_by_size(s, s[C], A, B, options(false)); }
};
class MatmulBias : public Product {
 public:
  Param<Activation> activation{"activation", Activation::relu};
  Input bias{"bias", f32, {N}};
  Output C{"C", f32, {M, N}};
  Tensor product;

  void algorithm() override {
    product = multiply("product");
    C = compute("C", {{"i", M}, {"j", N}}, [&](Var i, Var j) {
      const Expr x = product(i, j) + bias(j);
      if (*activation == Activation::gelu) return 0.5f * x * (1.0f + erf(x * 0.70710678f));
      return *activation == Activation::relu ? max(x, 0.0f) : x;
    });
  }
  void schedule(Schedule& s) override {
    s[C].fuse_into(schedules::matmul(s, s[product], A, B, options(true)).tile);
    s[C].vectorize(s[C].spatial<2>()[1], s.target().lanes(f32));
  }
};
}  // namespace product
