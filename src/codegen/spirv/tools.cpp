// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/spirv/tools.h"

#include <spirv-tools/libspirv.hpp>
#include <spirv-tools/optimizer.hpp>

#include <ashlar/ir/refusal.h>

namespace ashlar::codegen::spirv {

namespace {

constexpr spv_target_env kEnvironment = SPV_ENV_VULKAN_1_2;

auto into(std::string& text) {
  return [&text](spv_message_level_t level, const char*, const spv_position_t& at, const char* message) {
    if (level <= SPV_MSG_WARNING) text += (text.empty() ? "" : "; ") + std::to_string(at.index) + ": " + message;
  };
}

}  // namespace

std::string invalid(std::span<const std::uint32_t> words) {
  std::string text;
  spvtools::SpirvTools tools(kEnvironment);
  tools.SetMessageConsumer(into(text));
  spvtools::ValidatorOptions options;
  options.SetScalarBlockLayout(true);
  const bool valid = tools.Validate(words.data(), words.size(), options);
  return valid ? "" : text.empty() ? "the validator gives no reason" : text;
}

std::string disassemble(std::span<const std::uint32_t> words) {
  std::string text, messages;
  spvtools::SpirvTools tools(kEnvironment);
  tools.SetMessageConsumer(into(messages));
  const std::vector<std::uint32_t> copy(words.begin(), words.end());
  if (!tools.Disassemble(
          copy, &text,
          SPV_BINARY_TO_TEXT_OPTION_NO_HEADER | SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES | SPV_BINARY_TO_TEXT_OPTION_INDENT))
    throw InternalError("spirv: a module that cannot be disassembled: " + messages);
  return text;
}

// Variables become values, what is computed twice is computed once, what nobody needs goes. No loop is unrolled: a schedule
// says so where it is wanted.
std::vector<std::uint32_t> optimized(const std::vector<std::uint32_t>& words) {
  std::string messages;
  spvtools::Optimizer optimizer(kEnvironment);
  optimizer.SetMessageConsumer(into(messages));
  optimizer.RegisterPass(spvtools::CreateLocalSingleBlockLoadStoreElimPass())
      .RegisterPass(spvtools::CreateLocalSingleStoreElimPass())
      .RegisterPass(spvtools::CreateSSARewritePass())
      .RegisterPass(spvtools::CreateSimplificationPass())
      .RegisterPass(spvtools::CreateRedundancyEliminationPass())
      .RegisterPass(spvtools::CreateVectorDCEPass())
      .RegisterPass(spvtools::CreateDeadInsertElimPass())
      .RegisterPass(spvtools::CreateDeadBranchElimPass())
      .RegisterPass(spvtools::CreateBlockMergePass())
      .RegisterPass(spvtools::CreateAggressiveDCEPass())
      .RegisterPass(spvtools::CreateEliminateDeadConstantPass())
      .RegisterPass(spvtools::CreateCompactIdsPass());
  std::vector<std::uint32_t> result;
  spvtools::OptimizerOptions options;
  options.set_run_validator(false);
  if (!optimizer.Run(words.data(), words.size(), &result, options))
    throw InternalError("spirv: the optimizer failed: " + messages);
  return result;
}

}  // namespace ashlar::codegen::spirv
