// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The table of operators: what is known of each beside its meaning, in one row. docs/ir.md says what they compute,
// ir/numeric.h computes it; who asks for a name, a number of operands, a class or a cost asks here, and nobody tests ranges of
// the enumeration.
//
//   operation(Op::add)    {add, "add", 2, Kind::arithmetic, Takes::own, {.work = 1, .commutes = true, …}}
//   expanded(e)           halving_add(x, y) as (x & y) + ((x ^ y) >> 1); empty where it stays what it is
#include <array>
#include <optional>
#include <span>

#include <ashlar/ir/numeric.h>

namespace ashlar::ir {

enum class Kind : std::uint8_t {
  leaf,         // constants, variables, loads
  arithmetic,   // of numbers: sums, products, quotients, minima, roots
  rounding,     // to whole numbers
  function,     // exp, sin, pow, …: polynomials on every machine, fast forms included
  conversion,   // between types
  bits,         // digits of integers
  shift,        // a value and a count
  fixed_point,  // of data integers: what would need one more bit, or twice the bits
  test,         // of one float
  comparison,
  logic,
  choice,
  promise,  // its first operand: rare, in_range
  call,
  lanes,  // vectors: ramp, broadcast
};

// What types the operands have. The lanes of all are those of the result.
enum class Takes : std::uint8_t {
  own,    // the result's type
  pair,   // one type, whichever; the result is bool
  real,   // a float; the result is bool
  bools,  // bool, which the result is too
  any,    // any type
  count,  // the result's type, and any integer
  other,  // what analysis/verify says
};

// The number of a type that changes nothing: op(number, x) is x, and op(x, number) too where the operator commutes.
enum class Neutral : std::uint8_t {
  none,
  zero,
  one,
  ones,    // all bits; true
  lowest,  // of the type: minus infinity, or the lowest number where it has none
  highest,
};

// The least and the largest number that an integer may be.
struct Interval {
  std::int64_t low, high;
};

// An operator on operands that are expanded already.
struct Applied {
  Op op;
  Type type;  // of the result
  std::span<const Expr> args;
  Where where;
  // Of the operands, where it is known what they may be.
  std::array<std::optional<Interval>, 2> values = {};
  bool subnormals = true;  // a product of floats takes subnormal operands for what they are
};

struct Operation {
  struct Laws {
    double cost = 1;                  // of one lane, beside an addition
    int work = 0;                     // operations on data that reports count it as
    bool commutes = false;            // op(a, b) is op(b, a)
    bool regroups = false;            // op(op(a, b), c) is op(a, op(b, c)), to the bit, on data integers
    Neutral neutral = Neutral::none;  // what a reduction by it begins with
    bool may_trap = false;            // machines take exception to some integers: a lane that is not there computes nothing
    bool pure = true;                 // its operands alone say what it is; else memory, or the place, has a say
    const char* sign = "";            // between operands, where it is written so
    int binds = 0;                    // how tightly, then
    Expr (*spelled)(const Applied&) = nullptr;  // by other operators; empty where it stays what it is
  };
  Op op;
  const char* name;
  int operands;  // or `any_number`
  Kind kind;
  Takes takes;
  Laws laws = {};

  static constexpr int any_number = -1;
};

std::span<const Operation> operations();  // all of them, in the order of the enumeration
const Operation& operation(Op);

constexpr bool is_narrow(Type t) { return t.is_float() && t.bits < 32; }  // f16, bf16 and the 8-bit floats

// The neutral number of an operator that has one, and of a reducer that is one.
enum class ReducerKind;
Expr identity_of(Op, Type);
Expr identity_of(ReducerKind, Type);

inline bool is_function(Op op) { return operation(op).kind == Kind::function; }
// What takes numbers to numbers of their type, floats included.
inline bool computes_reals(Kind k) { return k == Kind::arithmetic || k == Kind::rounding || k == Kind::function; }

// By other operators, which may have expansions themselves; empty where it has none on operands of these types. Arithmetic on
// narrow floats is that of f32, rounded once.
Expr expanded(const Applied&);
Expr expanded(const Expr&);

}  // namespace ashlar::ir
