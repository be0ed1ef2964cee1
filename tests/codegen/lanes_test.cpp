// Lanes at places that are anything: quotients of indices by constants, and bytes and 16-bit elements by indices from data,
// whose tables lie between pages that nobody may touch.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include <doctest/doctest.h>

#include <ashlar/codegen/emit.h>
#include <ashlar/codegen/jit.h>
#include <ashlar/interp/interpreter.h>
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/runtime/runtime.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

#include "tests/codegen/kernels.h"
#include "tests/support/fenced_call.h"
#include "tests/support/text_parts.h"

using namespace ashlar;
using fenced::Fenced;

namespace {

// Compiles y[i] = f(i) of two inputs, x of N + 1 bytes and a table of `entries` of a type, and compares with the interpreter.
using Formula = std::function<Expr(const Tensor& x, const Tensor& table, Var i)>;

void same(Type of_table, std::int64_t entries, Type result, int lanes, const Formula& f) {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = lang::make_input("x", u8, {N + 1}), table = lang::make_input("table", of_table, {entries}),
               y = lang::make_output("y", result, {N});
  const Tensor made = compute("made", {{"i", N}}, [&](Var i) { return f(x, table, i); });
  lang::bind(y, made);
  const lang::Built built = lang::build_program("lanes", {x, table, y});
  for (const Target& target : kernels::runnable({"x86-64", "x86-64-v3", "x86-64-v4"})) {
    CAPTURE(target.text());
    Schedule s(built, target);
    s[made].vectorize(s[made].spatial<1>()[0], lanes);
    const codegen::Compiled code = codegen::compile(lower(s.scheduled().program, options_for(target)), target);
    for (const std::int64_t n : {0, 1, 16, 133})
      for (const Fenced::Side side : {Fenced::at_begin, Fenced::at_end}) {
        CAPTURE(n);
        interp::Arguments meant;
        const auto number = [&](std::span<const std::int64_t> at) { return static_cast<double>((at[0] * 37 + 11) % 251); };
        meant.emplace_back(interp::Array::make(u8, {n + 1}, number));
        meant.emplace_back(interp::Array::make(of_table, {entries}, [&](std::span<const std::int64_t> at) {
          return of_table.bytes() == 1 ? number(at) : static_cast<double>(at[0] * 7919 % 65536 - 32768);
        }));
        meant.emplace_back(interp::Array::zeros(result, {n}));
        fenced::same(code, built.program, std::move(meant), side);
      }
  }
}

std::string assembly(const Target& target, const Formula& f) {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = lang::make_input("x", u8, {N + 1}), table = lang::make_input("table", u8, {4096}),
               y = lang::make_output("y", i32, {N});
  const Tensor made = compute("made", {{"i", N}}, [&](Var i) { return f(x, table, i); });
  lang::bind(y, made);
  Schedule s(lang::build_program("lanes", {x, table, y}), target);
  s[made].vectorize(s[made].spatial<1>()[0], 16);
  return codegen::emit(lower(s.scheduled().program, options_for(target)), target, codegen::Output::assembly);
}

using text_parts::has;

}  // namespace

TEST_CASE("quotients and remainders of neighbors by a constant") {
  for (const std::int64_t stride : {1, 2, -3, 7, 1000})
    for (const std::int64_t divisor : {2, 3, 5, 8, 44, 88, 1000, 70000}) {
      CAPTURE(stride);
      CAPTURE(divisor);
      if ((stride == 7 || stride == 1000) != (divisor >= 1000)) continue;  // a part of all pairs
      same(u8, 1, i32, divisor == 44 ? 4 : 16, [&](const Tensor&, const Tensor&, Var i) {
        Expr all = i32(0);
        for (const std::int64_t first : {-50, -1, 0, 22, 100000}) {
          const Expr at = i * stride + first;
          all = all * 31 + i32(at / divisor) * 1000 + i32(at % divisor);
        }
        return all;
      });
    }
}

TEST_CASE("quotients of indices from data by a constant") {
  for (const std::int64_t divisor : {3, 7, 8, 1000})
    same(i16, 1000, i32, 16, [&](const Tensor& x, const Tensor& table, Var i) {
      const Expr at = in_range(i64(x(i)) * 3 + i64(x(i + 1)), 0, 1021);
      return i32(table((at / divisor + i64(x(i))) / 2 + at % divisor / 2));
    });
}

TEST_CASE("bytes and 16-bit elements at indices from data, up to both ends of a table") {
  for (const std::int64_t entries : {1, 2, 3, 5, 64, 250, 251})
    for (const int lanes : {4, 8, 16, 24}) {
      CAPTURE(entries);
      CAPTURE(lanes);
      same(u8, entries, i32, lanes, [&](const Tensor& x, const Tensor& table, Var i) { return i32(table(x(i) % entries)); });
      same(i16, entries, i32, lanes,
           [&](const Tensor& x, const Tensor& table, Var i) { return i32(table(clamp(i32(x(i + 1)), 0, i32(entries - 1)))); });
      same(u8, entries, i32, lanes, [&](const Tensor& x, const Tensor& table, Var i) {  // where a condition says so
        return select(x(i) < entries, i32(table(in_range(x(i), 0, entries))), -1);
      });
    }
}

TEST_CASE("lanes are neither divided nor read one by one") {
  const std::string divided = assembly(Target::parse("x86-64-v4"), [](auto&, auto&, Var i) { return i32((i + 22) / 44); });
  CHECK(has(divided, "vpcmp"));
  CHECK(!has(divided, "vpextr"));
  CHECK(!has(divided, "vpinsr"));
  const auto look_up = [](const Tensor& x, const Tensor& table, Var i) { return i32(table(i32(x(i)) * 15)); };
  CHECK(has(assembly(Target::parse("x86-64-v4"), look_up), "vpgather"));
  CHECK(!has(assembly(Target::parse("zen4"), look_up), "vpgather"));  // no faster there, and more instructions
}

namespace {

// max and min of all pairs of special numbers in vectors of so many lanes: y[2 i] is the larger, y[2 i + 1] the smaller one.
template <class Float>
void extremes(Type t, int dtype, int lanes) {
  using Limits = std::numeric_limits<Float>;
  const Float special[] = {
      Float(0), Float(-0.0), 1, -1, Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), Limits::denorm_min()};
  std::vector<Float> a, b;
  for (const Float u : special)
    for (const Float v : special) a.push_back(u), b.push_back(v);
  const std::int64_t n = static_cast<std::int64_t>(a.size());
  std::vector<Float> got(static_cast<std::size_t>(2 * n));
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = lang::make_input("x", t, {N}), z = lang::make_input("z", t, {N}), y = lang::make_output("y", t, {2, N});
  const Tensor made =
      compute("made", {{"c", 2}, {"i", N}}, [&](Var c, Var i) { return select(c == 0, max(x(i), z(i)), min(x(i), z(i))); });
  lang::bind(y, made);
  const lang::Built built = lang::build_program("extremes", {x, z, y});
  for (const Target& target : kernels::runnable({"x86-64", "x86-64-v3", "x86-64-v4"})) {
    CAPTURE(target.text());
    CAPTURE(lanes);
    Schedule s(built, target);
    s[made].vectorize(s[made].spatial<2>()[1], lanes);
    const codegen::Compiled code = codegen::compile(lower(s.scheduled().program, options_for(target)), target);
    const std::int64_t shape[2] = {2, n};
    const ashlar_tensor tensors[3] = {ashlar_dense(a.data(), dtype, 1, &n), ashlar_dense(b.data(), dtype, 1, &n),
                                      ashlar_dense(got.data(), dtype, 2, shape)};
    const void* pointers[3] = {&tensors[0], &tensors[1], &tensors[2]};
    REQUIRE(code.call(pointers) == ASHLAR_OK);
    for (std::size_t k = 0; k < a.size(); ++k)
      for (const bool largest : {true, false}) {
        const Float v = got[largest ? k : a.size() + k];
        if (std::isnan(a[k]) || std::isnan(b[k])) {
          CHECK(std::isnan(v));
          continue;
        }
        const bool negative = largest ? std::signbit(a[k]) && std::signbit(b[k]) : std::signbit(a[k]) || std::signbit(b[k]);
        CHECK(v == (largest ? std::max(a[k], b[k]) : std::min(a[k], b[k])));
        if (v == 0) CHECK(std::signbit(v) == negative);
      }
  }
}

}  // namespace

TEST_CASE("minima and maxima of zeros of both signs, infinities and NaN") {
  for (const int lanes : {4, 8, 16, 48}) extremes<float>(f32, ASHLAR_F32, lanes);
  for (const int lanes : {2, 4, 8, 24}) extremes<double>(f64, ASHLAR_F64, lanes);
}

TEST_CASE("a last vector of one element stores no more than that, narrowed or not") {
  for (const Type from : {u64, i64, u32, i32})
    for (const Type to : {i8, i16, i32})
      for (const std::int64_t n : {9, 17}) {
        lang::DefinitionScope scope;
        const Tensor x = lang::make_input("x", from, {n}), y = lang::make_output("y", to, {n});
        const Tensor made = compute("made", {n}, [&](Var i) { return ir::cast(to, x(i)); });
        lang::bind(y, made);
        const lang::Built built = lang::build_program("narrowed", {x, y});
        for (const Target& target : kernels::runnable({"x86-64", "x86-64-v3", "x86-64-v4"})) {
          CAPTURE(target.text());
          Schedule s(built, target);
          s[made].vectorize(s[made].spatial<1>()[0], 8);
          const codegen::Compiled code = codegen::compile(lower(s.scheduled().program, options_for(target)), target);
          std::vector<std::uint64_t> given(static_cast<std::size_t>(n), 0x0101010101010101);
          std::vector<std::uint8_t> result(static_cast<std::size_t>(n * to.bytes() + 64), 0x77);
          const int types[] = {from == u64   ? ASHLAR_U64
                               : from == i64 ? ASHLAR_I64
                               : from == u32 ? ASHLAR_U32
                                             : ASHLAR_I32,
                               to == i8    ? ASHLAR_I8
                               : to == i16 ? ASHLAR_I16
                                           : ASHLAR_I32};
          ashlar_tensor tensors[] = {ashlar_dense(given.data(), types[0], 1, &n), ashlar_dense(result.data(), types[1], 1, &n)};
          const void* pointers[] = {&tensors[0], &tensors[1]};
          REQUIRE(code.call(pointers) == ASHLAR_OK);
          for (std::size_t k = 0; k < result.size(); ++k)
            CHECK(static_cast<int>(result[k]) == (k < static_cast<std::size_t>(n * to.bytes()) ? 1 : 0x77));
        }
      }
}

TEST_CASE("parts of rows on the stack are shuffled into one vector") {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = lang::make_input("x", f32, {N, 64}), y = lang::make_output("y", f32, {N, 32});
  const Tensor rows = compute("rows", {{"i", N}, {"k", 64}}, [&](Var i, Var k) { return x(i, k) * 2; });
  const Tensor halves = compute("halves", {{"i", N}, {"e", 32}}, [&](Var i, Var e) { return rows(i, e / 8 * 16 + e % 8); });
  lang::bind(y, halves);
  const lang::Built built = lang::build_program("halves", {x, y});
  for (const Target& target : kernels::runnable({"x86-64-v3", "x86-64-v4"})) {
    CAPTURE(target.text());
    Schedule s(built, target);
    const auto [i, e] = s[halves].spatial<2>();
    s[halves].vectorize(e);
    s[rows].compute_at(i);
    s[rows].store_in(Scope::stack);
    s[rows].vectorize(s[rows].spatial<2>()[1], 16);
    const auto kernel = lower(s.scheduled().program, options_for(target));
    CHECK_FALSE(has(codegen::emit(kernel, target, codegen::Output::assembly), "gather"));
    const codegen::Compiled code = codegen::compile(kernel, target);
    for (const std::int64_t n : {0, 1, 3})
      for (const Fenced::Side side : {Fenced::at_begin, Fenced::at_end}) {
        interp::Arguments meant;
        meant.emplace_back(interp::Array::make(
            f32, {n, 64}, [](std::span<const std::int64_t> at) { return static_cast<double>(at[0] * 64 + at[1]); }));
        meant.emplace_back(interp::Array::zeros(f32, {n, 32}));
        fenced::same(code, built.program, std::move(meant), side);
      }
  }
}
