// The conditions under which a load happens: one way through the selects around it, or several.
#include <ashlar/ir/ways.h>

#include <doctest/doctest.h>

#include <ashlar/ir/print.h>

#include <ashlar/ir/work.h>

using namespace ashlar;
using ir::Way;

namespace {

const Expr i = ir::var(1, "i"), x = ir::load(9, "x", f32, std::vector<Expr>{i}), zero = ir::float_const(f32, 0);
Expr c(int k) { return ir::lt(i, ir::index(k)); }

std::string ways_of(const Expr& e) {
  const Expr* roots[] = {&e};
  std::string s;
  for (const ir::ReachedLoad& r : ir::reached_loads(roots, {}))
    for (const Way& w : r.ways) {
      s += ir::text(*r.load) + ":";
      for (const Expr& condition : w) s += " " + ir::text(condition);
      s += "; ";
    }
  return s;
}

}  // namespace

TEST_CASE("an arm is read where its side of the condition holds") {
  const Expr y = ir::load(8, "y", f32, std::vector<Expr>{i});
  CHECK(ways_of(ir::select(c(3), x, y)) == "x[i]: i < 3; y[i]: !(i < 3); ");
  CHECK(ways_of(ir::select(ir::lt(x, zero), y, zero)) == "x[i]:; y[i]: x[i] < 0.0; ");
}

TEST_CASE("a load that several selects share is read on each of the ways") {
  CHECK(ways_of(ir::select(c(3), x, ir::select(c(5), x, zero))) == "x[i]: i < 3; x[i]: !(i < 3) i < 5; ");
}

TEST_CASE("more ways than a few are taken together") {
  // every level reads x whatever its condition says: what is left of 2^30 ways are few, under what holds on all of them
  Expr both = x;
  for (int k = 10; k < 40; ++k) both = ir::select(c(k), ir::add(both, both), ir::neg(both));
  const Expr whole = ir::select(c(3), both, zero);
  const Expr* roots[] = {&whole};
  const auto loads = ir::reached_loads(roots, {});
  REQUIRE(loads.size() == 1);
  CHECK(loads[0].ways.size() <= ir::Ways::most);
  for (const Way& w : loads[0].ways) CHECK(ir::same(w.at(0), c(3)));

  // a condition and its opposite are none; of ways that have nothing else in common the common part is kept
  ir::Ways ways;
  for (int k = 10; k < 14; ++k)
    for (const Expr& side : {c(k), ir::logic_not(c(k))}) ways.add({c(3), side});
  CHECK(ways.all().size() == 8);
  ways.add({c(3), c(20)});
  REQUIRE(ways.all().size() == 1);
  CHECK(ways.all()[0].size() == 1);
  ir::Ways others;
  for (int k = 10; k < 19; ++k) others.add({c(3), c(k), c(4)});
  REQUIRE(others.all().size() == 1);
  CHECK(others.all()[0].size() == 2);
  CHECK(ir::same(others.all()[0][0], c(3)));
  CHECK(ir::same(others.all()[0][1], c(4)));
}

TEST_CASE("nodes are met once, however often they are shared") {
  Expr e = x;
  for (int k = 0; k < 60; ++k) e = ir::select(ir::lt(e, zero), ir::add(e, e), e);
  const ir::Work before = ir::work;
  CHECK(ways_of(e) == "x[i]:; ");
  CHECK(ir::work.walked - before.walked < 60 * 16);
}
