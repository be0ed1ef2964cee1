#pragma once
// Matrix products of narrow types, C = A B, on the instructions that multiply and add several neighbors at once.
//
//   matmul_u8s8      u8 and i8, summed in i32: x86-64 with avx512vnni, avxvnni or avx2 (schedules/matmul_dot.h)
//   matmul_bf16      bf16, summed in f32: x86-64 with avx512bf16
//   matmul_stored    bf16 or f16 as they are stored, multiplied and summed in f32 (schedules/matmul.h)
//   matmul_s8s8      i8, summed in i32: AArch64 by smmla, sdot or smlal; vectors elsewhere (schedules/matmul_bytes.h)
#include <ashlar/generator/generator.h>
#include <ashlar/schedules/matmul_bytes.h>
#include <ashlar/schedules/matmul_dot.h>

namespace product {

using namespace ashlar;

// C of type `sum`, A and B as they are.
class Narrow : public Generator {
 public:
  Param<int> block_j{"block_j", 0, between(0, 65536),
                     "panels of B in a block; 0: as many as the family of schedules takes for the second-level cache"};
  Symbol M{"M", {.min = 1}}, N{"N", {.min = 1}}, K{"K", {.min = 1}};

 protected:
  Tensor multiply(const Tensor& A, const Tensor& B, Type wide) {
    Axis k{"k", K};
    return compute("C", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return sum(wide(A(i, k)) * wide(B(k, j)), k); });
  }
};

class NarrowDot : public Narrow {
 public:
  Param<int> tile_i{"tile_i", 0, between(0, 64), "rows of a register tile; 0: as many as the target's registers hold"};
  Param<int> block_bytes{"block_bytes", 1024, between(4, 65536),
                         "bytes of a row of A between two visits of C, a multiple of 4"};

 protected:
  schedules::MatmulDotOptions options() const { return {.tile_i = tile_i, .block_bytes = block_bytes, .block_j = block_j}; }
};

class MatmulU8S8 : public NarrowDot {
 public:
  Param<bool> pairs_fit{"pairs_fit", false,
                        "two products added fit 16 bits, as where A is below 128: by vpmaddubsw, where there is no VNNI"};
  Input A{"A", u8, {M, K}}, B{"B", i8, {K, N}};
  Output C{"C", i32, {M, N}};

  void algorithm() override { C = multiply(A, B, i32); }
  void schedule(Schedule& s) override {
    schedules::MatmulDotOptions o = options();
    if (pairs_fit) o.pairs = x86::Pairs::fit;
    schedules::matmul_dot(s, s[C], A, B, o);
  }
};

// The same bits as sums in the order of k, one block of k after another, except for subnormal numbers.
class MatmulBf16 : public NarrowDot {
 public:
  Input A{"A", bf16, {M, K}}, B{"B", bf16, {K, N}};
  Output C{"C", f32, {M, N}};

  void algorithm() override { C = multiply(A, B, f32); }
  void schedule(Schedule& s) override {
    schedules::MatmulDotOptions o = options();
    o.subnormals = x86::Subnormals::as_zero;
    schedules::matmul_dot(s, s[C], A, B, o);
  }
};

class MatmulStored : public Narrow {
 public:
  Param<Type> stored{"stored", bf16, {{bf16, f16}}, "type of A and B"};
  Input A{"A", *stored, {M, K}}, B{"B", *stored, {K, N}};
  Output C{"C", f32, {M, N}};

  void algorithm() override { C = multiply(A, B, f32); }
  void schedule(Schedule& s) override { schedules::matmul(s, s[C], A, B, {.block_j = block_j}); }
};

class MatmulS8S8 : public Narrow {
 public:
  Param<int> block_k{"block_k", 512, between(8, 65536), "k between two visits of C, a multiple of 8"};
  Input A{"A", i8, {M, K}}, B{"B", i8, {K, N}};
  Output C{"C", i32, {M, N}};

  void algorithm() override { C = multiply(A, B, i32); }
  void schedule(Schedule& s) override { schedules::matmul_bytes(s, s[C], A, B, {.block_k = block_k, .block_j = block_j}); }
};

}  // namespace product
