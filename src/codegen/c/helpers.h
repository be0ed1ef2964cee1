// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The functions that emitted C calls where C has no operator for what the IR means: arithmetic that wraps, conversions that
// clamp. (Operators with an expansion are written from it: spelled.cpp.)
//
//   Helpers h;
//   h.binary(Op::add, i32)       == "add_i32"      and the file gets: static inline int32_t add_i32(int32_t a, int32_t b) ...
//   h.convert(u8, f32)           == "u8_from_f32"
//
// Invariant: a file holds the helpers that something in it calls, each behind those that it calls itself, and no others.
// Values in C: index is int64_t, bool is bool, f16 and bf16 are uint16_t, the 8-bit floats and u4 uint8_t, i4 is int8_t.
#include <map>
#include <string>
#include <vector>

#include <ashlar/ir/build.h>
#include <ashlar/ir/operation.h>

namespace ashlar::codegen::c {

std::string value_type(Type);             // of a value: "int32_t", "bool"; lanes are left out
std::string memory_type(Type);            // of an element in memory: bool is uint8_t
std::string key(Type);                    // "i32", "f16"; index is i64
std::string real_text(double, int bits);  // a literal that reads back exactly: "0.5f", "-INFINITY", "(double)NAN"

class Helpers {
 public:
  // Names of functions. Of types that have one lane, or whose lanes do not matter.
  std::string negative(Type);               // integers
  std::string binary(ir::Op, Type);         // add, sub, mul of integers
  std::string convert(Type to, Type from);  // what a cast in C does not say
  std::string bits_of(Type);                // (float) -> uint32_t
  std::string from_bits(Type);              // (uint32_t) -> float
  std::string load(Type), store(Type);      // through bytes: (const void *), (void *, T)
  std::string load_packed(Type);            // (const uint8_t *, int64_t element)
  std::string atomic(ir::Op, Type,
                     const std::string& combined);  // (T *, T); `combined`: of `old` and `v`, where C has no atomic
  std::string checked(ir::Op);                      // (int64_t, int64_t, bool *overflow): add, sub, mul
  std::string named(const std::string& name);       // one of those that entries use: "at_least_one", "span", ...
  std::string prefetch();                           // (const void *)
  void math() { math_ = true; }                     // the file needs <math.h>

  bool uses_math() const { return math_; }
  bool uses_atomics() const { return atomics_; }
  void atomics() { atomics_ = true; }
  std::string text() const;  // all that were asked for
  bool defines(const std::string& name) const { return known_.count(name) != 0; }
  std::string define(const std::string& name, const std::string& text);

 private:
  std::string of(const std::string& name, Type, const char* pattern);
  std::string clamp(Type to, Type from);

  std::map<std::string, bool> known_;
  std::string text_;
  bool math_ = false, atomics_ = false;
};

// How `x`, a value of type `from`, is converted: casts where C means the same, helpers elsewhere.
std::string converted(Helpers&, Type to, Type from, const std::string& x);

}  // namespace ashlar::codegen::c
