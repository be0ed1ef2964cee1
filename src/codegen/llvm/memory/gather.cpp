// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gathers: elements at indices that are anything.
//
// Indices are i64. Of an index that is what all lanes share and a number that fits 32 bits in each lane, the first is added to
// the pointer, and the lanes are computed and gathered by in 32 bits: half as many registers, and one instruction where indices
// of 64 bits take two.
//
//   in[x16(i * stride) + max(min(index(v), x16(W - 1)), x16(0))]   ->   (in + i * stride)[max(min(v, min(W - 1, 2^31 - 1)), 0)]
//
// The numbers in the lanes are exact: each operation is bounded by what its operands can be, and what may leave 32 bits is not
// taken apart.
#include <algorithm>

#include <ashlar/analysis/simplify.h>

#include "codegen/llvm/emitter.h"

namespace ashlar::codegen {

using ir::Op;
using llvm::Value;

namespace {

bool fits32(std::int64_t low, std::int64_t high) { return low >= INT32_MIN && high <= INT32_MAX; }

}  // namespace

// A gather is an instruction.
bool Emitter::gathers(Type t) const { return t.bits >= 32 && unit.target.has("avx2") && t.lanes >= 4; }

std::optional<std::int64_t> Emitter::least_of(const Expr& e) const {
  analysis::Facts facts;
  ir::walk(e, [&](const Expr& part) {
    if (!ir::is(part, Op::var)) return true;
    const auto s = unit.kernel.symbols.find(part.node()->id);
    if (s != unit.kernel.symbols.end()) facts.bound(s->first, std::max<std::int64_t>(s->second.min, 0), s->second.max);
    return true;
  });
  return analysis::constant_min(e, facts);
}

// The lanes of a vector of indices in 32 bits, where that is exact.
std::optional<Emitter::Lanes> Emitter::lanes_in_32_bits(const Expr& e) {
  const Op op = ir::op_of(e);
  const auto args = ir::args_of(e);
  const Type t = i32.with_lanes(e.type().lanes);
  switch (op) {
    case Op::in_range:
      return lanes_in_32_bits(args[0]);
    case Op::broadcast: {
      std::int64_t n = 0;
      if (!ir::is_int(args[0], &n) || !fits32(n, n)) return {};
      return Lanes{math.integer(t, n), n, n};
    }
    case Op::ramp: {
      std::int64_t base = 0, stride = 0;
      if (!ir::is_int(args[0], &base) || !ir::is_int(args[1], &stride) || !fits32(stride, stride)) return {};
      const std::int64_t last = base + stride * (t.lanes - 1);
      if (!fits32(base, base) || !fits32(last, last)) return {};
      std::vector<llvm::Constant*> lanes;
      for (int k = 0; k < t.lanes; ++k) lanes.push_back(math.integer(i32, base + stride * k));
      return Lanes{llvm::ConstantVector::get(lanes), std::min(base, last), std::max(base, last)};
    }
    case Op::cast: {
      const Type from = args[0].type();
      if (from.is_float() || from.is_bool() || from.is_index() || from.bits > 32 || (from.bits == 32 && !from.is_signed()))
        return {};
      const bool sign = from.is_signed();
      const std::int64_t values = std::int64_t{1} << from.bits;
      return Lanes{b.CreateIntCast(emit(args[0]), math.type(t), sign), sign ? -values / 2 : 0,
                   sign ? values / 2 - 1 : values - 1};
    }
    case Op::add:
    case Op::sub:
    case Op::mul: {
      const auto x = lanes_in_32_bits(args[0]);
      const auto y = x ? lanes_in_32_bits(args[1]) : std::nullopt;
      if (!x || !y) return {};
      const std::int64_t corners[] = {op == Op::mul   ? x->low * y->low
                                      : op == Op::add ? x->low + y->low
                                                      : x->low - y->high,
                                      op == Op::mul   ? x->high * y->high
                                      : op == Op::add ? x->high + y->high
                                                      : x->high - y->low,
                                      op == Op::mul ? x->low * y->high : 0, op == Op::mul ? x->high * y->low : 0};
      const int many = op == Op::mul ? 4 : 2;
      const std::int64_t low = *std::min_element(corners, corners + many), high = *std::max_element(corners, corners + many);
      if (!fits32(low, high)) return {};
      Value* v = op == Op::add   ? b.CreateAdd(x->value, y->value)
                 : op == Op::sub ? b.CreateSub(x->value, y->value)
                                 : b.CreateMul(x->value, y->value);
      return Lanes{v, low, high};
    }
    case Op::min:
    case Op::max: {
      for (const int k : {0, 1}) {
        const Expr &lanes = args[static_cast<std::size_t>(k)], &bound = args[static_cast<std::size_t>(1 - k)];
        const auto x = ir::is(lanes, Op::broadcast) ? std::nullopt : lanes_in_32_bits(lanes);
        if (!x) continue;
        if (const auto y = lanes_in_32_bits(bound))
          return Lanes{math.binary(op, t, x->value, y->value),
                       op == Op::min ? std::min(x->low, y->low) : std::max(x->low, y->low),
                       op == Op::min ? std::min(x->high, y->high) : std::max(x->high, y->high)};
        // What is above all numbers of 32 bits bounds none of them.
        if (op != Op::min || !ir::is(bound, Op::broadcast)) return {};
        const Expr& shared = ir::args_of(bound)[0];
        const auto least = least_of(shared);
        if (!least || *least < INT32_MIN) return {};
        const Type scalar = ir::index_type;
        Value* below = math.binary(Op::min, scalar, emit(shared), math.integer(scalar, INT32_MAX));
        Value* all = b.CreateVectorSplat(math.count(t), b.CreateTrunc(below, b.getInt32Ty()));
        return Lanes{math.binary(op, t, x->value, all), std::min<std::int64_t>(x->low, *least), x->high};
      }
      return {};
    }
    default:
      return {};
  }
}

Emitter::Anywhere Emitter::anywhere(Type t, const Expr& address) {
  if (!gathers(t) || thread_of || overflow_ || t.scalable || narrows_indices()) return {nullptr, place(address)};
  std::vector<Expr> shared, terms{address}, apart;  // terms: still to be looked at
  while (!terms.empty()) {
    const Expr e = terms.back();
    terms.pop_back();
    if (ir::is(e, Op::add))
      terms.push_back(ir::args_of(e)[0]), terms.push_back(ir::args_of(e)[1]);
    else if (ir::is(e, Op::broadcast))
      shared.push_back(ir::args_of(e)[0]);
    else
      apart.push_back(e);
  }
  std::optional<Lanes> lanes;
  for (const Expr& e : apart) {
    const auto part = lanes_in_32_bits(e);
    if (!part || (lanes && !fits32(lanes->low + part->low, lanes->high + part->high))) return {nullptr, place(address)};
    lanes = lanes ? Lanes{b.CreateAdd(lanes->value, part->value), lanes->low + part->low, lanes->high + part->high} : *part;
  }
  if (!lanes) return {nullptr, place(address)};
  Value* base = nullptr;
  for (const Expr& e : shared) base = base ? b.CreateAdd(base, emit(e)) : emit(e);
  return {base, lanes->value};
}

// Lanes of 32 bits count from the place that they share; others are indices themselves.
Value* Emitter::element(const ir::KBuffer& buffer, const Anywhere& at, Value* index) {
  llvm::Type* type = math.memory_type(buffer.type.element());
  Value* base = at.shared ? b.CreateGEP(type, base_of(buffer.id), at.shared) : base_of(buffer.id);
  llvm::Type* word = unit.word();
  if (auto* vector = llvm::dyn_cast<llvm::VectorType>(index->getType()))
    word = llvm::VectorType::get(word, vector->getElementCount());
  return b.CreateGEP(type, base, b.CreateSExt(index, word));
}

Value* Emitter::load_lanes(const ir::KBuffer& buffer, Type t, const Anywhere& at, Value* mask) {
  if (gathers_words(buffer.type.element().with_lanes(t.lanes), mask != nullptr))  // which have no shared place
    return load_from_words(buffer, t, at.lanes, mask);
  if (!mask && !gathers(t))
    return each_lane(
        t, [&](std::uint64_t k) { return load_scalar(buffer, t, element(buffer, at, b.CreateExtractElement(at.lanes, k))); });
  llvm::Type* type = math.memory_type(t);
  llvm::CallInst* v =
      b.CreateMaskedGather(type, element(buffer, at, at.lanes), llvm::Align(static_cast<std::uint64_t>(t.bytes())), mask,
                           llvm::Constant::getNullValue(type));
  unit.tag_access(v, buffer.id);
  return v;
}

// At indices from data. What belongs to neighbors often is one element, as in x(i) - top(row(i)) where elements lie row after
// row: it is read once then, where a gather would read it for each lane.
Value* Emitter::load_anywhere(const ir::KBuffer& buffer, Type t, const Anywhere& at, Value* mask) {
  Value* first = b.CreateExtractElement(at.lanes, std::uint64_t{0});
  Value* same = b.CreateICmpEQ(at.lanes, b.CreateVectorSplat(math.count(t), first));
  if (mask) same = b.CreateAnd(same, mask);
  llvm::BasicBlock *one = block("one"), *each = block("each"), *joined = block("joined");
  b.CreateCondBr(b.CreateAndReduce(same), one, each);
  b.SetInsertPoint(one);
  Value* all = b.CreateVectorSplat(math.count(t), load_scalar(buffer, t, element(buffer, at, first)));
  b.CreateBr(joined);
  b.SetInsertPoint(each);
  Value* lanes = load_lanes(buffer, t, at, mask);
  b.CreateBr(joined);
  b.SetInsertPoint(joined);
  llvm::PHINode* phi = b.CreatePHI(all->getType(), 2);
  phi->addIncoming(all, one);
  phi->addIncoming(lanes, each);
  return phi;
}

}  // namespace ashlar::codegen
