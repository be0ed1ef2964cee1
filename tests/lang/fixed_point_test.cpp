// Functions of fixed-point and pixel arithmetic, 8-bit floats and packed integers, as they are written: types, refusals, and
// whole programs run by the interpreter.
#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include <ashlar/ashlar.h>
#include <ashlar/ir/print.h>

#include "tests/support/refused.h"
#include "tests/lang/run.h"

using namespace ashlar;
using interp::Array;
using V = std::vector<double>;

namespace {
Expr value(Type t) { return ir::var(1, "x", t); }

Array array(Type t, const V& values) {
  return Array::make(t, {static_cast<std::int64_t>(values.size())},
                     [&](auto at) { return values[static_cast<std::size_t>(at[0])]; });
}

// f of each element, by both runs of the interpreter
template <class F>
V each(Type from, const V& in, Type to, F f) {
  const lang::DefinitionScope scope;
  Symbol N{"N"};
  const Tensor x = lang::make_input("x", from, {N}), y = lang::make_output("y", to, {N});
  lang::bind(y, compute("y", {N}, [&](Var i) { return f(x(i)); }));
  return run({x, y}, {array(from, in), Array::zeros(to, {static_cast<std::int64_t>(in.size())})});
}
}  // namespace

TEST_CASE("result types") {
  using Binary = Expr (*)(Operand, Operand);
  const Type all[] = {i8, i16, i32, i64, u8, u16, u32, u64};
  for (Binary f : {Binary(&add_sat), Binary(&sub_sat), Binary(&halving_add), Binary(&rounding_halving_add),
                   Binary(&halving_sub), Binary(&mul_high), Binary(&mul_high_rounding), Binary(&rounding_shr)}) {
    for (Type t : all) CHECK(f(value(t), 3).type() == t);
    CHECK_FALSE(refused([&] { f(value(f32), 2); }).empty());
    CHECK_FALSE(refused([&] { f(value(i8), value(u8)); }).empty());
    CHECK_FALSE(refused([&] { f(value(ir::index_type), 2); }).empty());
  }
  CHECK(abs_diff(value(i8), value(i8)).type() == u8);
  CHECK(abs_diff(value(u64), 4).type() == u64);
  CHECK(widening_add(value(i8), value(i8)).type() == i16);
  CHECK(widening_mul(value(u32), value(u32)).type() == u64);
  CHECK(widening_sub(value(u8), value(u8)).type() == i16);
  CHECK(refusal([] { widening_mul(value(i64), value(i64)); }).expected ==
        "integers of 8 to 32 bits, which have a type of twice the width");
  CHECK(rounding_shl(value(i16), -2).type() == i16);
  CHECK_FALSE(refused([] { rounding_shl(value(u16), 2); }).empty());
}

TEST_CASE("requantization of int8 products") {
  const V in{0, 7, 8, 9, -8, -9, 100000, -100000};
  V want;
  for (double x : in) want.push_back(std::clamp(std::floor(std::floor(x / 2 + 0.5) / 8 + 0.5), -128.0, 127.0));
  CHECK(each(i32, in, i8, [](const Expr& x) { return saturate(i8, rounding_shr(mul_high_rounding(x, i32(1 << 30)), 3)); }) ==
        want);
}

TEST_CASE("shifts both ways, and the distance of signed numbers") {
  const V in{0, 1, 3, 8, -1, -2, -8, -128};
  CHECK(each(i8, in, i8, [](const Expr& x) { return rounding_shl(i8(11), x); }) == V{11, 22, 88, 0, 6, 3, 0, 0});
  CHECK(each(i8, in, u8, [](const Expr& x) { return abs_diff(x, 100); }) == V{100, 99, 97, 92, 101, 102, 108, 228});
  CHECK(each(u8, {0, 1, 255}, i16, [](const Expr& x) { return widening_sub(x, 2); }) == V{-2, -1, 253});
}

TEST_CASE("saturate leaves no infinity, also of its own type") {
  constexpr double inf = HUGE_VAL;
  const V in{1.5, -inf, inf, -0.0};
  for (const auto& [type, largest] : {std::pair{f16, 65504.0},
                                      {bf16, 0x1.FEp127},
                                      {e5m2, 57344.0},
                                      {f32, 0x1.FFFFFEp127},
                                      {f64, std::numeric_limits<double>::max()}}) {
    CAPTURE(ir::text(type));
    CHECK(each(type, in, type, [t = type](const Expr& x) { return saturate(t, x); }) == V{1.5, -largest, largest, -0.0});
  }
}

TEST_CASE("8-bit floats: arithmetic in f32, rounded after every operator; overflow by name") {
  constexpr double inf = HUGE_VAL;
  const V in{1.0625, 1.1875, 300, -1e9, inf, -0.0};
  const V doubled = each(f32, in, e4m3, [](const Expr& x) { return saturate(e4m3, x) * 2; });
  CHECK(doubled[0] == 2);    // 1.0625 is a tie of 1 and 1.125
  CHECK(doubled[1] == 2.5);  // 1.1875 one of 1.125 and 1.25
  CHECK(std::isnan(doubled[2]));
  CHECK(std::isnan(doubled[3]));
  CHECK(std::signbit(doubled[5]));
  CHECK(each(f32, in, e5m2, [](const Expr& x) { return e5m2(x) + 1; }) == V{2, 2, 320, -inf, inf, 1});
  CHECK(each(f32, in, e4m3, [](const Expr& x) { return saturate(e4m3, x); }) == V{1, 1.25, 288, -448, 448, 0});
  CHECK(lowest(e4m3).node()->f == -448);
  CHECK(highest(e5m2).node()->f == inf);
  CHECK_FALSE(refused([] { infinity(e4m3); }).empty());
  CHECK(std::isnan(e4m3(1000).node()->f));
  CHECK(exp(value(e4m3)).type() == e4m3);
  CHECK((value(e4m3) * 0.3).type() == e4m3);
  for (double number : {1000.0, -1e9, inf})
    CHECK(refusal([&] { value(e4m3) + number; }).expected == "a number in the range of e4m3");
  CHECK(refusal([] { value(e4m3) * 300; }).expected ==
        "a number that e4m3 holds exactly (or convert the other operand by name)");
  CHECK(refusal([] { value(e5m2) - 1e6; }).expected == "a number in the range of e5m2");
}

TEST_CASE("the largest of 8-bit floats, and of none") {
  const auto of = [&](const V& in) {
    const lang::DefinitionScope scope;
    Symbol N{"N"};
    const Axis k{"k", N};
    const Tensor x = lang::make_input("x", e4m3, {N}), m = lang::make_output("m", e4m3, {});
    lang::bind(m, compute("m", [&] { return maximum(x(k), k); }));
    return run({x, m}, {array(e4m3, in), Array::zeros(e4m3, {})})[0];
  };
  CHECK(of({-448, -3, -7}) == -3);
  CHECK(of({}) == -448);
}

TEST_CASE("packed weights are read and converted; anything else is refused in words") {
  const lang::DefinitionScope scope;
  Symbol N{"N"};
  const Axis k{"k", N};
  const Tensor w = lang::make_input("w", i4, {2, N}), x = lang::make_input("x", i8, {N}), y = lang::make_output("y", i32, {2});
  lang::bind(y, compute("y", {2}, [&](Var i) { return sum(i32(w(i, k)) * i32(x(k)), k); }));
  const Array weights = Array::make(i4, {2, 3}, [](auto at) { return at[0] == 0 ? -8 + at[1] : 7 - at[1]; });
  CHECK(run({w, x, y}, {weights, array(i8, {1, 2, 3}), Array::zeros(i32, {2})}) == V{-8 - 14 - 18, 7 + 12 + 15});

  const Expr e = value(i4);
  CHECK(refusal([&] { e + e; }).expected == "operands of 8 bits or more (convert by name: i8(x))");
  CHECK(refusal([&] { add_sat(value(u4), 1); }).expected == "operands of 8 bits or more (convert by name: u8(x))");
  CHECK(saturate(i8, e).type() == i8);
  CHECK(f32(e).type() == f32);
  CHECK(refusal([&] { i4(value(i8)); }).expected ==
        "elements of 8 bits or more (i4 and u4 are read from inputs alone: i8(x) converts one)");
  CHECK(refusal([&] { lang::make_output("o", i4, {N}); }).found == "i4");
  CHECK(refusal([&] { compute("copy", {2, N}, [&](Var i, Var j) { return w(i, j); }); }).found == "i4");
}
