// roll: a sum and the maximum that it reads in one pass, what it gives, and what it refuses.
#include "tests/schedule/programs.h"
#include "tests/support/text_parts.h"

#include <cmath>

#include <ashlar/ir/print.h>

namespace ashlar::test {
namespace {

struct Softmax {  // in three passes: the largest, the sum of exponentials, the quotients
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N", {.min = 1}};
  Tensor x = lang::make_input("x", f32, {M, N}), v = lang::make_input("v", f32, {N}), y = lang::make_output("y", f32, {M, N}),
         mean = lang::make_output("mean", f32, {M});
  Axis k{"k", N}, l{"l", N}, m{"m", N};
  Tensor top = compute("top", {{"i", M}}, [&](Var i) { return maximum(x(i, k), k); });
  Tensor total = compute("total", {{"i", M}}, [&](Var i) { return sum(exp(x(i, l) - top(i)), l); });
  Tensor weighted = compute("weighted", {{"i", M}}, [&](Var i) { return sum(exp(x(i, m) - top(i)) * v(m), m); });
  lang::Built built = build();
  Schedule s{built, Target::parse("x86-64-v3")};

  // Within rounding of plain loops in double.
  void same() const {
    for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{3, 37}, {1, 1}, {2, 16}}) {
      interp::Arguments a{
          interp::Array::make(f32, {rows, columns},
                              [](auto at) { return static_cast<double>((at[0] * 7 + at[1] * 13) % 29) * 0.25 - 3; }),
          interp::Array::make(f32, {columns}, [](auto at) { return static_cast<double>(at[0] % 5) - 2; }),
          interp::Array::zeros(f32, {rows, columns}), interp::Array::zeros(f32, {rows})};
      interp::run(s.scheduled().program, a);
      for (std::int64_t i = 0; i < rows; ++i) {
        double sum = 0, mixed = 0;
        for (std::int64_t j = 0; j < columns; ++j) {
          const double e = std::exp(a[0].array.real({i, j}));
          sum += e, mixed += e * a[1].array.real({j});
        }
        CHECK(a[3].array.real({i}) == doctest::Approx(mixed / sum).epsilon(1e-5));
        for (std::int64_t j = 0; j < columns; ++j)
          CHECK(a[2].array.real({i, j}) == doctest::Approx(std::exp(a[0].array.real({i, j})) / sum).epsilon(1e-5));
      }
    }
  }
  std::string text() const { return s.text(); }

 private:
  lang::Built build() {
    lang::bind(y, compute("y", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return exp(x(i, j) - top(i)) / total(i); }));
    lang::bind(mean, compute("mean", {{"i", M}}, [&](Var i) { return weighted(i) / total(i); }));
    return lang::build_program("softmax", {x, v, y, mean});
  }
};

const auto difference = [](Expr old, Expr now) { return exp(old - now); };
using text_parts::has;

}  // namespace

TEST_CASE("three passes become two, and then one") {
  Softmax t;
  t.s[t.total].roll(t.top, difference);
  CAPTURE(t.text());
  CHECK_FALSE(has(t.text(), "nest total"));
  t.same();
  Stage online = t.s[t.weighted].roll(t.s[t.total], difference);  // a leader that was rolled before: three values
  CHECK_FALSE(has(t.text(), "nest weighted"));
  t.same();
  // as any reduction: lanes of partial results, and combined at the end
  auto [ko, ki] = online.split(online.reduction(), 8);
  Stage part = online.rfactor(ki);
  part.vectorize(part.spatial<2>()[1]);
  t.same();

  Softmax again;
  again.s.replay(t.s.json());
  CHECK(again.text() == t.text());
  CHECK(again.s.trace_hash() == t.s.trace_hash());
  CHECK(has(t.s.to_cpp(), "s[total].roll(top, [](Expr old, Expr now) { return exp(old - now); });"));
}

TEST_CASE("a minimum leads as well") {
  lang::DefinitionScope scope;
  Symbol N{"N", {.min = 1}};
  Tensor x = lang::make_input("x", f64, {N}), y = lang::make_output("y", f64, {});
  Axis k{"k", N}, l{"l", N};
  Tensor low = compute("low", [&] { return minimum(x(k), k); });
  Tensor total = compute("total", [&] { return sum(exp2((low() - x(l)) * 0.5), l); });
  lang::bind(y, compute("y", [&] { return total() + low(); }));
  Schedule s(lang::build_program("p", {x, y}), Target::parse("x86-64"));
  s[total].roll(low, [](Expr old, Expr now) { return exp2((now - old) * 0.5); });
  interp::Arguments a{interp::Array::make(f64, {9}, [](auto at) { return static_cast<double>(at[0] * 5 % 9); }),
                      interp::Array::zeros(f64, {})};
  interp::run(s.scheduled().program, a);
  double expected = 0;
  for (int n = 0; n < 9; ++n) expected += std::exp2(-0.5 * n);
  CHECK(a[1].array.real({}) == doctest::Approx(expected).epsilon(1e-12));
  CHECK(has(s.to_cpp(), "return exp2((now - old) * 0.5"));
}

TEST_CASE("what roll refuses") {
  Softmax t;
  says(refusal(t.s, [&] { t.s[t.total].roll(t.top, [](Expr old, Expr now) { return exp(now - old); }); }),
       {"roll: expected a rescale with term(now) = term(old) * rescale(old, now), found rescale(old, now) = exp(now - old)",
        "with old = ", "a term goes from"});
  says(refusal(t.s, [&] { t.s[t.top].roll(t.total, difference); }),
       {"roll: expected a maximum or minimum that leads, found total"});
  says(refusal(t.s, [&] { t.s[t.y].roll(t.top, difference); }), {"roll: expected a sum that follows"});
  says(refusal(t.s, [&] { t.s[t.total].roll(t.x, difference); }),
       {"roll: expected a maximum or minimum that leads, found an input"});
  for (const bool of_leader : {false, true}) {
    Softmax u;
    Stage split = u.s[of_leader ? u.top : u.total];
    split.split(split.reduction(), 4);
    says(refusal(u.s, [&] { u.s[u.total].roll(u.top, difference); }),
         {"loops as they were defined (move this call before other steps)"});
  }
  Stage total = t.s[t.total];
  total.roll(t.top, difference);
  says(refusal(t.s, [&] { total.compute_root(); }), {"total, which was rolled into top"});

  lang::DefinitionScope scope;
  Symbol N{"N", {.min = 1}}, K{"K", {.min = 1}};
  Tensor x = lang::make_input("x", f32, {N, K}), y = lang::make_output("y", f32, {N});
  Axis k{"k", K}, l{"l", K - 1}, m{"m", K};
  Tensor top = compute("top", {{"i", N}}, [&](Var i) { return maximum(x(i, k), k); });
  Tensor fewer = compute("fewer", {{"i", N}}, [&](Var i) { return sum(exp(x(i, l) - top(i)), l); });
  Tensor strict = compute("strict", {{"i", N}}, [&](Var i) { return strict_sum(exp(x(i, m) - top(i)), m); });
  Tensor turned = compute("turned", {{"i", N}}, [&](Var i) { return sum(exp(x(i, m) - top(N - 1 - i)), m); });
  Axis n{"n", K};
  Tensor started = compute("started", {{"i", N}}, [&](Var i) { return sum(exp(x(i, n) - top(i)), n).from(5); });
  Tensor apart = compute("apart", {{"i", N}}, [&](Var i) { return sum(exp(x(i, m)), m); });
  lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return fewer(i) + strict(i) + turned(i) + apart(i) + started(i); }));
  Schedule s(lang::build_program("p", {x, y}), Target::parse("x86-64"));
  says(refusal(s, [&] { s[fewer].roll(top, difference); }),
       {"roll: expected reductions over the same points, found top and fewer"});
  says(refusal(s, [&] { s[strict].roll(top, difference); }),
       {"roll: expected a sum that follows (strict_sum keeps its order), found strict"});
  says(refusal(s, [&] { s[started].roll(top, difference); }), {"a sum that starts from 0 (without from)", "found started"});
  says(refusal(s, [&] { s[turned].roll(top, difference); }),
       {"reads of the leader's value at the follower's own point, found top[N - 1 - i]"});
  says(refusal(s, [&] { s[fewer].roll(top, [&](Expr old, Expr now) { return exp(old - now) * x(0, 0); }); }),
       {"roll: expected a rescale of its two values alone, found exp(old - now) * x[0, 0]"});
  says(refusal(s, [&] { s[apart].roll(top, difference); }),
       {"a sum whose terms read the leader, found apart, which does not read top"});
}

TEST_CASE("a rescale that chooses: what was summed at a smaller maximum counts no more (seeds 219, 101879)") {
  const auto counted = [](auto&& use) {
    lang::DefinitionScope scope;
    Symbol N{"N"}, K{"K"};
    Tensor x = lang::make_input("x", f32, {N, K}), y = lang::make_output("y", f32, {N});
    Axis k{"k", K}, l{"l", K};
    Tensor top = compute("top", {{"i", N}}, [&](Var i) { return maximum(x(i, k), k); });
    Tensor often = compute("often", {{"i", N}}, [&](Var i) { return sum(select(x(i, l) == top(i), f32(1), 0), l); });
    lang::bind(y, often);
    const lang::Built built = lang::build_program("p", {x, y});
    Schedule s(built, Target::parse("x86-64"));
    Stage kept = s.cache_write(often, Scope::global);
    use(built, s, top, kept);
  };
  std::string text, saved;
  counted([&](const lang::Built& built, Schedule& s, const Tensor& top, Stage& often) {
    says(refusal(s, [&] { often.roll(top, difference); }),
         {"a rescale with term(now)", "found rescale(old, now) = exp(old - now)"});
    says(refusal(s, [&] { often.roll(top, [](Expr old, Expr now) { return f32(f64(old - now)); }); }),
         {"a rescale of arithmetic, functions of one number, comparisons and select", "f32(f64(old - now))"});
    often.roll(top, [](Expr old, Expr now) { return select(old == now, f32(1), 0); });
    text = s.text(), saved = s.json();
    CHECK(has(s.to_cpp(), "[](Expr old, Expr now) { return select(old == now, f32(1), 0); }"));
    interp::Arguments expected{interp::Array::make(f32, {3, 9}, [](auto at) { return static_cast<double>(at[1] % 3 * at[0]); }),
                               interp::Array::zeros(f32, {3})};
    interp::Arguments found = expected;
    interp::run_algorithm(built.program, expected);
    interp::run(s.scheduled().program, found);
    CHECK(expected[1].array.bytes == found[1].array.bytes);
  });
  counted([&](const lang::Built& built, Schedule&, const Tensor&, Stage&) {
    Schedule again(built, Target::parse("x86-64"));
    again.replay(saved);
    CHECK(again.text() == text);
  });
}

}  // namespace ashlar::test
