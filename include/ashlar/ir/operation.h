// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The table of operators: one row for each, with everything known about it. docs/ir.md says what operators compute, and
// evaluate (ir/numeric.h) computes it: the operators of plain arithmetic itself, the others by their rows. The name, number of
// operands, class and cost of an operator come from here; no code tests ranges of the enumeration.
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

// The types of the operands. All have as many lanes as the result.
enum class Takes : std::uint8_t {
  own,    // the result's type
  pair,   // one type, whichever; the result is bool
  real,   // a float; the result is bool
  bools,  // bool, which the result is too
  any,    // any type
  count,  // the result's type, and any integer
  other,  // what analysis/verify says
};

// The neutral element: op(number, x) is x, and so is op(x, number) if the operator commutes.
enum class Neutral : std::uint8_t {
  none,
  zero,
  one,
  ones,    // all bits; true
  lowest,  // of the type: minus infinity, or the lowest number if it has none
  highest,
};

// The lowest and the highest value that an integer may have.
struct Interval {
  std::int64_t low, high;
};

// An operator applied to operands that have already been expanded.
struct Applied {
  Op op;
  Type type;  // of the result
  std::span<const Expr> args;
  Where where;
  // Ranges of the operands, where they are known.
  std::array<std::optional<Interval>, 2> values = {};
  bool subnormals = true;  // products of floats do not treat subnormal operands as zero
};

struct Operation {
  struct Laws {
    double cost = 1;                            // of one lane, relative to an addition
    int work = 0;                               // how many operations on data reports count it as
    bool commutes = false;                      // op(a, b) is op(b, a)
    bool regroups = false;                      // op(op(a, b), c) is op(a, op(b, c)), to the bit, on data integers
    Neutral neutral = Neutral::none;            // the start of a reduction by it
    bool may_trap = false;                      // traps on some integers, so inactive lanes must not compute it
    bool pure = true;                           // depends only on its operands, not on memory or on where it is evaluated
    const char* sign = "";                      // the infix symbol, if it has one
    int binds = 0;                              // the precedence of that symbol
    Expr (*spelled)(const Applied&) = nullptr;  // the expansion into other operators; empty if there is none
    Value (*meaning)(std::span<const Value>) = nullptr;  // of its operands; empty if evaluate has a case for the operator
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

// The neutral element of an operator that has one, and of a built-in reducer.
enum class ReducerKind;
Expr identity_of(Op, Type);
Expr identity_of(ReducerKind, Type);

inline bool is_function(Op op) { return operation(op).kind == Kind::function; }
// Whether operators of this kind map numbers, including floats, to numbers of the same type.
inline bool computes_reals(Kind k) { return k == Kind::arithmetic || k == Kind::rounding || k == Kind::function; }

// The expansion into other operators, which may have expansions themselves; empty if there is none for these types. Arithmetic
// on narrow floats is computed in f32 and rounded once.
Expr expanded(const Applied&);
Expr expanded(const Expr&);

}  // namespace ashlar::ir
