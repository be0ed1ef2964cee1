// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floats. For formats up to f32 the operation is done in f64 and rounded again: with more than twice the bits the second
// rounding changes nothing, and a directed rounding followed by the same one is that one.
#include <cmath>

#include "tests/tileir/executor/run.h"

namespace ashlar::tileir {

namespace {

bool flushes(const Op& op) {
  for (const Field& f : op.info->fields)
    for (std::size_t bit = 0; bit < f.flags.size(); ++bit)
      if (f.flags[bit] == "ftz") return op.flag(static_cast<int>(bit));
  return false;
}

Rounding rounding_of(const Op& op) {
  const int at = op.info->attribute("rounding");
  return at < 0 ? Rounding::kNearestEven : static_cast<Rounding>(op.number(at));
}

// maximum and minimum of IEEE 754-2019, or maximumNumber and minimumNumber: -0 is less than +0.
double extreme(double a, double b, bool most, bool propagate) {
  if (std::isnan(a) || std::isnan(b)) {
    if (propagate || (std::isnan(a) && std::isnan(b))) return std::nan("");
    return std::isnan(a) ? b : a;
  }
  const bool a_less = a < b || (a == b && std::signbit(a) && !std::signbit(b));
  return a_less == most ? b : a;
}

double arithmetic(Code code, double a, double b, bool propagate) {
  switch (code) {
    case Code::kAddF:
      return a + b;
    case Code::kSubF:
      return a - b;
    case Code::kMulF:
      return a * b;
    case Code::kDivF:
      return a / b;
    case Code::kSqrt:
      return std::sqrt(a);
    case Code::kRemF:
      return std::fmod(a, b);
    case Code::kMaxF:
      return extreme(a, b, true, propagate);
    case Code::kMinF:
      return extreme(a, b, false, propagate);
    case Code::kCeil:
      return std::ceil(a);
    default:
      return std::floor(a);
  }
}

}  // namespace

void floats(Run& r, const Op& op) {
  const Tile &x = r.tile(op, 0), &y = op.operands.size() > 1 ? r.tile(op, 1) : x;
  const Kind kind = x.type->element();
  const Code code = op.info->code;
  const u64 sign = u64(1) << (bits_of(kind) - 1);
  const bool ftz = flushes(op), propagate = op.flag(0);
  const Rounding rounding = rounding_of(op);
  lanes(r, op, {&x, &y}, [&](Tile& out, std::size_t n) {
    if (code == Code::kAbsF || code == Code::kNegF) {  // of bits: a NaN keeps its own
      for (std::size_t k = 0; k < n; ++k) out.bits[k] = code == Code::kAbsF ? x.at(k) & ~sign : x.at(k) ^ sign;
      return;
    }
    const HostRounding mode(rounding);
    for (std::size_t k = 0; k < n; ++k) {
      double a = number_of(x.at(k), kind), b = number_of(y.at(k), kind);
      if (ftz) a = flushed(a, kind), b = flushed(b, kind);
      u64 bits = rounded(arithmetic(code, a, b, propagate), kind, rounding);
      if (ftz) bits = rounded(flushed(number_of(bits, kind), kind), kind, rounding);
      out.bits[k] = bits;
    }
  });
}

void fma(Run& r, const Op& op) {
  const Tile &x = r.tile(op, 0), &y = r.tile(op, 1), &z = r.tile(op, 2);
  const Kind kind = x.type->element();
  const bool ftz = flushes(op);
  const Rounding rounding = rounding_of(op);
  lanes(r, op, {&x, &y, &z}, [&](Tile& out, std::size_t n) {
    for (std::size_t k = 0; k < n; ++k) {
      double a = number_of(x.at(k), kind), b = number_of(y.at(k), kind), c = number_of(z.at(k), kind);
      if (ftz) a = flushed(a, kind), b = flushed(b, kind), c = flushed(c, kind);
      const double sum = fused(a, b, c, kind, rounding);
      const HostRounding mode(rounding);
      u64 bits = rounded(sum, kind, rounding);
      if (ftz) bits = rounded(flushed(number_of(bits, kind), kind), kind, rounding);
      out.bits[k] = bits;
    }
  });
}

void compare_floats(Run& r, const Op& op) {
  const Tile &x = r.tile(op, 0), &y = r.tile(op, 1);
  const Kind kind = x.type->element();
  const u64 predicate = op.number(0);
  const bool ordered = op.number(1) != 0;
  lanes(r, op, {&x, &y}, [&](Tile& out, std::size_t n) {
    for (std::size_t k = 0; k < n; ++k) {
      const double a = number_of(x.at(k), kind), b = number_of(y.at(k), kind);
      const bool holds[] = {a == b, a < b || a > b, a<b, a <= b, a> b, a >= b};
      const bool apart = std::isnan(a) || std::isnan(b);
      out.bits[k] = (apart ? !ordered : holds[predicate]) ? 1 : 0;
    }
  });
}

namespace {

double function_of(Code code, double a, double b) {
  switch (code) {
    case Code::kExp:
      return std::exp(a);
    case Code::kExp2:
      return std::exp2(a);
    case Code::kLog:
      return std::log(a);
    case Code::kLog2:
      return std::log2(a);
    case Code::kSin:
      return std::sin(a);
    case Code::kCos:
      return std::cos(a);
    case Code::kTan:
      return std::tan(a);
    case Code::kSinh:
      return std::sinh(a);
    case Code::kCosh:
      return std::cosh(a);
    case Code::kTanh:
      return std::tanh(a);
    case Code::kRsqrt:
      return 1.0 / std::sqrt(a);
    case Code::kAtan2:
      return std::atan2(a, b);
    default:
      return std::pow(a, b);
  }
}

}  // namespace

void mathematics(Run& r, const Op& op) {
  const Tile &x = r.tile(op, 0), &y = op.operands.size() > 1 ? r.tile(op, 1) : x;
  const Kind kind = x.type->element(), exponent = y.type->element();
  const Code code = op.info->code;
  const bool ftz = flushes(op);
  lanes(r, op, {&x, &y}, [&](Tile& out, std::size_t n) {
    for (std::size_t k = 0; k < n; ++k) {
      double a = number_of(x.at(k), kind);
      if (ftz) a = flushed(a, kind);
      const double b =
          is_integer(exponent) ? static_cast<double>(signed_of(y.at(k), bits_of(exponent))) : number_of(y.at(k), exponent);
      u64 bits = rounded(function_of(code, a, b), kind, Rounding::kNearestEven);
      if (ftz) bits = rounded(flushed(number_of(bits, kind), kind), kind, Rounding::kNearestEven);
      out.bits[k] = bits;
    }
  });
}

}  // namespace ashlar::tileir
