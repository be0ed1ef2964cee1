// Bounds of indices that are read from data: those of mathematics where no value wraps, and those of the type elsewhere.
#include <ashlar/analysis/interval.h>
#include <ashlar/analysis/simplify.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <random>

#include <ashlar/ir/numeric.h>
#include <ashlar/ir/print.h>
#include <doctest/doctest.h>

#include "analysis/simplify/engine.h"

using namespace ashlar;
using namespace ashlar::analysis;
using namespace ashlar::ir;

namespace {

const Expr N = var(1, "N"), i = var(2, "i");

Expr data(Type t, Id buffer = 77) { return load(buffer, "x", t, std::array{i}); }
Expr number(Type t, std::int64_t v) { return int_const(t, v); }
Expr clamp_to(const Expr& e, std::int64_t lo, std::int64_t hi) {
  return max(min(e, number(e.type(), hi)), number(e.type(), lo));
}
Expr plus(const Expr& e, std::int64_t c) { return add(e, number(e.type(), c)); }
Expr as_index(const Expr& e) { return cast(index_type, e); }

std::string bounds(const Expr& e, const Facts& facts = {}) {
  const auto lo = constant_min(as_index(e), facts), hi = constant_max(as_index(e), facts);
  return "[" + (lo ? std::to_string(*lo) : "-") + ", " + (hi ? std::to_string(*hi) : "-") + "]";
}
bool proved(const Expr& condition, const Facts& facts = {}) { return can_prove(condition, facts); }
Facts natural() {
  Facts f;
  f.bound(1, 0, {});
  f.range(2, index(0), sub(N, index(1)));
  return f;
}

}  // namespace

TEST_CASE("arithmetic of data has the bounds of mathematics where it cannot wrap") {
  for (const Type t : {i8, i16, i32, i64, u8, u16, u32, u64}) {
    CAPTURE(text(t));
    const Expr k = clamp_to(data(t), 0, 9);
    CHECK(bounds(k) == "[0, 9]");
    CHECK(bounds(plus(k, 1)) == "[1, 10]");
    CHECK(bounds(sub(number(t, 12), k)) == "[3, 12]");
    CHECK(bounds(mul(div(k, number(t, 2)), number(t, 2))) == "[0, 8]");
    CHECK(bounds(add(k, clamp_to(data(t, 78), 2, 5))) == "[2, 14]");
    CHECK(bounds(plus(mod(max(data(t), number(t, 0)), number(t, 7)), 3)) == "[3, 9]");
    CHECK(bounds(plus(binary(Op::bit_and, data(t), number(t, 7)), 3)) == "[3, 10]");
    CHECK(bounds(cast(i64, plus(k, 1))) == "[1, 10]");
    CHECK(bounds(cast(u8, plus(k, 1))) == "[1, 10]");
    const std::array<Expr, 3> promise{data(t), number(t, 3), number(t, 20)};
    CHECK(bounds(sub(make(Op::in_range, t, promise), number(t, 1))) == "[2, 18]");
  }
  CHECK(bounds(sub(number(i32, 5), clamp_to(data(i32), -2, 3))) == "[2, 7]");
  CHECK(bounds(div(clamp_to(data(i16), -7, 7), number(i16, -2))) == "[-4, 3]");
  CHECK(bounds(mod(data(i8), number(i8, -5))) == "[-4, 0]");
  CHECK(bounds(mod(data(i8), number(i8, 5))) == "[0, 4]");  // the sign of the divisor
  CHECK(bounds(unary(Op::abs, clamp_to(data(i8), -7, 3))) == "[0, 7]");
  CHECK(bounds(cast(i32, clamp_to(data(u8), 100, 200))) == "[100, 200]");
}

TEST_CASE("what may wrap has the bounds of its type") {
  const Expr k8 = clamp_to(data(u8), 0, 9), k32 = clamp_to(data(i32), 0, 9);
  CHECK(bounds(plus(k8, 250)) == "[0, 255]");
  CHECK(bounds(sub(k8, number(u8, 1))) == "[0, 255]");
  CHECK(bounds(sub(number(u8, 5), k8)) == "[0, 255]");
  CHECK(bounds(mul(k32, number(i32, 1 << 30))) == "[-2147483648, 2147483647]");
  CHECK(bounds(neg(data(i8))) == "[-128, 127]");             // -128 stays
  CHECK(bounds(unary(Op::abs, data(i8))) == "[-128, 127]");  // and here
  CHECK(bounds(div(data(i8), number(i8, -1))) == "[-128, 127]");
  CHECK(bounds(cast(u8, clamp_to(data(i32), 0, 300))) == "[0, 255]");  // 256 becomes 0
  CHECK(bounds(cast(u8, clamp_to(data(i8), -1, 7))) == "[0, 255]");    // -1 becomes 255
  CHECK(bounds(cast(i8, clamp_to(data(u8), 0, 128))) == "[-128, 127]");
  CHECK(bounds(cast(u64, data(i64))) == "[-, -]");
  CHECK(bounds(data(u64)) == "[-, -]");  // from 2^63 on an index is negative
  CHECK(bounds(plus(cast(u64, as_index(data(u8))), 1)) == "[1, 256]");
  CHECK(bounds(binary(Op::shl, k32, number(i32, 31))) == "[-2147483648, 2147483647]");
  CHECK(bounds(binary(Op::shl, k32, number(i32, 2))) == "[0, 36]");
}

TEST_CASE("bounds that are written in i64 of a Symbol") {
  const Facts f = natural();
  const Expr last = sub(cast(i64, N), number(i64, 1));
  const Expr k = max(min(data(i64), last), number(i64, 0));
  CHECK(proved(le(as_index(k), max(sub(N, index(1)), index(0))), f));
  CHECK(proved(lt(as_index(k), N), f) == false);  // N of 0: k is 0
  Facts some = f;
  some.bound(1, 1, {});
  CHECK(proved(lt(as_index(k), N), some));
  CHECK(proved(ge(as_index(k), index(0)), f));
  CHECK(proved(le(as_index(plus(k, 1)), N), some));                       // N - 1 + 1 is no more than an index
  CHECK_FALSE(proved(lt(as_index(plus(k, 2)), add(N, index(2))), some));  // may wrap: N has no bound
  some.bound(1, {}, 1 << 20);
  CHECK(proved(lt(as_index(plus(k, 2)), add(N, index(2))), some));
  const Expr in32 = max(min(data(i32), sub(cast(i32, N), number(i32, 1))), number(i32, 0));
  CHECK(proved(lt(as_index(in32), N), some));
  CHECK_FALSE(proved(lt(as_index(in32), N), natural()));  // 2^32 + 1 is 1
  const Expr in_u64 = min(data(u64), sub(cast(u64, N), number(u64, 1)));
  CHECK(proved(lt(as_index(in_u64), N), some));
  CHECK(proved(ge(as_index(in_u64), index(0)), some));
  CHECK_FALSE(proved(lt(as_index(in_u64), N), natural()));  // u64(0) - 1 is not a bound
}

TEST_CASE("what is compared with data of 64 bits keeps its constants: beside the data they would leave 63 bits") {
  const Expr far = as_index(data(i64)), near = as_index(data(i32));
  const Facts facts = natural();
  const auto kept = [&](const Expr& e) { return text(simplify(e, facts)); };
  for (const Expr& c :
       {lt(far, sub(N, index(1))), gt(far, add(N, index(2))), eq(far, sub(N, index(1))), ne(far, add(i, index(2)))})
    CHECK(kept(c) == text(c));
  CHECK(kept(gt(sub(N, index(1)), far)) == text(lt(far, sub(N, index(1)))));
  CHECK(kept(lt(add(far, index(1)), N)) == text(lt(far, sub(N, index(1)))));
  CHECK(kept(lt(max(far, index(0)), sub(N, index(1)))) == text(logic_and(lt(far, sub(N, index(1))), ge(N, index(2)))));
  CHECK(kept(lt(near, sub(N, index(1)))) == text(lt(add(near, index(1)), N)));  // of 32 bits: it may
}

TEST_CASE("what a condition says of the data") {
  const Expr k = data(i32);
  Facts f;
  assume_of_data(f, logic_and(ge(k, number(i32, 1)), lt(k, number(i32, 100))));
  CHECK(bounds(plus(k, -1), f) == "[0, 98]");
  CHECK(bounds(plus(k, 2147483600), f) == "[-2147483648, 2147483647]");
  const Facts none;
  CHECK(bounds(plus(k, -1), none) == "[-2147483648, 2147483647]");
}

TEST_CASE("parts of one value stay parts of it") {
  const Expr k = make(Op::in_range, i32, std::array{data(i32), number(i32, 0), number(i32, 1000)});
  const Expr low = mod(k, number(i32, 8)), high = div(k, number(i32, 8));
  CHECK(proved(eq(as_index(add(mul(high, number(i32, 8)), low)), as_index(k))));
  CHECK(proved(ge(as_index(sub(k, low)), index(0))));
}

TEST_CASE("a remainder lies below its divisor") {
  Facts f;
  f.bound(1, 0, {});
  f.range(2, index(0), index(1000));
  CHECK_FALSE(proved(lt(mod(i, N), N), f));  // i % 0 is 0
  CHECK(proved(ge(mod(i, N), index(0)), f));
  CHECK(prove(lt(mod(i, N), N), f).answer == Answer::refuted);
  Facts some = f;
  some.bound(1, 1, {});
  CHECK(proved(lt(mod(i, N), N), some));
  Facts loop = f;  // a loop over N
  loop.range(3, index(0), sub(N, index(1)));
  CHECK(proved(lt(mod(var(3, "j"), N), N), loop));
  Facts said = f;
  said.assume(gt(N, index(0)));
  CHECK(proved(lt(mod(i, N), N), said));
  Facts sum = f;
  sum.bound(4, 0, {});
  const Expr M = var(4, "M");
  CHECK_FALSE(proved(lt(mod(i, add(N, M)), add(N, M)), sum));
  CHECK(proved(le(mod(i, add(N, M)), i), sum));  // also where it is i % 0
  sum.assume(gt(add(N, M), index(0)));
  CHECK(proved(lt(mod(i, add(N, M)), add(N, M)), sum));
}

// ---- against values --------------------------------------------------------------------------------------------------------

namespace {

constexpr std::array types{i8, i16, i32, i64, u8, u16, u32, u64};

struct Drawn {
  std::mt19937_64 random;
  std::vector<Expr> leaves;
  std::size_t pick(std::size_t n) { return random() % n; }

  std::int64_t number_of(Type t) {
    const std::int64_t near[] = {0,   1,  2,  3,  7,    100,           127,          128,
                                 250, -1, -2, -5, -128, highest_of(t), lowest_of(t), highest_of(t) - 1};
    return wrap_to(t, pick(4) ? near[pick(std::size(near))] : static_cast<std::int64_t>(random()));
  }
  Expr leaf(Type t) {
    const Expr e = load(100 + leaves.size(), "x", t, std::array{i});
    leaves.push_back(e);
    const Expr a = int_const(t, number_of(t)), b = int_const(t, number_of(t));
    switch (pick(5)) {
      case 0:
        return e;
      case 1:
        return min(max(e, a), b);
      case 2:
        return max(min(e, int_const(t, static_cast<std::int64_t>(pick(100)))), int_const(t, 0));
      case 3:
        return mod(e, a);
      default:
        return max(min(e, b), a);
    }
  }
  Expr expr(Type t, int depth) {
    static constexpr std::array ops{
        Op::add,        Op::sub,       Op::mul,       Op::div,     Op::mod,         Op::min,
        Op::max,        Op::trunc_div, Op::trunc_rem, Op::bit_and, Op::bit_or,      Op::bit_xor,
        Op::shl,        Op::shr,       Op::add_sat,   Op::sub_sat, Op::halving_add, Op::rounding_halving_add,
        Op::halving_sub};
    static constexpr std::array one{Op::neg, Op::abs, Op::bit_not, Op::popcount, Op::clz, Op::ctz};
    if (depth == 0) return leaf(t);
    switch (pick(12)) {
      case 0:
        return cast(t, expr(types[pick(types.size())], depth - 1));
      case 1: {
        const Expr a = expr(types[pick(types.size())], depth - 1);
        return make(Op::saturate, t, std::array{a});
      }
      case 2:
        return make(one[pick(one.size())], t, std::array{expr(t, depth - 1)});
      case 3: {
        const Expr a = leaf(t);
        return select(lt(a, int_const(t, number_of(t))), expr(t, depth - 1), expr(t, depth - 1));
      }
      case 4:
        if (t.is_unsigned()) {
          const Type own{pick(2) ? Type::Code::signed_ : Type::Code::unsigned_, t.bits};
          return make(Op::abs_diff, t, std::array{expr(own, depth - 1), expr(own, depth - 1)});
        }
        return cast(t, cast(index_type, expr(types[pick(types.size())], depth - 1)));
      case 5:
        return make(ops[pick(ops.size())], t, std::array{expr(t, depth - 1), int_const(t, number_of(t))});
      default:
        return make(ops[pick(ops.size())], t, std::array{expr(t, depth - 1), expr(t, depth - 1)});
    }
  }
};

// The value where each leaf has one; empty where an index leaves 63 bits.
std::optional<Value> value(const Expr& e, const std::vector<Value>& of_leaves) {
  const Node* n = e.node();
  if (n->op == Op::int_const) return value_of(e);
  if (n->op == Op::load) return of_leaves[n->id - 100];
  if (n->op == Op::select) {
    const auto c = value(n->args[0], of_leaves);
    return c ? value(n->args[c->i ? 1 : 2], of_leaves) : std::nullopt;
  }
  std::vector<Value> args;
  for (const Expr& a : args_of(e)) {
    const auto v = value(a, of_leaves);
    if (!v) return std::nullopt;
    args.push_back(*v);
  }
  return evaluate(n->op, n->type, args);
}

}  // namespace

TEST_CASE("bounds and the lifted form hold for every value of the data") {
  int narrower = 0, taken_apart = 0, compared = 0;
  for (std::uint64_t seed = 1; seed <= 6000; ++seed) {
    Drawn d{std::mt19937_64(seed), {}};
    const Type t = types[d.pick(types.size())];
    const Expr e = cast(index_type, d.expr(t, 1 + static_cast<int>(d.pick(3))));
    const Facts facts;
    Engine engine(facts);
    engine.lift_data();
    Expr lifted;
    try {
      lifted = engine.simplify(e);
    } catch (const Overflow&) { continue; }  // no answer
    const Range plain = Engine(facts).range(e), bounds = engine.range(lifted);
    taken_apart += !is(lifted, Op::cast) && !is(lifted, Op::int_const);
    narrower += t.bits < 64 && (plain.lo > lowest_of(t) || plain.hi < highest_of(t));
    for (int round = 0; round < 60; ++round) {
      std::vector<Value> leaves;
      for (const Expr& l : d.leaves) leaves.push_back(int_value(l.type(), d.number_of(l.type())));
      const auto v = value(e, leaves);
      if (!v) continue;
      ++compared;
      CAPTURE(text(e));
      CAPTURE(text(lifted));
      REQUIRE(v->i >= plain.lo);
      REQUIRE(v->i <= plain.hi);
      REQUIRE(v->i >= bounds.lo);
      REQUIRE(v->i <= bounds.hi);
      const auto w = value(lifted, leaves);
      if (w) REQUIRE(w->i == v->i);  // mathematics may leave 63 bits on the way
    }
  }
  CHECK(compared > 200'000);
  CHECK(narrower > 1000);
  CHECK(taken_apart > 1000);
}

TEST_CASE("an integer that is converted from a float has the bounds of the float") {
  const auto real = [](Type t, double v) { return float_const(t, v); };
  const auto between = [&](const Expr& x, double lo, double hi) { return min(max(x, real(x.type(), lo)), real(x.type(), hi)); };
  const auto nearest = [](const Expr& x) { return make(Op::saturate, i32, std::array{x}); };
  for (const Type t : {f16, bf16, f32, f64}) {
    CAPTURE(text(t));
    const Expr x = data(t);
    CHECK(bounds(cast(i32, between(x, 0, 255))) == "[0, 255]");
    CHECK(bounds(cast(i32, between(x, 3, 7))) == "[0, 7]");  // NaN becomes 0
    CHECK(bounds(cast(u8, between(x, -3, 7))) == "[0, 7]");
    CHECK(bounds(cast(i8, between(x, -300, 7))) == "[-128, 7]");
    CHECK(bounds(cast(i32, add(mul(between(x, 0, 1), real(t, 255)), real(t, 0.5)))) ==
          (t == bf16 ? "[0, 256]" : "[0, 255]"));  // as bf16 rounds
    CHECK(bounds(cast(i32, make(Op::floor, t, std::array{between(x, -2.5, 2.5)}))) == "[-3, 2]");
    CHECK(bounds(nearest(between(x, -2.5, 3.5))) == "[-2, 4]");
    CHECK(bounds(cast(i32, neg(between(x, 1, 2.5)))) == "[-2, 0]");
    CHECK(bounds(cast(i32, cast(f32, between(x, 0, 9.5)))) == "[0, 9]");
    CHECK(bounds(cast(i32, mul(between(x, 0, 9), x))) == "[-2147483648, 2147483647]");  // 0 * inf
    CHECK(bounds(cast(i32, min(x, real(t, 9)))) == "[-2147483648, 9]");
  }
  CHECK(bounds(cast(i32, cast(f32, clamp_to(data(u8), 2, 9)))) == "[2, 9]");
  CHECK(bounds(cast(i32, mul(cast(f32, clamp_to(data(i32), 2, 9)), real(f32, 0.5)))) == "[1, 4]");
  CHECK(bounds(cast(i64, cast(f32, data(u64)))) == "[0, -]");
  CHECK(constant_max(cast(index_type, between(data(f32), -4, 12.5)), {}) == 12);
}

TEST_CASE("bounds of converted floats hold on random expressions and values") {
  std::mt19937 draw(4711);
  const auto any = [&](double lo, double hi) { return std::uniform_real_distribution<>(lo, hi)(draw); };
  for (int round = 0; round < 400; ++round) {
    const Type t = std::array{f16, bf16, f32, f64}[draw() % 4];
    const Id id = 77;
    Expr e = data(t, id);
    for (int k = 0; k < 5; ++k) {
      const Expr c = float_const(t, round_to(t, any(-20, 20)));
      switch (draw() % 9) {
        case 0:
          e = add(e, c);
          break;
        case 1:
          e = sub(c, e);
          break;
        case 2:
          e = mul(e, c);
          break;
        case 3:
          e = min(e, c);
          break;
        case 4:
          e = max(e, c);
          break;
        case 5:
          e = make(Op::abs, t, std::array{e});
          break;
        case 6:
          e = make(Op::round, t, std::array{e});
          break;
        case 7:
          e = cast(t, cast(f32, e));
          break;
        default:
          e = mul(e, min(max(e, float_const(t, -2)), float_const(t, 3)));
      }
    }
    const Expr whole = draw() % 2 ? cast(i16, e) : make(Op::saturate, i16, std::array{e});
    const auto lo = constant_min(as_index(whole), {}), hi = constant_max(as_index(whole), {});
    REQUIRE((lo && hi));
    for (const double x : {any(-30, 30), any(-1e5, 1e5), 0.0, -0.5, 2.5, double(NAN), double(INFINITY), -double(INFINITY)}) {
      const std::function<Value(const Expr&)> run = [&](const Expr& v) -> Value {
        if (is(v, Op::load)) return float_value(t, x);
        if (is(v, Op::float_const)) return value_of(v);
        std::vector<Value> args;
        for (const Expr& a : args_of(v)) args.push_back(run(a));
        if (is(v, Op::cast)) return convert(v.type(), args[0]);
        if (is(v, Op::saturate)) return saturate_to(v.type(), args[0]);
        return *evaluate(op_of(v), v.type(), args);
      };
      const std::int64_t got = run(whole).i;
      CAPTURE(text(whole));
      CAPTURE(x);
      CHECK(*lo <= got);
      CHECK(got <= *hi);
    }
  }
}
