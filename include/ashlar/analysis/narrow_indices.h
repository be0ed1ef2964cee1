// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Decides where the index arithmetic of a kernel's launches is correct in 32 bits, and for which arguments. Indices have 64
// bits; devices need two 32-bit instructions for each operation on them, and a function call for a quotient.
//
//   sums, differences, products   are right modulo 2^32 whatever their operands are
//   an address of an argument     counts modulo 2^32, as it lies in its tensor, and the tensor reaches less far than that
//   a comparison, a minimum, a
//   quotient, a bound of a loop   asks for its operands themselves: they are *exact*, and fit into 32 bits with a sign
//
// Exact values are shown to fit by their range, with Symbols of at most 2^31 - 2^16. If numbers do not show it, the ends of the
// range, as expressions over Symbols and strides, go into the condition:
//
//   if block * 256 + thread < M * N      M <= 2^31 - 2^16 && N <= 2^31 - 2^16 && (M * N + 255) / 256 * 256 <= 2^31
//
// A value that cannot be bounded, or whose condition would never hold, is computed in 64 bits.
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
    std::int64_t low = 0, high = 0;  // inclusive; the limits of the width if numbers give no bound
  };
  // Over Symbols and strides. Evaluated in 64 bits; if that overflows, it does not hold. true: always; false: never.
  Expr condition;
  // The same as separate conditions; empty if it is true or false.
  struct Condition {
    enum class About { extent, stride, reach, values } about = About::values;
    ir::Id id = 0;          // extent: the Symbol; stride: of the buffer; reach: the buffer
    std::int64_t most = 0;  // extent, reach: the largest allowed value; a reach counts elements from the first one
    Expr holds;
  };
  std::vector<Condition> conditions;
  // Expressions whose exact values are needed, and fit while the condition holds. Others may not fit.
  std::unordered_map<Expr, Range, ir::ExprHash, ir::ExprSame> exact;
  // Buffers whose addresses must be exact, because their reach is unknown or elements share bytes.
  std::set<ir::Id> far;
  bool whole = true;  // whether everything that must be exact fits

  std::optional<Range> range(const Expr&) const;
};

// How far addresses stay from the limits of the width. Numbers of up to half of this may be added to them elsewhere.
std::int64_t slack_of_addresses(int bits = 32);
bool stays_outside(const Expr& address, std::int64_t* distance, int bits = 32);  // address = its first operand + distance

// Fewer than 32 bits are for tests, where small extents are then too large. `reach`: whether the limit of 2^31 for tensors and
// workspaces counts bytes, or elements (if a device multiplies by their size in 64 bits).
enum class Reach { elements, bytes };
NarrowIndices narrow_indices(const ir::Kernel&, int bits = 32, Reach reach = Reach::elements);

// The finished kernel as a device computes it with such indices, for the interpreter: values that are not exact wrap.
ir::Kernel with_narrow_indices(const ir::Kernel&, const NarrowIndices&, int bits);

}  // namespace ashlar::analysis
