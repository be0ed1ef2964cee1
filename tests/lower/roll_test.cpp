// Rolled reductions, lowered: lanes of partial results, combined at the end of a row.
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

#include "check.h"

using namespace ashlar;

TEST_CASE("softmax from its three passes, in one, in lanes") {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N", {.min = 1}};
  Tensor x = lang::make_input("x", f32, {M, N}), y = lang::make_output("y", f32, {M, N});
  Axis k{"k", N}, l{"l", N};
  Tensor top = compute("top", {{"i", M}}, [&](Var i) { return maximum(x(i, k), k); });
  Tensor total = compute("total", {{"i", M}}, [&](Var i) { return sum(exp(x(i, l) - top(i)), l); });
  lang::bind(y, compute("y", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return exp(x(i, j) - top(i)) / total(i); }));
  const lang::Built built = lang::build_program("softmax", {x, y});
  Schedule s(built, Target::parse("x86-64-v3"));
  Stage online = s[total].roll(top, [](Expr old, Expr now) { return exp(old - now); });
  auto [i, j] = s[y].spatial<2>();
  s[y].parallel(i).vectorize(j, 8);
  online.compute_at(i);
  auto [ko, ki] = online.split(online.reduction(), 8);
  Stage part = online.rfactor(ki);
  part.compute_at(i).vectorize(part.spatial<2>()[1]);
  schedule::finish(s.scheduled(), s.target());
  const ir::Kernel kernel = lower(s.scheduled().program, options_for(s.target()));
  // the kernel is the tree bit for bit; against the three passes there is rounding
  for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{3, 37}, {2, 8}, {1, 1}, {4, 5}}) {
    interp::Arguments expected = handmade::arguments_for(built.program, {{"M", m}, {"N", n}}), tree = expected, flat = expected;
    interp::run_algorithm(built.program, expected);
    REQUIRE_NOTHROW(interp::run(s.scheduled().program, tree));
    REQUIRE_NOTHROW(interp::run(kernel, flat));
    CHECK(interp::difference(tree[1].array, expected[1].array, 1e-6, 1e-5) == "");
    CHECK(interp::difference(flat[1].array, tree[1].array) == "");
  }
  (void)ko;
}
