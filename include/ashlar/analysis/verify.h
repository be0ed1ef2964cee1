// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The verifier: rules that every Program must satisfy between two schedule steps, and every Kernel between two passes, as a
// table of named rules. A violation is a bug of the compiler, never the user's fault: an InternalError that names the rule and
// the offender.
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
std::span<const VerifierRule> launch_rules();  // for the contents of launches; checked with the kernel

// `after` names the step or pass that made it. The nests' roots show whether regions have been derived. `before`: the verified
// program that the step was applied to; if the step left all definitions unchanged, rules about them alone are not checked
// again.
void verify(const ir::Program&, std::string_view after = {}, const ir::Program* before = nullptr);

enum class KernelForm {
  draft,     // between passes: loops may still be vectorized or unrolled
  finished,  // the result of lowering: loops are serial or parallel
};
void verify(const ir::Kernel&, KernelForm = KernelForm::finished, std::string_view after = {});

}  // namespace ashlar::analysis
