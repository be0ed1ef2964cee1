// A distance from data that all points of a tile share: read once, outside of the loops that do not move it, and only where the
// program reads it; what it decides is a bound of the loop. The interpreter reports every read outside of a tensor.
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

#include "check.h"

using namespace ashlar;
using handmade::Sizes;

namespace {

struct Found {
  int lets = 0;      // of loads
  int plain = 0;     // stores of vectors that neither have a mask nor read under one
  int gathered = 0;  // of those that read an index from data in lanes
};
void count(const std::vector<ir::KStmt>& list, Found& all) {
  for (const ir::KStmt& s : list) {
    const auto loads = [](const Expr& e, const auto& of) {
      bool any = false;
      if (!e.empty()) ir::walk(e, [&](const Expr& x) { return any = any || (ir::is(x, ir::Op::load) && of(x)), true; });
      return any;
    };
    if (const auto* let = s.as<ir::KLet>()) all.lets += loads(let->value, [](const Expr&) { return true; });
    if (const auto* store = s.as<ir::KStore>(); store && store->address.type().lanes > 1) {
      const bool masked = !store->mask.empty() || loads(store->value, [](const Expr& x) { return ir::args_of(x).size() == 2; });
      all.plain += !masked;
      all.gathered +=
          loads(store->value, [&](const Expr& x) { return loads(ir::args_of(x)[0], [](const Expr&) { return true; }); });
    }
    for (const auto* part : s.bodies()) count(*part, all);
  }
}

using Formula = std::function<Expr(const Tensor& x, const Tensor& w, Var n, Var c, const Symbol& C)>;

// y(n, c) of x(n, c) and w(n), in vectors of 8 along c.
Found lowered(const Formula& f, const std::vector<Sizes>& shapes, Type of_w = i32) {
  lang::DefinitionScope scope;
  const Symbol N{"N"}, C{"C"};
  const Tensor x = lang::make_input("x", i32, {N, C}), w = lang::make_input("w", of_w, {N}),
               y = lang::make_output("y", i32, {N, C});
  const Tensor made = compute("made", {{"n", N}, {"c", C}}, [&](Var n, Var c) { return f(x, w, n, c, C); });
  lang::bind(y, made);
  const lang::Built built = lang::build_program("rows", {x, w, y});
  Schedule s(built, Target::parse("x86-64-v3"));
  s[made].vectorize(s[made].spatial<2>()[1], 8);
  const ir::Kernel k = lower(s.scheduled().program, options_for(s.target()));
  CAPTURE(ir::text(k));
  handmade::check_kernel(built.program, k, shapes);
  Found found;
  count(k.body, found);
  return found;
}

const std::vector<Sizes> shapes = {{{"N", 0}, {"C", 5}},  {{"N", 1}, {"C", 0}},  {{"N", 1}, {"C", 1}},  {{"N", 3}, {"C", 8}},
                                   {{"N", 2}, {"C", 37}}, {{"N", 5}, {"C", 64}}, {{"N", 3}, {"C", 200}}};

}  // namespace

TEST_CASE("a distance from data moves a whole row: read once, and inside the row without masks") {
  const Found f = lowered([](const Tensor& x, const Tensor& w, Var n, Var c,
                             const Symbol& C) { return select(c >= w(n), x(n, clamp(c - w(n), 0, C - 1)) + 1, x(n, c)); },
                          shapes);
  CHECK(f.lets == 1);
  CHECK(f.plain >= 1);
}

TEST_CASE("every narrow type of a distance, none of 64 bits") {
  for (const Type t : {u8, i8, u16, i16, i32, u32, i64}) {
    CAPTURE(ir::text(t));
    const Found f = lowered([](const Tensor& x, const Tensor& w, Var n, Var c,
                               const Symbol& C) { return select(c >= w(n), x(n, clamp(c - i64(w(n)), 0, C - 1)), 0); },
                            shapes, t);
    CHECK((f.lets > 0) == (t.bits < 64));
  }
}

TEST_CASE("a distance that is read in some rows alone is not read in the others") {
  // w(n - 1) of the first row would lie before the tensor
  const Found f = lowered([](const Tensor& x, const Tensor& w, Var n, Var c,
                             const Symbol& C) { return select(n > 0, x(n, clamp(c - w(n - 1), 0, C - 1)), x(n, c)); },
                          shapes);
  CHECK(f.plain >= 1);
}

TEST_CASE("a distance that is read under a condition of the point is read where a point reads it") {
  // no point of a row of less than 8 elements reads w
  const Found f = lowered([](const Tensor& x, const Tensor& w, Var n, Var c,
                             const Symbol& C) { return select(c >= 8, x(n, clamp(c - w(n), 0, C - 1)), x(n, c)); },
                          shapes);
  CHECK(f.lets == 1);
  CHECK(f.plain >= 1);
}

TEST_CASE("what a loop changes is read again in each of its iterations") {
  lang::DefinitionScope scope;
  const Symbol N{"N", {.min = 1}}, C{"C", {.min = 1}};
  const Tensor x = lang::make_input("x", i32, {C}), y = lang::make_output("y", i32, {N, C});
  const Tensor rows = recur(
      "rows", {N, C}, Along{0}, Lag{1}, [&](Var, Var c) { return x(c); },
      [&](Prior p, Var n, Var c) { return p(n - 1, clamp(c - p(n - 1, 0), 0, C - 1)) + 1; });
  lang::bind(y, rows);
  const lang::Built built = lang::build_program("rows", {x, y});
  Schedule s(built, Target::parse("x86-64-v3"));
  s[rows].vectorize(s[rows].spatial<2>()[1], 8);
  const ir::Kernel k = lower(s.scheduled().program, options_for(s.target()));
  CAPTURE(ir::text(k));
  handmade::check_kernel(built.program, k, {{{"N", 1}, {"C", 1}}, {{"N", 4}, {"C", 9}}, {{"N", 7}, {"C", 40}}});
}
