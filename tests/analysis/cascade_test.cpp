// The cascade: proofs, refutations with their two iterations, and what it says when it cannot tell.
#include <ashlar/analysis/digits.h>
#include <ashlar/analysis/cascade.h>
#include <ashlar/analysis/evaluate.h>

#include <array>

#include <doctest/doctest.h>

using namespace ashlar;
using namespace ashlar::analysis;
using namespace ashlar::ir;

namespace {

Expr n(std::int64_t v) { return index(v); }
const Expr v = var(1, "v"), t = var(2, "t"), N = var(3, "N"), f = var(4, "f"), k = var(5, "k"), i = var(6, "i"),
           r = var(7, "r"), c = var(8, "c"), y = var(9, "y"), x = var(10, "x"), y0 = var(11, "y0");
const std::array<Id, 1> inner_t{2};
Expr bit_xor(const Expr& a, const Expr& b) { return make(Op::bit_xor, index_type, std::array{a, b}); }

Access writes(std::vector<Expr> at, std::vector<Expr> when = {}) { return {"C", true, std::move(at), std::move(when)}; }
Access reads(std::vector<Expr> at) { return {"C", false, std::move(at), {}}; }

}  // namespace

TEST_CASE("a tile of its own for each iteration") {
  Facts facts;
  facts.range(1, n(0), sub(ceil_div(N, n(64)), n(1)));
  facts.bound(2, 0, 63);
  const Access w = writes({add(mul(v, n(64)), t)});
  const Verdict d = disjoint(w, w, v, inner_t, facts);
  CHECK(d.answer == Answer::proved);
  CHECK(d.step == Step::intervals);
}

TEST_CASE("a tile of symbolic size") {
  Facts facts;
  facts.bound(4, 1, {});
  facts.range(1, n(0), {});
  facts.range(2, n(0), sub(f, n(1)));
  const Access w = writes({add(mul(v, f), t)});
  const Verdict d = disjoint(w, w, v, inner_t, facts);
  CHECK(d.answer == Answer::proved);
  CHECK(d.step == Step::intervals);
}

TEST_CASE("tiles that overlap by one are refuted with the element both write") {
  Facts facts;
  facts.bound(1, 0, 9);
  facts.bound(2, 0, 64);
  const Access w = writes({add(mul(v, n(64)), t)});
  const Verdict d = disjoint(w, w, v, inner_t, facts);
  REQUIRE(d.answer == Answer::refuted);
  CHECK(d.step == Step::integer_sets);
  REQUIRE(d.element.size() == 1);
  const auto value = [](const Assignment& at, Id id) {
    for (const Binding& b : at)
      if (b.id == id) return b.value;
    return std::int64_t{-1};
  };
  CHECK(value(d.first, 1) < value(d.second, 1));
  CHECK(value(d.first, 1) * 64 + value(d.first, 2) == d.element[0]);
  CHECK(value(d.second, 1) * 64 + value(d.second, 2) == d.element[0]);
  CHECK(d.why.find(" both write C[") != std::string::npos);
}

TEST_CASE("a reduction loop updates one element again and again") {
  Facts facts;
  facts.bound(5, 0, 7);
  facts.bound(6, 0, 3);
  const Access w = writes({i});
  const Verdict d = disjoint(w, w, k, {}, facts);
  REQUIRE(d.answer == Answer::refuted);
  CHECK(d.why == "iterations k = 0 and k = 1 both write C[0] (i = 0)");
}

TEST_CASE("what one iteration writes the next one reads") {
  Facts facts;
  facts.bound(1, 0, 9);
  const Verdict d = disjoint(writes({v}), reads({sub(v, n(1))}), v, {}, facts);
  REQUIRE(d.answer == Answer::refuted);
  CHECK(d.why.find("writes C[") != std::string::npos);
  CHECK(d.why.find("reads it") != std::string::npos);
  CHECK(disjoint(writes({mul(v, n(2))}), reads({add(mul(v, n(2)), n(1))}), v, {}, facts).answer ==
        Answer::proved);                                                           // congruences
  CHECK(disjoint(reads({v}), reads({v}), v, {}, facts).answer == Answer::proved);  // nobody writes
}

TEST_CASE("a shifted last tile overlaps the one before, unless the factor divides") {
  Facts facts;
  facts.bound(3, 8, 64);
  facts.range(1, n(0), sub(ceil_div(N, n(8)), n(1)));
  facts.bound(2, 0, 7);
  const Access w = writes({add(min(mul(v, n(8)), sub(N, n(8))), t)});
  CHECK(disjoint(w, w, v, inner_t, facts).answer == Answer::refuted);
  facts.multiple(3, 8);
  CHECK(disjoint(w, w, v, inner_t, facts).answer == Answer::proved);
}

TEST_CASE("a fused loop: both digits together decide, neither alone does") {
  Facts facts;
  facts.bound(1, 0, 99);
  const Access w = writes({div(v, n(8)), mod(v, n(8))});
  CHECK(disjoint(w, w, v, {}, facts).answer == Answer::proved);
}

TEST_CASE("conditions keep accesses apart") {
  Facts facts;
  facts.bound(1, 0, 9);
  const Access even = writes({n(0)}, {eq(v, n(4))});
  CHECK(disjoint(even, even, v, {}, facts).answer == Answer::proved);  // happens in one iteration only
}

TEST_CASE("swizzles are decided by their bits") {
  Facts facts;
  facts.bound(7, 0, 63);
  facts.bound(8, 0, 31);
  const Access w = writes({r, bit_xor(c, mul(mod(r, n(4)), n(8)))});
  const Verdict d = disjoint(w, w, c, {}, facts);
  CHECK(d.answer == Answer::proved);
  CHECK(d.step == Step::bits);
  const Access lossy = writes({r, bit_xor(c, mul(div(c, n(4)), n(4)))});  // clears the upper bits of c
  const Verdict e = disjoint(lossy, lossy, c, {}, facts);
  REQUIRE(e.answer == Answer::refuted);
  CHECK(e.element.size() == 2);
}

TEST_CASE("a small table of anything is enumerated") {
  Facts facts;
  facts.bound(1, 0, 12);
  const Access square = writes({mod(mul(v, v), n(13))});  // 5 * 5 = 25 and 8 * 8 = 64 are 12 modulo 13
  const Verdict d = disjoint(square, square, v, {}, facts);
  CHECK(d.answer == Answer::refuted);
  CHECK(d.step == Step::enumeration);
  facts.bound(1, 0, 6);  // half of the residues: squares differ
  CHECK(disjoint(square, square, v, {}, facts).answer == Answer::proved);
}

TEST_CASE("what no step can treat is named") {
  Facts facts;
  facts.bound(1, 0, {});
  const Expr table = cast(index_type, load(20, "table", i32, std::array{v}));
  const Access w = writes({table});
  const Verdict d = disjoint(w, w, v, {}, facts);
  CHECK(d.answer == Answer::unknown);
  CHECK(d.why.find("table[v]") != std::string::npos);
}

TEST_CASE("layouts are injective maps") {
  Facts facts;
  facts.bound(6, 0, {});
  facts.bound(5, 0, {});
  facts.bound(7, 0, {});
  facts.bound(8, 0, 31);
  const std::array<Id, 2> ik{6, 5}, rc{7, 8};
  const Verdict panels = injective(ik, std::array{div(i, n(16)), k, mod(i, n(16))}, facts);
  CHECK(panels.answer == Answer::proved);
  CHECK(panels.step == Step::structure);
  CHECK(injective(rc, std::array{r, bit_xor(c, mul(mod(r, n(4)), n(8)))}, facts).answer == Answer::proved);
  CHECK(injective(ik, std::array{div(i, f), k, mod(i, f)}, facts).answer == Answer::proved);  // digits of any size

  Facts ring;
  ring.range(9, y0, add(y0, n(7)));
  ring.bound(10, 0, 99);
  const std::array<Id, 2> yx{9, 10};
  CHECK(injective(yx, std::array{mod(y, n(8)), x}, ring).answer == Answer::proved);
  Facts longer;
  longer.range(9, y0, add(y0, n(8)));
  longer.bound(10, 0, 99);
  const Verdict d = injective(yx, std::array{mod(y, n(8)), x}, longer);
  REQUIRE(d.answer == Answer::refuted);
  CHECK(d.why.find("both map to [") != std::string::npos);
}

TEST_CASE("a row-major address is injective while the columns fit the row") {
  Facts facts;
  facts.bound(7, 0, {});
  facts.bound(8, 0, 31);
  const std::array<Id, 2> rc{7, 8};
  CHECK(injective(rc, std::array{add(mul(r, n(32)), c)}, facts).answer == Answer::proved);
  CHECK(injective(rc, std::array{add(mul(r, n(31)), c)}, facts).answer == Answer::refuted);
}

TEST_CASE("conditions without a common solution") {
  Facts facts;
  facts.bound(1, 0, {});
  CHECK(no_solution(std::array{lt(v, n(0))}, facts).answer == Answer::proved);
  CHECK(no_solution(std::array{eq(mul(v, n(6)), n(9))}, facts).answer == Answer::proved);
  CHECK(no_solution(std::array{lt(v, t), lt(t, i), lt(i, add(v, n(2)))}, facts).answer == Answer::proved);
  const Verdict d = no_solution(std::array{lt(v, t), lt(t, n(2))}, facts);
  REQUIRE(d.answer == Answer::refuted);
  CHECK(d.why == "v = 0, t = 1");
}

TEST_CASE("a fact that data decides is no reason to leave a point out (fuzz seed 61672)") {
  Facts facts;
  facts.bound(1, 0, 3);
  facts.assume(gt(load(99, "x", f32, std::array{v}, {}), float_const(f32, 0)));
  const Expr meets[] = {eq(bit_xor(v, mul(v, v)), n(6))};  // at v = 2, where x[2] may be positive
  CHECK(no_solution(meets, facts).answer != Answer::proved);
  const Access w = writes({bit_xor(div(v, n(2)), n(1))});
  CHECK(disjoint(w, w, v, {}, facts).answer != Answer::proved);
}

TEST_CASE("digits of a symbolic stride: equal exactly if each is") {
  // v*N + t and k*N + i with t, i below N
  Facts facts;
  facts.bound(3, 1, {});
  for (const Id digit : {Id{2}, Id{6}}) facts.range(digit, n(0), sub(N, n(1)));
  const Expr a = add(mul(v, N), t), b = add(mul(k, N), i);
  const auto pairs = digits_of_equal(a, b, facts);
  REQUIRE(pairs.size() == 2);
  CHECK(same(pairs[0].first, v));
  CHECK(same(pairs[0].second, k));
  CHECK(same(pairs[1].first, t));
  CHECK(same(pairs[1].second, i));
  const std::array<Expr, 2> apart{eq(a, b), ne(t, i)};
  CHECK(no_solution(apart, facts).answer == Answer::proved);
  const std::array<Expr, 3> rows{eq(a, b), ne(v, k), le(t, i)};
  CHECK(no_solution(rows, facts).answer == Answer::proved);
  // A digit that may reach the stride says nothing: v*N + N is (v + 1)*N + 0.
  Facts wide;
  wide.bound(3, 1, {});
  wide.range(2, n(0), N);
  wide.range(6, n(0), sub(N, n(1)));
  CHECK(digits_of_equal(a, b, wide).size() == 1);
  CHECK(no_solution(apart, wide).answer != Answer::proved);
  // Strides of more than one term, and a constant that belongs to the outer digit: (v - 1)*(N + 4) + t.
  const Expr padded = add(N, n(4));
  const auto moved = digits_of_equal(add(mul(sub(v, n(1)), padded), t), add(mul(k, padded), i), facts);
  REQUIRE(moved.size() == 2);
  CHECK(same(moved[0].first, sub(v, n(1))));
}

TEST_CASE("digits of strides that are known not to overlap") {
  const Expr s0 = var(20, "s0"), s1 = var(21, "s1");
  const std::array<Id, 2> strides{20, 21};
  const Expr a = add(add(mul(sub(v, n(1)), s0), mul(t, s1)), k), b = add(add(mul(i, s0), mul(y, s1)), x);
  const auto pairs = digits_of_equal(a, b, strides);
  REQUIRE(pairs.size() == 3);
  CHECK(same(pairs[0].first, sub(v, n(1))));
  CHECK(same(pairs[1].second, y));
  CHECK(same(pairs[2].first, k));
  CHECK(digits_of_equal(mul(mul(v, s0), s1), b, strides).size() == 1);  // a product of strides is not an index
}

TEST_CASE("addresses of two threads that meet are found by drawing values") {
  Facts facts;
  facts.range(1, n(0), n(7));
  facts.range(2, n(0), n(63));
  const Expr warp = v, lane = t;
  // A swizzled row of one side, a plain one of the other.
  const Expr a = add(mul(warp, n(64)), bit_xor(lane, n(5)));
  Facts both = facts;
  both.range(11, n(0), n(7));
  both.range(12, n(0), n(63));
  const Expr other_warp = var(11, "other_warp"), other_lane = var(12, "other_lane");
  const Expr b = add(mul(other_warp, n(64)), other_lane), beyond = add(b, n(512));
  CHECK(drawn_equal(a, b, {}, both));
  CHECK(drawn_equal(a, b, std::array{eq(warp, other_warp)}, both));
  CHECK(!drawn_equal(a, b, std::array{ne(warp, other_warp)}, both));  // each warp has its own row
  CHECK(!drawn_equal(a, beyond, {}, both));
  const Expr odd = add(mul(lane, n(2)), n(1)), even = mul(other_lane, n(2));
  CHECK(!drawn_equal(odd, even, {}, both));
  CHECK(!drawn_equal(load(99, "x", index_type, std::array{lane}, {}), b, {}, both));  // data: nothing can be checked
}
