// The 8-bit floats of the OCP formats: every code, every f16, every boundary between neighbors, all sums and products. Twice:
// against a search for the nearest code, and against hashes of what ml_dtypes 0.6.0 (float8_e4m3fn, float8_e5m2) gives, NaNs of
// every code counted as 0x7F.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <ashlar/ir/numeric.h>

using namespace ashlar;
using namespace ashlar::ir;

namespace {

struct Fnv {  // FNV-1a, 64 bits
  std::uint64_t hash = 0xcbf29ce484222325u;
  void operator()(std::uint64_t byte) { hash = (hash ^ (byte & 0xFF)) * 0x100000001b3u; }
  void code(const Value& v) { (*this)(std::isnan(v.f) ? 0x7F : to_bits(v)); }
};

// The definition: sign, exponent and stored bits.
double decoded(Type t, int code) {
  const int m = t == e4m3 ? 3 : 2, bias = t == e4m3 ? 7 : 15;
  const int fraction = code & ((1 << m) - 1), exponent = (code & 0x7F) >> m;
  const double sign = code & 0x80 ? -1 : 1;
  if (t == e4m3 && (code & 0x7F) == 0x7F) return std::numeric_limits<double>::quiet_NaN();
  if (t == e5m2 && exponent == 31)
    return fraction ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  const double scale = std::ldexp(1.0, std::max(exponent, 1) - bias - m);
  return sign * scale * (fraction + (exponent ? 1 << m : 0));
}

// The magnitude's nearest code among the finite ones and the one beyond (480 and 65536, which stand for overflow), even where
// two are as near.
int nearest(Type t, double x) {
  const int last = t == e4m3 ? 0x7E : 0x7B;
  const double beyond = t == e4m3 ? 480 : 65536, magnitude = std::min(std::fabs(x), 1e6);  // distances stay exact
  if (std::isnan(x) || (t == e4m3 && std::isinf(x))) return 0x7F;
  int best = 0;
  double distance = HUGE_VAL;
  for (int code = 0; code <= last + 1; ++code) {
    const double d = std::fabs((code > last ? beyond : decoded(t, code)) - magnitude);
    if (d < distance || (d == distance && code % 2 == 0)) best = code, distance = d;
  }
  if (std::isinf(x)) best = last + 1;
  if (best > last && t == e4m3) return 0x7F;
  return best | (std::signbit(x) ? 0x80 : 0);
}

Value of_f32(double x) { return float_value(f32, x); }

// Just below, on and just above the middle of every two neighbors and the point where overflow begins; and far out.
std::vector<Value> boundaries(Type t) {
  const int last = t == e4m3 ? 0x7E : 0x7B;
  std::vector<Value> list;
  for (int code = 0; code <= last; ++code) {
    const double here = decoded(t, code), step = code < last ? decoded(t, code + 1) - here : here - decoded(t, code - 1);
    const auto middle = static_cast<float>(here + step / 2);
    for (float v : {std::nextafter(middle, 0.0f), middle, std::nextafter(middle, HUGE_VALF)})
      list.push_back(of_f32(static_cast<double>(v)));
  }
  for (double v : {3e38, static_cast<double>(HUGE_VAL), 1e-45}) list.push_back(of_f32(v));
  const std::size_t n = list.size();
  for (std::size_t k = 0; k < n; ++k) list.push_back(of_f32(-list[k].f));
  return list;
}

struct Expected {
  Type type;
  std::uint64_t decoded, of_f16, of_boundaries, sums, products;
};
constexpr Expected kExpected[] = {
    {e4m3, 0xdad1d9c50f749ca5u, 0x80b3b2f080175525u, 0xf1e762a56412d725u, 0x8c26e65ef2ab18c9u, 0x93b903aa28db8d95u},
    {e5m2, 0x6c1e56b6fb09c905u, 0x304feac115993fa5u, 0xe88ef88899115e05u, 0xf1df54d2ce2230d5u, 0x46f1c008e6d8b03du},
};

}  // namespace

TEST_CASE("every code means what its fields say") {
  for (const Expected& e : kExpected) {
    Fnv hash;
    for (int code = 0; code < 256; ++code) {
      const Value v = from_bits(e.type, static_cast<std::uint64_t>(code));
      const double want = decoded(e.type, code);
      CHECK((std::isnan(want) ? std::isnan(v.f) : v.f == want && std::signbit(v.f) == std::signbit(want)));
      if (!std::isnan(want)) CHECK(to_bits(v) == static_cast<std::uint64_t>(code));
      const std::uint64_t bits = to_bits(convert(f32, v));
      for (int k = 0; k < 4; ++k) hash(bits >> (8 * k));
    }
    CHECK(hash.hash == e.decoded);
  }
}

TEST_CASE("every f16 and every boundary of f32 rounds to the nearest code") {
  for (const Expected& e : kExpected) {
    Fnv of_f16, of_boundaries;
    int wrong = 0;
    for (std::uint64_t bits = 0; bits < 65536; ++bits) {
      const Value x = from_bits(f16, bits), v = convert(e.type, x);
      const int want = nearest(e.type, x.f);
      wrong += std::isnan(v.f) ? want != 0x7F : to_bits(v) != static_cast<std::uint64_t>(want);
      of_f16.code(v);
    }
    for (const Value& x : boundaries(e.type)) {
      const Value v = convert(e.type, x);
      const int want = nearest(e.type, x.f);
      wrong += std::isnan(v.f) ? want != 0x7F : to_bits(v) != static_cast<std::uint64_t>(want);
      of_boundaries.code(v);
    }
    CHECK(wrong == 0);
    CHECK(of_f16.hash == e.of_f16);
    CHECK(of_boundaries.hash == e.of_boundaries);
  }
}

TEST_CASE("all sums and products") {
  for (const Expected& e : kExpected) {
    Fnv sums, products;
    for (std::uint64_t a = 0; a < 256; ++a)
      for (std::uint64_t b = 0; b < 256; ++b) {
        const Value args[] = {from_bits(e.type, a), from_bits(e.type, b)};
        sums.code(*evaluate(Op::add, e.type, args));
        products.code(*evaluate(Op::mul, e.type, args));
      }
    CHECK(sums.hash == e.sums);
    CHECK(products.hash == e.products);
  }
}

TEST_CASE("saturate gives the largest number in place of what overflows; NaN stays") {
  for (const Expected& e : kExpected) {
    const double largest = e.type == e4m3 ? 448 : 57344;
    for (const Value& x : boundaries(e.type)) {
      const Value v = saturate_to(e.type, x), plain = convert(e.type, x);
      if (std::fabs(x.f) > largest)
        CHECK(v.f == std::copysign(largest, x.f));
      else
        CHECK(same_value(v, plain));
    }
    CHECK(std::isnan(saturate_to(e.type, of_f32(std::nan(""))).f));
    CHECK(saturate_to(e.type, of_f32(HUGE_VAL)).f == largest);
  }
}

TEST_CASE("comparisons, signs of zeros, NaN and infinity") {
  const auto compare = [](Op op, Type t, double a, double b) {
    const Value args[] = {float_value(t, a), float_value(t, b)};
    return evaluate(op, bool_, args)->i != 0;
  };
  for (Type t : {e4m3, e5m2}) {
    CHECK(compare(Op::eq, t, 0.0, -0.0));
    CHECK(compare(Op::lt, t, -1.5, -1.25));
    CHECK(compare(Op::ne, t, std::nan(""), std::nan("")));
    const Value zeros[] = {float_value(t, 0.0), float_value(t, -0.0)};
    CHECK(std::signbit(evaluate(Op::min, t, zeros)->f));
    CHECK_FALSE(std::signbit(evaluate(Op::max, t, zeros)->f));
  }
  CHECK(std::isnan(float_value(e4m3, HUGE_VAL).f));
  CHECK(std::isinf(float_value(e5m2, 1e9).f));
}
