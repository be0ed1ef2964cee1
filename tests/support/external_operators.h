#pragma once
// Functions in C as an application may have them, and operators that call them: a product, a filter that gives two results, one
// that fails. They count their calls and check what they get.
#include <cstdint>

#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/schedule/schedule.h>

namespace external {

inline int calls = 0;     // of any of them
inline int fail_at = -1;  // tells() fails where its box holds this index

inline float* element(const ashlar_tensor& t, std::int64_t i, std::int64_t j = 0) {
  return static_cast<float*>(t.data) + i * t.strides[0] + (t.ndim > 1 ? j * t.strides[1] : 0);
}

extern "C" {

// regions: A [m, k], B [k, n], C [m, n]
inline int ashlars_test_gemm(const ashlar_tensor* r, const std::int64_t*) {
  ++calls;
  if (r[0].shape[0] != r[2].shape[0] || r[1].shape[1] != r[2].shape[1] || r[0].shape[1] != r[1].shape[0]) return 7;
  if (r[0].type_code != 2 || r[0].type_bits != 32 || r[2].device_type != 1 || r[2].byte_offset != 0) return 8;
  for (std::int64_t i = 0; i < r[2].shape[0]; ++i)
    for (std::int64_t j = 0; j < r[2].shape[1]; ++j) {
      float sum = 0;
      for (std::int64_t k = 0; k < r[0].shape[1]; ++k) sum += *element(r[0], i, k) * *element(r[1], k, j);
      *element(r[2], i, j) = sum;
    }
  return 0;
}

// regions: x [n + 2], sums [n], places [n]: x(i - 1) + x(i) + x(i + 1), where x ends with the tensor, and the index itself
inline int ashlars_test_three(const ashlar_tensor* r, const std::int64_t* begin) {
  ++calls;
  for (std::int64_t i = 0; i < r[1].shape[0]; ++i) {
    const std::int64_t at = begin[1] + i;
    float sum = 0;
    for (std::int64_t n = at - 1; n <= at + 1; ++n)
      if (n >= begin[0] && n < begin[0] + r[0].shape[0]) sum += *element(r[0], n - begin[0]);
    *element(r[1], i) = sum;
    static_cast<std::int64_t*>(r[2].data)[i * r[2].strides[0]] = at;
  }
  return 0;
}

inline int ashlars_test_tells(const ashlar_tensor* r, const std::int64_t* begin) {
  ++calls;
  for (std::int64_t i = 0; i < r[0].shape[0]; ++i) {
    if (begin[0] + i == fail_at) return 42;
    *element(r[0], i) = static_cast<float>(begin[0] + i);
  }
  return 0;
}
}

using namespace ashlar;

// C = A B by a function, D = C * 2
struct Product {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"}, K{"K"};
  Tensor A = lang::make_input("A", f32, {M, K}), B = lang::make_input("B", f32, {K, N}),
         D = lang::make_output("D", f32, {M, N});
  Tensor twice = compute("twice", {M, K}, [&](Var i, Var k) { return A(i, k) * 2; });
  Tensor C = c_stage("C", f32, {M, N}, region_function("ashlars_test_gemm", ashlars_test_gemm),
                     [&](Var i, Var j) { return Needs{needs(twice, i, Range{Expr(0), K}), needs(B, Range{Expr(0), K}, j)}; });
  Tensor out = compute("out", {M, N}, [&](Var i, Var j) { return C(i, j) + 1; });
  lang::Built built = (lang::bind(D, out), lang::build_program("product", {A, B, D}));
  Schedule s;
  explicit Product(const char* target = "x86-64-v3") : s(built, Target::parse(target)) {}
};

// Sums of three neighbors and their places, read by another stage at an offset.
struct Three {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  std::array<Tensor, 2> both = c_stage("three", {f32, i64}, {N}, region_function("ashlars_test_three", ashlars_test_three),
                                       [&](Var i) { return needs(x, Range{max(i - 1, 0), min(i + 2, N)}); });
  Tensor out = compute("out", {N}, [&](Var i) { return both[0](i) * 100 + f32(both[1](N - 1 - i)); });
  lang::Built built = (lang::bind(y, out), lang::build_program("three", {x, y}));
  Schedule s;
  explicit Three(const char* target = "x86-64-v3") : s(built, Target::parse(target)) {}
};

// What needs nothing, and may fail.
struct Tells {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor y = lang::make_output("y", f32, {N});
  Tensor tells =
      c_stage("tells", f32, {N}, region_function("ashlars_test_tells", ashlars_test_tells), [](Var) { return Needs{}; });
  Tensor out = compute("out", {N}, [&](Var i) { return tells(i) * 2; });
  lang::Built built = (lang::bind(y, out), lang::build_program("tells", {y}));
  Schedule s;
  explicit Tells(const char* target = "x86-64-v3") : s(built, Target::parse(target)) {}
};

}  // namespace external
