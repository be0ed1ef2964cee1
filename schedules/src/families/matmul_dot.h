// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What other families use of matmul_dot.h.
#include <ashlar/schedules/matmul_dot.h>

#include <optional>

#include <ashlar/instructions/x86.h>
#include <ashlar/schedules/matmul.h>

namespace ashlar::schedules::detail {

// The instruction, and how many k it takes. `reversed`: it adds the last of them first, so that they lie the other way round in
// the panels.
struct Dot {
  Intrinsic instruction;
  int step;
  bool reversed;
  std::optional<Type> packed = {};  // what panels hold where it is not what the factors do
};
std::optional<Dot> dot_of(const Target& t, Type a, Type b, bool as_zero, bool pairs_fit = false);

struct DotPanels {  // of B
  Type type;
  int step, lanes, columns, run;  // k in a step, columns in a register and in a panel, k in a register
  int exchange;                   // of the places in a step
};
// B[k, j]: so many rows as a step has, copied side by side and transposed. The loop over steps.
Loop dot_panels_of_rows(const Stage& panels, const Stage& rows, const DotPanels& p, Loop at_block);
// B[j, k]: a run of k of so many columns as a register has sums, copied row by row, of which the steps are moved. The loop over
// panels.
Loop dot_panels_of_columns(const Stage& panels, const Stage& rows, const DotPanels& p, Loop at_block);

}  // namespace ashlar::schedules::detail
