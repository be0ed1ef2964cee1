// Loops that were cut, or turned around, lowered: what the cut decides, and that all iterations are there once.
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

#include "check.h"

using namespace ashlar;
using handmade::Sizes;

namespace {

struct Stencil {  // neighbors of each element, the ones past the edges clamped to them
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", i32, {N}), y = lang::make_output("y", i32, {N});
  lang::Built built = build();
  Schedule s{built, Target::parse("x86-64-v3")};

  ir::Kernel kernel() const { return lower(s.scheduled().program, options_for(s.target())); }
  void same() const {
    std::vector<Sizes> shapes;
    for (const std::int64_t n : {0, 1, 2, 5, 8, 9, 16, 17, 24, 31, 100}) shapes.push_back({{"N", n}});
    handmade::check_kernel(built.program, kernel(), shapes);
  }

 private:
  lang::Built build() {
    const auto at = [&](const Expr& i) { return x(clamp(i, 0, N - 1)); };
    lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return at(i - 2) + at(i) + at(i + 2); }));
    return lang::build_program("stencil", {x, y});
  }
};

// How often a statement clamps and tests.
struct Tests {
  int clamps = 0, conditions = 0;
};
Tests tests_in(const ir::KStmt& s) {
  Tests t;
  if (!s.is<ir::KFor>())
    for_each_expr(s, [&](const Expr& e) {
      ir::walk(e, [&](const Expr& x) {
        t.clamps += ir::is(x, ir::Op::min) || ir::is(x, ir::Op::max);
        return true;
      });
    });
  const auto* stored = s.as<ir::KStore>();
  t.conditions += s.is<ir::KIf>() || (stored && !stored->mask.empty());
  for (const auto* list : s.bodies())
    for (const ir::KStmt& inner : *list) {
      const Tests more = tests_in(inner);
      t.clamps += more.clamps, t.conditions += more.conditions;
    }
  return t;
}

}  // namespace

TEST_CASE("between two cuts nothing is clamped or guarded") {
  Stencil t;
  Stage y = t.s[t.y];
  auto [io, ii] = y.split(y.spatial<1>()[0], 8);
  y.vectorize(ii);
  const Loop inside = y.partition(io, 1);
  y.partition(inside, max(t.N / 8 - 1, 1));
  const ir::Kernel k = t.kernel();
  CAPTURE(ir::text(k));
  int inner = 0;
  for (const ir::KStmt& s : k.body) {
    const auto* loop = s.as<ir::KFor>();
    if (!loop || !ir::is_int(loop->begin, 1)) continue;
    ++inner;
    for (const ir::KStmt& store : loop->body) {
      CHECK(tests_in(store).clamps == 0);
      CHECK(tests_in(store).conditions == 0);
    }
  }
  CHECK(inner == 1);
  t.same();
}

TEST_CASE("cut once, at a constant and at a symbol") {
  for (const int at : {0, 3, 20}) {
    Stencil t;
    t.s[t.y].partition(t.s[t.y].spatial<1>()[0], at);
    t.same();
  }
  Stencil t;
  const Loop i = t.s[t.y].spatial<1>()[0];
  const Loop rest = t.s[t.y].partition(i, t.N / 2);
  t.s[t.y].parallel(rest);
  t.same();
}

TEST_CASE("from the last element to the first, in vectors") {
  Stencil t;
  Stage y = t.s[t.y];
  const Loop i = y.spatial<1>()[0];
  y.reverse(i).vectorize(i, 8);
  t.same();
}
