// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rebase: parts of a softmax that need nothing of each other, and one pass over them by roll; sums of vectors in the same pass.
#include "tests/schedule/programs.h"
#include "tests/support/text_parts.h"

#include <cmath>
#include <limits>

#include <ashlar/ir/print.h>

namespace ashlar::test {
namespace {

const auto factor = [](Expr old, Expr now) { return exp(old - select(now == lowest(f32), f32(0), now)); };

struct Attended {  // y[i, c] = sum of e[i, j] v[j, c] over the sum of e[i, j], e = exp(x - top)
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"}, C{"C"};
  Tensor x = lang::make_input("x", f32, {M, N}), v = lang::make_input("v", f32, {N, C}),
         y = lang::make_output("y", f32, {M, C});
  Axis k{"k", N};
  Tensor top = compute("top", {{"i", M}}, [&](Var i) { return maximum(x(i, k), k); });
  Tensor e = compute("e", {{"i", M}, {"j", N}}, [&](Var i, Var j) {
    const Expr m = top(i);
    return exp(x(i, j) - select(m == lowest(f32), f32(0), m));
  });
  Tensor total = compute("total", {{"i", M}}, [&](Var i) { return sum(e(i, k), k); });
  Tensor weighted = compute("weighted", {{"i", M}, {"c", C}}, [&](Var i, Var c) { return sum(e(i, k) * v(k, c), k); });
  lang::Built built = build();
  Schedule s{built, Target::parse("x86-64-v3")};

  void parts(int size, Tail tail = Tail::guard) {
    for (const Tensor& t : {top, total, weighted}) s[t].rfactor(s[t].split(s[t].reduction(), size, tail).outer);
  }
  void same() const {
    for (const auto& [rows, columns, wide] :
         {std::array<std::int64_t, 3>{3, 37, 5}, {1, 1, 1}, {2, 16, 3}, {2, 0, 2}, {2, 3, 0}}) {
      interp::Arguments a{
          interp::Array::make(f32, {rows, columns},
                              [](auto at) {
                                if (at[0] == 1 && at[1] < 9) return -std::numeric_limits<double>::infinity();
                                return static_cast<double>((at[0] * 7 + at[1] * 13) % 29) * 0.25 - 3;
                              }),
          interp::Array::make(f32, {columns, wide}, [](auto at) { return static_cast<double>((at[0] + at[1]) % 5) - 2; }),
          interp::Array::zeros(f32, {rows, wide})};
      interp::Arguments meant = a;
      interp::run_algorithm(built.program, meant);
      interp::run(s.scheduled().program, a);
      CHECK(interp::difference(a.back().array, meant.back().array, 1e-5, 1e-6) == "");
    }
  }

 private:
  lang::Built build() {
    lang::bind(y, compute("y", {{"i", M}, {"c", C}},
                          [&](Var i, Var c) { return select(total(i) == 0, f32(0), weighted(i, c) / total(i)); }));
    return lang::build_program("attended", {x, v, y});
  }
};

using text_parts::has;

}  // namespace

TEST_CASE("parts have maxima of their own, and one pass adds them up") {
  Attended t;
  t.parts(8);
  t.s[t.e].rebase(t.top, factor);
  const std::string rebased = t.s.text();
  CAPTURE(rebased);
  CHECK(has(rebased, "top_rf[i, j / 8]"));
  t.same();
  t.s[t.total].roll(t.top, factor);
  CAPTURE(t.s.text());
  t.same();
  Stage all = t.s[t.weighted].roll(t.s[t.total], factor);
  CAPTURE(t.s.text());
  CHECK(has(t.s.text(), "weighted_rf"));
  t.same();
  all.drop_dim(0, 1).drop_dim(1, 1);
  auto [i, c] = all.spatial<2>();
  all.reorder(i, all.reduction(), c);
  t.same();
  CHECK(has(t.s.to_cpp(), "s[e].rebase(top, [](Expr old, Expr now)"));
}

// x[j] - the maximum of other elements is not bounded by 0, so a term would overflow where the program does not.
TEST_CASE("a term may not exceed the maximum that it reads") {
  enum class Leader { parts_of_another_size, another_order, even_elements };
  for (const auto& [leader, says] : {std::pair{Leader::parts_of_another_size, "whose parts have 64 terms, not 50"},
                                     {Leader::another_order, "and exp(x["},
                                     {Leader::even_elements, "terms of top_rf only where"}}) {
    lang::DefinitionScope scope;
    Tensor x = lang::make_input("x", f32, {100}), y = lang::make_output("y", f32, {});
    Axis k{"k", 100};
    Tensor top = compute("top", [&] {
      return maximum(leader == Leader::another_order ? x(99 - k) : x(k),
                     leader == Leader::even_elements ? k.where(k % 2 == 0) : AxisList{k});
    });
    Tensor e = compute("e", {{"j", 100}}, [&](Var j) { return exp(x(j) - top()); });
    Tensor total = compute("total", [&] { return sum(e(k), k); });
    const lang::Built built = (lang::bind(y, total), lang::build_program("led", {x, y}));
    Schedule s{built, Target::parse("x86-64-v3")};
    s[top].rfactor(s[top].split(s[top].reduction(), leader == Leader::parts_of_another_size ? 64 : 50).outer);
    s[total].rfactor(s[total].split(s[total].reduction(), 50).outer);
    const std::string said = refusal(s, [&] { s[e].rebase(top, factor); });
    CAPTURE(said);
    CHECK(has(said, "expected parts of top_rf that have what e reads at the same elements"));
    CHECK(has(said, says));
  }
}

}  // namespace ashlar::test
