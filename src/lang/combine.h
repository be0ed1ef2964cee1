// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Combiners that users name (Combine::add) as operators, and as reducers of one value.
#include <ashlar/ir/program.h>
#include <ashlar/lang/reduce.h>

namespace ashlar::lang {

inline bool combines_bits(Combine c) { return c == Combine::bit_or || c == Combine::bit_and || c == Combine::bit_xor; }
ir::Op op_of(Combine);
ir::Reducer reducer_of(Combine, Type);

}  // namespace ashlar::lang
