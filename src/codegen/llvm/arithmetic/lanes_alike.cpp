// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What all lanes of a vector accumulate alike in a loop is accumulated once, such as the number of terms that a reducer counts
// beside their mean. What is computed of it alone is computed once, too; a division for a vector becomes one for a number.
//
//   for k                                    for k
//     n = n + x16(1.0)                         c = c + 1.0
//     mean = mean + apart * (x16(1.0) / n)     mean = mean + apart * x16(1.0 / c)
//                                            n = x16(c)
//
// Rows that are summed side by side count the same: one of the counts stays.
#include <algorithm>
#include <map>
#include <vector>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Local.h>

#include "codegen/llvm/backend.h"

namespace ashlar::codegen {
namespace {

using llvm::Instruction;
using llvm::Value;

constexpr int deepest = 16;  // operations between the values of two iterations

const llvm::FixedVectorType* vector_type(const Value* v) { return llvm::dyn_cast<llvm::FixedVectorType>(v->getType()); }

// A lane of the result is computed of the same lane of the operands.
bool by_lanes(const Instruction& i) {
  const llvm::FixedVectorType* type = vector_type(&i);
  if (!type) return false;
  for (const Value* operand : i.operand_values())
    if (!llvm::isa<llvm::Function>(operand) &&
        (!vector_type(operand) || vector_type(operand)->getNumElements() != type->getNumElements()))
      return false;
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&i))
    return llvm::isTriviallyVectorizable(call->getIntrinsicID()) && !call->hasOperandBundles();
  return llvm::isa<llvm::BinaryOperator>(i) || llvm::isa<llvm::UnaryOperator>(i) || llvm::isa<llvm::CastInst>(i) ||
         llvm::isa<llvm::CmpInst>(i) || llvm::isa<llvm::SelectInst>(i);
}

class Alike {
 public:
  Alike(llvm::Loop& loop) : loop_(loop) {}

  bool run() {
    llvm::BasicBlock *before = loop_.getLoopPreheader(), *latch = loop_.getLoopLatch();
    if (!before || !latch) return false;
    std::vector<llvm::PHINode*> found;
    for (llvm::PHINode& phi : loop_.getHeader()->phis())
      if (vector_type(&phi) && phi.getNumIncomingValues() == 2 && llvm::getSplatValue(phi.getIncomingValueForBlock(before)) &&
          phi.getIncomingValueForBlock(latch) != &phi && alike(phi.getIncomingValueForBlock(latch), phi, 0))
        found.push_back(&phi);
    for (llvm::PHINode* phi : found) once(*phi);
    return !found.empty();
  }

 private:
  // Are all lanes of the value the same, if those of the phi are?
  bool alike(Value* v, const llvm::PHINode& phi, int depth) const {
    if (v == &phi || llvm::getSplatValue(v)) return true;
    const auto* i = llvm::dyn_cast<Instruction>(v);
    if (!i || depth > deepest || !loop_.contains(i) || !by_lanes(*i)) return false;
    return std::all_of(i->op_begin(), i->op_end(), [&](const llvm::Use& operand) {
      return llvm::isa<llvm::Function>(operand.get()) || alike(operand.get(), phi, depth + 1);
    });
  }

  // One lane of the value, computed where all of them are.
  Value* lane_of(Value* v, std::map<Value*, Value*>& lanes) {
    if (const auto at = lanes.find(v); at != lanes.end()) return at->second;
    if (Value* lane = llvm::getSplatValue(v)) return lanes[v] = lane;
    auto* i = llvm::cast<Instruction>(v);
    std::vector<Value*> operands;
    for (Value* operand : i->operand_values())
      if (!llvm::isa<llvm::Function>(operand)) operands.push_back(lane_of(operand, lanes));
    return lanes[v] = scalar(*i, operands);
  }

  static Value* scalar(Instruction& i, const std::vector<Value*>& of) {
    llvm::IRBuilder<> b(&i);
    llvm::Type* type = i.getType()->getScalarType();
    Value* r = nullptr;
    if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&i))
      r = b.CreateIntrinsic(type, call->getIntrinsicID(), of);
    else if (const auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(&i))
      r = b.CreateBinOp(binary->getOpcode(), of[0], of[1]);
    else if (const auto* unary = llvm::dyn_cast<llvm::UnaryOperator>(&i))
      r = b.CreateUnOp(unary->getOpcode(), of[0]);
    else if (const auto* cast = llvm::dyn_cast<llvm::CastInst>(&i))
      r = b.CreateCast(cast->getOpcode(), of[0], type);
    else if (const auto* compare = llvm::dyn_cast<llvm::CmpInst>(&i))
      r = b.CreateCmp(compare->getPredicate(), of[0], of[1]);
    else
      r = b.CreateSelect(of[0], of[1], of[2]);
    if (auto* made = llvm::dyn_cast<Instruction>(r); made && !llvm::isa<llvm::CallInst>(i)) made->copyIRFlags(&i);
    return r;
  }

  void once(llvm::PHINode& phi) {
    llvm::BasicBlock *before = loop_.getLoopPreheader(), *latch = loop_.getLoopLatch();
    llvm::IRBuilder<> b(&phi);
    llvm::PHINode* one = b.CreatePHI(phi.getType()->getScalarType(), 2, "alike");
    std::map<Value*, Value*> lanes{{&phi, one}};
    one->addIncoming(llvm::getSplatValue(phi.getIncomingValueForBlock(before)), before);
    one->addIncoming(lane_of(phi.getIncomingValueForBlock(latch), lanes), latch);
    for (llvm::PHINode* other : ones_)
      if (same(*one, *other)) {
        replace(phi, other);
        one->replaceAllUsesWith(other);
        one->eraseFromParent();
        return;
      }
    ones_.push_back(one);
    replace(phi, one);
  }

  // Two numbers that start alike and change alike.
  bool same(const llvm::PHINode& a, const llvm::PHINode& b) const {
    const llvm::BasicBlock *before = loop_.getLoopPreheader(), *latch = loop_.getLoopLatch();
    return a.getType() == b.getType() && a.getIncomingValueForBlock(before) == b.getIncomingValueForBlock(before) &&
           same(a.getIncomingValueForBlock(latch), b.getIncomingValueForBlock(latch), a, b, 0);
  }
  static bool same(const Value* x, const Value* y, const llvm::PHINode& a, const llvm::PHINode& b, int depth) {
    if (x == y || (x == &a && y == &b)) return true;
    const auto *i = llvm::dyn_cast<Instruction>(x), *j = llvm::dyn_cast<Instruction>(y);
    if (!i || !j || depth > deepest || llvm::isa<llvm::PHINode>(i) || i->mayReadOrWriteMemory() || !i->isSameOperationAs(j) ||
        !i->hasSameSubclassOptionalData(j))  // of these, what makes them poison
      return false;
    for (unsigned k = 0; k < i->getNumOperands(); ++k)
      if (!same(i->getOperand(k), j->getOperand(k), a, b, depth + 1)) return false;
    return true;
  }

  // The vector becomes copies of the number, and so do values that are computed of such vectors alone.
  void replace(llvm::PHINode& phi, Value* one) {
    llvm::IRBuilder<> b(phi.getParent(), phi.getParent()->getFirstInsertionPt());
    Value* vector = b.CreateVectorSplat(vector_type(&phi)->getNumElements(), one);
    phi.replaceAllUsesWith(vector);
    phi.eraseFromParent();
    std::vector<Value*> changed{vector};
    while (!changed.empty()) {
      Value* from = changed.back();
      changed.pop_back();
      std::vector<Instruction*> readers;
      for (llvm::User* user : from->users())
        if (auto* i = llvm::dyn_cast<Instruction>(user); i && by_lanes(*i)) readers.push_back(i);
      for (Instruction* i : readers) {
        std::vector<Value*> of;
        for (Value* operand : i->operand_values())
          if (!llvm::isa<llvm::Function>(operand)) of.push_back(llvm::getSplatValue(operand));
        if (std::find(of.begin(), of.end(), nullptr) != of.end()) continue;
        llvm::IRBuilder<> at(i);
        Value* copies = at.CreateVectorSplat(vector_type(i)->getNumElements(), scalar(*i, of));
        i->replaceAllUsesWith(copies);
        changed.push_back(copies);
      }
    }
  }

  llvm::Loop& loop_;
  std::vector<llvm::PHINode*> ones_;
};

}  // namespace

bool lanes_alike(llvm::Module& module) {
  bool changed = false;
  for (llvm::Function& f : module) {
    if (f.isDeclaration()) continue;
    llvm::DominatorTree tree(f);
    llvm::LoopInfo loops(tree);
    for (llvm::Loop* loop : loops.getLoopsInPreorder()) changed = Alike(*loop).run() || changed;
  }
  return changed;
}

}  // namespace ashlar::codegen
