// Values that loops accumulate in lanes: minima and maxima, whose NaNs are kept in a mask, and counts, which are the same in
// all lanes.
#include <cmath>
#include <cstring>
#include <limits>

#include <doctest/doctest.h>

#include <ashlar/codegen/emit.h>
#include <ashlar/codegen/jit.h>
#include <ashlar/interp/interpreter.h>
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

#include "tests/codegen/kernels.h"
#include "tests/support/fenced_call.h"
#include "tests/support/text_parts.h"

using namespace ashlar;
using fenced::Fenced;

namespace {

// The minimum, or maximum, over k of a[k, j] + b[k], from a number or a NaN on, `unrolled` terms in a row. A NaN is 12345 in
// the result: which NaN it is does not matter.
struct Extremum {
  Type type = f64;
  bool least = true;
  double from = 0;
  int lanes = 8, unrolled = 1;
};

template <class Use>
void scheduled(const Extremum& e, const Target& target, Use&& use) {
  lang::DefinitionScope scope;
  const Symbol N{"N"}, K{"K"};
  const Tensor a = lang::make_input("a", e.type, {K, N}), b = lang::make_input("b", e.type, {K}),
               y = lang::make_output("y", e.type, {N});
  const Axis k{"k", K};
  const Tensor found = compute("found", {{"j", N}}, [&](Var j) {
    const Expr term = a(k, j) + b(k);
    return e.least ? minimum(term, k).from(e.from) : maximum(term, k).from(e.from);
  });
  lang::bind(y, compute("result", {{"j", N}}, [&](Var j) { return select(isnan(found(j)), 12345, found(j)); }));
  Schedule s(lang::build_program("extremum", {a, b, y}), target);
  const auto [jo, ji] = s[found].split(s[found].spatial<1>()[0], e.lanes);
  const Loop terms = s[found].reduction();
  s[found].reorder(jo, terms, ji);
  s[found].vectorize(ji);
  if (e.unrolled > 1) s[found].unroll(terms, e.unrolled);
  use(s);
}

// Numbers, zeros of both signs, infinities and NaNs; each column has another mixture, and some have no NaN.
double element(std::int64_t k, std::int64_t j) {
  constexpr double special[] = {0.0, -0.0, std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  const std::int64_t at = (k * 31 + j * 17) % 97;
  if (j % 3 == 0 && k == j / 3 % 7) return std::nan("");
  if (j % 5 == 1) return special[at % 2];  // zeros alone
  return at < 4 ? special[at] : static_cast<double>(at - 50) / 4;
}

void same(const Extremum& e, const Target& target) {
  CAPTURE(e.least);
  CAPTURE(e.from);
  CAPTURE(e.unrolled);
  scheduled(e, target, [&](Schedule& s) {
    const codegen::Compiled code = codegen::compile(lower(s.scheduled().program, options_for(target)), target);
    for (const std::int64_t terms : {0, 1, 2, 3, 7, 8})
      for (const std::int64_t n : {1, 8, 45}) {
        CAPTURE(terms);
        interp::Arguments meant;
        meant.emplace_back(
            interp::Array::make(e.type, {terms, n}, [](std::span<const std::int64_t> at) { return element(at[0], at[1]); }));
        meant.emplace_back(interp::Array::make(e.type, {terms},
                                               [](std::span<const std::int64_t> at) { return at[0] % 2 == 0 ? -0.0 : 0.25; }));
        meant.emplace_back(interp::Array::zeros(e.type, {n}));
        fenced::same(code, s.algorithm(), std::move(meant), Fenced::at_end);
      }
  });
}

}  // namespace

TEST_CASE("minima and maxima of lanes have the NaNs and the signs of zeros that the program has") {
  for (const Target& target : kernels::runnable({"x86-64-v3", "x86-64-v4"})) {
    CAPTURE(target.text());
    for (const Type type : {f32, f64})
      for (const bool least : {true, false})
        for (const int unrolled : {1, 2, 3})
          for (const double from : {0.0, -0.0, least ? std::numeric_limits<double>::infinity() : -4.0, std::nan("")})
            same({type, least, from, target.lanes(type), unrolled}, target);
  }
}

TEST_CASE("a minimum in a loop does not wait for the comparison that finds its NaNs") {
  const Target target(Target::parse("x86-64-v4"));
  scheduled({f64, true, std::numeric_limits<double>::infinity(), 8, 1}, target, [&](Schedule& s) {
    const std::string text =
        codegen::emit(lower(s.scheduled().program, options_for(target)), target, codegen::Output::assembly);
    CHECK(text_parts::has(text, "vrangepd"));
    CHECK(text_parts::has(text, "korb"));  // the NaNs of all terms so far
  });
}

TEST_CASE("the count of a reducer is divided by once for all lanes") {
  lang::DefinitionScope scope;
  const Symbol M{"M"}, N{"N"};
  const Tensor x = lang::make_input("x", f32, {M, N}), y = lang::make_output("y", f32, {M});
  const Axis k{"k", N};
  const auto moments = reducer(
      "moments", {f32, f32}, {0, 0},
      [](Values<2> a, Values<2> b) {
        const Expr n = a[0] + b[0];
        return values(n, a[1] + (b[1] - a[1]) * select(n == 0, 0, b[0] / n));
      },
      Order::any);
  const auto [n, mean] = compute("moments", {M}, [&](Var i) { return moments(values(1, x(i, k)), k); });
  const Tensor result = compute("result", {M}, [&, mean = mean](Var i) { return mean(i); });
  lang::bind(y, result);
  const lang::Built built = lang::build_program("mean", {x, y});
  for (const Target& target : kernels::runnable({"x86-64-v3", "x86-64-v4"})) {
    CAPTURE(target.text());
    Schedule s(built, target);
    const Stage stage = s[mean];
    const Stage lanes = stage.rfactor(stage.split(stage.reduction(), target.lanes(f32), Tail::guard).inner);
    lanes.compute_at(stage.spatial_loops().back());
    lanes.store_in(Scope::stack);
    const Loop lane = lanes.spatial_loops().back();
    lanes.reorder(lanes.reduction(), lane);
    lanes.vectorize(lane);
    const auto kernel = lower(s.scheduled().program, options_for(target));
    const std::string text = codegen::emit(kernel, target, codegen::Output::assembly);
    CHECK(text_parts::has(text, "vdivss"));
    const codegen::Compiled code = codegen::compile(kernel, target);
    for (const std::int64_t terms : {0, 1, 15, 16, 32, 33, 100}) {
      CAPTURE(terms);
      interp::Arguments meant;  // whole numbers whose means are exact
      meant.emplace_back(interp::Array::make(f32, {3, terms},
                                             [](std::span<const std::int64_t> at) { return static_cast<double>(at[0] * 8); }));
      meant.emplace_back(interp::Array::zeros(f32, {3}));
      fenced::same(code, built.program, std::move(meant), Fenced::at_end);
    }
  }
}
