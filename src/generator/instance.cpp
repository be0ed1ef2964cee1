// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// instantiate<G>(): the same pipeline in this process.
#include <atomic>
#include <memory>
#include <optional>

#include <ashlar/generator/generator.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/schedule/step.h>

#ifdef ASHLAR_HAS_LLVM
#include <ashlar/codegen/cache.h>
#endif

#include "generator/command_line.h"
#include "generator/pipeline.h"

namespace ashlar::detail {

struct AnyInstance::State {
  std::atomic<int> count{1};
  generator::Compilation compilation;
#ifdef ASHLAR_HAS_LLVM
  std::optional<codegen::Compiled> code;
#endif
};

AnyInstance::AnyInstance(Generator* (*make)(), const char* name, const Target& target,
                         const std::vector<std::pair<std::string, std::string>>& params, Where where)
    : state_(nullptr) {
  auto state = std::make_unique<State>();
  lang::DefinitionScope definitions;
  generator::PipelineOptions options;
  options.function = *name != 0 ? name : "instance";  // as errors of calls call it
  try {
    state->compilation = generator::run_pipeline(generator::make_generator(make, name, target, params, where), options);
  } catch (const generator::UsageError& e) {
    refuse("instantiate", "Params that the generator has, with values that they allow", e.what(), where);
  }
  generator::lower_kernel(state->compilation, options);
#ifdef ASHLAR_HAS_LLVM
  if (target.runs_here()) state->code = codegen::compile_cached(state->compilation.kernel, target);
#endif
  state_ = state.release();
}

AnyInstance::AnyInstance(const AnyInstance& other) : state_(other.state_) { ++state_->count; }
AnyInstance& AnyInstance::operator=(const AnyInstance& other) {
  ++other.state_->count;
  if (--state_->count == 0) delete state_;
  state_ = other.state_;
  return *this;
}
AnyInstance::~AnyInstance() {
  if (--state_->count == 0) delete state_;
}

Generator* AnyInstance::generator() const { return state_->compilation.made.generator.get(); }
const ir::Program& AnyInstance::algorithm() const { return state_->compilation.algorithm; }
const ir::Program& AnyInstance::scheduled() const { return state_->compilation.schedule->scheduled().program; }
std::string AnyInstance::trace() const { return state_->compilation.schedule->trace(); }
const ir::Kernel& AnyInstance::kernel() const { return state_->compilation.kernel; }

int AnyInstance::call([[maybe_unused]] const void* const* arguments, std::size_t count,
                      [[maybe_unused]] const ashlar_context* context) const {
  if (count != state_->compilation.kernel.arguments.size())
    refuse("a call of an instance", std::to_string(state_->compilation.kernel.arguments.size()) + " arguments",
           std::to_string(count), Where{});
#ifdef ASHLAR_HAS_LLVM
  if (!state_->code)
    refuse("a call of an instance", "a target that this machine can execute",
           std::string(state_->compilation.made.record->target.text()), Where{});
  return state_->code->call({arguments, count}, context);
#else
  refuse("a call of an instance", "an ashlar that was built with LLVM", "one built without it", Where{});
#endif
}

}  // namespace ashlar::detail
