// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Recurrences: stages that read their own results of earlier steps.
//
//   y(r, t) = select(t < 1, x(r, t), a * x(r, t) + b * y(r, t - 1))      along {1}; reads itself 0 rows and 1 step back
//   u(k, i) = ... u(k, i - 1) + u(k - 1, i + 1) ...                      along {0, 1}; {0, 1} back, and {1, -1}
//
// Invariant: in the dimensions that the recurrence runs along, slowest first, every such read lies before its reader: the first
// nonzero distance is a positive constant. In all later dimensions it may lie anywhere.
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <ashlar/ir/program.h>

namespace ashlar::ir {

// index = var - n; empty if n is not a constant.
std::optional<std::int64_t> distance_before(const Expr& index, Id var);

struct SelfRead {
  Expr load;
  // How many steps before its reader it lies, in each dimension and in that dimension's direction; empty if not constant.
  std::vector<std::optional<std::int64_t>> back;
  // A lower bound on that number; empty if none is known.
  std::vector<std::optional<std::int64_t>> least;
  // The load for any point that is computed in a step, and the bounds and conditions that hold there. A stage inside the
  // recurrence is computed for a box, so its other indices have their own variables.
  Expr computed;
  std::vector<Expr> known;
};
std::vector<SelfRead> self_reads(const Stage&);
// Also includes reads of itself through the stages inside it, at the points that it reads them for.
std::vector<SelfRead> self_reads(const Program&, const Stage&);

// The stages inside a recurrence, computed between its steps: those that it reads and that read it, directly or indirectly.
//
//   gates(t, j) = sum over k of h(t - 1, k) * W(k, j)      h(t, j) = select(t < 1, 0, tanh(gates(t, j)))      gates is inside
//   of h
std::vector<Id> stages_inside(const Program&, const Stage&);
// The recurrence around each such stage.
std::map<Id, Id> recurrences_around(const Program&);

// Whether the read lies before its reader if loops over these dimensions are nested in this order, outermost first.
bool lies_before(const SelfRead&, std::span<const std::size_t> dimensions);

// Whether the element is known to lie in the domain of the stage, in this dimension.
bool is_inside(const Stage&, const SelfRead&, std::size_t dimension);

// A read that is not known to lie before its reader: what was expected, what was found, and if any were found, values of the
// variables at which it lies in the same step or in a later one.
struct Unordered {
  std::string expected, found, conflict;
};
std::optional<Unordered> unordered(const Stage&, const SelfRead&);

// The order of the iteration variables as loops, outermost first: the order of definition if all self reads then lie before
// their readers, otherwise first the dimensions that the recurrence runs along.
std::vector<std::size_t> loop_order(const Stage&);
std::vector<std::size_t> loop_order(const Program&, const Stage&);

}  // namespace ashlar::ir
