// Emptiness of one integer set at a time.
#include <ashlar/analysis/integer_set.h>

#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace ashlar;
using namespace ashlar::analysis;
using namespace ashlar::ir;

namespace {
Expr n(std::int64_t v) { return index(v); }
const Expr v = var(1, "v"), w = var(2, "w"), t = var(3, "t"), u = var(4, "u"), N = var(5, "N");
using Found = PointSearch::Found;
}  // namespace

TEST_CASE("two iterations of a split loop never meet") {
  const Expr meet[] = {le(n(0), v),
                       lt(v, w),
                       le(n(0), t),
                       lt(t, n(64)),
                       le(n(0), u),
                       lt(u, n(64)),
                       eq(add(mul(v, n(64)), t), add(mul(w, n(64)), u))};
  CHECK(find_point(meet, {}).found == Found::none);
}

TEST_CASE("where sets overlap a point is shown") {
  const Expr meet[] = {le(n(0), v),
                       lt(v, w),
                       le(n(0), t),
                       lt(t, n(65)),
                       le(n(0), u),
                       lt(u, n(65)),
                       eq(add(mul(v, n(64)), t), add(mul(w, n(64)), u))};
  const PointSearch p = find_point(meet, {});
  REQUIRE(p.found == Found::point);
  std::int64_t at[5] = {};
  for (const Binding& b : p.point) at[b.id] = b.value;
  CHECK(at[1] < at[2]);
  CHECK(at[1] * 64 + at[3] == at[2] * 64 + at[4]);
}

TEST_CASE("floor division, modulo, min, max, select and negation are understood") {
  const Expr digits[] = {eq(div(v, n(16)), div(w, n(16))), eq(mod(v, n(16)), mod(w, n(16))), lt(v, w)};
  CHECK(find_point(digits, {}).found == Found::none);
  const Expr clamped[] = {eq(min(max(v, n(0)), n(9)), n(4)), ne(v, n(4))};
  CHECK(find_point(clamped, {}).found == Found::none);
  const Expr chosen[] = {eq(select(lt(v, n(0)), neg(v), v), n(-1))};
  CHECK(find_point(chosen, {}).found == Found::none);
  const Expr denied[] = {logic_not(logic_or(lt(v, n(3)), gt(v, n(3)))), ne(v, n(3))};
  CHECK(find_point(denied, {}).found == Found::none);
  const Expr negative[] = {eq(mod(v, n(4)), n(3)), eq(v, n(-1))};  // floor: -1 = -1 * 4 + 3
  CHECK(find_point(negative, {}).found == Found::point);
}

TEST_CASE("a term outside of integer sets can still be proved with, never refuted with") {
  const Expr product = mul(v, N);
  const Expr impossible[] = {lt(add(product, n(1)), product)};
  CHECK(find_point(impossible, {}).found == Found::none);
  Facts facts;
  facts.bound(1, 0, 3);
  facts.bound(5, 0, 5);
  const Expr too_large[] = {gt(product, n(15))};
  CHECK(find_point(too_large, facts).found == Found::none);  // the bounds of the product are known
  const Expr open[] = {eq(product, n(7))};
  const PointSearch p = find_point(open, facts);
  CHECK(p.found == Found::unknown);
  CHECK(p.why == "integer sets do not hold the term v * N");
}

TEST_CASE("a question is asked once, whatever its variables are called") {
  const Expr first[] = {lt(v, w), eq(mul(v, n(3)), add(mul(w, n(3)), n(7)))};
  const Expr again[] = {lt(t, u), eq(mul(t, n(3)), add(mul(u, n(3)), n(7)))};
  CHECK(find_point(first, {}).found == Found::none);
  const IntegerSetCounters before = integer_set_counters();
  CHECK(find_point(again, {}).found == Found::none);
  CHECK(integer_set_counters().remembered == before.remembered + 1);
}

TEST_CASE("the budget ends a long question without an answer") {
  const Expr hard[] = {eq(mod(mul(v, n(7)), n(64)), mod(add(mul(w, n(13)), t), n(64))),
                       eq(mod(add(v, t), n(31)), mod(w, n(29))),
                       lt(v, w),
                       lt(n(0), v),
                       lt(w, n(100000)),
                       lt(n(0), t),
                       lt(t, n(90000)),
                       eq(mod(mul(t, n(11)), n(97)), n(3))};
  for (unsigned long budget : {5ul, 1ul}) {
    const PointSearch p = find_point(hard, {}, budget);
    CHECK(p.found == Found::unknown);
    CHECK(p.why == "integer sets gave no answer within their budget");
  }
}

TEST_CASE("a question that spends its budget while it is read has no mistake in it (fuzz seed 10829)") {
  std::vector<Expr> many;  // every max and min doubles the pieces
  Expr sum = n(0);
  for (Id k = 10; k < 20; ++k) {
    const Expr x = var(k, "x" + std::to_string(k));
    sum = add(sum, max(add(x, n(1)), min(v, sub(w, x))));
    many.push_back(ge(x, n(0)));
  }
  many.push_back(le(sum, n(7)));
  PointSearch p;
  REQUIRE_NOTHROW(p = find_point(many, {}));
  CHECK(p.found == Found::unknown);
  CHECK(p.why == "integer sets gave no answer within their budget");
}
