// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// References of kernels/tensor.cu. Sums of f32 are compared within what sums of k products of this size may lose when each
// partial sum is truncated to f32, as devices may do; integers and f64 exactly.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/ptx/corpus/corpus.h"
#include "tests/ptx/corpus/formats.h"

namespace ashlar::ptx_corpus {
namespace {

using u8 = std::uint8_t;
using i8 = std::int8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

struct Matrix {  // values, each as its format has it
  int rows, columns;
  std::vector<double> v;
  double& at(int i, int j) { return v[static_cast<std::size_t>(i * columns + j)]; }
  double at(int i, int j) const { return v[static_cast<std::size_t>(i * columns + j)]; }
};
Matrix numbers(Rng& rng, int rows, int columns, const ShortFloat& f) {
  Matrix m{rows, columns, std::vector<double>(static_cast<std::size_t>(rows * columns))};
  for (double& v : m.v) v = decoded(encoded(rng.between(-2, 2), f), f);
  return m;
}
Matrix transposed(const Matrix& m) {
  Matrix t{m.columns, m.rows, m.v};
  for (int i = 0; i < m.rows; ++i)
    for (int j = 0; j < m.columns; ++j) t.at(j, i) = m.at(i, j);
  return t;
}
Matrix product(const Matrix& a, const Matrix& b, double from) {  // exact: of short numbers
  Matrix c{a.rows, b.columns, std::vector<double>(static_cast<std::size_t>(a.rows * b.columns), from)};
  for (int i = 0; i < c.rows; ++i)
    for (int j = 0; j < c.columns; ++j)
      for (int k = 0; k < a.columns; ++k) c.at(i, j) += a.at(i, k) * b.at(k, j);
  return c;
}
std::vector<u16> short_bits(const Matrix& m, const ShortFloat& f) {
  std::vector<u16> v;
  for (const double x : m.v) v.push_back(static_cast<u16>(encoded(x, f)));
  return v;
}
std::vector<float> floats(const Matrix& m) { return {m.v.begin(), m.v.end()}; }
template <class T>
std::vector<u32> words(const std::vector<T>& v) {
  std::vector<u32> w(v.size() * sizeof(T) / 4);
  __builtin_memcpy(w.data(), v.data(), w.size() * 4);
  return w;
}
constexpr ptx::Grid kWarp = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
Bound sum_bound(int k) { return {.absolute = k * 4 * k * 0x1p-24}; }  // k partial sums of at most 4 k

TEST_CASE("wmma: f16, sums of f32") {
  Corpus c("tensor", 61);
  const int k = 80;
  const Matrix a = numbers(c.rng, 16, k, kHalf), b = numbers(c.rng, k, 16, kHalf);
  const auto out = c.make<float>(256);
  c.launch("wmma_f16", kWarp, c.put(short_bits(a, kHalf)), c.put(short_bits(b, kHalf)), out, k);
  Matrix want = product(a, b, 0.25);
  for (double& v : want.v) v *= 2;
  expect_same("wmma_f16", c.get(out), floats(want), sum_bound(k));
}

TEST_CASE("wmma: f16, sums of f16") {
  Corpus c("tensor", 62);
  const int k = 48;
  const Matrix a = numbers(c.rng, 32, k, kHalf), b = numbers(c.rng, k, 8, kHalf);
  const auto out = c.make<u16>(256);
  c.launch("wmma_f16_wide", kWarp, c.put(short_bits(transposed(a), kHalf)), c.put(short_bits(transposed(b), kHalf)), out, k);
  std::vector<float> got;
  for (const u16 v : c.get(out)) got.push_back(from_half(v));
  expect_same("wmma_f16_wide", got, floats(transposed(product(a, b, 0))), {.absolute = k * 4 * k * 0x1p-11});
}

TEST_CASE("wmma: bf16, c of memory") {
  Corpus c("tensor", 63);
  const int k = 64;
  const Matrix a = numbers(c.rng, 16, k, kBrain), b = numbers(c.rng, k, 16, kBrain), start = numbers(c.rng, 16, 16, kBrain);
  const auto out = c.put(floats(start));
  c.launch("wmma_bf16", kWarp, c.put(short_bits(a, kBrain)), c.put(short_bits(transposed(b), kBrain)), out, k);
  Matrix want = product(a, b, 0);
  for (std::size_t i = 0; i < want.v.size(); ++i) want.v[i] += start.v[i];
  expect_same("wmma_bf16", c.get(out), floats(want), sum_bound(k));
}

TEST_CASE("wmma: tf32") {
  Corpus c("tensor", 64);
  const int k = 40;
  Matrix a = numbers(c.rng, 16, k, kTensor32), b = numbers(c.rng, k, 16, kTensor32);
  const auto out = c.make<float>(256);
  // what is passed has bits beyond tf32's, which the kernel rounds away
  auto fa = floats(a), fb = floats(transposed(b));
  for (float& v : fa) v *= 1 + 0x1p-13f;
  c.launch("wmma_tf32", kWarp, c.put(fa), c.put(fb), out, k);
  expect_same("wmma_tf32", c.get(out), floats(product(a, b, 0)), sum_bound(k));
}

TEST_CASE("wmma: integers") {
  Corpus c("tensor", 65);
  const int k = 112;
  std::vector<i8> a(16 * 112);
  std::vector<u8> b(16 * 112), ua(16 * 112);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = edgy<i8>(c.rng), b[i] = edgy<u8>(c.rng), ua[i] = edgy<u8>(c.rng);
  const auto out = c.make<i32>(256), unsigned_out = c.make<i32>(256);
  c.launch("wmma_s8", kWarp, c.put(a), c.put(b), c.put(ua), out, unsigned_out, k);
  std::vector<i32> want, unsigned_want(256);
  for (std::size_t i = 0; i < 16; ++i)
    for (std::size_t j = 0; j < 16; ++j) {
      i32 s = -3, u = 0;
      for (std::size_t r = 0; r < 112; ++r)
        s += a[i * 112 + r] * static_cast<i8>(b[j * 112 + r]), u += ua[i * 112 + r] * b[j * 112 + r];
      want.push_back(s), unsigned_want[j * 16 + i] = u;
    }
  expect_same("wmma_s8", c.get(out), want);
  expect_same("wmma_s8, unsigned", c.get(unsigned_out), unsigned_want);
}

TEST_CASE("wmma: f64") {
  Corpus c("tensor", 66);
  const int k = 28;
  Matrix a{8, k, random_values<double>(c.rng, 8 * 28, -1, 1)}, b{k, 8, random_values<double>(c.rng, 8 * 28, -1, 1)};
  const auto out = c.make<double>(64);
  c.launch("wmma_f64", kWarp, c.put(a.v), c.put(transposed(b).v), out, k);
  expect_same("wmma_f64", c.get(out), product(a, b, 0).v, {.absolute = 28 * 28 * 0x1p-53});
}

TEST_CASE("mma: ldmatrix, plain and transposed") {
  Corpus c("tensor", 67);
  const int k = 96;
  const Matrix a = numbers(c.rng, 16, k, kHalf), b = numbers(c.rng, k, 8, kHalf);
  const auto out = c.make<float>(128);
  c.launch("mma_ldmatrix", kWarp, c.put(short_bits(a, kHalf)), c.put(short_bits(b, kHalf)), out, k);
  expect_same("mma_ldmatrix", c.get(out), floats(product(a, b, 0)), sum_bound(k));
}

TEST_CASE("mma: bf16, tf32, f16") {
  Corpus c("tensor", 68);
  {
    const Matrix a = numbers(c.rng, 16, 16, kBrain), b = numbers(c.rng, 16, 8, kBrain);
    const auto out = c.make<float>(128);
    c.launch("mma_bf16", kWarp, c.put(words(short_bits(a, kBrain))), c.put(words(short_bits(transposed(b), kBrain))), out);
    expect_same("mma_bf16", c.get(out), floats(product(a, b, 1)), sum_bound(16));
  }
  {
    const Matrix a = numbers(c.rng, 16, 8, kTensor32), b = numbers(c.rng, 8, 8, kTensor32);
    const auto out = c.make<float>(128);
    c.launch("mma_tf32", kWarp, c.put(words(floats(a))), c.put(words(floats(transposed(b)))), out);
    expect_same("mma_tf32", c.get(out), floats(product(a, b, 0)), sum_bound(8));
  }
  {
    const Matrix a = numbers(c.rng, 16, 8, kHalf), b = numbers(c.rng, 8, 8, kHalf);
    const auto out = c.make<u32>(64);
    c.launch("mma_f16_sums", kWarp, c.put(words(short_bits(a, kHalf))), c.put(words(short_bits(transposed(b), kHalf))), out);
    std::vector<float> got;
    for (const u32 v : c.get(out))
      got.push_back(from_half(static_cast<u16>(v))), got.push_back(from_half(static_cast<u16>(v >> 16)));
    Matrix want = product(a, b, 0);
    for (std::size_t i = 0; i < want.v.size(); ++i) want.v[i] += i % 2 == 0 ? 0.5 : 1;  // 0x3800 and 0x3c00
    expect_same("mma_f16_sums", got, floats(want), {.absolute = 8 * 32 * 0x1p-11});
  }
}

TEST_CASE("mma: integers, and saturation") {
  Corpus c("tensor", 69);
  std::vector<i8> a(16 * 32), b(8 * 32);
  for (i8& v : a) v = edgy<i8>(c.rng);
  for (i8& v : b) v = edgy<i8>(c.rng);
  const auto out = c.make<i32>(128), saturated = c.make<i32>(128);
  c.launch("mma_s8", kWarp, c.put(words(a)), c.put(words(b)), out, saturated);
  std::vector<i32> want, want_saturated;
  for (std::size_t i = 0; i < 16; ++i)
    for (std::size_t j = 0; j < 8; ++j) {
      i64 s = -7, u = 0x7fffff00;
      for (std::size_t r = 0; r < 32; ++r)
        s += a[i * 32 + r] * b[j * 32 + r], u += static_cast<u8>(a[i * 32 + r]) * b[j * 32 + r];
      want.push_back(static_cast<i32>(s)),
          want_saturated.push_back(static_cast<i32>(std::min<i64>(u, std::numeric_limits<i32>::max())));
    }
  expect_same("mma_s8", c.get(out), want);
  expect_same("mma_s8, saturated", c.get(saturated), want_saturated);
}

TEST_CASE("a transposition of a matrix in registers") {
  Corpus c("tensor", 70);
  std::vector<u16> in(64);
  for (u16& v : in) v = static_cast<u16>(c.rng.next());
  const auto out = c.make<u32>(32);
  c.launch("transposed_matrix", kWarp, c.put(words(in)), out);
  std::vector<u16> want(64);
  for (std::size_t i = 0; i < 64; ++i) want[i % 8 * 8 + i / 8] = in[i];
  expect_same("transposed_matrix", c.get(out), words(want));
}

}  // namespace
}  // namespace ashlar::ptx_corpus
