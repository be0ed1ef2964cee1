// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operators of the kits' tests.
#include <ashlar/ashlar.h>
using namespace ashlar;

namespace {

class Swish : public Generator {  // elementwise: x / (1 + exp(-beta x))
 public:
  Param<Type> type{"type", f32, {{f32, f64}}};
  Symbol M{"M"}, N{"N"};
  Input x{"x", type, {M, N}};
  Scalar beta{"beta", type};
  Output y{"y", type, {M, N}};

  void algorithm() override {
    y = compute("y", {M, N}, [&](Var i, Var j) { return x(i, j) / (1 + exp(-beta * x(i, j))); });
  }
};
ASHLAR_GENERATOR(Swish, "swish");

class RowNorm : public Generator {  // a reduction, of two tensors: the sum of w x^2 over each row
 public:
  Param<Type> type{"type", f32, {{f32, f64}}};
  Symbol M{"M"}, N{"N", {.min = 1}};
  Input x{"x", type, {M, N}}, w{"w", type, {N}};
  Output y{"y", type, {M}};

  void algorithm() override {
    Axis j{"j", N};
    y = compute("y", {M}, [&](Var i) { return sum(w(j) * x(i, j) * x(i, j), j); });
  }
};
ASHLAR_GENERATOR(RowNorm, "row_norm");

class MatmulI8 : public Generator {  // u8 by i8, in i32
 public:
  Symbol M{"M"}, N{"N"}, K{"K"};
  Input A{"A", u8, {M, K}}, B{"B", i8, {K, N}};
  Output C{"C", i32, {M, N}};

  void algorithm() override {
    Axis k{"k", K};
    C = compute("C", {M, N}, [&](Var i, Var j) { return sum(i32(A(i, k)) * i32(B(k, j)), k); });
  }
};
ASHLAR_GENERATOR(MatmulI8, "matmul_i8");

class MinMax : public Generator {  // two outputs
 public:
  Symbol M{"M"}, N{"N"};
  Input x{"x", f32, {M, N}};
  Output low{"low", f32, {M}}, high{"high", f32, {M}};

  void algorithm() override {
    Axis j{"j", N}, k{"k", N};
    low = compute("low", {M}, [&](Var i) { return minimum(x(i, j), j); });
    high = compute("high", {M}, [&](Var i) { return maximum(x(i, k), k); });
  }
};
ASHLAR_GENERATOR(MinMax, "min_max");

class Windows : public Generator {  // an extent that no input tells, one that is computed, a scalar that is a number of bytes
 public:
  Symbol N{"N", {.min = 4}}, R{"R"};
  Input x{"x", i32, {N}};
  Scalar shift{"shift", i8};
  Output y{"y", i32, {R, N / 4 + 1}};

  void algorithm() override {
    y = compute("y", {R, N / 4 + 1}, [&](Var r, Var i) { return x(min(i * 4, N - 1)) + i32(r) + i32(shift); });
  }
};
ASHLAR_GENERATOR(Windows, "windows");

class Spread : public Generator {  // what an input does not tell, of an operator with a derivative; an input of integers
 public:
  Symbol N{"N"}, R{"R"};
  Input x{"x", f32, {N}}, sign{"sign", i32, {N}};
  Output y{"y", f32, {R, N}};

  void algorithm() override {
    y = compute("y", {R, N}, [&](Var r, Var i) { return x(i) * f32(sign(i)) * f32(r + 1); });
  }
};
ASHLAR_GENERATOR(Spread, "spread");

class Energy : public Generator {  // one number
 public:
  Symbol M{"M"}, N{"N"};
  Input x{"x", f32, {M, N}};
  Output y{"y", f32, {}};

  void algorithm() override {
    Axis i{"i", M}, j{"j", N};
    y = compute("y", [&] { return sum(x(i, j) * x(i, j), {i, j}); });
  }
};
ASHLAR_GENERATOR(Energy, "energy");

class Kinds : public Generator {  // other types: 16 bits, truths, a scalar that is a truth
 public:
  Symbol N{"N"};
  Input x{"x", f16, {N}};
  Scalar flip{"flip", bool_};
  Output positive{"positive", bool_, {N}}, half{"half", bf16, {N}};

  void algorithm() override {
    positive = compute("positive", {N}, [&](Var i) { return select(flip, x(i) < 0, x(i) > 0); });
    half = compute("half", {N}, [&](Var i) { return bf16(f32(x(i)) / 2); });
  }
};
ASHLAR_GENERATOR(Kinds, "kinds");

class Strided : public Generator {  // strides of any size; memory at multiples of 64 bytes
 public:
  Symbol M{"M"}, N{"N"};
  Input x{"x", f32, {M, N}, {.order = Layout::any}}, bias{"bias", f32, {N}, {.align = 64}};
  Output y{"y", f32, {M, N}};

  void algorithm() override {
    y = compute("y", {M, N}, [&](Var i, Var j) { return x(i, j) + bias(j); });
  }
};
ASHLAR_GENERATOR(Strided, "strided");

}  // namespace
