// The types of operands: what numbers adopt, what is lifted, what is refused and what the refusal says to write.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include <ashlar/lang.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/numeric.h>
#include <ashlar/ir/print.h>

#include "tests/support/refused.h"

// A Param as an operand sees it: a C++ number behind a conversion.
namespace ashlar {
template <class T>
class Param {
 public:
  explicit Param(T v) : value_(v) {}
  Param(const Param&) = delete;
  operator const T&() const { return value_; }

 private:
  T value_;
};
}  // namespace ashlar

using namespace ashlar;

namespace {

Expr value(Type t, const char* name = "x") { return ir::var(ir::fresh_id(), name, t); }
Expr right(const Expr& e) { return ir::args_of(e)[1]; }
std::string text(const Expr& e) { return ir::text(e); }

const Type data_types[] = {i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64};

}  // namespace

TEST_CASE("a number adopts the type of the Expr it meets") {
  for (Type t : data_types) {
    CAPTURE(ir::text(t));
    const Expr x = value(t);
    for (const Expr& e : {x + 3, 3 + x, x * 3, x - 3, max(x, 3), clamp(x, 0, 3)}) CHECK(e.type() == t);
    CHECK(right(x + 3).type() == t);
    CHECK((x < 3).type() == bool_);
    CHECK(right(x < 3).type() == t);
  }
  CHECK(text(value(f32) * 0.1) == "x * 0.1");
  CHECK(right(value(f32) * 0.1).node()->f == static_cast<double>(0.1f));
  CHECK(right(value(f16) * 0.1).node()->f == ir::round_to(f16, 0.1));
  CHECK(right(value(bf16) + 1.00390625).node()->f == 1.0);       // halfway: to even
  CHECK(right(value(bf16) + 1.01171875).node()->f == 1.015625);  // halfway: to even
}

TEST_CASE("an integer is held exactly or refused") {
  CHECK(right(value(u8) + 255).node()->i == 255);
  CHECK(right(value(i8) + -128).node()->i == -128);
  CHECK(right(value(u64) + 0xffffffffffffffffull).node()->i == -1);
  CHECK(right(value(f32) + 16777216).node()->f == 16777216.0);
  CHECK(right(value(f16) + 2048).node()->f == 2048.0);
  CHECK(refusal([] { value(u8) + 256; }).found == "the number 256");
  CHECK(refusal([] { value(u8) + 256; }).expected == "a number that u8 holds exactly (or convert the other operand by name)");
  CHECK(refusal([] { value(u8) + -1; }).found == "the number -1");
  CHECK(refusal([] { value(i64) + 0x8000000000000000ull; }).found == "the number 9223372036854775808");
  CHECK(refusal([] { value(f32) + 16777217; }).found == "the number 16777217");
  CHECK(refusal([] { value(f16) + 2049; }).found == "the number 2049");
  CHECK(refusal([] { value(f64) + 0x7fffffffffffffff; }).found == "the number 9223372036854775807");
}

TEST_CASE("a floating number never becomes an integer, and does not overflow its type") {
  CHECK(refusal([] { value(i32) * 0.5; }).found == "the number 0.5");
  CHECK(refusal([] { value(i32) * 2.0; }).expected.find("convert the other operand, f32(x)") != std::string::npos);
  CHECK(refusal([] { value(f16) * 1e6; }).expected == "a number in the range of f16");
  CHECK(std::isinf(right(value(f16) * std::numeric_limits<double>::infinity()).node()->f));
}

TEST_CASE("a number alone has its C++ type") {
  CHECK(value_of(0).type() == i32);
  CHECK(value_of(0u).type() == u32);
  CHECK(value_of(0.f).type() == f32);
  CHECK(value_of(0.0).type() == f64);
  CHECK(value_of(true).type() == bool_);
  CHECK(value_of(std::int64_t{1}).type() == i64);
  CHECK(value_of(static_cast<std::int8_t>(-1)).type() == i8);
  CHECK(max(2, 3).type() == i32);
  CHECK(max(2, 3.5).type() == f64);
}

TEST_CASE("a Param is a number") {
  const Param<int> p(3);
  const Param<bool> b(true);
  const Param<float> f(0.5f);
  CHECK(right(value(u8) * p).node()->i == 3);
  CHECK(right(value(f32) * f).node()->f == 0.5);
  CHECK(text(value(bool_) && b) == "x");
  CHECK(text(select(b, value(f32), f)) == "x");
  CHECK_FALSE(refused([&] { value(i32) * f; }).empty());
}

TEST_CASE("a data integer that meets an index is lifted; nothing else converts") {
  const Expr i = value(ir::index_type, "i");
  CHECK((value(u8) + i).type() == ir::index_type);
  CHECK(text(value(u8) + i) == "index(x) + i");
  CHECK((i - value(i64)).type() == ir::index_type);
  CHECK((i == value(i32)).type() == bool_);
  CHECK(refusal([] { value(u8) + value(u16); }).expected == "operands of one type (convert one by name: u16(x))");
  CHECK(refusal([] { value(u8) + value(u16); }).found == "u8 and u16");
  CHECK(refusal([] { value(i32) * value(f32); }).expected == "operands of one type (convert one by name: f32(x))");
  CHECK_FALSE(refused([&] { i* value(f32); }).empty());
  CHECK(i64(i).type() == i64);
}

TEST_CASE("a refusal names the user's line") {
  const Expr x = value(u8), y = value(u16);
  const auto line = static_cast<unsigned>(__LINE__ + 1);
  const Refusal r = refusal([&] { (void)(x + y); });
  CHECK(r.where.line() == line);
  CHECK(r.text().find("operand_test.cpp:" + std::to_string(line) + ": +: expected operands of one type") == 0);
  const Refusal empty = refusal([&] { (void)(x + Expr()); });
  CHECK(empty.found == "an empty Expr");
  CHECK(empty.where.line() == line + 3);
}

TEST_CASE("bool is no number") {
  const Expr c = value(bool_), x = value(i32);
  CHECK_FALSE(refused([&] { c + c; }).empty());
  CHECK_FALSE(refused([&] { c < c; }).empty());
  CHECK_FALSE(refused([&] { c == 1; }).empty());
  CHECK(refusal([&] { x + true; }).found == "true");
  CHECK(refusal([&] { select(x, 1, 2); }).expected == "a bool as condition: a comparison, or x != 0");
  CHECK(refusal([&] { x&& c; }).expected == "bool: a comparison, or x != 0");
  CHECK((c == c).type() == bool_);
  CHECK((c && true).node() == c.node());
  CHECK(ir::is_int(c && false, std::int64_t{0}));
  CHECK((c & c).type() == bool_);
  CHECK((x & 7).type() == i32);
}

TEST_CASE("conversions by name") {
  CHECK(f32(2).node()->f == 2.0);
  CHECK(u16(0).type() == u16);
  CHECK(u8(300).node()->i == 44);  // data integers wrap
  CHECK(u8(-0.5).node()->i == 0);  // toward zero
  CHECK(f32(0.1).node()->f == static_cast<double>(0.1f));
  CHECK(ir::is(f32(value(u8)), ir::Op::cast));
  CHECK(f32(value(f32)).node()->op == ir::Op::var);
  CHECK(saturate(i8, value(i32)).type() == i8);
  CHECK(bitcast(u32, value(f32)).type() == u32);
  CHECK_FALSE(refused([] { bitcast(u16, value(f32)); }).empty());
  CHECK(saturate(f16, value(f32)).type() == f16);
  CHECK_FALSE(refused([] { saturate(bool_, value(f32)); }).empty());
  CHECK_FALSE(refused([] { i4(value(i8)); }).empty());
  CHECK(lowest(f32).node()->f == -std::numeric_limits<double>::infinity());
  CHECK(highest(u8).node()->i == 255);
  CHECK(lowest(i16).node()->i == -32768);
  CHECK_FALSE(refused([] { infinity(i32); }).empty());
}

TEST_CASE("functions take the types they are said to take") {
  using Unary = Expr (*)(Operand);
  using Binary = Expr (*)(Operand, Operand);
  const Unary floating[] = {&sqrt, &rsqrt, &cbrt, &exp,  &exp2, &expm1, &log, &log2, &log1p, &sin,  &cos,   &tan,
                            &asin, &acos,  &atan, &sinh, &cosh, &tanh,  &erf, &erfc, &floor, &ceil, &round, &trunc};
  for (Unary f : floating) {
    for (Type t : {f16, bf16, f32, f64}) CHECK(f(value(t)).type() == t);
    CHECK(refusal([&] { f(value(i32)); }).expected == "a floating type (convert by name: f32(x))");
  }
  for (Binary f : {Binary(&pow), Binary(&atan2), Binary(&copysign)}) {
    CHECK(f(value(f32), 2).type() == f32);
    CHECK_FALSE(refused([&] { f(value(i32), 2); }).empty());
  }
  CHECK(pow(value(f64), 2).type() == f64);
  for (Unary f : {Unary(&popcount), Unary(&clz), Unary(&ctz)}) {
    CHECK(f(value(u32)).type() == u32);
    CHECK_FALSE(refused([&] { f(value(f32)); }).empty());
  }
  for (Binary f : {Binary(&trunc_div), Binary(&trunc_rem), Binary(&rounding_shr), Binary(&mul_high_rounding)}) {
    CHECK(f(value(i32), 2).type() == i32);
    CHECK_FALSE(refused([&] { f(value(f32), 2); }).empty());
  }
  CHECK(isnan(value(f16)).type() == bool_);
  CHECK(abs(value(i8)).type() == i8);
  CHECK(fma(value(f32), 2, 0.5).type() == f32);
  CHECK(ir::text(fast(exp(value(f32)) + floor(value(f32)))).find("fast_exp(") != std::string::npos);
  CHECK(ir::is(approximate(exp2(value(f32))), ir::Op::approximate_exp2));
  CHECK(ir::text(approximate(exp(value(f16)))).find("f16(approximate_exp2(f32(") == 0);
  CHECK(ir::text(approximate(sigmoid(value(f32)) + log(value(f32)))).find("fast_log(") != std::string::npos);
  CHECK(ir::is(approximate(exp(value(f64))), ir::Op::fast_exp));
  CHECK(ir::is(exp2(value(f32)), ir::Op::exp2));
  CHECK(ir::is(in_range(value(i32), 0, 10), ir::Op::in_range));
  CHECK((~value(u8)).type() == u8);
  CHECK((value(u16) >> 8).type() == u16);
  CHECK((-value(f32)).type() == f32);
  CHECK_FALSE(refused([] { value(f32) >> 1; }).empty());
}

TEST_CASE("an Expr is built up in place") {
  Expr total = u16(0);
  const Expr x = value(u8);
  const Expr first = total;
  for (int t = 0; t < 3; ++t) total += u16(x) * t;
  CHECK(total.type() == u16);
  CHECK(text(total) == "0u16 + u16(x) * 0u16 + u16(x) * 1u16 + u16(x) * 2u16");
  CHECK(ir::is(first, ir::Op::int_const));
  Values<2> pair = select(value(bool_), values(value(f32), 1), values(0.f, 2));
  CHECK(pair[0].type() == f32);
  CHECK(pair[1].type() == i32);
}

TEST_CASE("index arithmetic folds as it is written") {
  const Expr i = value(ir::index_type, "i");
  CHECK((i + 0).node() == i.node());
  CHECK(text(i + (2 - 2)) == "i");
  CHECK(text((i + 1) % 1) == "0");
  CHECK(ir::is_int(clamp(ir::index(7), 0, 5), std::int64_t{5}));
}
