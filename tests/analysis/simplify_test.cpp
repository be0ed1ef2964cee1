// The canonical form and the rules, on the expressions that schedules and lowering produce.
#include <ashlar/analysis/simplify.h>
#include <ashlar/ir/print.h>

#include <array>

#include <doctest/doctest.h>

using namespace ashlar;
using namespace ashlar::analysis;
using namespace ashlar::ir;

namespace {

struct Names {
  Expr io = var(1, "io"), ii = var(2, "ii"), M = var(3, "M"), N = var(4, "N"), K = var(5, "K"), o = var(6, "o"),
       f = var(7, "f"), i = var(8, "i"), x = var(9, "x"), y = var(10, "y"), a = var(11, "a"), b = var(12, "b");
};
Expr n(std::int64_t v) { return index(v); }
Expr bit_xor(const Expr& a, const Expr& b) { return make(Op::bit_xor, index_type, std::array{a, b}); }
std::string simple(const Expr& e, const Facts& facts = {}) { return text(simplify(e, facts)); }

}  // namespace

TEST_CASE("sums are brought to one form, and what cancels is gone") {
  Names v;
  CHECK(simple(add(sub(add(mul(v.io, n(64)), v.ii), mul(v.io, n(64))), n(3))) == "ii + 3");
  CHECK(simple(add(add(v.ii, mul(v.io, n(64))), n(0))) == "io * 64 + ii");
  CHECK(simple(sub(v.N, add(v.y, n(1)))) == "N - y - 1");
  CHECK(simple(mul(add(v.x, n(1)), sub(v.x, n(1)))) == "x * x - 1");
  CHECK(simple(sub(mul(v.o, add(v.f, n(1))), v.o)) == "f * o");
  CHECK(same(simplify(add(v.a, v.b)), simplify(add(v.b, v.a))));
}

TEST_CASE("splits divide back") {
  Names v;
  Facts facts;
  facts.bound(2, 0, 63);
  CHECK(simple(div(add(mul(v.io, n(64)), v.ii), n(64)), facts) == "io");
  CHECK(simple(mod(add(mul(v.io, n(64)), v.ii), n(64)), facts) == "ii");
  CHECK(simple(div(add(mul(v.io, n(64)), v.ii), n(8)), facts) == "io * 8 + ii / 8");
  CHECK(simple(add(mul(div(v.ii, n(8)), n(8)), mod(v.ii, n(8)))) == "ii");
  CHECK(simple(sub(v.ii, mul(div(v.ii, n(8)), n(8)))) == "ii % 8");
  CHECK(simple(div(div(v.x, n(4)), n(8))) == "x / 32");
  CHECK(simple(mod(mod(v.x, n(32)), n(8))) == "x % 8");
  CHECK(simple(div(add(v.x, n(70)), n(64))) == "(x + 6) / 64 + 1");
}

TEST_CASE("symbolic factors divide back, too") {
  Names v;
  const Expr E = v.N;
  Facts facts;
  facts.bound(4, 1, {});  // N >= 1
  facts.bound(7, 1, {});  // f >= 1
  facts.range(6, n(0), {});
  facts.range(8, n(0), sub(v.f, n(1)));  // 0 <= i < f
  CHECK(simple(div(add(mul(v.o, v.f), v.i), v.f), facts) == "o");
  CHECK(simple(mod(add(mul(v.o, v.f), v.i), v.f), facts) == "i");
  const Expr g = ceil_div(E, n(8));  // the extent of a split into 8 parts
  facts.range(2, n(0), sub(g, n(1)));
  CHECK(simple(div(add(mul(v.io, g), v.ii), g), facts) == "io");
  CHECK(simple(mod(add(mul(v.io, g), v.ii), g), facts) == "ii");
}

TEST_CASE("a flat index is taken apart and put together again") {
  Names v;
  Facts facts;
  facts.bound(4, 1, {});  // N >= 1
  const Expr high = div(v.x, v.N), low = mod(v.x, v.N);
  CHECK(simple(add(mul(high, v.N), low), facts) == "x");
  CHECK(simple(add(mul(add(mul(v.y, n(4)), high), v.N), low), facts) == "N * y * 4 + x");
  CHECK(simple(add(mul(mul(high, v.N), n(3)), mul(low, n(3))), facts) == "x * 3");
  CHECK(simple(add(mul(add(high, n(1)), v.N), low), facts) == "N + x");
  CHECK(simple(add(mul(high, v.N), mul(low, n(2))), facts) != "x");
  CHECK(simple(add(mul(high, v.N), low)) != "x");  // nobody says that N is not 0
}

TEST_CASE("the loop that two loops became has quotients below the outer extent, rests below the inner one") {
  Names v;
  Facts facts;
  facts.bound(3, 0, {}), facts.bound(4, 0, {});    // M, N >= 0: either may be 0, and then the loop has no value
  facts.range(6, n(0), sub(mul(v.M, v.N), n(1)));  // 0 <= o < M N
  CHECK(simple(min(sub(v.M, div(v.o, v.N)), n(1)), facts) == "1");
  CHECK(simple(max(sub(sub(v.N, mod(v.o, v.N)), n(1)), n(0)), facts) == "N - o % N - 1");
  CHECK(simple(lt(div(v.o, v.N), sub(v.M, n(1))), facts) == "o / N + 1 < M");
  const Expr tiles = ceil_div(v.N, n(8));
  facts.range(2, n(0), sub(mul(v.M, tiles), n(1)));
  CHECK(simple(lt(div(v.ii, tiles), v.M), facts) == "true");
  Facts negative;  // N may be -1: quotients of M N = -M ... are not below M
  negative.bound(3, {}, 0);
  negative.range(6, n(0), sub(mul(v.M, v.N), n(1)));
  CHECK(simple(lt(div(v.o, v.N), v.M), negative) == "o / N < M");
}

TEST_CASE("congruences decide divisions") {
  Names v;
  Facts facts;
  facts.multiple(5, 16);
  facts.bound(5, 0, {});
  CHECK(simple(mul(div(v.K, n(16)), n(16)), facts) == "K");
  CHECK(simple(mod(v.K, n(8)), facts) == "0");
  CHECK(simple(ceil_div(v.K, n(16)), facts) == "K / 16");
  CHECK(simple(mod(add(v.K, n(5)), n(8)), facts) == "5");
}

TEST_CASE("minimum and maximum keep the arms that may decide") {
  Names v;
  CHECK(simple(min(add(v.y, n(2)), add(v.y, n(5)))) == "y + 2");
  CHECK(simple(max(add(v.y, n(2)), add(v.y, n(5)))) == "y + 5");
  CHECK(simple(min(min(v.a, v.b), v.a)) == "min(a, b)");
  const Expr kept = min(add(mul(v.io, n(64)), n(63)), sub(v.M, n(1)));
  CHECK(simple(kept) == "min(io * 64 + 63, M - 1)");
  CHECK(simple(add(sub(kept, mul(v.io, n(64))), n(1))) == "min(M - io * 64, 64)");
  CHECK(simple(min(add(v.a, v.x), add(v.b, v.x))) == "x + min(a, b)");
  CHECK(simple(add(mul(min(v.a, n(15)), n(14)), n(14))) == "min(a + 1, 16) * 14");
}

TEST_CASE("comparisons read as they are written") {
  Names v;
  CHECK(simple(lt(add(mul(v.io, n(64)), v.ii), v.M)) == "io * 64 + ii < M");
  CHECK(simple(ge(v.x, n(3))) == "x >= 3");
  CHECK(simple(lt(add(v.x, n(1)), add(v.x, n(2)))) == "true");
}

TEST_CASE("guards are proved from the extents of loops") {
  Names v;
  Facts facts;
  facts.bound(3, 1, {});                                  // M >= 1
  facts.range(1, n(0), sub(ceil_div(v.M, n(64)), n(1)));  // io < ceil(M / 64)
  facts.bound(2, 0, 63);
  const Expr base = mul(v.io, n(64));
  CHECK(can_prove(le(base, sub(v.M, n(1))), facts));
  CHECK_FALSE(can_prove(lt(add(base, v.ii), v.M), facts));
  const Proof p = prove(lt(add(base, v.ii), v.M), facts);
  CHECK(p.answer == Answer::refuted);
  CHECK(p.why.find("M = ") != std::string::npos);
  facts.multiple(3, 64);
  CHECK(can_prove(le(add(base, n(63)), sub(v.M, n(1))), facts));
  CHECK(can_prove(lt(add(base, v.ii), v.M), facts));
}

TEST_CASE("a quotient by a symbol is compared by what it divides") {
  Names v;
  Facts facts;
  facts.bound(5, 1, {});                            // K >= 1
  facts.range(6, n(0), sub(mul(v.K, n(4)), n(1)));  // 0 <= o < 4 K
  CHECK(can_prove(lt(div(v.o, v.K), n(4)), facts));
  CHECK(can_prove(ge(div(v.o, v.K), n(0)), facts));
  CHECK_FALSE(can_prove(lt(div(v.o, v.K), n(3)), facts));
  const Expr promised = make(Op::in_range, index_type, std::array{v.x, n(0), mul(v.K, n(4))});
  CHECK(can_prove(lt(div(promised, v.K), n(4)), facts));
  facts.range(9, sub(n(0), mul(v.K, n(2))), n(0));  // -2 K <= x <= 0
  CHECK(can_prove(ge(div(v.x, v.K), n(-2)), facts));
  CHECK_FALSE(can_prove(ge(div(v.x, v.K), n(-1)), facts));
  Facts maybe_none;  // K may be 0, and what is divided by it is 0
  maybe_none.bound(5, 0, {});
  maybe_none.range(6, n(-1), sub(mul(v.K, n(4)), n(1)));
  CHECK_FALSE(can_prove(lt(div(v.o, v.K), n(0)), maybe_none));
}

TEST_CASE("a known remainder bounds the quotient") {
  Names v;
  for (const bool odd : {false, true}) {
    Facts facts;
    facts.bound(4, 1, {});
    facts.range(6, n(0), mul(v.N, n(2)));  // 0 <= o <= 2 N
    facts.assume(odd ? eq(mod(v.o, n(2)), n(1)) : ne(mod(v.o, n(2)), n(1)));
    CHECK(can_prove(lt(div(v.o, n(2)), v.N), facts) == odd);
    CHECK(can_prove(le(div(v.o, n(2)), v.N), facts));
  }
  Facts thirds;
  thirds.range(6, n(1), add(mul(v.N, n(3)), n(1)));
  thirds.assume(eq(mod(v.o, n(3)), n(2)));
  CHECK(can_prove(lt(div(v.o, n(3)), v.N), thirds));
  CHECK_FALSE(can_prove(ge(div(v.o, n(3)), n(1)), thirds));  // 2
  thirds.range(6, n(3), add(mul(v.N, n(3)), n(1)));
  CHECK(can_prove(ge(div(v.o, n(3)), n(1)), thirds));
}

TEST_CASE("a known remainder moves the ends") {
  Names v;
  Facts odd;
  odd.bound(6, 0, 10);
  odd.assume(eq(mod(v.o, n(2)), n(1)));
  CHECK(can_prove(ge(v.o, n(1)), odd));
  CHECK(can_prove(le(v.o, n(9)), odd));
  Facts even;
  even.bound(6, 1, 9);
  even.assume(ne(mod(v.o, n(2)), n(1)));
  CHECK(can_prove(ge(v.o, n(2)), even));
  CHECK(can_prove(le(v.o, n(8)), even));
  Facts negative;
  negative.bound(6, -7, {});
  negative.assume(eq(mod(v.o, n(5)), n(2)));  // -3, 2, 7
  CHECK(can_prove(ge(v.o, n(-3)), negative));
  CHECK_FALSE(can_prove(ge(v.o, n(-2)), negative));
}

TEST_CASE("what differs from an end of its range lies inside") {
  Names v;
  Facts facts;
  facts.bound(4, 0, {});                 // N
  facts.range(6, n(0), sub(v.N, n(1)));  // 0 <= o < N
  CHECK_FALSE(can_prove(ge(sub(v.o, n(1)), n(0)), facts));
  Facts first = facts;
  first.assume(ne(v.o, n(0)));
  CHECK(can_prove(ge(sub(v.o, n(1)), n(0)), first));
  for (const Expr& last : {eq(v.o, sub(v.N, n(1))), eq(add(v.o, n(1)), v.N), eq(v.N, add(v.o, n(1)))}) {
    Facts inner = facts;
    inner.assume(logic_not(last));
    CHECK(can_prove(lt(add(v.o, n(1)), v.N), inner));
    CHECK_FALSE(can_prove(lt(add(v.o, n(2)), v.N), inner));
  }
  Facts inside = facts;  // neither of two ends that it need not have
  inside.assume(ne(v.o, n(5)));
  CHECK_FALSE(can_prove(gt(v.o, n(5)), inside));
  CHECK_FALSE(can_prove(lt(v.o, n(5)), inside));
  Facts empty;
  empty.bound(4, 0, {});
  empty.assume(ne(v.N, n(0)));
  CHECK(can_prove(ge(v.N, n(1)), empty));
}

TEST_CASE("a shifted tail stays inside") {
  Names v;
  Facts facts;
  facts.bound(7, 1, {});
  facts.assume(ge(v.N, v.f));
  facts.range(6, n(0), {});
  facts.range(8, n(0), sub(v.f, n(1)));
  const Expr at = add(min(mul(v.o, v.f), sub(v.N, v.f)), v.i);
  CHECK(can_prove(lt(at, v.N), facts));
  CHECK(can_prove(ge(at, n(0)), facts));
  Facts without;
  without.bound(7, 1, {});
  without.range(6, n(0), {});
  without.range(8, n(0), sub(v.f, n(1)));
  CHECK(prove(ge(at, n(0)), without).answer == Answer::refuted);
}

TEST_CASE("shifts of indices are powers of two") {
  Names v;
  const auto shift = [](Op op, const Expr& e, std::int64_t by) { return make(op, index_type, std::vector<Expr>{e, n(by)}); };
  CHECK(simple(shift(Op::shl, v.x, 3)) == "x * 8");
  CHECK(simple(shift(Op::shr, shift(Op::shl, v.x, 5), 3)) == "x * 4");
}

TEST_CASE("data is left as it was written, but for constants and decided choices") {
  Names v;
  const Expr at = load(20, "A", f32, std::vector<Expr>{add(v.x, n(0))});
  const Expr sum = make(Op::add, f32, std::vector<Expr>{at, float_const(f32, 0)});  // -0 + 0 is +0: not the same as A[x]
  CHECK(simple(sum) == "A[x] + 0.0");
  CHECK(simple(make(Op::add, f32, std::vector<Expr>{float_const(f32, 1), float_const(f32, 2)})) == "3.0");
  CHECK(simple(make(Op::add, u8, std::vector<Expr>{int_const(u8, 200), int_const(u8, 100)})) == "44u8");
  CHECK(simple(select(lt(n(1), n(2)), at, sum)) == "A[x]");
}

TEST_CASE("a comparison of data that is denied stays denied: NaN is neither below nor above (fuzz seed 30031076)") {
  Names v;
  const Expr at = load(20, "A", f32, std::vector<Expr>{v.x}), zero = float_const(f32, 0);
  for (const Op op : {Op::lt, Op::le, Op::gt, Op::ge, Op::eq, Op::ne}) {
    const Expr denied = logic_not(binary(op, at, zero));
    CAPTURE(text(denied));
    CHECK(same(simplify(denied), denied));
  }
  CHECK(simple(logic_not(lt(v.x, v.y))) == "y <= x");
}

TEST_CASE("what chooses among data integers, or keeps a part of one, bounds the index that it is taken for") {
  Names v;
  const Expr at = load(20, "A", i32, std::vector<Expr>{v.x}), byte = load(21, "B", u8, std::vector<Expr>{v.x});
  const auto inside = [](const Expr& data, std::int64_t lo, std::int64_t hi) {
    const Expr i = cast(index_type, data);
    CAPTURE(text(i));
    const auto proved = [](const Expr& e) { return is_int(simplify(e), 1); };
    CHECK(proved(logic_and(le(n(lo), i), le(i, n(hi)))));
    CHECK_FALSE(proved(lt(n(lo), i)));
    CHECK_FALSE(proved(lt(i, n(hi))));
  };
  const auto whole = [](std::int64_t k) { return int_const(i32, k); };
  const Expr negative = lt(at, whole(0));
  inside(byte, 0, 255);
  inside(max(min(at, whole(9)), whole(-2)), -2, 9);
  inside(select(negative, int_const(u8, 3), int_const(u8, 7)), 3, 7);
  inside(make(Op::bit_and, i32, std::array{at, whole(15)}), 0, 15);
  inside(cast(i32, byte), 0, 255);
  inside(cast(i8, byte), -128, 127);  // it wraps
  inside(make(Op::mod, i32, std::array{cast(i32, byte), whole(10)}), 0, 9);
  inside(make(Op::in_range, i32, std::array{at, whole(3), whole(8)}), 3, 7);
  inside(make(Op::add, u8, std::array{min(byte, int_const(u8, 3)), int_const(u8, 254)}), 0, 255);  // as does a sum
}

TEST_CASE("remainders by one number differ as what they are of does") {
  Names v;
  const auto parity = [](const Expr& e) { return mod(e, n(2)); };
  CHECK(prove(ne(parity(v.i), parity(add(v.i, n(1)))), {}).answer == Answer::proved);
  CHECK(prove(ne(add(mul(v.o, n(16)), parity(v.i)), add(mul(v.o, n(16)), parity(add(v.i, n(3))))), {}).answer ==
        Answer::proved);
  CHECK(prove(ne(mod(v.i, n(4)), mod(add(v.i, n(2)), n(4))), {}).answer == Answer::proved);
  CHECK(prove(ne(mod(v.i, n(4)), mod(add(v.i, n(4)), n(4))), {}).answer != Answer::proved);
  CHECK(prove(ne(mod(v.i, n(4)), mod(add(v.i, n(1)), n(6))), {}).answer == Answer::proved);  // one is odd
  CHECK(prove(ne(mod(v.i, n(3)), mod(add(v.i, n(2)), n(2))), {}).answer != Answer::proved);
  CHECK(prove(ne(parity(v.i), parity(v.x)), {}).answer != Answer::proved);
}

TEST_CASE("two programs may give one id to different variables") {
  const Expr first = add(var(1, "b"), add(var(2, "a"), n(1))), second = add(var(1, "x"), add(var(2, "y"), n(1)));
  CHECK(simple(first) == "a + b + 1");
  CHECK(simple(second) == "x + y + 1");
}

TEST_CASE("a small box is enumerated; a fact that data decides allows every point, and shows none") {
  Names v;
  const Expr odd = bit_xor(v.i, n(1)), loaded = load(99, "x", f32, std::array{v.i}, {});
  Facts facts;
  facts.bound(8, 0, 1);
  CHECK(prove(le(bit_xor(odd, n(1)), n(1)), facts).answer == Answer::proved);
  CHECK(prove(lt(odd, n(1)), facts).answer == Answer::refuted);
  facts.assume(gt(loaded, float_const(f32, 0)));
  CHECK(prove(le(bit_xor(odd, n(1)), n(1)), facts).answer == Answer::proved);
  CHECK(prove(lt(v.i, n(1)), facts).answer == Answer::unknown);
  CHECK(prove(lt(odd, n(1)), facts).answer == Answer::unknown);
}
