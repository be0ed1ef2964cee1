// Integer networks beside plain loops, equal to the last bit.
#include <cstdint>

#include "int4_weights.h"
#include "separable_int8.h"
#include "tests/gallery/close.h"

namespace {

// Integer-only requantization by its definition: the product rounded once by 2^31, then by 2^shift, halves up.
std::int8_t requantized(std::int64_t acc, std::int64_t multiplier, std::int64_t shift, std::int64_t zero) {
  std::int64_t v = (acc * multiplier + (std::int64_t{1} << 30)) >> 31;
  if (shift > 0) v = (v + (std::int64_t{1} << (shift - 1))) >> shift;
  return static_cast<std::int8_t>(std::clamp<std::int64_t>(v + zero, -128, 127));
}

auto numbers(unsigned salt, int low, int high) {
  return [=](std::size_t i) {
    return low + static_cast<int>((i + salt) * 2654435761u % 65521 % static_cast<unsigned>(high - low + 1));
  };
}

}  // namespace

TEST_CASE("depthwise and pointwise convolution of int8 in one pass") {
  struct Size {
    std::int64_t n, h, w, c, o;
  };
  for (const Size& s :
       {Size{1, 5, 7, 16, 24}, {2, 4, 3, 19, 5}, {1, 1, 1, 1, 1}, {1, 6, 2, 33, 40}, {0, 3, 3, 4, 4}, {1, 3, 0, 4, 4}}) {
    CAPTURE(s.c);
    CAPTURE(s.o);
    Dense<std::int8_t> x({s.n, s.h, s.w, s.c}, numbers(1, -128, 127)), dw({3, 3, s.c}, numbers(2, -128, 127)),
        pw({s.c, s.o}, numbers(3, -128, 127)), y({s.n, s.h, s.w, s.o});
    Dense<std::int32_t> dw_bias({s.c}, numbers(4, -900, 900)), dw_mul({s.c}, numbers(5, 1 << 29, (1 << 29) + 60000)),
        dw_shift({s.c}, numbers(6, 6, 9)), pw_bias({s.o}, numbers(7, -900, 900)),
        pw_mul({s.o}, numbers(8, 1 << 30, (1 << 30) + 60000)), pw_shift({s.o}, numbers(9, 7, 10));
    const std::int32_t x_zero = -3, mid_zero = 5, y_zero = -11;
    std::vector<std::int8_t> expected(y.data.size());
    const auto in = [](const auto& t, std::initializer_list<std::int64_t> at) {
      std::int64_t k = 0;
      auto extent = t.shape.begin();
      for (std::int64_t i : at) k = k * *extent++ + i;
      return static_cast<std::int64_t>(t.data[static_cast<std::size_t>(k)]);
    };
    std::size_t next = 0;
    for (std::int64_t n = 0; n < s.n; ++n)
      for (std::int64_t h = 0; h < s.h; ++h)
        for (std::int64_t w = 0; w < s.w; ++w) {
          std::vector<std::int64_t> middle;
          for (std::int64_t c = 0; c < s.c; ++c) {
            std::int64_t sum = in(dw_bias, {c});
            for (std::int64_t r = 0; r < 3; ++r)
              for (std::int64_t q = 0; q < 3; ++q) {
                const std::int64_t row = h + r - 1, column = w + q - 1;
                const bool inside = row >= 0 && row < s.h && column >= 0 && column < s.w;
                sum += ((inside ? in(x, {n, row, column, c}) : x_zero) - x_zero) * in(dw, {r, q, c});
              }
            middle.push_back(requantized(sum, in(dw_mul, {c}), in(dw_shift, {c}), mid_zero));
          }
          for (std::int64_t o = 0; o < s.o; ++o) {
            std::int64_t sum = in(pw_bias, {o});
            for (std::int64_t c = 0; c < s.c; ++c) sum += (middle[static_cast<std::size_t>(c)] - mid_zero) * in(pw, {c, o});
            expected[next++] = requantized(sum, in(pw_mul, {o}), in(pw_shift, {o}), y_zero);
          }
        }
    ashlar_tensor t[] = {x.tensor(),        dw.tensor(),      pw.tensor(),     dw_bias.tensor(),  dw_mul.tensor(),
                         dw_shift.tensor(), pw_bias.tensor(), pw_mul.tensor(), pw_shift.tensor(), y.tensor()};
    REQUIRE_MESSAGE(separable_int8(&t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7], &t[8], x_zero, mid_zero, y_zero,
                                   &t[9]) == ASHLAR_OK,
                    last_error());
    CHECK(y.data == expected);
  }
}

TEST_CASE("weights of 4 bits, two to a byte, with a scale for each group") {
  constexpr std::int64_t group = 32;
  for (const auto& [M, G] : {std::pair<std::int64_t, std::int64_t>{5, 3}, {1, 1}, {0, 2}, {3, 0}, {17, 4}}) {
    CAPTURE(M);
    CAPTURE(G);
    const std::int64_t K = G * group, row = K + 6;  // padded rows: strides count weights, and are even
    const auto weight = numbers(1, -8, 7);
    std::vector<std::uint8_t> packed(static_cast<std::size_t>((M * row + 1) / 2));
    for (std::size_t e = 0; e < static_cast<std::size_t>(M * row); ++e)
      packed[e / 2] = static_cast<std::uint8_t>(packed[e / 2] | (weight(e) & 15) << (e % 2 * 4));
    Dense<std::int8_t> x({K}, numbers(2, -128, 127));
    Dense<float> scale({M, G}, fractions(3)), y({M});
    std::int64_t shape[] = {M, K}, strides[] = {row, 1};
    ashlar_tensor w{};
    w.data = packed.data(), w.device_type = 1, w.ndim = 2, w.type_code = 0, w.type_bits = 4, w.type_lanes = 1;
    w.shape = shape, w.strides = strides;
    std::vector<float> expected;
    for (std::int64_t m = 0; m < M; ++m) {
      float total = 0;
      for (std::int64_t g = 0; g < G; ++g) {
        std::int32_t part = 0;
        for (std::int64_t k = g * group; k < (g + 1) * group; ++k) part += weight(static_cast<std::size_t>(m * row + k)) * x(k);
        total = std::fma(static_cast<float>(part), scale(m, g), total);
      }
      expected.push_back(total * 0.25f);
    }
    ashlar_tensor a = scale.tensor(), b = x.tensor(), c = y.tensor();
    REQUIRE_MESSAGE(int4_weights(&w, &a, &b, 0.25f, &c) == ASHLAR_OK, last_error());
    CHECK(y.data == expected);
    strides[0] = row - 1;
    if (M > 1 && G > 0) {
      CHECK(int4_weights(&w, &a, &b, 0.25f, &c) == ASHLAR_E_STRIDE);
      CHECK(last_error() ==
            "int4_weights: W.strides[0] is " + std::to_string(row - 1) + ", expected a multiple of 2 (rows start on bytes)");
    }
  }
}
