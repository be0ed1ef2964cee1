// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes and 16-bit elements at indices that are anything: no processor gathers those, but words of 32 bits.
//
//   table(x(i))   of bytes     word[k] = the aligned word that holds byte x(i + k);  word[k] >> 8 * (its place in the word)
//
// An aligned word never crosses a page, so what is read beside the element is there to be read, and is dropped.
#include <llvm/IR/IntrinsicInst.h>

#include "codegen/llvm/emitter.h"

namespace ashlar::codegen {

using llvm::Value;

// Where a gather is no faster than scalar loads and inserts, lanes are loaded one by one. With a mask that costs a branch per
// lane, so AVX-512 always gathers under one.
bool Emitter::gathers_words(Type t, bool masked) const {
  return t.bytes() <= 2 && !thread_of && !t.scalable && t.lanes >= 8 && unit.target.has("avx2") && unit.pointer_bytes() == 8 &&
         (unit.gathers_fast || (masked && unit.target.has("avx512f")));
}

Value* Emitter::load_from_words(const ir::KBuffer& buffer, Type t, Value* index, Value* mask) {
  const Type words = u32.with_lanes(t.lanes), places = ir::index_type.with_lanes(t.lanes);
  Value* base = base_of(buffer.id);
  Value* start = b.CreateVectorSplat(math.count(t), b.CreatePtrToInt(base, math.type(ir::index_type)));
  Value* bytes = t.bytes() == 1 ? index : b.CreateShl(index, math.integer(places, 1));
  Value* at = b.CreateAdd(start, bytes);
  Value* inside = b.CreateAnd(at, math.integer(places, 3));
  Value* word = b.CreateGEP(b.getInt8Ty(), base, b.CreateSub(bytes, inside));
  llvm::CallInst* read =
      b.CreateMaskedGather(math.type(words), word, llvm::Align(4), mask, llvm::Constant::getNullValue(math.type(words)));
  unit.tag_access(read, buffer.id);
  Value* by = b.CreateTrunc(b.CreateShl(inside, math.integer(places, 3)), math.type(words));
  return b.CreateTrunc(b.CreateLShr(read, by), math.memory_type(t));
}

}  // namespace ashlar::codegen
