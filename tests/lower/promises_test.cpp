// What an index promises holds where it is read: boxes, sizes and loops are evaluated in calls that read nothing, too.
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>
#include <ashlar/lower/lower.h>

#include "check.h"
#include "tests/support/refused.h"

using namespace ashlar;

TEST_CASE("a promise about a table without elements is nobody's (fuzz seeds 940002966, 941004926, 941009078)") {
  lang::DefinitionScope scope;
  Symbol N{"N"}, M{"M"};
  Tensor x = lang::make_input("x", i32, {M}), y = lang::make_output("y", i32, {M, N}), z = lang::make_output("z", i32, {M});
  const Tensor twice = compute("twice", {N + 1}, [&](Var i) { return i32(i) * 2; });
  const Tensor wide = compute("wide", [&](Var r, Var i) { return twice(clamp(i, 0, N)) + i32(r); });
  lang::bind(y, compute("y", {M, N}, [&](Var r, Var i) { return wide(r, in_range(0, 0, N)) + wide(r, i); }));
  lang::bind(z, compute("z", {M}, [&](Var r) { return x(r) + 1; }));
  const lang::Built built = lang::build_program("promised", {x, y, z});
  for (const bool inside : {false, true}) {
    Schedule s(built, Target::parse("x86-64-v3"));
    if (inside) s[wide].compute_at(s[y].spatial<2>()[1]).store_at(s[y].spatial<2>()[0]);
    const ir::Program& p = s.scheduled().program;
    const ir::Kernel k = lower(p, options_for(s.target()));
    for (const std::int64_t n : {0, 5, 9}) {
      const handmade::Sizes shape{{"M", 3}, {"N", n}};
      handmade::check_kernel(p, k, {shape});
      interp::Arguments expected = handmade::arguments_for(p, shape), found = expected;
      interp::run_algorithm(built.program, expected);
      interp::run(p, found);
      for (std::size_t a = 1; a < expected.size(); ++a) CHECK(interp::difference(found[a].array, expected[a].array) == "");
    }
  }
}

TEST_CASE("loops whose extent is read from a table are not fused into others (fuzz seed 940002356)") {
  lang::DefinitionScope scope;
  Tensor rows = lang::make_input("rows", i32, {1}), x = lang::make_input("x", i32, {8}), y = lang::make_output("y", i32, {2});
  Axis k{"k", 4}, l{"l", 0, clamp(rows(0), 0, 8)};
  lang::bind(y, compute("y", {2}, [&](Var) { return sum(x(l) * i32(k), {k, l}); }));
  Schedule s(lang::build_program("table", {rows, x, y}), Target::parse("x86-64-v3"));
  auto [outer, inner] = s[y].reduction<2>();
  CHECK(refused([&, outer = outer, inner = inner] {
          s[y].fuse(outer, inner);
        }).find("fuse: expected an inner loop whose extent is read from no table, found l in ") != std::string::npos);
}
