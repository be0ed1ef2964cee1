// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads of packed elements: arguments of i4 and u4, which hold element e in byte e / 2 of their memory, an even one in the low
// half. In registers, and in storage of the kernel's own, an element takes a byte.
//
//   scalar                    the byte, shifted up so that the element is on top, and down again by 4
//   ramp of stride 1          from an even element: lanes / 2 bytes, whose low and high halves are interleaved. From any
//                             element: the same bytes once from the first element's and once up to the last element's, of
//                             which each gives every other lane
//   anything else             one byte a lane, and shifts by lane
//
// Invariant: no byte is touched that holds none of the elements that are loaded.
#include <llvm/IR/Intrinsics.h>

#include "codegen/llvm/emitter.h"

namespace ashlar::codegen {

using llvm::Value;

bool is_packed(const ir::KBuffer& b) { return b.type.is_packed() && b.storage == ir::Storage::argument; }

namespace {

Type byte_of(Type packed) { return (packed.is_signed() ? i8 : u8).with_lanes(packed.lanes); }

// Every other lane of a mask, from `first` on; as many as `lanes`.
Value* alternate(llvm::IRBuilder<>& b, Value* mask, int first, int lanes) {
  std::vector<int> pick;
  for (int k = 0; k < lanes; ++k) pick.push_back(first + 2 * k);
  return b.CreateShuffleVector(mask, pick);
}

}  // namespace

// The half of a byte that lies on top, moved down and extended.
Value* Emitter::top_half(Type t, Value* byte) {
  Value* by = math.integer(byte_of(t), 4);
  return t.is_signed() ? b.CreateAShr(byte, by) : b.CreateLShr(byte, by);
}

Value* Emitter::half(Type t, Value* byte, Value* odd) {
  return top_half(t, b.CreateSelect(odd, byte, b.CreateShl(byte, math.integer(byte_of(t), 4))));
}

Value* Emitter::load_packed_scalar(const ir::KBuffer& buffer, Type t, Value* index) {
  Value* byte = load_scalar(buffer, byte_of(t.element()), element(buffer, index));
  return half(t.element(), byte, b.CreateTrunc(index, b.getInt1Ty()));
}

Value* Emitter::load_packed_vector(const ir::KBuffer& buffer, Type t, const Expr& address, Value* mask) {
  const Type bytes = byte_of(t);
  const auto ramp = as_ramp(address);
  if (ramp) kept_.push_back(ramp->base), kept_.push_back(ramp->stride);
  if (ramp && ir::is_int(ramp->stride, 1) && t.lanes % 2 == 0 && t.lanes > 2)
    return load_packed_row(buffer, t, ramp->base, mask);
  if (!mask && ramp && ir::is_int(ramp->stride, std::int64_t{0}))
    return b.CreateVectorSplat(t.lanes, load_packed_scalar(buffer, t, emit(ramp->base)));
  Value* index = emit(address);
  Value* read = nullptr;
  if (mask) {
    llvm::CallInst* gathered = b.CreateMaskedGather(math.type(bytes), element(buffer, index), llvm::Align(1), mask,
                                                    llvm::Constant::getNullValue(math.type(bytes)));
    unit.tag_access(gathered, buffer.id);
    read = gathered;
  } else {
    read = llvm::PoisonValue::get(math.type(bytes));
    for (int k = 0; k < t.lanes; ++k) {
      const auto lane = static_cast<std::uint64_t>(k);
      Value* at = element(buffer, b.CreateExtractElement(index, lane));
      read = b.CreateInsertElement(read, load_scalar(buffer, bytes.element(), at), lane);
    }
  }
  return half(t, read, b.CreateTrunc(index, math.type(bool_.with_lanes(t.lanes))));
}

Value* Emitter::load_packed_row(const ir::KBuffer& buffer, Type t, const Expr& first, Value* mask) {
  const int n = t.lanes / 2;
  const Type bytes = byte_of(t).with_lanes(n), halves = t.with_lanes(n);
  const bool even = known_multiple(first) % 2 == 0;
  Value* base = emit(first);
  Value *low_mask = nullptr, *high_mask = nullptr;  // of the lanes that come from low and from high halves, base even
  if (mask) low_mask = alternate(b, mask, 0, n), high_mask = alternate(b, mask, 1, n);
  auto read = [&](Value* index, llvm::Align align, Value* wanted) -> Value* {
    llvm::Type* type = math.type(bytes);
    Value* at = element(buffer, index);
    llvm::Instruction* v =
        wanted
            ? static_cast<llvm::Instruction*>(b.CreateMaskedLoad(type, at, align, wanted, llvm::Constant::getNullValue(type)))
            : b.CreateAlignedLoad(type, at, align);
    unit.tag_access(v, buffer.id);
    return v;
  };
  Value *evens = nullptr, *odds = nullptr;
  if (even) {
    const std::int64_t known = std::max<std::int64_t>(buffer.align, 1), a = known | (known_multiple(first) / 2);
    Value* v = read(base, llvm::Align(static_cast<std::uint64_t>(a & -a)), mask ? b.CreateOr(low_mask, high_mask) : nullptr);
    evens = top_half(halves, b.CreateShl(v, math.integer(bytes, 4)));
    odds = top_half(halves, v);
    if (mask) {
      Value* none = llvm::Constant::getNullValue(v->getType());
      evens = b.CreateSelect(low_mask, evens, none), odds = b.CreateSelect(high_mask, odds, none);
    }
  } else {
    Value* odd = b.CreateTrunc(base, b.getInt1Ty());
    evens = half(halves, read(base, llvm::Align(1), low_mask), odd);
    odds = half(halves, read(b.CreateAdd(base, b.getInt64(1)), llvm::Align(1), high_mask), b.CreateNot(odd));
  }
  std::vector<int> woven;
  for (int k = 0; k < n; ++k) woven.push_back(k), woven.push_back(n + k);
  return b.CreateShuffleVector(evens, odds, woven);
}

}  // namespace ashlar::codegen
