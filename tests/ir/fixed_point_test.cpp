// The operators of fixed-point and pixel arithmetic against their formulas in integers that hold every intermediate result: all
// pairs of 8 bits, edges and random pairs of the wider types.
#include <random>

#include <doctest/doctest.h>

#include <ashlar/ir/numeric.h>

using namespace ashlar;
using namespace ashlar::ir;

namespace {

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UWide;

Wide low(Type t) { return t.is_unsigned() ? 0 : -(static_cast<Wide>(1) << (t.bits - 1)); }
Wide high(Type t) { return (static_cast<Wide>(1) << (t.is_unsigned() ? t.bits : t.bits - 1)) - 1; }

// x modulo 2^bits, in the range of the type
Wide wrapped(Type t, Wide x) {
  const Wide size = static_cast<Wide>(1) << t.bits;
  Wide r = x % size;
  if (r < low(t)) r += size;
  if (r > high(t)) r -= size;
  return r;
}
Wide clamped(Type t, Wide x) { return x < low(t) ? low(t) : x > high(t) ? high(t) : x; }
Wide floor_half(Wide x) { return (x - ((x % 2 + 2) % 2)) / 2; }

Wide wide(const Value& v) {
  return v.type.is_unsigned() ? static_cast<Wide>(static_cast<std::uint64_t>(v.i)) : static_cast<Wide>(v.i);
}

// floor(a b / 2^bits), for 64 bits by schoolbook multiplication of magnitudes
Wide high_half(Type t, Wide a, Wide b) {
  if (t.bits < 64) {
    const Wide p = a * b, size = static_cast<Wide>(1) << t.bits;
    return p >= 0 ? p / size : -((-p + size - 1) / size);
  }
  const UWide x = static_cast<UWide>(a < 0 ? -a : a), y = static_cast<UWide>(b < 0 ? -b : b);
  const UWide p = x * y;  // below 2^128
  const UWide upper = p >> 64;
  const bool rest = static_cast<std::uint64_t>(p) != 0;
  return (a < 0) != (b < 0) ? -static_cast<Wide>(upper) - (rest ? 1 : 0) : static_cast<Wide>(upper);
}

Wide expected(Op op, Type t, Wide a, Wide b) {
  switch (op) {
    case Op::add_sat:
      return clamped(t, a + b);
    case Op::sub_sat:
      return clamped(t, a - b);
    case Op::halving_add:
      return floor_half(a + b);
    case Op::rounding_halving_add:
      return floor_half(a + b + 1);
    case Op::halving_sub:
      return wrapped(t, floor_half(a - b));
    case Op::abs_diff:
      return a < b ? b - a : a - b;
    default:
      return high_half(t, a, b);
  }
}

const auto kOperators = {Op::add_sat,     Op::sub_sat,  Op::halving_add, Op::rounding_halving_add,
                         Op::halving_sub, Op::abs_diff, Op::mul_high};

// Whether the operators give what their formulas do for one pair; says which does not.
bool agrees(Type t, std::int64_t a, std::int64_t b) {
  const Value args[] = {int_value(t, a), int_value(t, b)};
  for (Op op : kOperators) {
    const Type result = op == Op::abs_diff ? Type{Type::Code::unsigned_, t.bits} : t;
    const auto got = evaluate(op, result, args);
    if (got && got->type == result && wide(*got) == expected(op, t, wide(args[0]), wide(args[1]))) continue;
    MESSAGE(static_cast<int>(op) << " of " << text(args[0]) << ", " << text(args[1]) << ": "
                                 << (got ? text(*got) : std::string("none")));
    return false;
  }
  return true;
}

}  // namespace

TEST_CASE("all pairs of 8 bits") {
  int wrong = 0;
  for (Type t : {i8, u8})
    for (int a = 0; a < 256; ++a)
      for (int b = 0; b < 256; ++b) wrong += !agrees(t, a, b);
  CHECK(wrong == 0);
}

TEST_CASE("edges and random pairs of the wider types") {
  std::mt19937_64 random(5);
  int wrong = 0;
  for (Type t : {i16, u16, i32, u32, i64, u64}) {
    std::vector<std::int64_t> values;
    for (std::int64_t v : {0, 1, 2, 3, 7})
      for (std::int64_t from : {std::int64_t{0}, lowest_of(t), highest_of(t), std::int64_t{1} << (t.bits / 2)})
        for (std::int64_t sign : {1, -1})
          values.push_back(static_cast<std::int64_t>(static_cast<std::uint64_t>(from) + static_cast<std::uint64_t>(sign * v)));
    for (std::int64_t a : values)
      for (std::int64_t b : values) wrong += !agrees(t, a, b);
    for (int k = 0; k < 20000; ++k)
      wrong += !agrees(t, static_cast<std::int64_t>(random()), static_cast<std::int64_t>(random() >> random() % 64));
  }
  CHECK(wrong == 0);
}

TEST_CASE("examples of the documentation") {
  const auto of = [](Op op, Type t, std::int64_t a, std::int64_t b) {
    const Value args[] = {int_value(t, a), int_value(t, b)};
    return evaluate(op, op == Op::abs_diff ? Type{Type::Code::unsigned_, t.bits} : t, args)->i;
  };
  CHECK(of(Op::add_sat, i8, 100, 100) == 127);
  CHECK(of(Op::sub_sat, u8, 3, 5) == 0);
  CHECK(of(Op::halving_add, i8, -3, 0) == -2);
  CHECK(of(Op::rounding_halving_add, u8, 254, 255) == 255);
  CHECK(of(Op::halving_sub, u8, 0, 255) == 128);
  CHECK(of(Op::abs_diff, i8, -128, 127) == 255);
  CHECK(of(Op::mul_high, i16, -1, 1) == -1);
  CHECK(of(Op::mul_high, u64, -1, -1) == -2);
}
