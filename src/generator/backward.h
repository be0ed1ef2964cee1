// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// --backward: instead of what a generator computes, its derivative, as a kernel of its own.
//
//   y[N] from gain, x[N], table[M] i32       becomes       grad_x[N] from gain, x[N], table[M] i32, grad_y[N]
//
// The arguments are those of the generator but for its outputs; then, for each output, what a loss changes with it; then, for
// each input of a floating type, what the loss changes with that. They are what gradient() makes of the sum of all outputs
// times these weights. Inputs that no output depends on are refused by it. The schedule is the default one.
#include <vector>

#include <ashlar/lang/build_program.h>

namespace ashlar::generator {

struct BackwardArguments {
  std::vector<lang::ArgumentRef> arguments;
  std::size_t kept = 0, weights = 0;  // how many are the generator's own, and how many stand for its outputs
};

// After algorithm(), from the arguments of the generator. Refused: an output of no floating type.
BackwardArguments backward_arguments(const std::vector<lang::ArgumentRef>&, Where);

}  // namespace ashlar::generator
