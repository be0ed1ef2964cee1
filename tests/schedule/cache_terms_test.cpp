// cache_terms: a stage with what a reader reads, by the reader's own variables.
#include <ashlar/schedule/schedule.h>

#include "programs.h"

#include "tests/support/refused.h"

namespace ashlar::test {

namespace {

// y[i, g] = sum over k of x[2 i + 3 k, g / 2 * 4 + k] w[k, g], with 6 terms.
struct Strided {
  lang::DefinitionScope scope;
  Symbol M{"M"};
  Tensor x = lang::make_input("x", i32, {M * 2 + 18, 16}), w = lang::make_input("w", i32, {6, 4}),
         y = lang::make_output("y", i32, {M, 4});
  Tensor sums;
  lang::Built built;
  Schedule s;
  explicit Strided(const char* target = "x86-64-v3") : built(defined()), s(built, Target::parse(target)) {}
  lang::Built defined() {
    Axis k{"k", 6};
    sums = compute("sums", {{"i", M}, {"g", 4}},
                   [&](Var i, Var g) { return sum(x(i * 2 + k * 3, g / 2 * 4 + k) * w(k, g), k).from(x(i, g)); });
    lang::bind(y, compute("y", {{"i", M}, {"g", 4}}, [&](Var i, Var g) { return sums(i, g) + sums(i, 3 - g); }));
    return lang::build_program("strided", {x, w, y});
  }
  void same(std::int64_t m) {
    const auto bits = [](auto p) { return static_cast<double>((p[0] * 37 + p[1] * 11) % 256 - 100); };
    interp::Arguments expected{interp::Array::make(i32, {2 * m + 18, 16}, bits), interp::Array::make(i32, {6, 4}, bits),
                               interp::Array::zeros(i32, {m, 4})};
    interp::Arguments found = expected;
    interp::run_algorithm(built.program, expected);
    interp::run(s.scheduled().program, found);
    CHECK(interp::difference(found.back().array, expected.back().array) == "");
  }
};

template <class F>
std::string refusal_of(F&& f) {
  const Refusal r = ::refusal(f);
  return r.expected + ", found " + r.found;
}

}  // namespace

TEST_CASE("a stage holds what a reader reads, by the reader's variables") {
  Strided t;
  const Stage terms = t.s.cache_terms(t.w, t.s[t.sums], Scope::stack);
  CHECK(t.s.text().find("w_terms[k, g] = w[k, g]") != std::string::npos);
  const Stage of_copy = t.s.cache_terms(t.s.cache_read(t.w, {terms}, Scope::global), terms, Scope::global);
  CHECK(t.s.text().find("w_cache_terms[k, g] = w_cache[k, g]") != std::string::npos);
  for (const std::int64_t m : {5, 1, 0}) t.same(m);
  terms.compute_at(t.s[t.sums].spatial<2>()[0]), of_copy.compute_at(terms.spatial<2>()[0]);
  for (const std::int64_t m : {5, 1, 0}) t.same(m);
}

TEST_CASE("sums of variables become the variables, and other indices stay") {
  lang::DefinitionScope scope;
  Symbol M{"M"};
  Tensor x = lang::make_input("x", i32, {M * 2 + 18, 16}), y = lang::make_output("y", i32, {M, 4});
  Axis k{"k", 6};
  const Tensor sums =
      compute("sums", {{"i", M}, {"g", 4}}, [&](Var i, Var g) { return sum(x(i * 2 + k * 3 + 1, g / 2 * 4 + k), k); });
  lang::bind(y, sums);
  const lang::Built built = lang::build_program("strided", {x, y});
  Schedule s(built, Target::parse("x86-64-v3"));
  const Stage terms = s.cache_terms(x, s[sums], Scope::stack);
  CHECK(s.text().find("x_terms[i, k, d1] = x[i * 2 + k * 3 + 1, d1]") != std::string::npos);
  CHECK(s.text().find("x_terms[i, k, g / 2 * 4 + k]") != std::string::npos);
  terms.compute_at(s[sums].spatial<2>()[1]);
  for (const std::int64_t m : {4, 1, 0}) {
    interp::Arguments expected{
        interp::Array::make(i32, {2 * m + 18, 16}, [](auto p) { return static_cast<double>(p[0] * 16 + p[1]); }),
        interp::Array::zeros(i32, {m, 4})};
    interp::Arguments found = expected;
    interp::run_algorithm(built.program, expected);
    interp::run(s.scheduled().program, found);
    CHECK(interp::difference(found.back().array, expected.back().array) == "");
  }
}

TEST_CASE("cache_terms refuses reads that are not one") {
  Strided t;
  CHECK(refusal_of([&] { t.s.cache_terms(t.x, t.s[t.sums], Scope::stack); }) ==
        "one read of x in the values of sums, found x[i, g], of which it starts or ends");
  CHECK(refusal_of([&] { t.s.cache_terms(t.sums, t.s[t.y], Scope::stack); }) ==
        "one read of sums in the values of y, found sums[i, g] and sums[i, 3 - g]");
  CHECK(refusal_of([&] { t.s.cache_terms(t.x, t.s[t.y], Scope::stack); }) == "one read of x in the values of y, found none");
  CHECK(refusal_of([&] { t.s.cache_terms(t.w, t.s[t.sums], Scope::shared); }).find("shared") != std::string::npos);
  CHECK(refusal_of([&] { t.s.cache_terms(Tensor(), t.s[t.sums], Scope::stack); }) ==
        "a tensor of this program, found an empty Tensor, which was given no value");
  lang::DefinitionScope scope;
  Symbol M{"M"};
  Tensor x = lang::make_input("x", i32, {M}), at = lang::make_input("at", u8, {M}), y = lang::make_output("y", i32, {M});
  lang::bind(y, compute("y", {{"i", M}}, [&](Var i) { return x(clamp(at(i), 0, M - 1)); }));
  Schedule s(lang::build_program("gather", {x, at, y}), Target::parse("x86-64-v3"));
  CHECK(refusal_of([&] { s.cache_terms(x, s[y], Scope::stack); }).starts_with("one read of x in the values of y, found x["));
}

}  // namespace ashlar::test
