// How far one index lies behind another at least.
#include "ir/distance.h"

#include <doctest/doctest.h>

using namespace ashlar;
using namespace ashlar::ir;

namespace {
struct Names {
  Expr t = var(fresh_id(), "t"), i = var(fresh_id(), "i"), j = var(fresh_id(), "j"), k = var(fresh_id(), "k"),
       N = var(fresh_id(), "N");
};
}  // namespace

TEST_CASE("a distance is at least what sums of the facts say") {
  Names v;
  const Apart known({ge(v.k, index(0)), lt(v.k, v.t)});
  CHECK(known.least(v.t, v.k) == 1);
  CHECK(known.least(v.t, sub(sub(v.t, index(1)), v.k)) == 1);
  CHECK(known.least(add(v.t, index(4)), v.k) == 5);
  CHECK(known.least(mul(v.t, index(2)), mul(v.k, index(2))) == 2);
  CHECK(known.least(v.k, v.t) == std::nullopt);
  CHECK(known.least(v.k, index(0)) == 0);
  CHECK(known.least(v.t, index(0)) == 1);
  CHECK(known.least(v.t, mul(v.k, index(2))) == std::nullopt);
  CHECK(known.least(v.t, v.j) == std::nullopt);
}

TEST_CASE("minima and maxima are taken apart, and so are conjunctions") {
  Names v;
  const Apart known({logic_and(lt(v.k, min(v.i, v.j)), ge(v.k, max(index(0), sub(v.i, v.N))))});
  CHECK(known.least(v.i, v.k) == 1);
  CHECK(known.least(v.j, v.k) == 1);
  CHECK(known.least(v.k, index(0)) == 0);
  CHECK(known.least(min(v.i, v.j), v.k) == 1);
  CHECK(known.least(max(v.i, v.N), v.k) == 1);
  CHECK(known.least(v.t, min(v.t, v.N)) == 0);
  CHECK(known.least(v.t, max(v.t, v.N)) == std::nullopt);
  CHECK(known.least(v.t, min(max(v.N, index(0)), sub(v.t, index(1)))) == 1);
}

TEST_CASE("an end that is no less than 0 is as good as the end where there are terms") {
  Names v;
  const Expr term = add(mul(v.k, index(16)), v.j);
  const Expr there = lt(term, max(index(0), sub(v.t, v.i)));
  CHECK(Apart({there}).least(v.t, add(v.i, term)) == std::nullopt);
  CHECK(Apart({there, ge(sub(v.t, v.i), index(0))}).least(v.t, add(v.i, term)) == 1);
  CHECK(Apart({ge(v.k, index(0)), there, ge(v.j, index(0))}).least(v.t, add(v.i, term)) == 1);
  CHECK(Apart({ge(v.k, index(0)), there, ge(v.j, index(-1))}).least(v.t, add(v.i, term)) == std::nullopt);
}

TEST_CASE("the opposite of a condition, and no more than was said") {
  Names v;
  CHECK(Apart({logic_not(le(v.t, v.k))}).least(v.t, v.k) == 1);
  const Expr one = lt(v.k, v.t), other = lt(v.j, v.t);
  CHECK(Apart({logic_or(one, other)}).least(v.t, v.k) == std::nullopt);
  CHECK(Apart({logic_not(logic_or(logic_not(one), logic_not(other)))}).least(v.t, v.k) == 1);
  CHECK(Apart({lt(var(fresh_id(), "a", i32), var(fresh_id(), "b", i32))}).least(v.t, v.k) == std::nullopt);
}

TEST_CASE("what leaves 64 bits is not known") {
  Names v;
  const Expr huge = index(INT64_MAX);
  const Apart known({ge(v.k, huge)});
  CHECK(known.least(v.k, index(-1)) == std::nullopt);
  CHECK(known.least(mul(v.k, huge), index(0)) == std::nullopt);
  CHECK(known.least(v.k, index(0)) == INT64_MAX);
}

TEST_CASE("rounding an index down to a multiple") {
  Names v;
  const auto block = [](const Expr& e, std::int64_t by) { return mul(div(e, index(by)), index(by)); };
  CHECK(Apart({lt(v.k, block(v.t, 8))}).least(v.t, v.k) == 1);
  CHECK(Apart({lt(v.k, min(v.i, block(v.t, 8)))}).least(v.t, v.k) == 1);
  CHECK(Apart({ge(v.k, block(v.t, 8))}).least(v.k, v.t) == -7);
  CHECK(Apart({lt(v.k, block(v.t, -8))}).least(v.t, v.k) == std::nullopt);
  CHECK(Apart({lt(v.k, add(block(v.t, 8), index(8)))}).least(v.t, v.k) == -7);
}
