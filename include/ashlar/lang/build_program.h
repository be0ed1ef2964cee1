// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// From definitions to a Program: the stages that the outputs need, found depth first in operand order, every variable, buffer
// and stage renumbered densely on the way, so that nothing depends on the order in which C++ objects were made.
//
//   lang::Built b = lang::build_program("matmul", {A, B, C});
//   b.program                     every stage at the top, in order of definition: an alloc, then a nest of serial loops
//   b.stage_of.at(C.id())         the stage that computes C
//   b.iter_of.at({stage, k.node()->id})   its iteration variable for the Axis k
//
// A tensor that an output is bound to is computed in the output itself. An identity stage is added where it cannot be: it is an
// input or a view, it is bound to an earlier output, or its inferred domain has other readers than the output.
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <ashlar/ir/program.h>
#include <ashlar/lang/arguments.h>

namespace ashlar::lang {

// An argument in the order of declaration: an input, an output (bound), or a scalar.
struct ArgumentRef {
  ArgumentRef(const Tensor& t) : tensor(t) {}
  ArgumentRef(const Expr& scalar_) : scalar(scalar_) {}
  Tensor tensor;
  Expr scalar;
};

struct Built {
  ir::Program program;
  // From what the language gave out to ids of the program. Tensors and variables that no output needs are absent.
  std::map<ir::Id, ir::Id> buffer_of;                   // Tensor: inputs, outputs and stages
  std::map<ir::Id, ir::Id> stage_of;                    // Tensor: outputs and stages
  std::map<ir::Id, ir::Id> variable_of;                 // Symbol, Scalar
  std::map<std::pair<ir::Id, ir::Id>, ir::Id> iter_of;  // {stage of the program, Var or Axis} -> iteration variable

  // An Expr over symbols and scalars, such as a condition given to a schedule, in the program's ids. Refused if it reads
  // anything else.
  Expr in_program(const Expr&, Where = Where::current()) const;
};

// Refused: an output without a definition, two arguments of one name, a symbol that is in no argument's shape, a scalar that
// is not an argument. A symbol that its shapes do not determine ({N * N} alone) is refused when a call has to solve it.
Built build_program(const std::string& name, const std::vector<ArgumentRef>& arguments, Where = Where::current());

}  // namespace ashlar::lang
