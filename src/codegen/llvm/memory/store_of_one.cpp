// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A store under a constant mask of one lane, such as that of the last vector of 9 elements, becomes a store of the element:
// LLVM 22 writes too much if the element is a narrowed integer.
//
//   masked.store <8 x i32> trunc(<8 x i64> v), p, <1, 0, 0, ...>     stores all 8 bytes of v's first element
#include <vector>

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include "codegen/llvm/backend.h"

namespace ashlar::codegen {
namespace {

// The one lane that a mask has; -1: it has others, or what it has is not known.
int only_lane(const llvm::Value* mask) {
  const auto* lanes = llvm::dyn_cast<llvm::FixedVectorType>(mask->getType());
  const auto* constant = llvm::dyn_cast<llvm::Constant>(mask);
  if (!lanes || !constant) return -1;
  int found = -1;
  for (unsigned k = 0; k < lanes->getNumElements(); ++k) {
    const llvm::Constant* lane = constant->getAggregateElement(k);
    if (!lane || (!lane->isNullValue() && (!lane->isOneValue() || found >= 0))) return -1;
    if (!lane->isNullValue()) found = static_cast<int>(k);
  }
  return found;
}

void store_element(llvm::IntrinsicInst& masked, int lane) {
  llvm::IRBuilder<> b(&masked);
  llvm::Value *vector = masked.getArgOperand(0), *at = masked.getArgOperand(1);
  llvm::Type* element = llvm::cast<llvm::FixedVectorType>(vector->getType())->getElementType();
  const auto bytes = masked.getModule()->getDataLayout().getTypeAllocSize(element).getFixedValue();
  llvm::StoreInst* store = b.CreateAlignedStore(
      b.CreateExtractElement(vector, static_cast<std::uint64_t>(lane)), b.CreateConstGEP1_64(element, at, lane),
      llvm::commonAlignment(masked.getParamAlign(1).valueOrOne(), bytes * static_cast<std::uint64_t>(lane)));
  store->setAAMetadata(masked.getAAMetadata());
  store->setDebugLoc(masked.getDebugLoc());
  masked.eraseFromParent();
}

}  // namespace

void stores_of_one_lane(llvm::Module& module) {
  for (llvm::Function& f : module) {
    std::vector<std::pair<llvm::IntrinsicInst*, int>> found;
    for (llvm::Instruction& i : llvm::instructions(f))
      if (auto* store = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
          store && store->getIntrinsicID() == llvm::Intrinsic::masked_store)
        if (const int lane = only_lane(store->getArgOperand(2)); lane >= 0) found.emplace_back(store, lane);
    for (const auto& [store, lane] : found) store_element(*store, lane);
  }
}

}  // namespace ashlar::codegen
