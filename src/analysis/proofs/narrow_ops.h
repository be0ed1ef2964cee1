// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What an operator on indices asks of operands in fewer bits.
#include "analysis/nodes.h"

namespace ashlar::analysis {

// Is the result modulo 2^bits that of the operands modulo 2^bits? (Of a select: of its arms.)
inline bool counts_modulo(Op op) {
  switch (op) {
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::ramp:
    case Op::broadcast:
    case Op::select:
    case Op::bit_and:
    case Op::bit_or:
    case Op::bit_xor:
      return true;
    default:
      return false;
  }
}

inline bool divides(Op op) { return op == Op::div || op == Op::mod || op == Op::trunc_div || op == Op::trunc_rem; }
// The operands must fit: it tells larger from smaller, or divides.
inline bool compares_values(Op op) { return op == Op::min || op == Op::max || divides(op); }
inline bool passes_on(Op op) { return op == Op::in_range || op == Op::rare; }  // its first operand

}  // namespace ashlar::analysis
