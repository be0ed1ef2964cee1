// Symbolic intervals: the hull of an expression while some of its variables run.
#include <ashlar/analysis/interval.h>

#include <array>

#include <ashlar/ir/print.h>
#include <doctest/doctest.h>

using namespace ashlar;
using namespace ashlar::analysis;
using namespace ashlar::ir;

namespace {

Expr n(std::int64_t v) { return index(v); }
const Expr io = var(1, "io"), ii = var(2, "ii"), y = var(3, "y"), t = var(4, "t"), H = var(5, "H"), M = var(6, "M");
std::string show(const Interval& i) {
  return "[" + (i.lo.empty() ? "-" : text(i.lo)) + ", " + (i.hi.empty() ? "-" : text(i.hi)) + "]";
}
std::string bounds(const Expr& e, const Expr& v, const Expr& lo, const Expr& hi, const Facts& facts = {}) {
  const std::array<VarRange, 1> range{{{v.node()->id, {lo, hi}}}};
  return show(bounds_over(e, range, facts));
}

}  // namespace

TEST_CASE("a tile, a clamped window, a remainder") {
  CHECK(bounds(add(mul(io, n(64)), ii), ii, n(0), n(63)) == "[io * 64, io * 64 + 63]");
  CHECK(bounds(min(add(y, t), sub(H, n(1))), t, n(-2), n(2)) == "[min(H - 1, y - 2), min(y + 2, H - 1)]");
  CHECK(bounds(max(sub(y, t), n(0)), t, n(-2), n(2)) == "[max(y - 2, 0), max(y + 2, 0)]");
  CHECK(bounds(div(add(mul(io, n(64)), ii), n(16)), ii, n(0), n(63)) == "[io * 4, io * 4 + 3]");
  CHECK(bounds(mod(add(y, t), n(8)), t, n(0), n(9)) == "[0, 7]");
  CHECK(bounds(sub(n(10), t), t, n(0), n(4)) == "[6, 10]");
  CHECK(bounds(mul(t, M), t, n(0), n(4)) == "[min(M, 0) * 4, max(M, 0) * 4]");
}

TEST_CASE("the quotient and rest of a loop over a product") {
  Facts facts;
  facts.bound(5, 0, {}), facts.bound(6, 0, {});
  CHECK(bounds(div(t, M), t, n(0), sub(mul(H, M), n(1)), facts) == "[0, H - 1]");
  CHECK(bounds(mod(t, M), t, n(0), sub(mul(H, M), n(1)), facts) == "[0, M - 1]");
  CHECK(bounds(div(t, M), t, n(0), mul(H, M), facts) == "[0, -]");  // H M itself is not a value of such a loop
}

TEST_CASE("what cancels costs nothing, what does not only widens") {
  CHECK(bounds(sub(add(t, y), t), t, n(0), n(9)) == "[y, y]");
  Facts facts;
  facts.bound(6, 1, {});
  CHECK(bounds(mul(t, M), t, n(0), n(4), facts) == "[0, M * 4]");
  CHECK(bounds(sub(mul(t, M), t), t, n(0), n(4), facts) == "[-4, M * 4]");  // 0 and M*4 - 4, taken a term at a time
}

TEST_CASE("an arm of a select counts where its condition holds") {
  const Expr e = select(lt(t, n(4)), t, n(0));
  CHECK(bounds(e, t, n(0), n(9)) == "[0, 3]");
  CHECK(bounds(select(logic_and(ge(t, n(0)), lt(t, H)), t, n(0)), t, n(-3), n(9)) == "[0, max(min(H - 1, 9), 0)]");
}

TEST_CASE("an open end stays open") {
  CHECK(bounds(add(t, n(1)), t, n(0), Expr()) == "[1, -]");
  CHECK(bounds(sub(n(1), t), t, n(0), Expr()) == "[-, 1]");
  CHECK(bounds(min(t, n(7)), t, n(0), Expr()) == "[0, 7]");
}

TEST_CASE("hull and intersection are decided where the facts decide") {
  const Facts none;
  CHECK(show(hull({y, add(y, n(3))}, {sub(y, n(1)), add(y, n(1))}, none)) == "[y - 1, y + 3]");
  CHECK(show(intersect({y, add(y, n(3))}, {sub(y, n(1)), add(y, n(1))}, none)) == "[y, y + 1]");
  CHECK(show(hull({n(0), sub(H, n(1))}, {y, y}, none)) == "[min(y, 0), max(y, H - 1)]");
}

TEST_CASE("a bound of storage is the constant that one arm gives") {
  Facts facts;
  facts.bound(6, 1, {});
  facts.range(1, n(0), sub(ceil_div(M, n(64)), n(1)));
  const Expr extent = add(sub(min(add(mul(io, n(64)), n(63)), sub(M, n(1))), mul(io, n(64))), n(1));
  const std::array<VarRange, 1> loops{{{1, {n(0), sub(ceil_div(M, n(64)), n(1))}}}};
  CHECK(text(upper_bound(extent, loops, facts)) == "64");
  const Expr window = sub(min(add(mul(y, n(8)), n(9)), add(H, n(1))), max(sub(mul(y, n(8)), n(2)), n(0)));
  CHECK(text(upper_bound(window, {}, {})) == "11");
}

TEST_CASE("a constant beyond any tile gives way to a symbolic bound") {
  const Expr by_tile = min(M, n(64)), by_type = min(M, n(INT32_MAX));
  CHECK(text(upper_bound(by_tile, {}, {})) == "64");
  CHECK(text(upper_bound(by_type, {}, {})) == "min(M, 2147483647)");
  CHECK(text(upper_bound(n(INT32_MAX), {}, {})) == "2147483647");
}
