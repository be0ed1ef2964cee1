// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The verifier: what must hold of every Program between two schedule steps and of every Kernel between two passes, as a table
// of named rules. A violation is a bug of the compiler, never the user's fault: InternalError, naming the rule and what broke
// it.
//
//   verify(program, "split");     internal error: after split: loop.own: a loop runs over a leaf of its nest's axes; found:
//   loop io
//
// The rules are structural: they resolve ids, count pieces and compare types. Properties that need a proof (dependences,
// bounds, coverage by conditions) are checked by the primitives.
#include <span>
#include <string_view>

#include <ashlar/ir/kernel.h>
#include <ashlar/ir/program.h>

namespace ashlar::analysis {

struct VerifierRule {
  const char* name;      // "loop.own"
  const char* sentence;  // "a loop runs over a leaf of its nest's axes"
};
std::span<const VerifierRule> program_rules();
std::span<const VerifierRule> kernel_rules();
std::span<const VerifierRule> launch_rules();  // of what stands in launches; checked with the kernel

// `after` names the step or pass that made it. Whether regions have been derived is seen from the nests' roots. `before`: the
// program that the step was applied to, which was verified; where the step left all definitions as they were, what holds of
// them alone is not asked again.
void verify(const ir::Program&, std::string_view after = {}, const ir::Program* before = nullptr);

enum class KernelForm {
  draft,     // between passes: loops may still be vectorized or unrolled
  finished,  // what lowering hands to a back end: loops are serial or parallel
};
void verify(const ir::Kernel&, KernelForm = KernelForm::finished, std::string_view after = {});

}  // namespace ashlar::analysis
