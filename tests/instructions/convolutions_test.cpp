// The convolutions of apps/convolution against plain loops, on pictures that the tiles do not divide: integers exact, bf16 to
// the bit of sums in the order of the definition.
#include <doctest/doctest.h>

#include <narrow_conv_bf16.h>
#include <narrow_conv_f16.h>
#include <narrow_conv_u8s8.h>
#include <narrow_conv_u8s8_avx2.h>

#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <ashlar/ir/numeric.h>
#include <ashlar/target/target.h>

#include "tests/skip.h"

namespace {

bool runs(const char* name) {
  std::string missing;
  if (ashlar::Target::parse(name).runs_here(&missing)) return true;
  skip::because(std::string("convolutions for ") + name, "this machine has no " + missing);
  return false;
}

template <class T>
struct Tensor {
  std::vector<std::int64_t> shape;
  std::vector<T> values;
  ashlar_tensor tensor{};
  Tensor(std::vector<std::int64_t> extents, std::uint8_t code) : shape(std::move(extents)) {
    std::size_t n = 1;
    for (const std::int64_t e : shape) n *= static_cast<std::size_t>(e);
    values.resize(n);
    tensor.data = values.data(), tensor.device_type = 1, tensor.ndim = static_cast<std::int32_t>(shape.size());
    tensor.shape = shape.data(), tensor.type_code = code, tensor.type_bits = sizeof(T) * 8, tensor.type_lanes = 1;
  }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
};

float value_of(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

// The value at each result: f(acc, x, w) over ry, rx, steps, and in a step from `first` on.
template <class Sum, class In, class Weight, class Add>
int wrong(const Tensor<In>& X, const Tensor<Weight>& K, const Tensor<Sum>& Y, bool upper_first, Add&& add) {
  const std::int64_t H = X.shape[0], W = X.shape[1], Q = X.shape[2], step = X.shape[3], B = K.shape[0], block = K.shape[4];
  int count = 0;
  for (std::int64_t y = 0; y < H; ++y)
    for (std::int64_t x = 0; x < W; ++x)
      for (std::int64_t o = 0; o < B * block; ++o) {
        Sum sum = 0;
        for (std::int64_t t = 0; t < 9; ++t)
          for (std::int64_t c = 0; c < Q * step; ++c) {
            const std::int64_t q = c / step, k = upper_first ? step - 1 - c % step : c % step, py = y + t / 3 - 1,
                               px = x + t % 3 - 1;
            const bool inside = py >= 0 && py < H && px >= 0 && px < W;
            const In pixel = inside ? X.values[static_cast<std::size_t>(((py * W + px) * Q + q) * step + k)] : In{0};
            sum = add(sum, pixel,
                      K.values[static_cast<std::size_t>((((o / block * 9 + t) * Q + q) * block + o % block) * step + k)]);
          }
        const Sum found = Y.values[static_cast<std::size_t>((y * W + x) * B * block + o)];
        count += std::bit_cast<std::uint32_t>(found) != std::bit_cast<std::uint32_t>(sum);
      }
  return count;
}

constexpr std::int64_t sizes[][2] = {{1, 1}, {3, 5}, {4, 6}, {7, 7}, {2, 11}};

}  // namespace

TEST_CASE("3 x 3, u8 and i8") {
  if (!runs("x86-64-v4+avx512vnni")) return;
  std::mt19937 engine(21);
  for (const auto& [H, W] : sizes) {
    Tensor<std::uint8_t> X({H, W, 5, 4}, 1);
    Tensor<std::int8_t> K({2, 3, 3, 5, 32, 4}, 0);
    Tensor<std::int32_t> Y({H, W, 2, 32}, 0);
    for (auto& v : X.values) v = static_cast<std::uint8_t>(engine() % 2 ? engine() : 255);
    for (auto& v : K.values) v = static_cast<std::int8_t>(engine() % 2 ? engine() : 128);
    REQUIRE(narrow_conv_u8s8(&X.tensor, &K.tensor, &Y.tensor) == 0);
    CHECK_MESSAGE(wrong(X, K, Y, false, [](std::int32_t s, int x, int w) { return s + x * w; }) == 0, H, " x ", W);
  }
}

TEST_CASE("3 x 3, bf16") {
  if (!runs("x86-64-v4+avx512bf16")) return;
  std::mt19937 engine(22);
  for (const auto& [H, W] : sizes) {
    Tensor<std::uint16_t> X({H, W, 3, 2}, 4), K({3, 3, 3, 3, 16, 2}, 4);
    Tensor<float> Y({H, W, 3, 16}, 2);
    for (auto* t : {&X, &K})
      for (auto& v : t->values) v = static_cast<std::uint16_t>((engine() & 0x807f) | ((117 + engine() % 14) << 7));
    REQUIRE(narrow_conv_bf16(&X.tensor, &K.tensor, &Y.tensor) == 0);
    CHECK_MESSAGE(wrong(X, K, Y, true,
                        [](float s, std::uint16_t x, std::uint16_t w) { return std::fma(value_of(x), value_of(w), s); }) == 0,
                  H, " x ", W);
  }
}

TEST_CASE("3 x 3, u8 and i8 without VNNI: all bytes, no sum of two is cut off") {
  if (!runs("x86-64-v3")) return;
  std::mt19937 engine(23);
  for (const auto& [H, W] : sizes) {
    Tensor<std::uint8_t> X({H, W, 10, 2}, 1);
    Tensor<std::int8_t> K({2, 3, 3, 10, 16, 2}, 0);
    Tensor<std::int32_t> Y({H, W, 2, 16}, 0);
    for (auto& v : X.values) v = static_cast<std::uint8_t>(engine() % 2 ? engine() : 255);
    for (auto& v : K.values) v = static_cast<std::int8_t>(engine() % 2 ? engine() : 128);
    REQUIRE(narrow_conv_u8s8_avx2(&X.tensor, &K.tensor, &Y.tensor) == 0);
    CHECK_MESSAGE(wrong(X, K, Y, false, [](std::int32_t s, int x, int w) { return s + x * w; }) == 0, H, " x ", W);
  }
}

TEST_CASE("3 x 3, f16 as it is stored") {
  if (!runs("x86-64-v3")) return;
  std::mt19937 engine(24);
  for (const auto& [H, W] : sizes) {
    Tensor<std::uint16_t> X({H, W, 6, 1}, 2), K({3, 3, 3, 6, 8, 1}, 2);
    Tensor<float> Y({H, W, 3, 8}, 2);
    for (auto* t : {&X, &K})
      for (auto& v : t->values) v = static_cast<std::uint16_t>((engine() & 0x83ff) | (engine() % 24 << 10));
    REQUIRE(narrow_conv_f16(&X.tensor, &K.tensor, &Y.tensor) == 0);
    CHECK_MESSAGE(wrong(X, K, Y, false,
                        [](float s, std::uint16_t x, std::uint16_t w) {
                          return std::fma(ashlar::ir::f16_value(x), ashlar::ir::f16_value(w), s);
                        }) == 0,
                  H, " x ", W);
  }
}
