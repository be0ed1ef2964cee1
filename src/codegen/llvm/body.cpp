// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The function that does the work, once everything is checked: f.body(args*, ctx*).
#include <optional>

#include <ashlar/ir/refusal.h>

#include "codegen/llvm/context_fields.h"
#include "codegen/llvm/of_tiles.h"
#include "codegen/llvm/profile.h"
#include "codegen/uses.h"

namespace ashlar::codegen {

using llvm::Value;

void bind_arguments(Emitter& e, Value* args) {
  const ir::Kernel& k = e.unit.kernel;
  for (const ArgField& f : e.unit.layout.fields) {
    if (f.kind == ArgField::Kind::pointer) continue;
    const auto align = llvm::Align(static_cast<std::uint64_t>(f.bytes));
    Value* v = e.b.CreateAlignedLoad(e.math.memory_type(f.type), field_address(e.b, args, static_cast<std::size_t>(f.offset)),
                                     align, f.name);
    std::int64_t multiple = 1;
    if (f.kind == ArgField::Kind::symbol) multiple = k.symbols.at(f.id).multiple_of;
    if (f.kind == ArgField::Kind::stride) {  // rows of packed elements start on bytes
      const ir::Buffer& buffer = k.argument_buffers.at(f.buffer);
      if (buffer.type.is_packed() && f.dim + 1 < buffer.rank) multiple = 8 / buffer.type.bits;
    }
    e.bind(f.id, e.math.from_memory(f.type, v), multiple);
  }
  for (const ir::AlignmentArg& a : k.alignments) {
    const ArgField& f = e.unit.layout.field(ArgField::Kind::pointer, a.buffer);
    Value* at = e.b.CreatePtrToInt(load_field(e.b, e.b.getPtrTy(), args, static_cast<std::size_t>(f.offset)), e.b.getInt64Ty());
    e.bind(a.id, e.b.CreateAnd(at, e.b.getInt64(15)));
  }
}

Value* slots_of(Emitter& e, Value* context) {
  Value* count = load_field(e.b, e.b.getInt32Ty(), context, e.unit.offset(ContextField::parallelism));
  Value* hook = load_field(e.b, e.b.getPtrTy(), context, e.unit.offset(ContextField::parallel_for));
  Value* many = e.b.CreateAnd(e.b.CreateIsNotNull(hook), e.b.CreateICmpSGT(count, e.b.getInt32(1)));
  return e.b.CreateSelect(many, count, e.b.getInt32(1), "slots");
}

bool has_workspace(const ir::Kernel& k) {
  for (const auto& [id, buffer] : k.buffers)
    if (buffer.storage == ir::Storage::workspace) return true;
  return false;
}

WorkspaceBytes workspace_bytes(Emitter& e, Value* slots) {
  const ir::Kernel& k = e.unit.kernel;
  WorkspaceBytes w;
  w.overflow = e.b.getFalse();
  auto arithmetic = [&](ir::Op op, Value* x, Value* y) { return e.index_arithmetic(op, x, y, &w.overflow); };
  Value* align = e.b.getInt64(static_cast<std::uint64_t>(k.workspace_align));
  auto padded = [&](const Expr& bytes) -> Value* {
    if (bytes.empty()) return e.b.getInt64(0);
    Value* up = arithmetic(ir::Op::add, e.checked(bytes, &w.overflow), e.b.CreateSub(align, e.b.getInt64(1)));
    return e.b.CreateMul(e.b.CreateSDiv(up, align), align);
  };
  w.shared = padded(k.workspace_shared);
  w.each = padded(k.workspace_per_worker);
  w.total = arithmetic(ir::Op::add, w.shared, arithmetic(ir::Op::mul, w.each, e.b.CreateSExt(slots, e.b.getInt64Ty())));
  const std::uint64_t most = e.unit.pointer_bytes() == 8 ? INT64_MAX : INT32_MAX;
  w.overflow = e.b.CreateOr(w.overflow, e.b.CreateICmpUGT(w.total, e.b.getInt64(most)));
  return w;
}

llvm::Function* emit_body(Unit& unit) {
  llvm::LLVMContext& c = *unit.context;
  auto* pointer = llvm::PointerType::get(c, 0);
  auto* type = llvm::FunctionType::get(llvm::Type::getInt32Ty(c), {pointer, pointer}, false);
  llvm::Function* f = unit.function(".body", type, Unit::Visibility::internal);
  f->addFnAttr(llvm::Attribute::NoInline);
  Emitter e(unit, f);
  Value *args = f->getArg(0), *context = f->getArg(1);
  e.begin_profile(ASHLAR_ABI1_SITE_CALL, unit.kernel.name, unit.profile ? unit.profile->whole() : Where{}, Where{});
  bind_arguments(e, args);
  for (const ArgField& field : unit.layout.fields) {
    if (field.kind != ArgField::Kind::pointer) continue;
    e.bind_buffer(field.id, load_field(e.b, e.b.getPtrTy(), args, static_cast<std::size_t>(field.offset)));
  }
  const bool device = unit.has_device();
  if (device) check_host_body(unit);
  e.context = device ? nullptr : context;  // what a host does between launches is not worth several threads
  e.slots = device ? static_cast<Value*>(e.b.getInt32(1)) : slots_of(e, context);
  if (unit.is_cuda() && unit.ptx->tiles) check_tile_numbers(e, context);
  std::optional<WorkspaceBytes> sizes;
  if (has_workspace(unit.kernel)) sizes = workspace_bytes(e, e.slots);
  Value* device_workspace = nullptr;
  if (device)
    device_workspace = unit.is_cuda() ? begin_cuda_call(e, context, sizes ? &*sizes : nullptr)
                                      : begin_vulkan_call(e, context, sizes ? &*sizes : nullptr);
  if (sizes) {
    const WorkspaceBytes& bytes = *sizes;
    e.worker_bytes = bytes.each;
    Value* shared = device ? e.b.CreateIntToPtr(device_workspace, e.b.getPtrTy())
                           : load_field(e.b, e.b.getPtrTy(), context, e.unit.offset(ContextField::workspace));
    Value* workers = e.b.CreateGEP(e.b.getInt8Ty(), shared, bytes.shared);
    for (const auto& [id, buffer] : unit.kernel.buffers) {
      if (buffer.storage != ir::Storage::workspace) continue;
      e.bind_buffer(id,
                    e.b.CreateGEP(e.b.getInt8Ty(), buffer.per_worker ? workers : shared, e.expr(buffer.offset), buffer.name));
    }
  }
  e.allocate_stack(unit.kernel.body);
  e.statements(unit.kernel.body);
  e.end_streams();
  e.give(unit.is_cuda() ? end_cuda_call(e) : unit.is_vulkan() ? end_vulkan_call(e) : static_cast<Value*>(e.b.getInt32(0)));
  return f;
}

llvm::Function* emit_workspace_size(Unit& unit) {
  llvm::LLVMContext& c = *unit.context;
  auto* pointer = llvm::PointerType::get(c, 0);
  auto* type = llvm::FunctionType::get(unit.word(), {pointer, pointer}, false);
  llvm::Function* f = unit.function("_workspace_bytes", type, Unit::Visibility::exported);
  Emitter e(unit, f);
  if (!has_workspace(unit.kernel)) {
    e.b.CreateRet(llvm::ConstantInt::get(unit.word(), 0));
    return f;
  }
  Value* context = f->getArg(1);
  llvm::AllocaInst* slots = e.local(e.b.getInt32Ty(), llvm::Align(4), "slots");
  e.b.CreateStore(e.b.getInt32(1), slots);
  if (!unit.has_device()) e.when(e.b.CreateIsNotNull(context), [&] { e.b.CreateStore(slots_of(e, context), slots); });
  // more than any memory holds where 63 bits do not, and where there are no arguments: no allocation succeeds, and f_run
  // refuses such extents and such a call
  const auto size = static_cast<std::uint64_t>(unit.layout.bytes);
  llvm::AllocaInst* zeros = e.local(llvm::ArrayType::get(e.b.getInt8Ty(), size), llvm::Align(16), "no_arguments");
  e.b.CreateMemSet(zeros, e.b.getInt8(0), size, llvm::MaybeAlign(16));
  Value* none = e.b.CreateIsNull(f->getArg(0));
  bind_dense_arguments(e, e.b.CreateSelect(none, zeros, f->getArg(0)));
  const WorkspaceBytes bytes = workspace_bytes(e, e.b.CreateLoad(e.b.getInt32Ty(), slots));
  Value* total = e.b.CreateSelect(e.b.CreateOr(none, bytes.overflow), e.b.getInt64(UINT64_MAX), bytes.total);
  e.b.CreateRet(e.b.CreateTrunc(total, unit.word()));
  return f;
}

}  // namespace ashlar::codegen
