// The products of narrow types (apps/matmul/narrow.h), on sizes around tiles, steps and blocks of k: integers exact, bf16 to
// the bit of sums in the order that the schedule has them in.
#include <doctest/doctest.h>

#include <narrow_bf16.h>
#include <narrow_u8s8.h>
#include <narrow_u8s8_vex.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <ashlar/target/target.h>

#include "tests/skip.h"

namespace {

bool runs(const char* name) {
  std::string missing;
  if (ashlar::Target::parse(name).runs_here(&missing)) return true;
  skip::because(std::string("products for ") + name, "this machine has no " + missing);
  return false;
}

template <class T>
struct Matrix {
  std::int64_t shape[2];
  std::vector<T> values;
  ashlar_tensor tensor{};
  Matrix(std::int64_t rows, std::int64_t columns, std::uint8_t code)
      : shape{rows, columns}, values(static_cast<std::size_t>(rows * columns)) {
    tensor.data = values.data(), tensor.device_type = 1, tensor.ndim = 2, tensor.shape = shape;
    tensor.type_code = code, tensor.type_bits = sizeof(T) * 8, tensor.type_lanes = 1;
  }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  T& operator()(std::int64_t i, std::int64_t j) { return values[static_cast<std::size_t>(i * shape[1] + j)]; }
};
constexpr std::uint8_t signed_code = 0, unsigned_code = 1, float_code = 2, bfloat_code = 4;

// Random bytes, half of them extremes; the sums are exact.
template <class F>
int wrong_integers(F&& product, std::int64_t M, std::int64_t N, std::int64_t K) {
  static std::mt19937 engine(11);
  Matrix<std::uint8_t> A(M, K, unsigned_code);
  Matrix<std::int8_t> B(K, N, signed_code);
  Matrix<std::int32_t> C(M, N, signed_code);
  for (auto& x : A.values) x = static_cast<std::uint8_t>(engine() % 2 ? engine() : 255);
  for (auto& x : B.values) x = static_cast<std::int8_t>(engine() % 2 ? engine() : engine() % 2 ? 127 : 128);
  for (auto& x : C.values) x = -77;
  REQUIRE(product(&A.tensor, &B.tensor, &C.tensor) == 0);
  int wrong = 0;
  for (std::int64_t i = 0; i < M; ++i)
    for (std::int64_t j = 0; j < N; ++j) {
      std::int32_t sum = 0;
      for (std::int64_t k = 0; k < K; ++k) sum += A(i, k) * B(k, j);
      wrong += C(i, j) != sum;
    }
  return wrong;
}

float value_of(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

// Blocks of 512 of k, each summed in order by fma, and the blocks' sums added in order.
int wrong_floats(std::int64_t M, std::int64_t N, std::int64_t K) {
  static std::mt19937 engine(12);
  Matrix<std::uint16_t> A(M, K, bfloat_code), B(K, N, bfloat_code);
  Matrix<float> C(M, N, float_code);
  for (auto* m : {&A, &B})
    for (auto& x : m->values) x = static_cast<std::uint16_t>((engine() & 0x807f) | ((117 + engine() % 14) << 7));
  for (auto& x : C.values) x = -77;
  REQUIRE(narrow_bf16(&A.tensor, &B.tensor, &C.tensor) == 0);
  int wrong = 0;
  for (std::int64_t i = 0; i < M; ++i)
    for (std::int64_t j = 0; j < N; ++j) {
      float all = 0;
      for (std::int64_t from = 0; from < K; from += 512) {
        float sum = 0;
        for (std::int64_t k = from; k < std::min(K, from + 512); ++k) sum = std::fma(value_of(A(i, k)), value_of(B(k, j)), sum);
        all = from == 0 ? sum : all + sum;
      }
      wrong += std::bit_cast<std::uint32_t>(C(i, j)) != std::bit_cast<std::uint32_t>(all);
    }
  return wrong;
}

template <class F>
void on_all_sizes(F&& wrong) {
  for (const std::int64_t M : {1, 13, 14, 15, 30})
    for (const std::int64_t N : {1, 31, 33, 64})
      for (const std::int64_t K : {1, 2, 3, 4, 5, 63, 65, 130}) CHECK_MESSAGE(wrong(M, N, K) == 0, M, " x ", N, " x ", K);
  for (const std::int64_t K : {511, 512, 513, 1023, 1025, 2050}) CHECK_MESSAGE(wrong(17, 35, K) == 0, K, " deep");
  for (const std::int64_t N : {767, 768, 769, 1600}) CHECK_MESSAGE(wrong(15, N, 9) == 0, N, " columns");
}

}  // namespace

TEST_CASE("u8 times i8") {
  if (runs("x86-64-v4+avx512vnni"))
    on_all_sizes([](auto M, auto N, auto K) { return wrong_integers([](auto... t) { return narrow_u8s8(t...); }, M, N, K); });
}

TEST_CASE("u8 times i8 on 256 bits, by AVX-VNNI") {
  if (runs("x86-64-v3+avxvnni"))
    on_all_sizes(
        [](auto M, auto N, auto K) { return wrong_integers([](auto... t) { return narrow_u8s8_vex(t...); }, M, N, K); });
}

TEST_CASE("bf16") {
  if (runs("x86-64-v4+avx512bf16")) on_all_sizes([](auto M, auto N, auto K) { return wrong_floats(M, N, K); });
}
