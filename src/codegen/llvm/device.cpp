// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the hosts of all devices share: what their bodies may hold, the parameters of a launch, constants for the runtime.
#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>

#include <ashlar/ir/refusal.h>

#include "codegen/llvm/context_fields.h"

namespace ashlar::codegen {

using llvm::Constant;
using llvm::Value;

namespace {

void check_statements(const Unit& unit, const std::vector<ir::KStmt>& list) {
  for (const ir::KStmt& s : list) {
    if (s.is<ir::KLaunch>() || s.is<ir::KPrefetch>()) continue;
    auto refused = [&](const std::string& found) {
      refuse(unit.is_cuda() ? "cuda" : "vulkan",
             "only launches, and loops, conditions and lets around them, on the host's side of kernel `" + unit.kernel.name +
                 "`: its tensors lie in the device's memory",
             found, s.where);
    };
    if (const auto* store = s.as<ir::KStore>())
      refused("a store to `" + unit.kernel.buffers.at(store->buffer).name + "` outside a launch");
    for_each_expr(s, [&](const Expr& e) {
      ir::walk(e, [&](const Expr& x) {
        if (ir::is(x, ir::Op::load)) refused("a read of `" + unit.kernel.buffers.at(x.node()->id).name + "` outside a launch");
        return true;
      });
    });
    for (const auto* part : s.bodies()) check_statements(unit, *part);
  }
}

}  // namespace

Value* begin_device_call(Emitter& e, const char* begin, Value* module, Value* context, const WorkspaceBytes* bytes,
                         Value* call) {
  auto& b = e.b;
  llvm::Type *pointer = b.getPtrTy(), *word = b.getInt64Ty();
  Value* workspace = e.local(word, llvm::Align(8), "workspace");
  Value* none = b.getInt64(0);
  Value* align = b.getInt64(static_cast<std::uint64_t>(e.unit.kernel.workspace_align));
  Value* rc = b.CreateCall(runtime_function(e.unit, begin, {pointer, pointer, word, word, pointer, pointer}),
                           {module, context, bytes ? bytes->total : none, bytes ? align : none, call, workspace});
  llvm::BasicBlock *failed = e.block("failed"), *begun = e.block("begun");
  b.CreateCondBr(b.CreateICmpEQ(rc, b.getInt32(0)), begun, failed);
  b.SetInsertPoint(failed);
  b.CreateRet(rc);
  b.SetInsertPoint(begun);
  return workspace;
}

Value* holds_without_overflow(Emitter& e, const Expr& condition) {
  Value* overflow = e.b.getFalse();
  Value* holds = e.checked(condition, &overflow);
  return e.b.CreateAnd(holds, e.b.CreateNot(overflow));
}

void check_host_body(const Unit& unit) { check_statements(unit, unit.kernel.body); }

llvm::FunctionCallee runtime_function(Unit& unit, const char* name, std::initializer_list<llvm::Type*> parameters) {
  auto* type = llvm::FunctionType::get(llvm::Type::getInt32Ty(*unit.context),
                                       llvm::ArrayRef(parameters.begin(), parameters.size()), false);
  return unit.module->getOrInsertFunction(name, type);
}

Value* in_word(Emitter& e, Value* v, Type type) {
  auto& b = e.b;
  if (v->getType()->isFloatingPointTy()) v = b.CreateBitCast(v, b.getIntNTy(v->getType()->getScalarSizeInBits()));
  return type.is_signed() ? b.CreateSExt(v, b.getInt64Ty()) : b.CreateZExtOrTrunc(v, b.getInt64Ty());
}

void store_parameters(Emitter& e, const std::vector<LaunchParameter>& parameters, Value* to) {
  auto& b = e.b;
  auto* word = b.getInt64Ty();
  for (const LaunchParameter& p : parameters) {
    Value* v = nullptr;
    if (p.kind == LaunchParameter::Kind::address) {
      v = b.CreatePtrToInt(e.base_of(p.id), word);
    } else {
      v = in_word(e, e.value_of(p.id), p.type);
    }
    store_field(b, v, to, static_cast<std::size_t>(p.offset));
  }
}

Constant* Record::global(Constant* value, const char* suffix) const {
  auto* g = new llvm::GlobalVariable(*unit_.module, value->getType(), true, llvm::GlobalValue::PrivateLinkage, value,
                                     unit_.name + suffix);
  g->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  return g;
}

void Record::check(Constant* row, std::size_t size) const {
  if (unit_.module->getDataLayout().getTypeAllocSize(row->getType()) != size)
    throw InternalError("codegen: the layout of a device's module is not that of the runtime's header");
}

}  // namespace ashlar::codegen
