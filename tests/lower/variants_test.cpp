// Variants, lowered: one kernel whose entry chooses, with the workspace of the one that it takes.
#include <ashlar/ir/print.h>
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/report/explain.h>
#include <ashlar/schedule/step.h>

#include "check.h"
#include "launched.h"
#include "tests/support/variant_operators.h"

using namespace ashlar;
using handmade::Sizes;

namespace {

using variant_operators::ByLaunches;
using variant_operators::ByTiles;
using variant_operators::Differences;

ir::Kernel kernel_of(const Differences& o) { return lower(o.s.scheduled().program, handmade::options_for(o.s.target())); }

void same(const Differences& o) {
  std::vector<Sizes> shapes;
  for (const std::int64_t n : {0, 1, 3, 4, 7, 8, 15, 16, 17, 32, 100}) shapes.push_back({{"N", n}});
  if (o.s.target().is_gpu()) return handmade::same_on_device(o.built.program, o.s, shapes);
  handmade::check_kernel(o.built.program, kernel_of(o), shapes);
}

Expr with_size(const Differences& o, const Expr& e, std::int64_t n) {
  return ir::substitute(e, {{o.built.program.symbols.begin()->first, ir::index(n)}});
}
std::int64_t workspace(const Differences& o, std::int64_t n) {
  std::int64_t bytes = -1;
  CHECK(ir::is_int(with_size(o, kernel_of(o).workspace_shared, n), &bytes));
  return bytes;
}

}  // namespace

TEST_CASE("three ways to compute, and the workspace of the one that is taken") {
  const ByTiles o(Target::parse("x86-64-v3"));
  same(o);
  CHECK(workspace(o, 7) == 0);
  CHECK(workspace(o, 16) == 0);
  CHECK(workspace(o, 17) >= 18 * 4);
  const std::string text = ir::text(kernel_of(o));
  CAPTURE(text);
  CHECK(text.find("if N < 8") != std::string::npos);
  const std::string told = explain(o.s, {{"N", 16}});
  CAPTURE(told);
  CHECK(told.find("the variant where N % 8 == 0") != std::string::npos);
  CHECK(told.find("the variant where N < 8") == std::string::npos);
  CHECK(explain(o.s, {{"N", 17}}).find("the variant where") == std::string::npos);
}

TEST_CASE("two variants with workspaces of their own, one of them with a variant") {
  Differences o(Target::parse("x86-64-v3"));
  Schedule& small = o.s.specialize(o.N < 16);
  Stage copy = small.cache_read(o.x, {o.t}, Scope::global);
  Schedule& even = small.specialize(o.N % 2 == 0);
  even[copy].vectorize(even[copy].nest()[0], 4);
  even.assume(o.N != 12);
  o.s.cache_write(o.t, Scope::global);
  interp::Arguments twelve = handmade::arguments_for(o.built.program, {{"N", 12}});
  CHECK_THROWS_WITH_AS(interp::run(kernel_of(o), twelve), "an assumption does not hold: N >= 16 || (N % 2 != 0 || N != 12)",
                       interp::RunError);
  handmade::check_kernel(o.built.program, kernel_of(o), {{{"N", 0}}, {{"N", 10}}, {{"N", 13}}, {{"N", 16}}, {{"N", 24}}});
  CHECK(workspace(o, 15) >= 2 * 16 * 4);
  CHECK(workspace(o, 15) < 3 * 16 * 4 + 192);
  const ir::Kernel k = kernel_of(o);
  REQUIRE(k.assumptions.size() == 1);
  for (const std::int64_t n : {14, 13, 20}) CHECK(ir::is_int(with_size(o, k.assumptions[0], n), std::int64_t{1}));
  CHECK(ir::is_int(with_size(o, k.assumptions[0], 12), std::int64_t{0}));
}

TEST_CASE("launches of the variants have names of their own") {
  for (const char* target : {"cuda-sm_80", "vulkan"}) {
    const ByLaunches o(Target::parse(target));
    same(o);
    const std::string text = ir::text(kernel_of(o));
    CAPTURE(text);
    for (const char* name : {"launch differences grid", "launch differences_2 grid", "launch differences_3 grid"})
      CHECK(text.find(name) != std::string::npos);
  }
}
