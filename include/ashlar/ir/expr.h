// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Expressions: immutable, reference-counted trees of one plain node type.
//
//   ir::Node   op, type, payload (a constant, or the id of a variable or buffer), operands, and the source line
//   Expr       a reference-counted handle to a node, which users hold. Copies share the node.
//
// Invariants: a node never changes. Its structural hash (op, type, payload, operands; not the line) is computed once. Equality
// compares pointers, then hashes. Nodes are not hash-consed: two source lines give two nodes. docs/ir.md defines the value of
// every Op.
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <source_location>

#include <ashlar/ir/type.h>

namespace ashlar {

using Where = std::source_location;  // a default argument `Where = Where::current()` records the user's line

namespace detail {
template <class>
inline constexpr bool never = false;
template <class T, class... U>
inline constexpr bool one_of = (std::same_as<T, U> || ...);
template <class T>
void not_assigned() {
  static_assert(never<T>,
                "an element is not assigned: compute(\"C\", {M, N}, [&](Var i, Var j) { return ...; }) defines all of a "
                "tensor at once, sum(x, k) adds up, and a scatter adds to the elements that data choose");
}
}  // namespace detail

template <class T>
concept Number =
    std::floating_point<T> ||
    (std::integral<T> && !detail::one_of<T, char, wchar_t, char8_t, char16_t, char32_t>);  // with bool, without characters

namespace ir {

using Id = std::uint64_t;  // identifies a variable, buffer, stage, loop, ...; 0 is "none"

enum class Op : std::uint8_t {
  // leaves
  int_const,    // payload i: integers, index, bool (0 or 1)
  float_const,  // payload f: any floating-point type, already rounded to it
  var,          // payload id, name: loop and iteration variables, symbols, scalars, lets
  load,         // payload id: a buffer. args: one index for each dimension. Lowered: one flat element address [, mask]
  // one operand
  neg,
  bit_not,
  logic_not,
  cast,
  saturate,
  bitcast,
  abs,
  sqrt,
  rsqrt,
  cbrt,
  exp,
  exp2,
  expm1,
  log,
  log2,
  log1p,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  erf,
  erfc,
  sigmoid,  // 1 / (1 + exp(-x))
  // Fast forms: cheaper, with larger error bounds; also the same bits everywhere (docs/ir.md, "Math functions").
  fast_rsqrt,
  fast_exp,
  fast_exp2,
  fast_expm1,
  fast_log,
  fast_log2,
  fast_sin,
  fast_cos,
  fast_tan,
  fast_tanh,
  fast_erf,
  fast_sigmoid,
  approximate_exp2,  // 2^x, f32: within a bound; a target may use its own instruction (docs/ir.md, "Approximations")
  floor,
  ceil,
  round,
  trunc,
  isnan,
  isinf,
  popcount,
  clz,
  ctz,
  rare,  // of a bool: the bool. As the condition of a select: the first arm may be branched around
  // two operands
  add,
  sub,
  mul,
  div,  // integers: rounds down; floats: IEEE
  mod,  // integers: the remainder of div; floats: x - floor(x / y) * y
  trunc_div,
  trunc_rem,
  min,
  max,
  bit_and,
  bit_or,
  bit_xor,
  shl,
  shr,
  pow,
  fast_pow,
  atan2,
  copysign,
  rounding_shr,
  mul_high_rounding,
  mul_high,  // the upper half of the exact product
  add_sat,   // clamps to the range of the type
  sub_sat,
  halving_add,           // floor((a + b) / 2)
  rounding_halving_add,  // floor((a + b + 1) / 2)
  halving_sub,           // floor((a - b) / 2), wraps
  abs_diff,              // |a - b|, in the unsigned type of the same width
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  logic_and,
  logic_or,
  // three operands
  select,  // the other arm is not evaluated
  fma,
  in_range,  // value, low, high: the value; promises low <= value < high
  // any number of operands
  call,  // payload id: a C function (ir/function.h), name: its symbol
  // vectors, only after lowering
  ramp,       // base, stride: base + lane * stride; type.lanes lanes
  broadcast,  // one scalar in every lane
};

struct Node {
  mutable std::uint32_t refs;
  Op op;
  Type type;
  std::uint32_t count;  // the number of operands
  std::uint64_t hash;
  union {
    std::int64_t i;
    double f;
    Id id;
  };
  const char* name;  // of var, load, call: an interned name for printing; otherwise null
  Where where;
  const Expr* args;  // `count` of them, stored behind the node
};

}  // namespace ir

class Expr {
 public:
  Expr() = default;  // empty; using it is refused
  // Explicit, because a number alone has no type: otherwise max(x, 0) would select max(Expr, Expr) and make 0 an i32.
  template <Number T>
  explicit Expr(T value, Where where = Where::current())  // with its C++ type
      : Expr(of_number(value, where)) {}
  Expr(const Expr&);
  Expr(Expr&& other) noexcept : node_(other.node_) { other.node_ = nullptr; }
  Expr& operator=(const Expr&) &;
  Expr& operator=(Expr&& other) & noexcept;
  template <Number T>
  Expr& operator=(T) & {
    static_assert(detail::never<T>, "a number has no type until it meets an Expr: write e = Expr(0.f), or e = f32(0)");
    return *this;
  }
  template <class T>
  void operator=(const T&) && {
    detail::not_assigned<T>();
  }
  ~Expr() {
    if (node_) drop();
  }
  Type type() const;  // refused on an empty Expr
  const ir::Node* node() const { return node_; }
  bool empty() const { return node_ == nullptr; }
  // Takes over one reference to `node`, for the builders of ir/build.h.
  static Expr adopt(const ir::Node* node) {
    Expr e;
    e.node_ = node;
    return e;
  }
  template <std::same_as<bool> B>
  explicit operator B() const {
    static_assert(detail::never<B>,
                  "an Expr has no value while the program is being built: use select(c, a, b) for a choice "
                  "made by the kernel (and ashlar::min, max or clamp, not std::), a Param for a choice made by "
                  "the generator");
    return false;
  }
  template <Number T>
    requires(!std::same_as<T, bool>)
  explicit operator T() const {
    static_assert(detail::never<T>,
                  "an Expr has no value while the program is being built: its conversion to another type is "
                  "written with the type's name, f32(x), u8(x)");
    return {};
  }

 private:
  template <Number T>
  static Expr of_number(T value, Where where) {
    if constexpr (std::same_as<T, bool>)
      return integer(bool_, value, where);
    else if constexpr (std::floating_point<T>)
      return real(sizeof(T) == 4 ? f32 : f64, static_cast<double>(value), where);
    else
      return integer({std::signed_integral<T> ? Type::Code::signed_ : Type::Code::unsigned_, sizeof(T) * 8},
                     static_cast<std::int64_t>(value), where);
  }
  void drop() const;  // releases the reference
  static Expr integer(Type, std::int64_t, Where);
  static Expr real(Type, double, Where);

  const ir::Node* node_ = nullptr;
};

}  // namespace ashlar
