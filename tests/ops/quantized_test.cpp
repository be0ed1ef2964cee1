// Numbers of 8 and 4 bits, beside loops in integers: ties, saturation, zeros on either side, per channel.
#include "tests/ops/check.h"
#include "tests/ops/conv_loops.h"

using namespace ops_test;

namespace {

double clamped(double v, double low, double high) { return v < low ? low : v > high ? high : v; }
double even(double v) { return std::nearbyint(v); }
// acc * multiplier / 2^31 and / 2^shift, rounded to nearest, halves up, onto the zero
double requantized(double acc, double multiplier, double shift, double zero, double low, double high) {
  const std::int64_t product = static_cast<std::int64_t>(acc) * static_cast<std::int64_t>(multiplier);
  const std::int64_t upper = (product + (std::int64_t{1} << 30)) >> 31;
  const auto s = static_cast<int>(shift);
  const std::int64_t scaled = s == 0 ? upper : (upper + (std::int64_t{1} << (s - 1))) >> s;
  return clamped(static_cast<double>(scaled) + zero, low, high);
}
constexpr double inf = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("bytes of zeros, and of nothing") {
  check(
      "quantize_dynamic of zeros",
      [](Maker& m) {
        const Symbol N{"N"};
        const auto d = ops::quantize_dynamic(m.in("x", f32, {N}, whole(0, 0)));
        m.out(d.result), m.out(d.zero), m.out(d.scale);
      },
      {{{{5}}}, {{{0}}}}, [](const Inputs& in) { return Results{in[0], Nd({}, 0), Nd({}, 1)}; }, exact);
}

TEST_CASE("quantize and dequantize") {
  check(
      "quantize",
      [](Maker& m) {
        const Symbol M{"M"}, N{"N"};
        const auto values = [](std::uint64_t r, std::int64_t) {
          const double list[] = {inf, -inf, 1e30, -1e30, 0.125, 0.375, -0.125, -0.0};
          return r % 3 == 0 ? list[(r >> 9) % 8] : static_cast<double>(static_cast<std::int64_t>(r >> 20 & 1023) - 512) / 8;
        };
        const Tensor x = m.in("x", f32, {M, N}, values),
                     s = m.in("s", f32, {N}, [](std::uint64_t r, std::int64_t) { return r % 2 ? 0.25 : 0.5; }),
                     z = m.in("z", i8, {N}, whole(-128, 127)), q = m.in("q", i8, {M, N}, whole(-128, 127)),
                     u = m.in("u", u8, {M, N}, whole(0, 255)), h = m.in("h", f16, {M, N}, between(-9, 9));
        const Expr scale = m.scalar("scale", f32), zero = m.scalar("zero", i32);
        m.out(ops::quantize(x, 0.25, 0, i8)), m.out(ops::quantize(x, scale, zero, u8)), m.out(ops::quantize(x, s, z, i8, 1));
        m.out(ops::quantize(h, 0.5, 3, i8)), m.out(ops::dequantize(q, 0.5, -3)), m.out(ops::dequantize(u, s, zero, -1));
        const auto d = ops::quantize_dynamic(h.type() == f16 ? ops::cast(h, f32) : h);
        m.out(d.result), m.out(d.zero), m.out(d.scale);
      },
      {{{{4, 31}, {31}, {31}, {4, 31}, {4, 31}, {4, 31}}, {0.5, 128}}, {{{1, 1}, {1}, {1}, {1, 1}, {1, 1}, {1, 1}}, {0.25, 0}}},
      [](const Inputs& in) {
        const Nd &x = in[0], &s = in[1], &z = in[2], &q = in[3], &u = in[4], &h = in[5];
        const double scale = in[6][0], zero = in[7][0];
        Nd columns = x, back = u;
        each(x.shape, [&](const Dims& i) {
          columns.at(i) = clamped(even(x.at(i) / s[i[1]]) + z[i[1]], -128, 127), back.at(i) = (u.at(i) - zero) * s[i[1]];
        });
        float low = 0, high = 0;
        for (const double v : h.v) low = std::fmin(low, float(v)), high = std::fmax(high, float(v));
        const float step = high == low ? 1 : (high - low) / 255;
        const double from = clamped(even(-low / step), 0, 255);
        return Results{x.map([](double v) { return clamped(even(v * 4), -128, 127); }),
                       x.map([&](double v) { return clamped(even(v / scale) + zero, 0, 255); }),
                       columns,
                       h.map([](double v) { return clamped(even(v * 2) + 3, -128, 127); }),
                       q.map([](double v) { return (v + 3) / 2; }),
                       back,
                       h.map([&](double v) { return clamped(std::nearbyint(float(v) / step) + from, 0, 255); }),
                       Nd({}, from),
                       Nd({}, step)};
      },
      exact);
}

TEST_CASE("requantize: two roundings, saturation") {
  check(
      "requantize",
      [](Maker& m) {
        const Symbol M{"M"}, N{"N"};
        const Tensor a = m.in("a", i32, {M, N}, whole(-400000, 400000)), f = m.in("f", i32, {N}, whole(1 << 29, 2147483647)),
                     s = m.in("s", i32, {N}, whole(0, 12)), z = m.in("z", i8, {M}, whole(-20, 20));
        m.out(ops::requantize(a, f, s, 3, i8)), m.out(ops::requantize(a, 1 << 30, 9, z, u8, 0));
        m.out(ops::requantize_by_scale(a, 0.00390625, z, i8, 0));
      },
      {{{{5, 40}, {40}, {40}, {5}}}, {{{1, 1}, {1}, {1}, {1}}}, {{{0, 2}, {2}, {2}, {0}}}},
      [](const Inputs& in) {
        const Nd &a = in[0], &f = in[1], &s = in[2], &z = in[3];
        Nd one = a, two = a, three = a;
        each(a.shape, [&](const Dims& i) {
          one.at(i) = requantized(a.at(i), f[i[1]], s[i[1]], 3, -128, 127);
          two.at(i) = requantized(a.at(i), 1 << 30, 9, z[i[0]], 0, 255);
          three.at(i) = clamped(even(a.at(i) / 256) + z[i[0]], -128, 127);
        });
        return Results{one, two, three};
      },
      {0, 0, false, true});
}

TEST_CASE("products of bytes with zeros on both sides") {
  check(
      "quantized matmul",
      [](Maker& m) {
        const Symbol M{"M"}, N{"N"}, K{"K"};
        const Tensor a = m.in("a", u8, {M, K}, whole(0, 255)), b = m.in("b", i8, {K, N}, whole(-128, 127)),
                     t = m.in("t", i8, {N, K}, whole(-128, 127)), c = m.in("c", i32, {N}, whole(-9999, 9999)),
                     z = m.in("z", i8, {N}, whole(-9, 9)), batch = m.in("batch", i8, {2, M, K}, whole(-128, 127));
        m.out(ops::quantized_matmul(a, b, {.a_zero = 128}, c)),
            m.out(ops::quantized_matmul(a, b, {.a_zero = m.scalar("az", i32), .b_zero = z}));
        m.out(ops::quantized_matmul(batch, t, {.transpose_b = true}));
      },
      {{{{3, 70}, {70, 5}, {5, 70}, {5}, {5}, {2, 3, 70}}, {17}}, {{{1, 0}, {0, 1}, {1, 0}, {1}, {1}, {2, 1, 0}}, {1}}},
      [](const Inputs& in) {
        const Nd &a = in[0], &b = in[1], &t = in[2], &c = in[3], &z = in[4], &batch = in[5];
        const std::int64_t M = a.n(0), K = a.n(1), N = b.n(1);
        Nd one({M, N}), two = one, three({2, M, N});
        each({M, N, K}, [&](const Dims& i) {
          one(i[0], i[1]) += (a(i[0], i[2]) - 128) * b(i[2], i[1]);
          two(i[0], i[1]) += (a(i[0], i[2]) - in[6][0]) * (b(i[2], i[1]) - z[i[1]]);
          for (std::int64_t p = 0; p < 2; ++p) three(p, i[0], i[1]) += batch(p, i[0], i[2]) * t(i[1], i[2]);
        });
        each(one.shape, [&](const Dims& i) { one.at(i) += c[i[1]]; });
        return Results{one, two, three};
      },
      exact);
}

TEST_CASE("convolutions of bytes: outside of the image stands its zero") {
  check(
      "quantized conv",
      [](Maker& m) {
        const Symbol N{"N"}, H{"H"}, W{"W"}, C{"C"};
        const Tensor x = m.in("x", u8, {N, H, W, C}, whole(0, 255)), w = m.in("w", i8, {3, 3, C, 4}, whole(-128, 127)),
                     c = m.in("c", i32, {4}, whole(-999, 999)), z = m.in("z", i8, {4}, whole(-9, 9)),
                     d = m.in("d", i8, {3, 3, C, 1}, whole(-128, 127)), p = m.in("p", i8, {N, C, H, W}, whole(-128, 127)),
                     q = m.in("q", i8, {4, C, 3, 3}, whole(-128, 127));
        const auto last = ops::Layout::channels_last;
        m.out(ops::quantized_conv2d(x, w, c, {.conv = {.padding = {1, 1}, .layout = last}, .x_zero = 100, .w_zero = z}));
        m.out(ops::quantized_depthwise_conv2d(x, d, Tensor(), {.conv = {.padding = {1, 1}, .layout = last}, .x_zero = 7}));
        m.out(ops::quantized_conv2d(p, q, Tensor(), {.conv = {.stride = {2, 2}, .padding = {1, 1}}}));
      },
      {{{{1, 5, 4, 3}, {3, 3, 3, 4}, {4}, {4}, {3, 3, 3, 1}, {1, 3, 5, 4}, {4, 3, 3, 3}}},
       {{{2, 1, 1, 1}, {3, 3, 1, 4}, {4}, {4}, {3, 3, 1, 1}, {2, 1, 1, 1}, {4, 1, 3, 3}}}},
      [](const Inputs& in) {
        const Nd x = turned(in[0], {0, 3, 1, 2});
        Nd w = turned(in[1], {3, 2, 0, 1}), d = turned(in[4], {2, 3, 0, 1});
        each(w.shape, [&](const Dims& i) { w.at(i) -= in[3][i[0]]; });
        const Loops l{{1, 1}, {1, 1}, {1, 1}, 1};
        const Nd a = convolution(x.map([](double v) { return v - 100; }), w, in[2], l);
        const Nd b = convolution(x.map([](double v) { return v - 7; }), d, Nd({x.n(1)}),
                                 {{1, 1}, {1, 1}, {1, 1}, static_cast<int>(x.n(1))});
        return Results{turned(a, {0, 2, 3, 1}), turned(b, {0, 2, 3, 1}),
                       convolution(in[5], in[6], Nd({4}), {{2, 2}, {1, 1}, {1, 1}, 1})};
      },
      exact);
}

TEST_CASE("weights of 4 bits") {
  check(
      "int4",
      [](Maker& m) {
        const Symbol M{"M"}, N{"N"}, G{"G"};
        const Tensor w = m.in("w", i4, {N, G * 16}, whole(-8, 7)), u = m.in("u", u4, {N, G * 16}, whole(0, 15)),
                     s = m.in("s", f32, {N, G}, between(0.5, 1)), z = m.in("z", u4, {N, G}, whole(0, 15)),
                     x = m.in("x", f32, {M, G * 16}), b = m.in("b", i8, {G * 16}, whole(-128, 127));
        m.out(ops::int4_dequantize(w, s, Tensor(), 16)), m.out(ops::int4_matmul(x, w, s, Tensor(), 16)),
            m.out(ops::int4_matmul(x, u, s, z, 16));
        m.out(ops::int4_matmul(x, u, s, Tensor(), 16)), m.out(ops::int4_gemv(w, s, b, m.scalar("bs", f32), 16)),
            m.out(ops::int4_gemv(u, s, b, 0.5, 16, z));
      },
      {{{{5, 32}, {5, 32}, {5, 2}, {5, 2}, {3, 32}, {32}}, {0.25}},
       {{{1, 16}, {1, 16}, {1, 1}, {1, 1}, {1, 16}, {16}}, {1}},
       {{{2, 0}, {2, 0}, {2, 0}, {2, 0}, {1, 0}, {0}}, {1}}},
      [](const Inputs& in) {
        const Nd &w = in[0], &u = in[1], &s = in[2], &z = in[3], &x = in[4], &b = in[5];
        const std::int64_t M = x.n(0), N = w.n(0), K = w.n(1);
        Nd plain = w, zeroed = u, eight = u;
        each(w.shape, [&](const Dims& i) {
          const double scale = s(i[0], i[1] / 16);
          plain.at(i) *= scale, zeroed.at(i) = (u.at(i) - z(i[0], i[1] / 16)) * scale, eight.at(i) = (u.at(i) - 8) * scale;
        });
        const auto product = [&](const Nd& weights) {
          Nd y({M, N});
          each({M, N, K}, [&](const Dims& i) { y(i[0], i[1]) += x(i[0], i[2]) * weights(i[1], i[2]); });
          return y;
        };
        const auto gemv = [&](const Nd& weights, double scale) {
          Nd y({N});
          each({N, K}, [&](const Dims& i) { y(i[0]) += b(i[1]) * weights(i[0], i[1]) * scale; });
          return y;
        };
        return Results{plain, product(plain), product(zeroed), product(eight), gemv(plain, in[6][0]), gemv(zeroed, 0.5)};
      },
      {2e-6, 2e-4});
  check(
      "int4 conv",
      [](Maker& m) {
        const Symbol N{"N"}, H{"H"};
        const Tensor x = m.in("x", f32, {N, 2, H, 5}), w = m.in("w", i4, {3, 2, 3, 4}, whole(-8, 7)), s = m.in("s", f32, {3}),
                     c = m.in("c", f32, {3});
        m.out(ops::int4_conv2d(x, w, s, c, {.padding = {1, 2}}));
      },
      {{{{2, 2, 4, 5}, {3, 2, 3, 4}, {3}, {3}}}},
      [](const Inputs& in) {
        Nd w = in[1];
        each(w.shape, [&](const Dims& i) { w.at(i) *= in[2][i[0]]; });
        return Results{convolution(in[0], w, in[3], {{1, 1}, {1, 2}, {1, 1}, 1})};
      },
      {2e-6, 2e-5});
}

TEST_CASE("quantized operators refuse") {
  const Symbol M{"M"}, N{"N"};
  CHECK(refusal_of([&] {
          (void)ops::quantize(lang::make_input("p", f32, {M, N}), 0.5, lang::make_input("z", i8, {M}), i8, 1);
        }).find("quantize: expected zero whose dimension 0 has the extent N, the channels, found M") != std::string::npos);
  CHECK(refusal_of([&] {
          (void)ops::requantize(lang::make_input("p", f32, {M, N}), 1, 0, 0, i8);
        }).find("requantize: expected acc of i32, found f32") != std::string::npos);
  CHECK(refusal_of([&] {
          (void)ops::int4_dequantize(lang::make_input("w", i4, {M, N}), lang::make_input("s", f32, {M, 3}), Tensor(), 32);
        }).find("int4_dequantize: expected W whose dimension 1 is a multiple of 32, found N") != std::string::npos);
}
