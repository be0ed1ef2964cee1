// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Where the index arithmetic of a kernel's launches is right in 32 bits, and for which arguments. An index is a number of 64
// bits, which devices compute by two instructions of 32, and whose quotients they call functions for.
//
//   sums, differences, products   are right modulo 2^32 whatever their operands are
//   an address of an argument     counts modulo 2^32, as it lies in its tensor, and the tensor reaches less far than that
//   a comparison, a minimum, a
//   quotient, a bound of a loop   asks for its operands themselves: they are *exact*, and fit into 32 bits with a sign
//
// What is exact is shown to fit by its range, with Symbols of at most 2^31 - 2^16. Where numbers show nothing, the ends of the
// range as expressions over Symbols and strides go into the condition:
//
//   if block * 256 + thread < M * N      M <= 2^31 - 2^16 && N <= 2^31 - 2^16 && (M * N + 255) / 256 * 256 <= 2^31
//
// What cannot be bounded, or would ask for what never holds, is not exact: it is computed in 64 bits.
#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include <ashlar/ir/build.h>
#include <ashlar/ir/kernel.h>

namespace ashlar::analysis {

struct NarrowIndices {
  struct Range {
    std::int64_t low = 0, high = 0;  // inclusive; as far as numbers tell, else of the width
  };
  // Over Symbols and strides. Evaluated in 64 bits; where that leaves them, it does not hold. true: always; false: never.
  Expr condition;
  // The same in parts, none where it is true or false.
  struct Condition {
    enum class About { extent, stride, reach, values } about = About::values;
    ir::Id id = 0;          // extent: the Symbol; stride: of the buffer; reach: the buffer
    std::int64_t most = 0;  // extent, reach: the largest that is allowed; of a reach in elements from the first one
    Expr holds;
  };
  std::vector<Condition> conditions;
  // Expressions that something asks for exactly, and whose values fit while the condition holds. Others may not fit.
  std::unordered_map<Expr, Range, ir::ExprHash, ir::ExprSame> exact;
  // Buffers whose addresses are exact: how far they reach is not known, or elements share bytes in them.
  std::set<ir::Id> far;
  bool whole = true;  // everything that must be exact fits

  std::optional<Range> range(const Expr&) const;
};

// How far addresses stay from the ends of the width. Numbers of up to half of it may be added to them outside.
std::int64_t slack_of_addresses(int bits = 32);
bool stays_outside(const Expr& address, std::int64_t* distance, int bits = 32);  // address = its first operand + distance

// Fewer bits than 32 are for tests, in which small extents are too large then. `reach`: in what 2^31 of tensors and workspaces
// are counted, elements where a device multiplies by their size in 64 bits.
enum class Reach { elements, bytes };
NarrowIndices narrow_indices(const ir::Kernel&, int bits = 32, Reach reach = Reach::elements);

// The finished kernel as a device computes it with such indices, for the interpreter: what is not exact wraps.
ir::Kernel with_narrow_indices(const ir::Kernel&, const NarrowIndices&, int bits);

}  // namespace ashlar::analysis
