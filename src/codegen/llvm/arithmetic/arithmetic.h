// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What every operator computes, said in LLVM IR: the same values as ir/numeric.h, bit for bit (but for the payloads of NaNs).
//
// Values in registers: index is i64; bool is i1; f32 and f64 are themselves; f16, bf16 and the 8-bit floats are integers that
// hold their bits, widened to f32 for arithmetic and rounded once more; i4 and u4 are bytes, extended, moved and converted
// only. A vector type has the lanes of the IR's type. Invariant: nothing here calls a library. Operators are those that
// offers_of names, and those without an expansion (codegen/legalize.h).
//
//   Arithmetic a(builder, target);   a.binary(Op::add, i32, x, y)

#include <llvm/IR/IRBuilder.h>

#include <ashlar/ir/build.h>
#include <ashlar/ir/operation.h>
#include <ashlar/ir/vscale.h>
#include <ashlar/target/target.h>

namespace ashlar::codegen {

class Arithmetic {
 public:
  // device: which has f64 and its fma by instructions, and keeps subnormal numbers, whatever the target's features say
  Arithmetic(llvm::IRBuilder<>& builder, const Target& target, bool device = false);

  static llvm::ElementCount count(Type t) { return llvm::ElementCount::get(t.lanes, t.scalable); }
  llvm::Type* type(Type) const;                       // in a register
  llvm::Type* memory_type(Type) const;                // in memory: bool is a byte
  llvm::Constant* integer(Type, std::int64_t) const;  // of any type that is an integer in a register, splatted
  llvm::Constant* real(Type, double) const;           // f32 or f64
  llvm::Value* from_memory(Type, llvm::Value*);
  llvm::Value* to_memory(Type, llvm::Value*);

  // Operands have type t (its lanes included); the result has it too, except for isnan, isinf and comparisons: bool,
  // and abs_diff: unsigned.
  llvm::Value* unary(ir::Op, Type t, llvm::Value*);
  llvm::Value* binary(ir::Op, Type t, llvm::Value*, llvm::Value*);
  llvm::Value* comparison(ir::Op, Type t, llvm::Value*, llvm::Value*);
  // `within`: the amount is known to be below the width
  llvm::Value* rounding_shift(Type t, llvm::Value*, Type amount_type, llvm::Value* amount, bool within);
  // `both_lowest`: both operands may be the smallest number
  llvm::Value* mul_high_rounding(Type t, llvm::Value*, llvm::Value*, bool both_lowest);
  void require_doubles(Type) const;  // refused: f64 where functions of the C compiler would compute it
  llvm::Value* fma(Type t, llvm::Value*, llvm::Value*, llvm::Value*);
  bool fuses(Type t) const { return t.bits == 32 || fuses_doubles_; }  // else fma is a function of the module (functions.cpp)
  llvm::Value* convert(Type to, Type from, llvm::Value*);
  llvm::Value* bitcast(Type to, Type from, llvm::Value*);

 private:
  // Whether an operation on vectors of floats is done one element at a time: NEON of 32-bit ARM and Helium take subnormal
  // numbers for zero, which the target was not said to allow (+flush).
  bool apart(Type t) const { return apart_ && t.lanes > 1; }
  template <class... V, class F>
  llvm::Value* each_lane(Type result, F&& one, V*... vectors) {  // one(element of each vector)
    llvm::Value* all = llvm::PoisonValue::get(type(result));
    for (int lane = 0; lane < result.lanes; ++lane) {
      const auto k = static_cast<std::uint64_t>(lane);
      all = b_.CreateInsertElement(all, one(b_.CreateExtractElement(vectors, k)...), k);
    }
    return all;
  }
  llvm::Value* minimum_or_maximum(ir::Op, Type t, llvm::Value*, llvm::Value*);
  llvm::Value* sum_of_integers(llvm::Value*, llvm::Value*);
  llvm::Value* device_shift(const char* instruction, Type t, llvm::Value*, llvm::Value*);
  llvm::Value* chosen_both_ways(ir::Op, Type t, llvm::Value*, llvm::Value*);
  bool ranges(Type) const;
  llvm::Value* chosen_by_range(ir::Op, Type t, llvm::Value*, llvm::Value*);
  llvm::Value* intrinsic(llvm::Intrinsic::ID, std::initializer_list<llvm::Value*>);
  llvm::Type* lane_type(Type, bool memory) const;
  llvm::Type* vector_of(llvm::Type*, Type lanes_as) const;
  llvm::Value* fixed_point(ir::Op, Type t, llvm::Value*, llvm::Value*);  // fixed.cpp
  // An instruction of NEON on vectors of its registers' elements, register by register.
  llvm::Value* neon(llvm::Intrinsic::ID, Type t, llvm::Value*, llvm::Value*);
  // The same of Helium; `more` are the operands behind both vectors.
  llvm::Value* helium(llvm::Intrinsic::ID, Type t, llvm::Value*, llvm::Value*, std::initializer_list<int> more = {});
  llvm::Value* float_unary(ir::Op, llvm::Value*);
  llvm::Value* float_binary(ir::Op, Type t, llvm::Value*, llvm::Value*);
  llvm::Value* rounded(ir::Op, llvm::Value*);  // floor, ceil, round, trunc
  llvm::Value* float_to_integer(Type to, Type from, llvm::Value*);
  llvm::Value* narrowed(Type t, llvm::Value*);
  llvm::Value* clamped_to_integer(Type to, Type from, llvm::Value*);
  llvm::Value* bits_of(Type t, llvm::Value*);   // f32, f64: as integers
  llvm::Value* float_of(Type t, llvm::Value*);  // and back

  llvm::IRBuilder<>& b_;
  const Target& target_;
  bool host_ = true;  // a processor, not a device
  // instructions for fma of f64; doubles are computed by functions of the C compiler
  bool fuses_doubles_ = false, soft_doubles_ = false;
  bool apart_ = false;
};

}  // namespace ashlar::codegen
