// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Minima and maxima of 8 and 16 bits, in 32. ptxas (13.0 at least) joins one of 16 bits with a test whether it is its bound:
//
//   min.u16 %m, %x, 8;  setp.eq.b16 %p, %m, 8;   ->   VIMNMX.U16x2 R0, P0, P0, R1, 0x8
//
// The instruction is of two halves, and the half that is not there writes the same predicate. LLVM makes such minima itself,
// also of sums that saturate, so this comes after its passes. An extended x keeps its order, and the bound its place in it.
#include <vector>

#include <llvm/ADT/APInt.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include "codegen/llvm/nvptx/nvptx.h"

namespace ashlar::codegen {

namespace {

using llvm::Value;

Value* extended(llvm::IRBuilder<>& b, Value* v, bool is_signed) {
  llvm::Type* wide = v->getType()->getWithNewBitWidth(32);
  return is_signed ? b.CreateSExt(v, wide) : b.CreateZExt(v, wide);
}

// In 32 bits no sum or difference of 16 overflows.
Value* saturated(llvm::IRBuilder<>& b, const llvm::SaturatingInst& i) {
  const bool is_signed = i.isSigned();
  Value *x = extended(b, i.getLHS(), is_signed), *y = extended(b, i.getRHS(), is_signed);
  Value* r = b.CreateBinOp(i.getBinaryOp(), x, y);
  const unsigned bits = i.getType()->getScalarSizeInBits();
  const auto bound = [&](llvm::APInt v) { return llvm::ConstantInt::get(r->getType(), is_signed ? v.sext(32) : v.zext(32)); };
  Value* least = bound(is_signed ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt(bits, 0));
  Value* most = bound(is_signed ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits));
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, r, least), most);
}

}  // namespace

void widen_minima(llvm::Module& module) {
  std::vector<llvm::IntrinsicInst*> narrow;
  for (llvm::Function& f : module)
    for (llvm::Instruction& i : llvm::instructions(f))
      if ((llvm::isa<llvm::MinMaxIntrinsic>(i) || llvm::isa<llvm::SaturatingInst>(i)) &&
          i.getType()->getScalarSizeInBits() < 32)
        narrow.push_back(llvm::cast<llvm::IntrinsicInst>(&i));
  for (llvm::IntrinsicInst* i : narrow) {
    llvm::IRBuilder<> b(i);
    Value* r = nullptr;
    if (const auto* m = llvm::dyn_cast<llvm::MinMaxIntrinsic>(i))
      r = b.CreateBinaryIntrinsic(m->getIntrinsicID(), extended(b, m->getLHS(), m->isSigned()),
                                  extended(b, m->getRHS(), m->isSigned()));
    else
      r = saturated(b, *llvm::cast<llvm::SaturatingInst>(i));
    i->replaceAllUsesWith(b.CreateTrunc(r, i->getType()));
    i->eraseFromParent();
  }
}

}  // namespace ashlar::codegen
