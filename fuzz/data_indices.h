#pragma once
// Indices computed from data in the data's own type, so that their bounds are those of arithmetic that does not wrap:
// clamp(x, 3, 9) - 3, 5 - clamp(x, 0, 5), u8(clamp(x, 0, 9)) + 7 - 7.
#include "source.h"
#include "texts.h"

namespace fuzz {

// A value of an integer type from `low` to `low + room` at most; `other` is data of the same type.
inline Text arithmetic_of_data(Source& s, const Text& data, const Text& other, int low, std::int64_t room) {
  const int w = static_cast<int>(std::min<std::int64_t>(room, 20)), c = s.between(0, 5);
  const auto n = [](int v) { return std::to_string(v); };
  const auto clamped = [&](const Text& x, int lo, int hi) {
    return Text{clamp(Operand(x.e), Operand(lo), Operand(hi)), "clamp(" + x.s + ", " + n(lo) + ", " + n(hi) + ")"};
  };
  Text r;
  switch (s.pick(6)) {
    case 0: {
      const Text k = clamped(data, c, c + w);
      r = {k.e - c, k.s + " - " + n(c)};
      break;
    }
    case 1: {
      const Text k = clamped(data, c, c + w);
      r = {c + w - k.e, n(c + w) + " - " + k.s};
      break;
    }
    case 2: {
      const Text k = clamped(data, 0, w);
      const int q = s.between(1, 4);
      r = {k.e / q * q, k.s + " / " + n(q) + " * " + n(q)};
      break;
    }
    case 3: {
      if (w == 0) return arithmetic_of_data(s, data, other, low, 0);
      const Text k = clamped(data, 0, (w - 1) / 2), odd = clamped(other, 0, 1);
      r = {k.e * 2 + odd.e, k.s + " * 2 + " + odd.s};
      break;
    }
    case 4:
      r = {max(Operand(data.e), Operand(0)) % (w + 1), "max(" + data.s + ", 0) % " + n(w + 1)};
      break;
    default: {
      static const std::vector<Type> to{u8, i8, i16, u16, i32, u32, i64, u64};
      const Text k = clamped(data, 0, w);
      const Type t = s.of(to);
      r = {t(k.e) + c - c, std::string(name_of(t)) + "(" + k.s + ") + " + n(c) + " - " + n(c)};
    }
  }
  if (low < 0 && r.type().is_unsigned()) r = {i32(r.e), "i32(" + r.s + ")"};
  if (low != 0) r = low > 0 ? Text{r.e + low, r.s + " + " + n(low)} : Text{r.e - -low, r.s + " - " + n(-low)};
  return r;
}

}  // namespace fuzz
