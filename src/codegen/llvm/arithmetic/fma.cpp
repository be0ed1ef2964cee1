// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fma of f64 in integers, for processors without the instruction: one function a module, without calls.
//
// The product of two significands has 106 bits and is exact in 128, and so is its sum with the third once the smaller of the
// two has been shifted right until their places agree; what falls off is kept as one sticky bit at the end ("jamming": J.
// Hauser, Berkeley SoftFloat). It stands more than 20 bits below where the sum is rounded, so it says what the lost bits say.
#include <llvm/IR/Module.h>

#include "codegen/llvm/arithmetic/arithmetic.h"

namespace ashlar::codegen {
namespace {

using llvm::Value;

class Fused {
 public:
  Fused(llvm::Module& m, llvm::Function* f) : b_(m.getContext()), f_(f) {}

  void emit() {
    Value *x = f_->getArg(0), *y = f_->getArg(1), *z = f_->getArg(2);
    block("entry");
    // Products of zeros, infinities and NaN are as exact apart. So is a sum with a zero or an infinity, once it is known which.
    Value* simple = b_.CreateOr(special(x), special(y));
    branch(simple, "apart", "third");
    b_.CreateRet(b_.CreateFAdd(b_.CreateFMul(x, y), z));
    block(other_);
    branch(special(z), "end", "finite");
    b_.CreateRet(b_.CreateSelect(b_.CreateFCmpOEQ(z, zero()), b_.CreateFMul(x, y), b_.CreateFAdd(z, z)));
    block(other_);
    finite(number(x), number(y), number(z));
  }

 private:
  struct Number {  // significand * 2^exponent, the significand in [2^52, 2^53)
    Value *sign, *exponent, *significand;
  };

  void block(const char* name) { block(llvm::BasicBlock::Create(b_.getContext(), name, f_)); }
  void block(llvm::BasicBlock* b) { b_.SetInsertPoint(b); }
  void branch(Value* c, const char* taken, const char* otherwise) {
    llvm::BasicBlock* then = llvm::BasicBlock::Create(b_.getContext(), taken, f_);
    other_ = llvm::BasicBlock::Create(b_.getContext(), otherwise, f_);
    b_.CreateCondBr(c, then, other_);
    block(then);
  }
  Value* zero() { return llvm::ConstantFP::get(b_.getDoubleTy(), 0); }
  Value* wide(Value* v) { return b_.CreateZExt(v, b_.getInt128Ty()); }
  Value* max(Value* v, std::int64_t least) { return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, v, b_.getInt64(least)); }
  Value* min(Value* v, std::int64_t most) { return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, v, b_.getInt64(most)); }
  Value* leading_zeros(Value* v) { return b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, v, b_.getFalse()); }

  Value* field(Value* x) { return b_.CreateAnd(b_.CreateLShr(bits(x), 52), 0x7ff); }
  Value* bits(Value* x) { return b_.CreateBitCast(x, b_.getInt64Ty()); }
  Value* special(Value* x) { return b_.CreateOr(b_.CreateICmpEQ(field(x), b_.getInt64(0x7ff)), b_.CreateFCmpOEQ(x, zero())); }

  Number number(Value* x) {
    Value* e = field(x);
    Value* fraction = b_.CreateAnd(bits(x), (std::uint64_t{1} << 52) - 1);
    Value* implicit = b_.CreateSelect(b_.CreateICmpEQ(e, b_.getInt64(0)), b_.getInt64(0), b_.getInt64(std::int64_t{1} << 52));
    Value* m = b_.CreateOr(fraction, implicit);
    Value* up = b_.CreateSub(leading_zeros(m), b_.getInt64(11));  // 0 but for subnormal numbers
    Value* exponent = b_.CreateSub(b_.CreateSub(max(e, 1), b_.getInt64(1075)), up);
    return {b_.CreateICmpSLT(bits(x), b_.getInt64(0)), exponent, b_.CreateShl(m, up)};
  }

  // v >> by, with its last bit set where a bit was lost
  Value* jammed(Value* v, Value* by) {
    Value* shifted = b_.CreateLShr(v, by);
    Value* lost = b_.CreateICmpNE(b_.CreateShl(shifted, by), v);
    return b_.CreateOr(shifted, b_.CreateZExt(lost, v->getType()));
  }

  void finite(const Number& x, const Number& y, const Number& z) {
    // Both in 127 bits: product << 21, third << 74.
    Value* product = b_.CreateShl(b_.CreateMul(wide(x.significand), wide(y.significand)), 21);
    Value* product_exponent = b_.CreateSub(b_.CreateAdd(x.exponent, y.exponent), b_.getInt64(21));
    Value* third = b_.CreateShl(wide(z.significand), 74);
    Value* third_exponent = b_.CreateSub(z.exponent, b_.getInt64(74));
    Value* apart = b_.CreateSub(third_exponent, product_exponent);
    Value* exponent = b_.CreateSelect(b_.CreateICmpSGT(apart, b_.getInt64(0)), third_exponent, product_exponent);
    product = jammed(product, wide(min(max(apart, 0), 127)));
    third = jammed(third, wide(min(max(b_.CreateNeg(apart), 0), 127)));
    Value* product_sign = b_.CreateXor(x.sign, y.sign);
    Value* larger = b_.CreateICmpUGE(product, third);
    Value* difference = b_.CreateSelect(larger, b_.CreateSub(product, third), b_.CreateSub(third, product));
    Value* same = b_.CreateICmpEQ(product_sign, z.sign);
    Value* sum = b_.CreateSelect(same, b_.CreateAdd(product, third), difference);
    Value* sign = b_.CreateSelect(larger, product_sign, z.sign);
    branch(b_.CreateICmpEQ(sum, llvm::ConstantInt::get(b_.getInt128Ty(), 0)), "cancelled", "rounded");
    b_.CreateRet(zero());
    block(other_);
    Value* up = leading_zeros(sum);
    sum = b_.CreateShl(sum, up);
    Value* top = b_.CreateTrunc(b_.CreateLShr(sum, 64), b_.getInt64Ty());
    Value* rest = b_.CreateICmpNE(b_.CreateTrunc(sum, b_.getInt64Ty()), b_.getInt64(0));
    top = b_.CreateOr(top, b_.CreateZExt(rest, b_.getInt64Ty()));
    // the biased exponent of the first bit; below 1 the result is subnormal
    Value* e = b_.CreateAdd(b_.CreateSub(exponent, b_.CreateTrunc(up, b_.getInt64Ty())), b_.getInt64(127 + 1023));
    top = jammed(top, min(max(b_.CreateSub(b_.getInt64(1), e), 0), 60));
    Value* kept = b_.CreateLShr(top, 11);
    Value* tail = b_.CreateAnd(top, 0x7ff);
    Value* tie_up = b_.CreateAnd(b_.CreateICmpEQ(tail, b_.getInt64(0x400)), b_.CreateTrunc(kept, b_.getInt1Ty()));
    Value* round_up = b_.CreateOr(b_.CreateICmpUGT(tail, b_.getInt64(0x400)), tie_up);
    kept = b_.CreateAdd(kept, b_.CreateZExt(round_up, b_.getInt64Ty()));
    // the implicit bit, and a carry of rounding, add themselves to the exponent
    Value* magnitude = b_.CreateAdd(b_.CreateShl(b_.CreateSub(max(e, 1), b_.getInt64(1)), 52), kept);
    constexpr std::int64_t infinity = std::int64_t{0x7ff} << 52;
    magnitude = b_.CreateSelect(b_.CreateICmpSGT(e, b_.getInt64(2046)), b_.getInt64(infinity), magnitude);
    Value* with_sign = b_.CreateOr(magnitude, b_.CreateShl(b_.CreateZExt(sign, b_.getInt64Ty()), 63));
    b_.CreateRet(b_.CreateBitCast(with_sign, b_.getDoubleTy()));
  }

  llvm::IRBuilder<> b_;
  llvm::Function* f_;
  llvm::BasicBlock* other_ = nullptr;
};

llvm::Function* fused(llvm::Module& m) {
  constexpr const char* name = "ashlar.fma.f64";
  if (llvm::Function* known = m.getFunction(name)) return known;
  llvm::Type* t = llvm::Type::getDoubleTy(m.getContext());
  auto* f = llvm::Function::Create(llvm::FunctionType::get(t, {t, t, t}, false), llvm::Function::InternalLinkage, name, m);
  f->addFnAttr(llvm::Attribute::NoInline);
  f->setDoesNotThrow();
  f->setDoesNotAccessMemory();
  Fused(m, f).emit();
  return f;
}

}  // namespace

Value* Arithmetic::fma_in_integers(Type t, Value* x, Value* y, Value* z) {
  llvm::Function* f = fused(*b_.GetInsertBlock()->getModule());
  if (t.lanes == 1) return b_.CreateCall(f, {x, y, z});
  Value* all = llvm::PoisonValue::get(x->getType());
  for (std::uint64_t k = 0; k < static_cast<std::uint64_t>(t.lanes); ++k) {
    Value* one =
        b_.CreateCall(f, {b_.CreateExtractElement(x, k), b_.CreateExtractElement(y, k), b_.CreateExtractElement(z, k)});
    all = b_.CreateInsertElement(all, one, k);
  }
  return all;
}

}  // namespace ashlar::codegen
