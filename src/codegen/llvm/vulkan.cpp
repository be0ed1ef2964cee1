// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host's side of a kernel for Vulkan: the shaders and what the runtime must know of their launches as constant data, and in
// the body a call of the runtime for each launch, all recorded in one command buffer.
//
//   int body(args, ctx) {
//     call *c;  uint64_t workspace;
//     if (rc = ashlar_abi1_vulkan_begin(fits in 32 bits ? &module : &wide, ctx, bytes, align, &c, &workspace)) return rc;
//     ashlar_abi1_vulkan_run(c, 0, (int64_t[3]){grid…}, (uint64_t[]){x, N, …});      … one a launch; failures are kept in c
//     return ashlar_abi1_vulkan_end(c);
//   }
#include <cstddef>

#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>

#include <ashlar/codegen/spirv.h>
#include <ashlar/runtime/vulkan.h>

#include "codegen/llvm/context_fields.h"

namespace ashlar::codegen {

using llvm::Constant;
using llvm::Value;

namespace {

std::uint64_t hash_of(const std::vector<std::uint32_t>& words) {  // FNV-1a, a word at a time
  std::uint64_t h = 14695981039346656037u;
  for (std::uint32_t w : words) h = (h ^ w) * 1099511628211u;
  return h;
}

Constant* module_data(Unit& unit, const spirv::Code* const (&shaders)[2], const char* suffix) {
  const Record r(unit);
  Constant *words[2] = {r.null(), r.null()}, *counts[2] = {r.i64c(0), r.i64c(0)}, *hashes[2] = {r.i64c(0), r.i64c(0)},
           *features[2] = {r.i32c(0), r.i32c(0)};
  for (std::size_t v = 0; v < 2; ++v) {
    if (!shaders[v]) continue;
    const spirv::Code& code = *shaders[v];
    words[v] = r.global(llvm::ConstantDataArray::get(*unit.context, llvm::ArrayRef<std::uint32_t>(code.words)), ".spirv");
    counts[v] = r.i64c(code.words.size());
    hashes[v] = r.i64c(hash_of(code.words));
    features[v] = r.i32c(code.features);
  }
  std::vector<Constant*> rows;
  for (const spirv::Entry& e : shaders[0]->entries) {
    const unsigned flags = (e.parameters_in_memory ? unsigned{ASHLAR_VULKAN_PARAMETERS_IN_MEMORY} : 0u) |
                           (e.uses_subgroups ? unsigned{ASHLAR_VULKAN_USES_SUBGROUPS} : 0u) |
                           (e.folded ? unsigned{ASHLAR_VULKAN_FOLDED} : 0u);
    rows.push_back(r.of({unit.text(e.name), r.i32c(e.launch.threads), r.i32c(e.launch.warp), r.i32c(e.shared_bytes),
                         r.i32c(e.parameter_bytes), r.i32c(flags), r.i32c(0)}));
  }
  Constant* table = r.null();
  if (!rows.empty()) {
    r.check(rows[0], sizeof(ashlar_abi1_vulkan_launch));
    table = r.global(r.array(rows), ".launches");
  }
  auto pair = [&](Constant*(&of)[2]) { return r.array({of[0], of[1]}); };
  Constant* value = r.of({r.i32c(1), r.i32c(sizeof(ashlar_abi1_vulkan_module)), unit.text(unit.kernel.name), pair(words),
                          pair(counts), pair(hashes), pair(features), r.i32c(rows.size()), r.i32c(0), table});
  r.check(value, sizeof(ashlar_abi1_vulkan_module));
  return r.global(value, suffix);
}

// The form that a call takes: that with indices of 32 bits where they are right for its extents and strides.
Value* vulkan_module(Emitter& e) {
  Constant* narrow = module_data(e.unit, e.unit.shaders, ".vulkan");
  if (!e.unit.wide_shaders[0]) return narrow;
  Constant* wide = module_data(e.unit, e.unit.wide_shaders, ".vulkan_wide");
  return e.b.CreateSelect(holds_without_overflow(e, e.unit.narrow_if), narrow, wide);
}

}  // namespace

Value* begin_vulkan_call(Emitter& e, Value* context, const WorkspaceBytes* bytes) {
  auto& b = e.b;
  llvm::Type *pointer = b.getPtrTy(), *word = b.getInt64Ty();
  llvm::AllocaInst* call = e.local(pointer, llvm::Align(8), "call");
  Value* workspace = begin_device_call(e, "ashlar_abi1_vulkan_begin", vulkan_module(e), context, bytes, call);
  e.device_call = b.CreateLoad(pointer, call);
  return b.CreateLoad(word, workspace);
}

Value* end_vulkan_call(Emitter& e) {
  return e.b.CreateCall(runtime_function(e.unit, "ashlar_abi1_vulkan_end", {e.b.getPtrTy()}), {e.device_call});
}

void Emitter::launch_vulkan(const ir::KLaunch& s) {
  // entries stand in the order of the launches; a host body is emitted once, in that order
  const std::size_t number = launches_++;
  const spirv::Entry& entry = unit.shaders[0]->entries.at(number);
  auto* word = b.getInt64Ty();
  llvm::AllocaInst* grid = local(llvm::ArrayType::get(word, 3), llvm::Align(8), "grid");
  const std::size_t count = std::max<std::size_t>(entry.parameters.size(), 1);
  llvm::AllocaInst* parameters = local(llvm::ArrayType::get(word, count), llvm::Align(8), "parameters");
  for (std::size_t d = 0; d < 3; ++d) {
    const Expr& blocks = s.grid[d];
    store_field(b, blocks.empty() ? static_cast<Value*>(b.getInt64(1)) : expr(blocks), grid, 8 * d);
  }
  store_parameters(*this, entry.parameters, parameters);
  const auto run = runtime_function(unit, "ashlar_abi1_vulkan_run", {b.getPtrTy(), b.getInt32Ty(), b.getPtrTy(), b.getPtrTy()});
  b.CreateCall(run, {device_call, b.getInt32(static_cast<std::uint32_t>(number)), grid, parameters});
}

}  // namespace ashlar::codegen
