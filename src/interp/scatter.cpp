// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "interp/scatter.h"

#include <ashlar/interp/interpreter.h>

#include "interp/arguments.h"

namespace ashlar::interp {

ScatterStep::ScatterStep(const ir::Stage& stage, Slots& slots, Memory& memory) {
  if (!stage.keep.empty()) keep_ = Tape(stage.keep, slots, memory, Select::lazy);
  for (const Expr& e : stage.targets) at_.emplace_back(e, slots, memory, Select::lazy);
}

std::span<const std::int64_t> ScatterStep::target() {
  for (std::size_t d = 0; d < at_.size(); ++d) target_[d] = at_[d].run_index();
  return {target_.data(), at_.size()};
}

void puts_outside(const std::string& where, const std::string& name, std::span<const std::int64_t> at) {
  throw RunError(RunError::Kind::out_of_bounds, where + " puts to " + name + text_of_index(at) + ", outside its domain");
}

ScatterCode::ScatterCode(const ir::Program& p, const ir::NestStmt& nest, Slots& slots, Memory& memory)
    : stage_(p.stage(nest.stage)), memory_(memory), step_(stage_, slots, memory) {
  const auto tape = [&](const Expr& e) { return Tape(e, slots, memory, Select::lazy); };
  for (const ir::Root& root : nest.roots) {
    if (p.axis(root.axis).reduce) continue;
    begin_.push_back(tape(root.begin));
    extent_.push_back(tape(root.extent));
  }
  for (const ir::IterVar& v : stage_.iters)
    if (v.kind != ir::IterKind::reduce && !v.begin.empty()) {
      domain_begin_.push_back(tape(v.begin));
      domain_end_.push_back(tape(v.end));
    }
}

std::optional<std::span<const std::int64_t>> ScatterCode::target() {
  for (Tape& e : extent_)
    if (e.run_index() <= 0) return std::nullopt;
  if (!step_.keeps()) return std::nullopt;
  const auto at = step_.target();
  bool inside = true;
  for (std::size_t d = 0; d < at.size(); ++d) {
    if (!domain_begin_.empty() && (at[d] < domain_begin_[d].run_index() || at[d] >= domain_end_[d].run_index()))
      puts_outside(memory_.where(), stage_.name, at);
    const std::int64_t from = at[d] - begin_[d].run_index();
    inside = inside && from >= 0 && from < extent_[d].run_index();
  }
  return inside ? std::optional(at) : std::nullopt;
}

}  // namespace ashlar::interp
