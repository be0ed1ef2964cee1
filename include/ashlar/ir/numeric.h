// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The arithmetic of single values: the definition of every operator, used by constant folding and the interpreter and, as a
// specification, by every back end. docs/ir.md describes it in prose; nothing here is undefined.
//
//   evaluate(Op::div, i32, {i32: -7, i32: 2})   is i32: -4     (floor)
//   evaluate(Op::div, i32, {i32: 5, i32: 0})    is i32: 0
//   convert(u8, f32: 300.7)                     is u8: 255     (truncates, then saturates; NaN gives 0)
//
// Invariants of a Value: it has one lane; a signed integer is sign-extended, an unsigned one zero-extended (u64 keeps its 64
// bits), bool is 0 or 1, index any int64; a float of any type is a double that its type represents exactly.
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <ashlar/ir/expr.h>

namespace ashlar::ir {

struct Value {
  Type type;
  union {
    std::int64_t i = 0;
    double f;
  };
};

Value int_value(Type, std::int64_t);  // integers, index, bool: wrapped to the type (bool: not zero)
Value float_value(Type, double);      // any float type: rounded to it, nearest even, once
std::int64_t wrap_to(Type, std::int64_t);
double round_to(Type, double);         // nearest even, straight from the double; overflow gives infinity (e4m3: NaN)
Value value_of(const Expr& constant);  // of an int_const or float_const; InternalError for anything else

// The result of `op` on values that already have the required types. Empty for leaves and vectors (int_const, var, load, ramp,
// broadcast) and if an index leaves 63 bits. Math functions are evaluated through their expansion (math.h).
std::optional<Value> evaluate(Op op, Type result, std::span<const Value> args);

Value convert(Type to, const Value&);                    // Op::cast
Value saturate_to(Type to, const Value&);                // Op::saturate
std::int64_t floor_div(std::int64_t a, std::int64_t b);  // a / 0 = 0; INT64_MIN / -1 wraps
std::int64_t floor_mod(std::int64_t a, std::int64_t b);  // a % 0 = 0
std::int64_t lowest_of(Type);                            // smallest and largest value of an integer type, as in Value::i
std::int64_t highest_of(Type);
double highest_real(Type);  // of a float type: infinity, and 448 for e4m3, which has none

// Bits in memory: little endian, type.bytes() bytes. A NaN keeps no payload.
std::uint64_t to_bits(const Value&);
Value from_bits(Type, std::uint64_t);
Value read_value(Type, const void* at);
void write_value(void* at, const Value&);

std::uint16_t f16_bits(float);  // nearest even
float f16_value(std::uint16_t bits);
std::uint16_t bf16_bits(float);  // nearest even
float bf16_value(std::uint16_t bits);

bool same_value(const Value&, const Value&);  // same type and bits; all NaNs are the same; -0 and +0 are not
std::string text(const Value&);               // "-3", "1.5", "nan", "true"; shortest text that reads back exactly

}  // namespace ashlar::ir
