// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What LLVM 19 to 22 spell differently, written once. Where a declaration shows which form there is, it is asked for with
// `requires`, so that releases between are found by what they have; else by their number. Compiled with 19.1 and 22.1.
//
//   releases::set_triple(module, triple);      // a triple: 22; its text: 19
#include <memory>
#include <string>
#include <utility>

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/TargetParser/Triple.h>

static_assert(LLVM_VERSION_MAJOR >= 19 && LLVM_VERSION_MAJOR <= 22, "Ashlar builds with LLVM 19 to 22");

namespace ashlar::codegen::releases {

template <class Registry = llvm::TargetRegistry>
const llvm::Target* lookup(const llvm::Triple& triple, std::string& error) {
  if constexpr (requires { Registry::lookupTarget(triple, error); })
    return Registry::lookupTarget(triple, error);
  else
    return Registry::lookupTarget(triple.str(), error);
}

template <class Target, class... More>
llvm::TargetMachine* machine(const Target& of, const llvm::Triple& triple, More&&... more) {
  if constexpr (requires { of.createTargetMachine(triple, std::forward<More>(more)...); })
    return of.createTargetMachine(triple, std::forward<More>(more)...);
  else
    return of.createTargetMachine(triple.str(), std::forward<More>(more)...);
}

template <class Target>
std::unique_ptr<llvm::MCSubtargetInfo> subtarget(const Target& of, const llvm::Triple& triple, const std::string& cpu) {
  if constexpr (requires { of.createMCSubtargetInfo(triple, cpu, ""); })
    return std::unique_ptr<llvm::MCSubtargetInfo>(of.createMCSubtargetInfo(triple, cpu, ""));
  else
    return std::unique_ptr<llvm::MCSubtargetInfo>(of.createMCSubtargetInfo(triple.str(), cpu, ""));
}

template <class Module>
void set_triple(Module& module, const llvm::Triple& triple) {
  if constexpr (requires { module.setTargetTriple(triple); })
    module.setTargetTriple(triple);
  else
    module.setTargetTriple(triple.str());
}

// Of memory: what the triple says alone, or else what a machine for it says, which is made by `ask`.
template <class Triple, class Ask>
auto data_layout(const Triple& triple, const Ask& ask) {
  if constexpr (requires { triple.computeDataLayout(); })
    return triple.computeDataLayout();
  else
    return ask(triple);
}

inline auto language() {
#if LLVM_VERSION_MAJOR >= 22
  return llvm::DISourceLanguageName(llvm::dwarf::DW_LANG_C99);
#else
  return static_cast<unsigned>(llvm::dwarf::DW_LANG_C99);
#endif
}

template <class Builder>
void debug_value(Builder& builder, llvm::IRBuilderBase& at, llvm::Value* value, llvm::DILocalVariable* variable,
                 const llvm::DILocation* place) {
  llvm::DIExpression* plain = builder.createExpression();
  if constexpr (requires { builder.insertDbgValueIntrinsic(value, variable, plain, place, at.GetInsertPoint()); })
    builder.insertDbgValueIntrinsic(value, variable, plain, place, at.GetInsertPoint());
  else if (at.GetInsertPoint() == at.GetInsertBlock()->end())
    builder.insertDbgValueIntrinsic(value, variable, plain, place, at.GetInsertBlock());
  else
    builder.insertDbgValueIntrinsic(value, variable, plain, place, &*at.GetInsertPoint());
}

// Barriers of a block: of all threads, of `count` threads by the barrier `id`.
inline void barrier(llvm::IRBuilderBase& b) {
#if LLVM_VERSION_MAJOR >= 21
  b.CreateIntrinsic(b.getVoidTy(), llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all, {b.getInt32(0)});
#else
  b.CreateIntrinsic(b.getVoidTy(), llvm::Intrinsic::nvvm_barrier0, {});
#endif
}
inline void barrier(llvm::IRBuilderBase& b, llvm::Value* id, llvm::Value* count) {
#if LLVM_VERSION_MAJOR >= 21
  b.CreateIntrinsic(b.getVoidTy(), llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_count, {id, count});
#else
  b.CreateIntrinsic(b.getVoidTy(), llvm::Intrinsic::nvvm_barrier, {id, count});
#endif
}
inline void barrier_arrive(llvm::IRBuilderBase& b, llvm::Value* id, llvm::Value* count) {
#if LLVM_VERSION_MAJOR >= 21
  b.CreateIntrinsic(b.getVoidTy(), llvm::Intrinsic::nvvm_barrier_cta_arrive_aligned_count, {id, count});
#else
  auto* type = llvm::FunctionType::get(b.getVoidTy(), {b.getInt32Ty(), b.getInt32Ty()}, false);
  auto* text = llvm::InlineAsm::get(type, "bar.arrive $0, $1;", "r,r,~{memory}", /*hasSideEffects=*/true);
  b.CreateCall(type, text, {id, count})->addFnAttr(llvm::Attribute::Convergent);
#endif
}

}  // namespace ashlar::codegen::releases
