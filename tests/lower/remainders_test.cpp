// Remainders by Symbols: chosen where the dividend lies within a period of its range, divided elsewhere.
#include <doctest/doctest.h>

#include <functional>

#include <ashlar/ashlar.h>
#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/print.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/step.h>

using namespace ashlar;

namespace {

// y[i] = f(x, i), i in [0, N), in vectors of 8 or one after the other; with the results of the algorithm at some sizes.
template <class F>
std::string lowered(F&& f, bool vectors) {
  lang::DefinitionScope scope;
  const Symbol N("N", {.min = 1});
  const Tensor x = lang::make_input("x", i32, {N}), y = lang::make_output("y", i32, {N});
  lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return f(x, i, N); }));
  Schedule s(lang::build_program("row", {x, y}), Target::parse("x86-64-v3"));
  if (vectors) s[y].vectorize(s[y].spatial<1>()[0], 8);
  const ir::Kernel k = lower(s.scheduled().program, {.vector_bits = 256});
  for (const std::int64_t n : {1, 2, 3, 7, 8, 29}) {
    interp::Arguments given{interp::Array::make(i32, {n}, [](auto at) { return static_cast<double>(at[0] * at[0] % 17); }),
                            interp::Array::zeros(i32, {n})};
    interp::Arguments meant = given;
    interp::run_algorithm(s.algorithm(), meant);
    interp::run(k, given);
    CHECK(interp::difference(given[1].array, meant[1].array) == "");
  }
  return ir::text(k);
}
int divisions(const std::string& text) {
  int n = 0;
  for (std::size_t at = text.find(" % "); at != std::string::npos; at = text.find(" % ", at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("a neighbor on a torus is chosen") {
  const auto around = [](const Tensor& x, Var i, const Symbol& N) { return x((i + 1) % N) * 3 + x((i - 1) % N); };
  for (const bool vectors : {false, true}) {
    // The lanes of the last vector may lie anywhere: without a proof they stay divided, one after the other.
    const std::string text = lowered(around, vectors);
    CAPTURE(text);
    if (!vectors) CHECK(divisions(text) == 0);
    CHECK(text.find("select(") != std::string::npos);
  }
}

TEST_CASE("of data that is clamped, the neighbor is chosen in every lane") {
  for (const bool vectors : {false, true}) {
    const std::string text =
        lowered([](const Tensor& x, Var i, const Symbol& N) { return x((clamp(x(i), 0, N - 1) + 1) % N); }, vectors);
    CAPTURE(text);
    CHECK(divisions(text) == 0);
  }
}

TEST_CASE("remainders of what may lie farther away, and by numbers, stay") {
  CHECK(divisions(lowered([](const Tensor& x, Var i, const Symbol& N) { return x((i * 5 + 2) % N); }, false)) > 0);
  CHECK(divisions(lowered([](const Tensor& x, Var i, const Symbol&) { return x(i) + i32(i % 3); }, false)) > 0);
}

namespace {

// Sums over a window of what a boundary makes of a row, four terms at a time in vectors of 8; at lengths from 0 on.
using Boundary = Tensor (*)(const Tensor&, Where);
std::string window_sums(Boundary boundary, int reach, bool positive) {
  lang::DefinitionScope scope;
  const Symbol N = positive ? Symbol("N", {.min = 1}) : Symbol("N");
  const Tensor x = lang::make_input("x", i32, {N}), y = lang::make_output("y", i32, {N});
  const Tensor wide = boundary(x, Where::current());
  const Axis k{"k", -reach, reach + 1};
  const Tensor made = compute("made", {N}, [&](Var i) { return sum(i32(k + 9) * wide(i + k), k); });
  lang::bind(y, made);
  Schedule s(lang::build_program("row", {x, y}), Target::parse("x86-64-v3"));
  const Split split = s[made].split(s[made].spatial<1>()[0], 8, Tail::guard);
  s[made].reorder(split.outer, s[made].reduction(), split.inner).vectorize(split.inner).unroll(s[made].reduction());
  schedule::finish(s.scheduled(), s.target());
  const ir::Kernel k_ = lower(s.scheduled().program, {.vector_bits = 256});
  const std::string text = ir::text(k_);
  CAPTURE(text);
  for (std::int64_t n = positive ? 1 : 0; n < 42; ++n) {
    interp::Arguments given{interp::Array::make(i32, {n}, [](auto at) { return static_cast<double>(at[0] * at[0] % 17); }),
                            interp::Array::zeros(i32, {n})};
    interp::Arguments meant = given;
    interp::run_algorithm(s.algorithm(), meant);
    REQUIRE_NOTHROW(interp::run(k_, given));
    CHECK(interp::difference(given[1].array, meant[1].array) == "");
  }
  return text;
}

}  // namespace

TEST_CASE("sums at a border that goes round or is mirrored stay in lanes, which choose where they read") {
  for (const bool around : {false, true})
    for (const bool positive : {false, true}) {
      // A row of one element goes round after one step, and is mirrored after two.
      const std::string text = around ? window_sums(boundary::wrap, 1, positive) : window_sums(boundary::mirror, 2, positive);
      CAPTURE(text);
      CHECK(divisions(text) == 0);
      CHECK(text.find("for i0i in") == std::string::npos);  // no point by itself
    }
}

TEST_CASE("sums over more than a row may hold are divided, one point after the other") {
  const std::string text = window_sums(boundary::wrap, 9, true);
  CAPTURE(text);
  CHECK(divisions(text) > 0);
  CHECK(text.find("for i0i in") != std::string::npos);
}

namespace {

// Sums of two terms over rows of N, in vectors of 8 with the terms inside of the loop over them; `apart`: the rows outside.
using Term = std::function<Expr(const Tensor& x, Var m, Var i, const Expr& N)>;
std::string two_terms(const Term& term, bool apart, std::int64_t least) {
  lang::DefinitionScope scope;
  const Symbol N("N", {.min = least}), M("M");
  const Tensor x = lang::make_input("x", i32, {M, N}), y = lang::make_output("y", i32, {M, N});
  const Axis k{"k", 2}, d{"d", 2};
  const Tensor made = compute("made", {M, N}, [&](Var m, Var i) { return sum(term(x, m, i, N) * i32(k + d * 3 + 1), {d, k}); });
  lang::bind(y, made);
  Schedule s(lang::build_program("rows", {x, y}), Target::parse("x86-64-v3"));
  const auto [m, i] = s[made].spatial<2>();
  const auto [dd, kk] = s[made].reduction<2>();
  const Split split = s[made].split(i, 8, Tail::guard);
  if (apart)
    s[made].reorder(m, dd, split.outer, kk, split.inner);
  else
    s[made].reorder(m, split.outer, dd, kk, split.inner);
  s[made].vectorize(split.inner);
  schedule::finish(s.scheduled(), s.target());
  const ir::Kernel kernel = lower(s.scheduled().program, {.vector_bits = 256});
  for (std::int64_t n = least; n < 30; ++n) {
    const auto made_of = [](auto at) { return static_cast<double>((at[0] * 5 + at[1] * at[1]) % 17); };
    interp::Arguments given{interp::Array::make(i32, {5, n}, made_of), interp::Array::zeros(i32, {5, n})};
    interp::Arguments meant = given;
    interp::run_algorithm(s.algorithm(), meant);
    REQUIRE_NOTHROW(interp::run(kernel, given));
    CHECK(interp::difference(given[1].array, meant[1].array) == "");
  }
  return ir::text(kernel);
}

}  // namespace

TEST_CASE("lanes that choose do so wherever their loop ends up") {
  const Term around = [](const Tensor& x, Var m, Var i, const Expr& N) { return x(m, (i - 1) % N); };
  for (const bool apart : {false, true})
    for (const std::int64_t least : {0, 1}) {
      const std::string text = two_terms(around, apart, least);
      CAPTURE(text);
      CHECK(text.find("% x8") == std::string::npos);
    }
}

TEST_CASE("what a choice excludes holds where it fails") {
  for (const bool second : {false, true}) {
    const std::string text = two_terms(
        [&](const Tensor& x, Var m, Var i, const Expr& N) {
          const Expr near = x(m, (i + m) % N), far = x(m, i);
          return second ? select(m > 2, far, near) : select(m <= 2, near, far);
        },
        false, 3);
    CAPTURE(text);
    CHECK(text.find("% x8") == std::string::npos);
  }
}
