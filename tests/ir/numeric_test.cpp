// The arithmetic corners of docs/ir.md, one by one.
#include <cmath>
#include <cstring>
#include <limits>

#include <doctest/doctest.h>

#include <ashlar/ir/numeric.h>

using namespace ashlar;
using namespace ashlar::ir;

namespace {
const double inf = std::numeric_limits<double>::infinity(), not_a_number = std::numeric_limits<double>::quiet_NaN();

std::int64_t integer(Op op, Type t, std::int64_t a, std::int64_t b) {
  const Value args[2] = {int_value(t, a), int_value(t, b)};
  return evaluate(op, t, args).value().i;
}
std::int64_t integer(Op op, Type t, std::int64_t a) {
  const Value args[1] = {int_value(t, a)};
  return evaluate(op, t, args).value().i;
}
double real(Op op, Type t, double a, double b) {
  const Value args[2] = {float_value(t, a), float_value(t, b)};
  return evaluate(op, t, args).value().f;
}
double real(Op op, Type t, double a) {
  const Value args[1] = {float_value(t, a)};
  return evaluate(op, t, args).value().f;
}
}  // namespace

TEST_CASE("integer division floors, and is total") {
  CHECK(integer(Op::div, i32, -7, 2) == -4);
  CHECK(integer(Op::mod, i32, -7, 2) == 1);
  CHECK(integer(Op::mod, i32, 7, -2) == -1);
  CHECK(integer(Op::trunc_div, i32, -7, 2) == -3);
  CHECK(integer(Op::trunc_rem, i32, -7, 2) == -1);
  for (Op op : {Op::div, Op::mod, Op::trunc_div, Op::trunc_rem})
    for (Type t : {i8, i32, i64, u8, u64, index_type}) CHECK(integer(op, t, 5, 0) == 0);
  for (Type t : {i8, i16, i32, i64}) {
    CHECK(integer(Op::div, t, lowest_of(t), -1) == lowest_of(t));
    CHECK(integer(Op::mod, t, lowest_of(t), -1) == 0);
    CHECK(integer(Op::trunc_div, t, lowest_of(t), -1) == lowest_of(t));
  }
  CHECK(integer(Op::div, u64, -1, 2) == INT64_MAX);
  for (std::int64_t a = -9; a <= 9; ++a)
    for (std::int64_t b = -4; b <= 4; ++b) {
      CHECK(integer(Op::div, i8, a, b) * b + integer(Op::mod, i8, a, b) == (b == 0 ? 0 : a));
      CHECK(floor_div(a, b) == integer(Op::div, index_type, a, b));
      CHECK(floor_mod(a, b) == integer(Op::mod, index_type, a, b));
    }
}

TEST_CASE("data integers wrap, an index that overflows has no value") {
  CHECK(integer(Op::add, i8, 127, 1) == -128);
  CHECK(integer(Op::mul, u8, 200, 2) == 144);
  CHECK(integer(Op::neg, i32, INT32_MIN) == INT32_MIN);
  CHECK(integer(Op::abs, i8, -128) == -128);
  CHECK(integer(Op::sub, u16, 0, 1) == 65535);
  CHECK(integer(Op::mul, i64, INT64_MAX, 2) == -2);
  CHECK(integer(Op::mul, u64, -1, -1) == 1);
  const Value top[2] = {int_value(index_type, INT64_MAX), int_value(index_type, 1)};
  CHECK_FALSE(evaluate(Op::add, index_type, top).has_value());
  CHECK(evaluate(Op::sub, index_type, top)->i == INT64_MAX - 1);
}

TEST_CASE("shifts take the amount as unsigned; out of range shifts everything out") {
  CHECK(integer(Op::shl, i32, 1, 31) == INT32_MIN);
  CHECK(integer(Op::shl, i32, 1, 32) == 0);
  CHECK(integer(Op::shl, i32, 1, -1) == 0);
  CHECK(integer(Op::shr, i32, -8, 1) == -4);
  CHECK(integer(Op::shr, i32, -8, 40) == -1);
  CHECK(integer(Op::shr, i32, -8, -1) == -1);
  CHECK(integer(Op::shr, u8, 200, 8) == 0);
  CHECK(integer(Op::shr, u64, -1, 63) == 1);
  for (int x = -128; x < 128; ++x)
    for (int s = 0; s < 12; ++s) {
      const std::int64_t half = s == 0 ? 0 : std::int64_t{1} << (s - 1);
      CHECK(integer(Op::rounding_shr, i8, x, s) == (x + half) >> s);
      CHECK(integer(Op::rounding_shr, u8, x + 128, s) == (x + 128 + half) >> s);
    }
}

TEST_CASE("mul_high_rounding is a rounding, saturating fixed-point product") {
  CHECK(integer(Op::mul_high_rounding, i16, 0x4000, 0x4000) == 0x2000);
  CHECK(integer(Op::mul_high_rounding, i16, -32768, -32768) == 32767);
  CHECK(integer(Op::mul_high_rounding, i32, INT32_MIN, INT32_MIN) == INT32_MAX);
  CHECK(integer(Op::mul_high_rounding, i16, 3, 16384) == 2);    // 1.5 rounds up
  CHECK(integer(Op::mul_high_rounding, i16, -3, 16384) == -1);  // -1.5 rounds up
  CHECK(integer(Op::mul_high_rounding, u8, 255, 255) == 254);
  CHECK(integer(Op::mul_high_rounding, u64, -1, -1) == -2);
}

TEST_CASE("bit counts are total") {
  CHECK(integer(Op::popcount, i8, -1) == 8);
  CHECK(integer(Op::clz, u16, 1) == 15);
  CHECK(integer(Op::clz, i8, 0) == 8);
  CHECK(integer(Op::ctz, i8, 0) == 8);
  CHECK(integer(Op::ctz, u64, 0) == 64);
}

TEST_CASE("minimum and maximum propagate NaN and order the zeros") {
  for (Type t : {bf16, f16, f32, f64}) {
    CHECK(std::isnan(real(Op::min, t, not_a_number, 1)));
    CHECK(std::isnan(real(Op::max, t, 1, not_a_number)));
    CHECK(std::signbit(real(Op::min, t, 0.0, -0.0)));
    CHECK(std::signbit(real(Op::min, t, -0.0, 0.0)));
    CHECK_FALSE(std::signbit(real(Op::max, t, 0.0, -0.0)));
    CHECK_FALSE(std::signbit(real(Op::max, t, -0.0, 0.0)));
    CHECK(real(Op::max, t, -inf, 2) == 2);
  }
}

TEST_CASE("conversions are total") {
  CHECK(convert(i32, float_value(f32, -1.9)).i == -1);
  CHECK(convert(u8, float_value(f32, 300.7)).i == 255);
  CHECK(convert(u8, float_value(f32, -3)).i == 0);
  CHECK(convert(i32, float_value(f64, not_a_number)).i == 0);
  CHECK(convert(i64, float_value(f64, 1e300)).i == INT64_MAX);
  CHECK(convert(u64, float_value(f64, 0x1p63)).i == INT64_MIN);  // 2^63 in a u64's bits
  CHECK(convert(i8, int_value(i32, 200)).i == -56);
  CHECK(convert(u8, int_value(i32, -1)).i == 255);
  CHECK(convert(index_type, int_value(u32, -1)).i == 0xFFFFFFFF);
  CHECK(convert(bool_, float_value(f32, not_a_number)).i == 1);
  CHECK(convert(bool_, float_value(f32, -0.0)).i == 0);
  CHECK(convert(f32, int_value(u64, -1)).f == 0x1p64);
  CHECK(convert(f32, int_value(i32, 16777217)).f == 16777216.0);
  // f64 reaches f16 through f32: 1 + 2^-11 + 2^-40 is a tie after the first rounding
  CHECK(convert(f16, float_value(f64, 1 + 0x1p-11 + 0x1p-40)).f == 1.0);
  CHECK(float_value(f16, 1 + 0x1p-11 + 0x1p-40).f == 1 + 0x1p-10);  // a literal rounds once
}

TEST_CASE("saturate rounds to nearest even, then clamps") {
  CHECK(saturate_to(i8, float_value(f32, 2.5)).i == 2);
  CHECK(saturate_to(i8, float_value(f32, 3.5)).i == 4);
  CHECK(saturate_to(u8, float_value(f32, 255.5)).i == 255);
  CHECK(saturate_to(i8, float_value(f32, -1000)).i == -128);
  CHECK(saturate_to(i8, float_value(f32, not_a_number)).i == 0);
  CHECK(saturate_to(u8, int_value(i32, -5)).i == 0);
  CHECK(saturate_to(i8, int_value(u64, -1)).i == 127);
  CHECK(saturate_to(f16, float_value(f32, 1e9)).f == 65504);
  CHECK(saturate_to(f16, float_value(f32, -inf)).f == -65504);
  CHECK(std::isnan(saturate_to(f16, float_value(f32, not_a_number)).f));
}

TEST_CASE("every f16 and bf16 pattern survives the way to f32 and back") {
  for (std::uint32_t b = 0; b < 65536; ++b) {
    const auto bits = static_cast<std::uint16_t>(b);
    const bool nan16 = (b & 0x7C00) == 0x7C00 && (b & 0x3FF), nanb = (b & 0x7F80) == 0x7F80 && (b & 0x7F);
    if (!nan16) CHECK(f16_bits(f16_value(bits)) == bits);
    if (!nanb) CHECK(bf16_bits(bf16_value(bits)) == bits);
    CHECK(std::isnan(f16_value(bits)) == nan16);
    CHECK(std::isnan(bf16_value(bits)) == nanb);
    if (!nan16) CHECK(to_bits(from_bits(f16, b)) == b);
  }
  for (std::uint32_t b = 0; b < 256; ++b)
    for (Type t : {e4m3, e5m2})
      if (!std::isnan(from_bits(t, b).f)) CHECK(to_bits(from_bits(t, b)) == b);
  CHECK(f16_value(0x3C00) == 1.0f);
  CHECK(f16_value(0x0001) == 0x1p-24f);
  CHECK(f16_bits(65520.0f) == 0x7C00);  // halfway to the next: to even, infinity
  CHECK(f16_bits(65519.0f) == 0x7BFF);
  CHECK(bf16_value(0x3F80) == 1.0f);
  CHECK(from_bits(e4m3, 0x7E).f == 448);
}

TEST_CASE("narrow floats compute in f32 and round once more") {
  CHECK(real(Op::add, f16, 2048, 1) == 2048);
  CHECK(real(Op::mul, bf16, 255, 255) == round_to(bf16, 65025));
  const Value args[3] = {float_value(f16, 1 + 0x1p-10), float_value(f16, 1 - 0x1p-10), float_value(f16, -1)};
  CHECK(evaluate(Op::fma, f16, args)->f == -0x1p-20);
  const Value wide[3] = {float_value(f32, 1 + 0x1p-23), float_value(f32, 1 - 0x1p-23), float_value(f32, -1)};
  CHECK(evaluate(Op::fma, f32, wide)->f == -0x1p-46);  // a product and a sum would give 0
}

TEST_CASE("rounding of floats to integers keeps the sign of zero; round goes to even") {
  CHECK(real(Op::round, f32, 2.5) == 2);
  CHECK(real(Op::round, f64, 3.5) == 4);
  CHECK(std::signbit(real(Op::round, f32, -0.25)));
  CHECK(std::signbit(real(Op::ceil, f64, -0.5)));
  CHECK(real(Op::floor, f32, -0.5) == -1);
}

TEST_CASE("comparisons with NaN are false, but for ne") {
  const Value args[2] = {float_value(f32, not_a_number), float_value(f32, not_a_number)};
  for (Op op : {Op::eq, Op::lt, Op::le, Op::gt, Op::ge}) CHECK(evaluate(op, bool_, args)->i == 0);
  CHECK(evaluate(Op::ne, bool_, args)->i == 1);
  const Value u[2] = {int_value(u64, -1), int_value(u64, 1)};
  CHECK(evaluate(Op::gt, bool_, u)->i == 1);
}

TEST_CASE("values in memory") {
  unsigned char bytes[8] = {};
  write_value(bytes, int_value(i16, -2));
  CHECK(bytes[0] == 0xFE);
  CHECK(bytes[1] == 0xFF);
  CHECK(read_value(i16, bytes).i == -2);
  write_value(bytes, float_value(bf16, 1));
  CHECK(read_value(bf16, bytes).f == 1);
  CHECK(same_value(float_value(f32, not_a_number), float_value(f32, -not_a_number)));
  CHECK_FALSE(same_value(float_value(f32, 0.0), float_value(f32, -0.0)));
  CHECK(text(float_value(f32, 0.1)) == "0.1");
  CHECK(text(int_value(u64, -1)) == "18446744073709551615");
}
