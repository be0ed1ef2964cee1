// Floats and conversions: to the bit, where the document says what the bits are.
#include <bit>
#include <cmath>

#include "tests/ptx/snippet.h"

namespace {

using ptx_tests::check;
using ptx_tests::one;
using ptx_tests::Row;

std::uint64_t f(float x) { return std::bit_cast<std::uint32_t>(x); }
std::uint64_t d(double x) { return std::bit_cast<std::uint64_t>(x); }
constexpr std::uint64_t kNan = 0x7fffffff, kQuiet = 0x7fc00000, kInfinity = 0x7f800000;

TEST_CASE("arithmetic on f32 and f64") {
  const Row rows[] = {
      {"add.f32 %f4, %f1, %f2;", "%f4", f(1), f(0x1p-25f), 0, f(1)},
      {"add.rp.f32 %f4, %f1, %f2;", "%f4", f(1), f(0x1p-25f), 0, f(1 + 0x1p-23f)},
      {"add.rz.f32 %f4, %f1, %f2;", "%f4", f(1), f(-0x1p-26f), 0, f(1 - 0x1p-24f)},
      {"sub.rm.f32 %f4, %f1, %f2;", "%f4", f(1), f(1), 0, 0x80000000},
      {"add.ftz.f32 %f4, %f1, %f2;", "%f4", 0x00400000, 0x00400000, 0, 0},
      {"add.f32 %f4, %f1, %f2;", "%f4", 0x00400000, 0x00400000, 0, 0x00800000},
      {"add.sat.f32 %f4, %f1, %f2;", "%f4", f(1), f(3), 0, f(1)},
      {"mul.sat.f32 %f4, %f1, %f2;", "%f4", kQuiet, f(3), 0, 0},
      {"mul.ftz.f32 %f4, %f1, %f2;", "%f4", f(-0x1p-100f), f(0x1p-30f), 0, 0x80000000},
      {"mul.rn.f32 %f4, %f1, %f2;", "%f4", kInfinity, 0, 0, kNan},
      {"fma.rn.f32 %f4, %f1, %f2, %f3;", "%f4", f(1 + 0x1p-12f), f(1 + 0x1p-12f), f(-1), f(0x1p-11f + 0x1p-24f)},
      {"fma.rz.f32 %f4, %f1, %f2, %f3;", "%f4", f(1), f(1), f(-0x1p-30f), f(1 - 0x1p-24f)},
      {"mad.rn.f32 %f4, %f1, %f2, %f3;", "%f4", f(2), f(3), f(4), f(10)},
      {"fma.rn.f64 %fd4, %fd1, %fd2, %fd3;", "%fd4", d(3), d(5), d(7), d(22)},
      {"add.rm.f64 %fd4, %fd1, %fd2;", "%fd4", d(1), d(-0x1p-80), 0, d(1 - 0x1p-53)},
      {"div.rn.f32 %f4, %f1, %f2;", "%f4", f(1), f(3), 0, f(1.0f / 3)},
      {"div.rp.f32 %f4, %f1, %f2;", "%f4", f(1), f(3), 0, f(std::nextafter(1.0f / 3, 0.0f)) + 1},
      {"div.approx.f32 %f4, %f1, %f2;", "%f4", f(1), f(0x1p127f), 0, 0},
      {"div.full.f32 %f4, %f1, %f2;", "%f4", f(6), f(2), 0, f(3)},
      {"rcp.rn.f64 %fd4, %fd1;", "%fd4", d(4), 0, 0, d(0.25)},
      {"rcp.approx.ftz.f64 %fd4, %fd1;", "%fd4", d(4), 0, 0, d(0.25)},
      {"sqrt.rn.f32 %f4, %f1;", "%f4", f(2), 0, 0, f(std::sqrt(2.0f))},
      {"sqrt.rz.f64 %fd4, %fd1;", "%fd4", d(2.25), 0, 0, d(1.5)},
      {"sqrt.approx.f32 %f4, %f1;", "%f4", f(-1), 0, 0, kNan},
      {"rsqrt.approx.f32 %f4, %f1;", "%f4", f(16), 0, 0, f(0.25f)},
      {"rsqrt.approx.f32 %f4, %f1;", "%f4", 0x80000000, 0, 0, 0xff800000},
      {"ex2.approx.ftz.f32 %f4, %f1;", "%f4", f(-3), 0, 0, f(0.125f)},
      {"lg2.approx.f32 %f4, %f1;", "%f4", f(8), 0, 0, f(3)},
      {"sin.approx.f32 %f4, %f1;", "%f4", 0x80000000, 0, 0, 0x80000000},
      {"cos.approx.f32 %f4, %f1;", "%f4", 0, 0, 0, f(1)},
      {"tanh.approx.f32 %f4, %f1;", "%f4", f(-40), 0, 0, f(-1)},
      {"min.f32 %f4, %f1, %f2;", "%f4", kQuiet, f(2), 0, f(2)},
      {"min.NaN.f32 %f4, %f1, %f2;", "%f4", kQuiet, f(2), 0, kNan},
      {"min.f32 %f4, %f1, %f2;", "%f4", 0, 0x80000000, 0, 0x80000000},
      {"max.f32 %f4, %f1, %f2;", "%f4", 0x80000000, 0, 0, 0},
      {"max.xorsign.abs.f32 %f4, %f1, %f2;", "%f4", f(-3), f(2), 0, f(-3)},
      {"min.xorsign.abs.f32 %f4, %f1, %f2;", "%f4", f(-3), f(-2), 0, f(2)},
      {"neg.ftz.f32 %f4, %f1;", "%f4", 1, 0, 0, 0x80000000},
      {"abs.f64 %fd4, %fd1;", "%fd4", d(-7), 0, 0, d(7)},
      {"copysign.f32 %f4, %f1, %f2;", "%f4", f(-1), f(5), 0, f(-5)},
  };
  check(rows);
}

TEST_CASE("halves") {
  const Row rows[] = {
      {"add.f16 %h4, %h1, %h2;", "%h4", 0x3c00, 0x1000, 0, 0x3c00},  // 1 + 2^-11: a tie, to even
      {"fma.rn.f16 %h4, %h1, %h2, %h3;", "%h4", 0x3c01, 0x3c01, 0xbc00,
       0x1800},  // (1 + u)^2 - 1 = 2u (1 + u / 2), u = 2^-10: a tie
      {"mul.f16x2 %r4, %r1, %r2;", "%r4", 0x40003c00, 0x42004200, 0, 0x46004200},
      {"sub.bf16 %h4, %h1, %h2;", "%h4", 0x4040, 0x3f80, 0, 0x4000},
      {"fma.rn.bf16x2 %r4, %r1, %r2, %r3;", "%r4", 0x40003f80, 0x40404040, 0x3f803f80, 0x40e04080},
      {"fma.rn.relu.f16 %h4, %h1, %h2, %h3;", "%h4", 0x3c00, 0xc000, 0x3c00, 0},
      {"add.sat.f16 %h4, %h1, %h2;", "%h4", 0x3c00, 0x4000, 0, 0x3c00},
      {"add.ftz.f16 %h4, %h1, %h2;", "%h4", 0x0200, 0x0100, 0, 0},
      {"add.f16 %h4, %h1, %h2;", "%h4", 0x7bff, 0x7bff, 0, 0x7c00},
      {"min.NaN.bf16 %h4, %h1, %h2;", "%h4", 0x7fc0, 0x3f80, 0, 0x7fff},
      {"max.f16x2 %r4, %r1, %r2;", "%r4", 0x3c00c000, 0x40003800, 0, 0x40003800},
      {"neg.bf16x2 %r4, %r1;", "%r4", 0x3f80bf80, 0, 0, 0xbf803f80},
      {"abs.f16 %h4, %h1;", "%h4", 0xbc00, 0, 0, 0x3c00},
      {"ex2.approx.f16 %h4, %h1;", "%h4", 0x4000, 0, 0, 0x4400},
      {"tanh.approx.bf16 %h4, %h1;", "%h4", 0, 0, 0, 0},
  };
  check(rows);
}

TEST_CASE("conversions") {
  const Row rows[] = {
      {"cvt.s64.s32 %rd4, %r1;", "%rd4", 0xffffffff, 0, 0, ~0ull},
      {"cvt.u64.u32 %rd4, %r1;", "%rd4", 0xffffffff, 0, 0, 0xffffffff},
      {"cvt.u64.s32 %rd4, %r1;", "%rd4", 0x80000000, 0, 0, 0xffffffff80000000},
      {"cvt.s32.s8 %r4, %r1;", "%r4", 0x1ff, 0, 0, 0xffffffff},
      {"cvt.u32.u8 %r4, %r1;", "%r4", 0x1ff, 0, 0, 0xff},
      {"cvt.sat.s8.s32 %r4, %r1;", "%r4", 300, 0, 0, 127},
      {"cvt.sat.u8.s32 %r4, %r1;", "%r4", 0xffffff00, 0, 0, 0},
      {"cvt.sat.u32.s64 %r4, %rd1;", "%r4", 1ull << 40, 0, 0, 0xffffffff},
      {"cvt.sat.s32.u64 %r4, %rd1;", "%r4", ~0ull, 0, 0, 0x7fffffff},
      {"cvt.rn.f32.s32 %f4, %r1;", "%f4", 0x01000001, 0, 0, f(16777216)},
      {"cvt.rp.f32.s32 %f4, %r1;", "%f4", 0x01000001, 0, 0, f(16777218)},
      {"cvt.rz.f32.u64 %f4, %rd1;", "%f4", ~0ull, 0, 0, f(0x1.fffffep63f)},
      {"cvt.rn.f64.u64 %fd4, %rd1;", "%fd4", 1ull << 63, 0, 0, d(0x1p63)},
      {"cvt.rn.f16.s32 %h4, %r1;", "%h4", 2049, 0, 0, 0x6800},
      {"cvt.rn.bf16.u32 %h4, %r1;", "%h4", 257, 0, 0, 0x4380},
      {"cvt.rzi.s32.f32 %r4, %f1;", "%r4", f(-2.9f), 0, 0, 0xfffffffe},
      {"cvt.rni.s32.f32 %r4, %f1;", "%r4", f(2.5f), 0, 0, 2},
      {"cvt.rmi.s32.f32 %r4, %f1;", "%r4", f(-2.5f), 0, 0, 0xfffffffd},
      {"cvt.rpi.u32.f32 %r4, %f1;", "%r4", f(2.1f), 0, 0, 3},
      {"cvt.rzi.s32.f32 %r4, %f1;", "%r4", f(1e20f), 0, 0, 0x7fffffff},
      {"cvt.rzi.u32.f32 %r4, %f1;", "%r4", f(-5), 0, 0, 0},
      {"cvt.rzi.s32.f32 %r4, %f1;", "%r4", kQuiet, 0, 0, 0},
      {"cvt.rzi.s64.f64 %rd4, %fd1;", "%rd4", 0x7ff8000000000000, 0, 0, 1ull << 63},
      {"cvt.rzi.s8.f32 %r4, %f1;", "%r4", f(-200), 0, 0, 0xffffff80},
      {"cvt.rni.f32.f32 %f4, %f1;", "%f4", f(-0.5f), 0, 0, 0x80000000},
      {"cvt.rmi.f64.f64 %fd4, %fd1;", "%fd4", d(-1.5), 0, 0, d(-2)},
      {"cvt.rn.f32.f64 %f4, %fd1;", "%f4", d(1 + 0x1p-24), 0, 0, f(1)},
      {"cvt.rp.f32.f64 %f4, %fd1;", "%f4", d(1 + 0x1p-40), 0, 0, f(1 + 0x1p-23f)},
      {"cvt.f64.f32 %fd4, %f1;", "%fd4", f(0.1f), 0, 0, d(static_cast<double>(0.1f))},
      {"cvt.rn.f16.f32 %h4, %f1;", "%h4", f(65520), 0, 0, 0x7c00},
      {"cvt.rz.f16.f32 %h4, %f1;", "%h4", f(65520), 0, 0, 0x7bff},
      {"cvt.rn.f16.f32 %h4, %f1;", "%h4", f(0x1p-25f), 0, 0, 0},
      {"cvt.rn.f16.f64 %h4, %fd1;", "%h4", d(1 + 0x1p-11 + 0x1p-50), 0, 0, 0x3c01},
      {"cvt.f32.f16 %f4, %h1;", "%f4", 0x0001, 0, 0, f(0x1p-24f)},
      {"cvt.f32.bf16 %f4, %h1;", "%f4", 0x3f80, 0, 0, f(1)},
      {"cvt.rn.bf16.f32 %h4, %f1;", "%h4", 0x3f808000, 0, 0, 0x3f80},
      {"cvt.rn.relu.bf16.f32 %h4, %f1;", "%h4", f(-1), 0, 0, 0},
      {"cvt.sat.f32.f32 %f4, %f1;", "%f4", f(-1), 0, 0, 0},
      {"cvt.rn.f16x2.f32 %r4, %f1, %f2;", "%r4", f(1), f(2), 0, 0x3c004000},
      {"cvt.rn.relu.bf16x2.f32 %r4, %f1, %f2;", "%r4", f(-1), f(2), 0, 0x00004000},
      {"cvt.rna.tf32.f32 %r4, %f1;", "%r4", 0x3f801000, 0, 0, 0x3f802000},
      {"cvt.rn.satfinite.e4m3x2.f32 %h4, %f1, %f2;", "%h4", f(1000), f(-1), 0, 0x7eb8},
      {"cvt.rn.satfinite.e5m2x2.f32 %h4, %f1, %f2;", "%h4", kQuiet, f(1.125f), 0, 0x7f3c},
      {"cvt.rn.f16x2.e4m3x2 %r4, %h1;", "%r4", 0x38b8, 0, 0, 0x3c00bc00},
      {"cvt.rn.f16x2.e5m2x2 %r4, %h1;", "%r4", 0x7c01, 0, 0, 0x7c000100},
      {"cvt.rn.satfinite.e4m3x2.f16x2 %h4, %r1;", "%h4", 0x3c00c000, 0, 0, 0x38c0},
      {"cvt.pack.sat.s16.s32 %r4, %r1, %r2;", "%r4", 70000, 0xffffffff, 0, 0x7fffffff},
      {"cvt.pack.sat.u8.s32.b32 %r4, %r1, %r2, %r3;", "%r4", 300, 5, 0xabcd, 0xabcdff05},
  };
  check(rows);
}

TEST_CASE("approximations are within the errors that the document allows") {
  for (int n = -60; n <= 60; ++n) {
    const float x = 0.37f * static_cast<float>(n);
    const auto near = [](std::uint64_t bits, double expected, double relative, double absolute) {
      const double got = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      return std::fabs(got - expected) <= std::fabs(expected) * relative + absolute;
    };
    CHECK(near(one("ex2.approx.f32 %f4, %f1;", "%f4", f(x)), std::exp2(x), 0x1p-22, 0));
    CHECK(near(one("tanh.approx.f32 %f4, %f1;", "%f4", f(x)), std::tanh(x), 0x1p-11, 0));
    CHECK(near(one("sin.approx.f32 %f4, %f1;", "%f4", f(x)), std::sin(static_cast<double>(x)), 0, 0x1p-20));
    CHECK(near(one("rsqrt.approx.f32 %f4, %f1;", "%f4", f(std::fabs(x) + 0.1f)),
               1 / std::sqrt(static_cast<double>(std::fabs(x) + 0.1f)), 0x1p-22, 0));
  }
}

}  // namespace
