// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tables: elements of a buffer so small that it lies in registers are permuted out of them, instead of loaded one by one. A
// buffer is a table where it is constant data, or an argument of one dimension and a known extent that nobody writes meanwhile.
//
//   bytes of an element   x86-64, entries at most                               AArch64
//   1                     pshufb: 16, and several and choices: 128 (v2),        tbl: 64, and several: 256
//                         256 (v3); vpermb, vpermi2b: 256 (VBMI)
//   2                     pshufb by bytes: 8 (v2); vpermw, vpermi2w: 128 (v4)   tbl by bytes: 128
//   4                     pshufb by bytes: 4 (v2); vpermd: 8, and choices: 32   tbl by bytes: 64
//                         (v3); vpermd, vpermi2d: 64 (v4)
//
// By bytes: element i of four bytes has the bytes 4 i, 4 i + 1, 4 i + 2, 4 i + 3. A lane whose mask is false may have any
// index: nothing is accessed for it, and it gives 0.
#include <algorithm>
#include <bit>
#include <numeric>

#include <llvm/IR/IntrinsicsAArch64.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "codegen/llvm/emitter.h"

namespace ashlar::codegen {

using llvm::Value;

namespace {

constexpr int kRegister = 16;  // bytes that pshufb and tbl choose among

enum class Way { none, bytes, words };

// `entries` of `bytes` each; `bytes` is 1, 2 or 4.
Way way_of(const Target& target, std::int64_t entries, int bytes) {
  const std::int64_t all = entries * bytes;
  if (target.architecture() == Architecture::aarch64) return target.has("neon") && all <= 256 ? Way::bytes : Way::none;
  if (!target.has("ssse3")) return Way::none;
  if (all <= kRegister && (bytes == 1 || !target.has("avx2"))) return Way::bytes;
  if (bytes == 1) {
    if (entries > (target.has("avx2") ? 256 : 128)) return Way::none;
    return target.has("avx512vbmi") ? Way::words : Way::bytes;
  }
  if (bytes == 2 && target.has("avx512bw")) return entries <= 128 ? Way::words : Way::none;
  if (bytes == 2) return all <= kRegister ? Way::bytes : Way::none;
  if (target.has("avx512f")) return entries <= 64 ? Way::words : Way::none;
  return target.has("avx2") && entries <= 32 ? Way::words : Way::none;
}

class Lookup {
 public:
  // `table`: all bytes of the entries, and perhaps more.
  Lookup(llvm::IRBuilder<>& b, const Target& target, Value* table, std::int64_t entries, int bytes)
      : b_(b), target_(target), table_(table), entries_(entries), bytes_(bytes) {}

  // index: <lanes x iN>, N the bits of an entry; so is the result.
  Value* words(Value* index) {
    const int lanes = count(index), width = words_at_once(lanes);
    return in_pieces(index, width, [&](Value* i) {
      const int held = target_.has("avx512f") ? 2 * width : width;
      Value* found = permuted(i, 0, width, held);
      for (int from = held; from < entries_; from += held) {
        Value* there = b_.CreateICmpUGE(i, llvm::ConstantInt::get(i->getType(), static_cast<std::uint64_t>(from)));
        found = b_.CreateSelect(there, permuted(i, from, width, held), found);
      }
      return found;
    });
  }

  Value* by_bytes(Value* index) {
    llvm::Type* type = index->getType();
    if (bytes_ > 1) {
      const std::uint64_t times = bytes_ == 2 ? 0x0202 : 0x04040404, plus = bytes_ == 2 ? 0x0100 : 0x03020100;
      index = b_.CreateAdd(b_.CreateMul(index, llvm::ConstantInt::get(type, times)), llvm::ConstantInt::get(type, plus));
      index = b_.CreateBitCast(index, vector(8, count(index) * bytes_));
    }
    const bool arm = target_.architecture() == Architecture::aarch64;
    int width = arm ? kRegister : target_.has("avx512bw") ? 64 : target_.has("avx2") ? 32 : 16;
    while (width / 2 >= std::max(count(index), kRegister)) width /= 2;
    Value* found = in_pieces(index, width, [&](Value* i) { return arm ? tbl(i) : pshufb(i, width); });
    return b_.CreateBitCast(found, type);
  }

 private:
  static int count(Value* v) { return static_cast<int>(llvm::cast<llvm::FixedVectorType>(v->getType())->getNumElements()); }
  llvm::Type* vector(int bits, int lanes) {
    return llvm::FixedVectorType::get(b_.getIntNTy(static_cast<unsigned>(bits)), static_cast<unsigned>(lanes));
  }

  // `n` bytes of the table from `from` on, `times` over; what lies behind its end is anything.
  Value* part(std::int64_t from, int n, int times = 1) {
    std::vector<int> mask;
    for (int t = 0; t < times; ++t)
      for (std::int64_t k = from; k < from + n; ++k) mask.push_back(k < count(table_) ? static_cast<int>(k) : -1);
    return b_.CreateShuffleVector(table_, mask);
  }

  template <class F>
  Value* in_pieces(Value* index, int width, F&& look) {
    const int lanes = count(index);
    std::vector<Value*> found;
    for (int from = 0; from < lanes; from += width) {
      std::vector<int> mask;
      for (int k = from; k < from + width; ++k) mask.push_back(k < lanes ? k : -1);
      found.push_back(look(lanes == width ? index : b_.CreateShuffleVector(index, mask)));
    }
    Value* all = found[0];
    for (std::size_t k = 1; k < found.size(); ++k) {  // behind one another: operands of a shuffle are of one length
      const int have = count(all);
      Value* next = b_.CreateShuffleVector(found[k], numbers(width, have));
      all = b_.CreateShuffleVector(all, next, numbers(have + width, have + width));
    }
    return count(all) == lanes ? all : b_.CreateShuffleVector(all, numbers(lanes, lanes));
  }

  static std::vector<int> numbers(int n, int length) {  // 0 .. n - 1, and whatever up to `length`
    std::vector<int> all(static_cast<std::size_t>(length), -1);
    std::iota(all.begin(), all.begin() + n, 0);
    return all;
  }

  Value* pshufb(Value* i, int width) {
    const auto id = width == 16   ? llvm::Intrinsic::x86_ssse3_pshuf_b_128
                    : width == 32 ? llvm::Intrinsic::x86_avx2_pshuf_b
                                  : llvm::Intrinsic::x86_avx512_pshuf_b_512;
    // by the low four bits; a byte from 128 on would give 0
    Value* low = entries_ > 128 ? b_.CreateAnd(i, llvm::ConstantInt::get(i->getType(), kRegister - 1)) : i;
    Value* found = nullptr;
    for (std::int64_t from = 0; from < entries_ * bytes_; from += kRegister) {
      Value* these = b_.CreateIntrinsic(id, {}, {part(from, kRegister, width / kRegister), low});
      Value* there = b_.CreateICmpUGE(i, llvm::ConstantInt::get(i->getType(), static_cast<std::uint64_t>(from)));
      found = found ? b_.CreateSelect(there, these, found) : these;
    }
    return found;
  }

  // Of four registers at once; what lies outside of them gives 0.
  Value* tbl(Value* i) {
    constexpr llvm::Intrinsic::ID ids[] = {llvm::Intrinsic::aarch64_neon_tbl1, llvm::Intrinsic::aarch64_neon_tbl2,
                                           llvm::Intrinsic::aarch64_neon_tbl3, llvm::Intrinsic::aarch64_neon_tbl4};
    const std::int64_t all = entries_ * bytes_;
    Value* found = nullptr;
    for (std::int64_t from = 0; from < all; from += 4 * kRegister) {
      std::vector<Value*> operands;
      for (std::int64_t r = from; r < std::min(all, from + 4 * kRegister); r += kRegister)
        operands.push_back(part(r, kRegister));
      const auto id = ids[operands.size() - 1];
      operands.push_back(b_.CreateSub(i, llvm::ConstantInt::get(i->getType(), static_cast<std::uint64_t>(from))));
      Value* these = b_.CreateIntrinsic(id, {i->getType()}, operands);
      found = found ? b_.CreateOr(found, these) : these;
    }
    return found;
  }

  int words_at_once(int lanes) const {
    int width = (target_.has("avx512f") && !target_.has("avx512vl") ? 64 : 32) / bytes_;
    if (!target_.has("avx512f")) return width;
    while (width * bytes_ < 64 && (width < lanes || 2 * width < entries_)) width *= 2;
    return width;
  }

  // Among the entries from `from` on, one register of them, or two where `held` says so and they reach so far.
  Value* permuted(Value* i, int from, int width, int held) {
    const int bits = 8 * bytes_;
    const bool whole = width * bytes_ == 64;
    const auto entries = [&](int first) {
      return b_.CreateBitCast(part(static_cast<std::int64_t>(first) * bytes_, width * bytes_), vector(bits, width));
    };
    using namespace llvm::Intrinsic;
    if (held > width && entries_ - from > width) {
      const auto id = bits == 8    ? (whole ? x86_avx512_vpermi2var_qi_512 : x86_avx512_vpermi2var_qi_256)
                      : bits == 16 ? (whole ? x86_avx512_vpermi2var_hi_512 : x86_avx512_vpermi2var_hi_256)
                                   : (whole ? x86_avx512_vpermi2var_d_512 : x86_avx512_vpermi2var_d_256);
      return b_.CreateIntrinsic(id, {}, {entries(from), i, entries(from + width)});
    }
    const auto id = bits == 8    ? (whole ? x86_avx512_permvar_qi_512 : x86_avx512_permvar_qi_256)
                    : bits == 16 ? (whole ? x86_avx512_permvar_hi_512 : x86_avx512_permvar_hi_256)
                                 : (whole ? x86_avx512_permvar_si_512 : x86_avx2_permd);
    return b_.CreateIntrinsic(id, {}, {entries(from), i});
  }

  llvm::IRBuilder<>& b_;
  const Target& target_;
  Value* const table_;
  const std::int64_t entries_;
  const int bytes_;
};

}  // namespace

// The entries of a buffer that may be looked up whole; 0 of others.
std::int64_t Emitter::table_entries(const ir::KBuffer& buffer) const {
  if (is_packed(buffer)) return 0;
  const std::int64_t bytes = buffer.type.bytes();
  if (buffer.storage == ir::Storage::constant) return static_cast<std::int64_t>(buffer.data->size()) / bytes;
  const auto argument = unit.kernel.argument_buffers.find(buffer.id);
  std::int64_t entries = 0;
  if (argument == unit.kernel.argument_buffers.end() || !unit.never_written(buffer)) return 0;
  if (argument->second.extents.size() != 1 || !ir::is_int(argument->second.extents[0], &entries)) return 0;
  for (const ir::StrideArg& s : unit.kernel.strides)
    if (s.buffer == buffer.id) return 0;
  // read in one piece
  return entries > 0 && std::has_single_bit(static_cast<std::uint64_t>(entries)) && entries * bytes >= 4 ? entries : 0;
}

Value* Emitter::load_from_table(const ir::KBuffer& buffer, Type t, const Expr& address, Value* mask) {
  const auto bytes = static_cast<int>(t.bytes());
  if (t.scalable || thread_of || bytes > 4) return nullptr;
  const std::int64_t entries = table_entries(buffer);
  const Way way = entries == 0 ? Way::none : way_of(unit.target, entries, bytes);
  if (way == Way::none) return nullptr;
  Value* table = nullptr;
  if (buffer.storage == ir::Storage::constant) {
    std::vector<std::uint8_t> data(reinterpret_cast<const std::uint8_t*>(buffer.data->data()),
                                   reinterpret_cast<const std::uint8_t*>(buffer.data->data()) + entries * bytes);
    table = llvm::ConstantDataVector::get(*unit.context, data);
  } else {
    auto* type = llvm::FixedVectorType::get(b.getInt8Ty(), static_cast<unsigned>(entries * bytes));
    llvm::LoadInst* all = b.CreateAlignedLoad(
        type, base_of(buffer.id),
        llvm::Align(static_cast<std::uint64_t>(std::max<std::int64_t>(buffer.align & -buffer.align, bytes))));
    unit.tag_access(all, buffer.id);
    table = all;
  }
  Value* index = b.CreateTrunc(emit(address), math.type((bytes == 1 ? u8 : bytes == 2 ? u16 : u32).with_lanes(t.lanes)));
  Lookup lookup(b, unit.target, table, entries, bytes);
  Value* found = b.CreateBitCast(way == Way::bytes ? lookup.by_bytes(index) : lookup.words(index), math.memory_type(t));
  return mask ? b.CreateSelect(mask, found, llvm::Constant::getNullValue(found->getType())) : found;
}

}  // namespace ashlar::codegen
