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
  Apart known;
  known.assume(ge(v.k, index(0)));
  known.assume(lt(v.k, v.t));
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
  Apart known;
  known.assume(logic_and(lt(v.k, min(v.i, v.j)), ge(v.k, max(index(0), sub(v.i, v.N)))));
  CHECK(known.least(v.i, v.k) == 1);
  CHECK(known.least(v.j, v.k) == 1);
  CHECK(known.least(v.k, index(0)) == 0);
  CHECK(known.least(min(v.i, v.j), v.k) == 1);
  CHECK(known.least(max(v.i, v.N), v.k) == 1);
  CHECK(known.least(v.t, min(v.t, v.N)) == 0);
  CHECK(known.least(v.t, max(v.t, v.N)) == std::nullopt);
  CHECK(known.least(v.t, min(max(v.N, index(0)), sub(v.t, index(1)))) == 1);
}

TEST_CASE("an end that is no less than 0 is as good as the end where the other variable is not negative") {
  Names v;
  Apart known;
  known.assume(lt(add(mul(v.k, index(16)), v.j), max(index(0), v.t)));
  CHECK(known.least(v.t, add(mul(v.k, index(16)), v.j)) == std::nullopt);
  known.assume(ge(v.t, index(0)));
  CHECK(known.least(v.t, add(mul(v.k, index(16)), v.j)) == 1);
}

TEST_CASE("the opposite of a condition, and no more than was said") {
  Names v;
  Apart known;
  known.assume(le(v.t, v.k), false);
  CHECK(known.least(v.t, v.k) == 1);
  Apart either;
  either.assume(logic_or(lt(v.k, v.t), lt(v.j, v.t)));
  CHECK(either.least(v.t, v.k) == std::nullopt);
  either.assume(logic_or(ge(v.k, v.t), ge(v.j, v.t)), false);
  CHECK(either.least(v.t, v.k) == 1);
  Apart data;  // of data nothing is learnt
  data.assume(lt(var(fresh_id(), "a", i32), var(fresh_id(), "b", i32)));
  CHECK(data.least(v.t, v.k) == std::nullopt);
}

TEST_CASE("what leaves 64 bits is not known") {
  Names v;
  Apart known;
  const Expr huge = index(INT64_MAX);
  known.assume(ge(v.k, huge));
  CHECK(known.least(v.k, index(-1)) == std::nullopt);
  CHECK(known.least(mul(v.k, huge), index(0)) == std::nullopt);
  CHECK(known.least(v.k, index(0)) == INT64_MAX);
}
