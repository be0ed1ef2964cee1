// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Builds a Program from definitions. Stages that the outputs need are found depth first, in the order of operands. Variables,
// buffers and stages are numbered densely in that order, so the program does not depend on when C++ objects were created.
//
//   lang::Built b = lang::build_program("matmul", {A, B, C});
//   b.program                     every stage at root, in order of definition: an allocation, then a nest of serial loops
//   b.stage_of.at(C.id())         the stage that computes C
//   b.iter_of.at({stage, k.node()->id})   its iteration variable for the Axis k
//
// A tensor that is bound to an output is computed in place, in the output. A copy (an identity stage) is added where that is
// impossible: the tensor is an input or a view, is bound to an earlier output, or has an inferred domain and other readers.
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <ashlar/ir/program.h>
#include <ashlar/lang/arguments.h>

namespace ashlar::lang {

// An argument: an input, a bound output, or a scalar. Arguments keep the order in which they are listed.
struct ArgumentRef {
  ArgumentRef(const Tensor& t) : tensor(t) {}
  ArgumentRef(const Expr& scalar_) : scalar(scalar_) {}
  Tensor tensor;
  Expr scalar;
};

struct Built {
  ir::Program program;
  // Maps from ids of the language to ids of the program. Tensors and variables that no output needs are absent.
  std::map<ir::Id, ir::Id> buffer_of;                   // Tensor: inputs, outputs and stages
  std::map<ir::Id, ir::Id> stage_of;                    // Tensor: outputs and stages
  std::map<ir::Id, ir::Id> variable_of;                 // Symbol, Scalar
  std::map<std::pair<ir::Id, ir::Id>, ir::Id> iter_of;  // {stage of the program, Var or Axis} -> iteration variable

  // An Expr over symbols and scalars (such as a condition for a schedule) in the program's ids. Refused if it reads anything
  // else.
  Expr in_program(const Expr&, Where = Where::current()) const;
};

// Builds the program with the given arguments. Refused: an output without a definition, two arguments with the same name, a
// Symbol that occurs in no argument's shape, a Scalar that is not among the arguments. A Symbol that the shapes do not
// determine (only {N * N}) is refused later, when the entry has to solve for it.
Built build_program(const std::string& name, const std::vector<ArgumentRef>& arguments, Where = Where::current());

}  // namespace ashlar::lang
