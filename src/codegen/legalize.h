// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What stands before every back end: operators that its target has no instruction for become others that it has. So a back end
// translates one to one, and an operator is spelled once, in its row of the table (ashlar/ir/operation.h).
//
//   legalize(kernel, {{{Op::add_sat}}})     out[i] = add_sat(a[i], halving_add(b[i], c[i]))      becomes
//                                           out[i] = add_sat(a[i], (b[i] & c[i]) + ((b[i] ^ c[i]) >> 1))
//
// The values are the same to the bit. Ranges (in_range) stay, also those that expansions know of. So does what computes an
// index: back ends look for patterns in it, and what is left they emit on the integers that hold indices (on_integers).
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include <ashlar/ir/kernel.h>
#include <ashlar/ir/operation.h>

namespace ashlar::codegen {

// An operator with an expansion that a target offers all the same, on operands of all types or of some.
// None is needed for operators without an expansion. Arithmetic on narrow floats is f32's unless an offer names them.
struct Offer {
  ir::Op op;
  std::function<bool(Type operand, Type result)> of = {};
  bool narrow = false;  // of narrow floats
};
struct Offers {
  std::vector<Offer> rows;
  bool subnormals = true;  // a product of floats takes subnormal operands for what they are
};

bool offered(const Offers&, ir::Op, Type operand, Type result);
ir::Kernel legalize(ir::Kernel, const Offers&);
Expr legal(const Expr&, const Offers&);  // an expression that is no part of a kernel

// What an operator of indices is on integers of type t, expanded where it can be: operand k is the variable `first` + k, or the
// number that it is.
Expr on_integers(ir::Op, Type t, std::span<const Expr> args, ir::Id first, const Offers&);

// What a data integer of at most 32 bits may be because it is read from a constant: the multipliers and shifts of a quantized
// layer are known when its code is made, so that operators need not provide for operands that do not occur.
class ConstantValues {
 public:
  explicit ConstantValues(const ir::Kernel& k) : k_(k) {}
  std::optional<ir::Interval> of(const Expr&);

 private:
  std::optional<ir::Interval> of_load(const Expr&);

  const ir::Kernel& k_;
  std::map<ir::Id, ir::Interval> tables_;
};

}  // namespace ashlar::codegen
