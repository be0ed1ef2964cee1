// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/meanings.h"

#include <ashlar/ir/operation.h>

#include "ir/wide.h"

namespace ashlar::ir::exact {

namespace {

Value wrapped(Type t, Wide x) { return int_value(t, static_cast<std::int64_t>(static_cast<std::uint64_t>(x))); }

// Products of u64 need all 128 bits.
__extension__ typedef unsigned __int128 UWide;
bool is_word(Type t) { return t.is_unsigned() && t.bits == 64; }
UWide product_of_words(std::span<const Value> v) {
  return static_cast<UWide>(static_cast<std::uint64_t>(v[0].i)) * static_cast<std::uint64_t>(v[1].i);
}
Value of_word(Type t, UWide x) { return int_value(t, static_cast<std::int64_t>(static_cast<std::uint64_t>(x))); }

}  // namespace

Value add_sat(std::span<const Value> v) { return clamped(v[0].type, wide(v[0]) + wide(v[1])); }
Value sub_sat(std::span<const Value> v) { return clamped(v[0].type, wide(v[0]) - wide(v[1])); }
Value halving_add(std::span<const Value> v) { return wrapped(v[0].type, (wide(v[0]) + wide(v[1])) >> 1); }
Value rounding_halving_add(std::span<const Value> v) { return wrapped(v[0].type, (wide(v[0]) + wide(v[1]) + 1) >> 1); }
Value halving_sub(std::span<const Value> v) { return wrapped(v[0].type, (wide(v[0]) - wide(v[1])) >> 1); }
Value abs_diff(std::span<const Value> v) {
  const Wide x = wide(v[0]), y = wide(v[1]);
  return wrapped(Type{Type::Code::unsigned_, v[0].type.bits}, x < y ? y - x : x - y);
}

Value mul_high(std::span<const Value> v) {
  const Type t = v[0].type;
  if (is_word(t)) return of_word(t, product_of_words(v) >> 64);
  return int_value(t, static_cast<std::int64_t>((wide(v[0]) * wide(v[1])) >> t.bits));
}

Value mul_high_rounding(std::span<const Value> v) {
  const Type t = v[0].type;
  if (is_word(t)) return of_word(t, (product_of_words(v) >> 64) + ((product_of_words(v) >> 63) & 1));
  const Wide product = wide(v[0]) * wide(v[1]);
  const int shift = t.is_unsigned() ? t.bits : t.bits - 1;
  const Wide rounded = (product + (static_cast<Wide>(1) << (shift - 1))) >> shift;
  const Wide high = static_cast<Wide>(highest_of(t));
  return int_value(t, static_cast<std::int64_t>(!t.is_unsigned() && rounded > high ? high : rounded));
}

}  // namespace ashlar::ir::exact
