// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Types of values. A Type is a small value: a code, a width in bits, and lanes ({n, scalable}).
//
//   f32            a 32-bit IEEE float            Type{Type::Code::ieee, 32}
//   f32(x)         converts x to an Expr of f32   (docs/ir.md, "Conversions")
//
// `index` (Code::index) is the type of loop variables, extents and subscripts: a mathematical integer. It has no C++ name,
// because users never write it.
#include <cstdint>

namespace ashlar {

class Expr;
class Operand;

struct Type {
  enum class Code : std::uint8_t { signed_, unsigned_, ieee, bfloat, boolean, e4m3, e5m2, handle, index };
  Code code = Code::handle;
  std::uint8_t bits = 0;
  std::uint16_t lanes = 1;
  bool scalable = false;  // the number of lanes is a multiple of the hardware's vector length
  friend constexpr bool operator==(Type, Type) = default;
  Expr operator()(Operand value) const;  // converts: f32(x)

  constexpr bool is_index() const { return code == Code::index; }
  constexpr bool is_bool() const { return code == Code::boolean; }
  constexpr bool is_signed() const { return code == Code::signed_; }
  constexpr bool is_unsigned() const { return code == Code::unsigned_; }
  constexpr bool is_integer() const { return is_signed() || is_unsigned() || is_index(); }  // bool is not an integer
  constexpr bool is_data_integer() const { return is_signed() || is_unsigned(); }
  constexpr bool is_float() const {
    return code == Code::ieee || code == Code::bfloat || code == Code::e4m3 || code == Code::e5m2;
  }
  constexpr bool is_packed() const { return is_data_integer() && bits < 8; }          // i4, u4: two to a byte in arguments
  constexpr int bytes() const { return code == Code::boolean ? 1 : (bits + 7) / 8; }  // of one lane, in memory
  constexpr Type with_lanes(int n) const { return {code, bits, static_cast<std::uint16_t>(n), scalable}; }
  constexpr Type element() const { return {code, bits, 1, false}; }
};

inline constexpr Type i4{Type::Code::signed_, 4}, i8{Type::Code::signed_, 8}, i16{Type::Code::signed_, 16},
    i32{Type::Code::signed_, 32}, i64{Type::Code::signed_, 64}, u4{Type::Code::unsigned_, 4}, u8{Type::Code::unsigned_, 8},
    u16{Type::Code::unsigned_, 16}, u32{Type::Code::unsigned_, 32}, u64{Type::Code::unsigned_, 64}, f16{Type::Code::ieee, 16},
    f32{Type::Code::ieee, 32}, f64{Type::Code::ieee, 64}, bf16{Type::Code::bfloat, 16}, e4m3{Type::Code::e4m3, 8},
    e5m2{Type::Code::e5m2, 8}, bool_{Type::Code::boolean, 1};

namespace ir {
inline constexpr Type index_type{Type::Code::index, 64};
}

}  // namespace ashlar
