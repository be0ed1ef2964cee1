// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Recurrences: stages that read what they computed in earlier steps.
//
//   y(r, t) = select(t < 1, x(r, t), a * x(r, t) + b * y(r, t - 1))      along {1}; reads itself 0 rows and 1 step back
//   u(k, i) = ... u(k, i - 1) + u(k - 1, i + 1) ...                      along {0, 1}; {0, 1} back, and {1, -1}
//
// Invariant: along the dimensions it runs along, slowest first, every such read lies before its reader: the first distance that
// is not 0 is a positive constant. In all dimensions behind that one it may lie anywhere.
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
  // How many steps before its reader it lies, in each dimension and in its direction; empty if that is not a constant.
  std::vector<std::optional<std::int64_t>> back;
  // How many it lies before it at least, wherever it is read; nothing where no bound is known.
  std::vector<std::optional<std::int64_t>> least;
  // The same for any point that is computed in a step, and what holds there: bounds and conditions on the way to it. What a
  // stage inside of the recurrence is computed for is a box, so its other indices have variables of their own.
  Expr computed;
  std::vector<Expr> known;
};
std::vector<SelfRead> self_reads(const Stage&);
// What it reads of itself through the stages inside of it as well, at the points that it reads them for.
std::vector<SelfRead> self_reads(const Program&, const Stage&);

// The stages that are computed inside of a recurrence, between its steps: those that it reads and that read it, directly or
// not.
//
//   gates(t, j) = sum over k of h(t - 1, k) * W(k, j)      h(t, j) = select(t < 1, 0, tanh(gates(t, j)))      gates is inside
//   of h
std::vector<Id> stages_inside(const Program&, const Stage&);
// The recurrence that each such stage is inside of.
std::map<Id, Id> recurrences_around(const Program&);

// Does the read lie before its reader, where loops over these dimensions stand in this order, the outermost first?
bool lies_before(const SelfRead&, std::span<const std::size_t> dimensions);

// Is the element known to lie in the domain of the stage, in this dimension?
bool is_inside(const Stage&, const SelfRead&, std::size_t dimension);

// A read that is not known to lie before its reader: what there should be, what there is, and values of the variables at which
// it lies in the same step or in a later one, where some are found.
struct Unordered {
  std::string expected, found, conflict;
};
std::optional<Unordered> unordered(const Stage&, const SelfRead&);

// The iteration variables as loops, the outermost first: in the order of definition where all self reads lie before their
// readers so, else the dimensions that it runs along first.
std::vector<std::size_t> loop_order(const Stage&);
std::vector<std::size_t> loop_order(const Program&, const Stage&);

}  // namespace ashlar::ir
