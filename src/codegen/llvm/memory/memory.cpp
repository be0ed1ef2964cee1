// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads, stores and prefetches: which instruction an address and a mask lead to.
//
//   scalar                     a load or store; under a condition, a branch around it
//   ramp of stride 1           one vector access, masked where there is a mask
//   ramp of stride 0           one scalar, in every lane (loads); under a mask read where a lane is active
//   strides -4 .. 4            vector loads of exactly the span between first and last element, shuffled; under a mask of its
//                              active elements (memory/strided.cpp)
//   a place that is clamped    one masked vector, and the elements at the bounds (memory/strided.cpp)
//   a pattern that is known    vectors of neighbors, shuffled: x(i / 2), x(c, i) for a pixel's few c (memory/patterns.cpp)
//   whole registers, streamed  stores past the caches, where the address is on a boundary
//   packed arguments           memory/packed.cpp
//   small tables               permutations of registers (memory/table.cpp)
//   anything else              a gather (memory/gather.cpp) or scatter; one element after another where the target has none
//   atomic                     one read-modify-write an element
#include <numeric>

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

#include "codegen/llvm/emitter.h"

namespace ashlar::codegen {

using llvm::Value;

namespace {

const ir::KBuffer& buffer_of(const Unit& unit, ir::Id id) {
  const auto it = unit.kernel.buffers.find(id);
  if (it == unit.kernel.buffers.end()) throw InternalError("codegen: kernel " + unit.name + " accesses an unknown buffer");
  return it->second;
}

bool all_true(Value* mask) {
  auto* c = llvm::dyn_cast<llvm::Constant>(mask);
  return c && c->isAllOnesValue();
}

// Memory of a tile of registers, all of whose lanes are there whatever a mask says: a masked access is a whole one and a choice
// of lanes, which LLVM keeps in registers, as it does not masked accesses. It lies in the frame of this function, so nobody
// else sees the lanes that are written as they were.
bool whole_in_frame(const Unit& unit, const ir::KBuffer& buffer, const Value* base, Type t, const Expr& first) {
  std::int64_t at = 0, elements = 0;
  return (buffer.storage == ir::Storage::registers || buffer.storage == ir::Storage::stack) &&
         llvm::isa<llvm::AllocaInst>(base) && !t.scalable && ir::is_int(first, &at) && ir::is_int(buffer.elements, &elements) &&
         at >= 0 && at + t.lanes <= elements_in_frame(unit, buffer, elements);
}

// Loads and stores of the frame are divided into parts of this many lanes. Across basic blocks LLVM breaks a vector of 48
// lanes, or of any other number that is not a power of two, into scalars; three vectors of 16 stay in registers.
int lanes_of_part(const ir::KBuffer& buffer, const Value* base, Type t) {
  const bool frame = buffer.storage == ir::Storage::registers || buffer.storage == ir::Storage::stack;
  const int part = t.lanes & -t.lanes;
  return frame && llvm::isa<llvm::AllocaInst>(base) && !t.scalable && part * t.bits >= 128 ? part : t.lanes;
}

constexpr std::int64_t kUnknown = INT64_MIN;

std::int64_t constant_stride(const Ramp& r) {
  std::int64_t s = 0;
  return ir::is_int(r.stride, &s) ? s : kUnknown;
}

}  // namespace

void Emitter::bind_buffer(ir::Id id, Value* base) { buffers[id] = base; }

Value* Emitter::base_of(ir::Id id) const {
  const auto it = buffers.find(id);
  if (it == buffers.end()) {
    const ir::KBuffer& k = buffer_of(unit, id);
    if (k.storage == ir::Storage::constant) return unit.data_of(k);
    throw InternalError("codegen: buffer " + k.name + " of kernel " + unit.name + " has no storage here");
  }
  return it->second;
}

Value* Emitter::element(const ir::KBuffer& buffer, Value* index) {
  if (is_packed(buffer)) index = b.CreateAShr(index, llvm::ConstantInt::get(index->getType(), 1));
  return b.CreateGEP(math.memory_type(buffer.type.element()), base_of(buffer.id), index);
}

llvm::Align Emitter::alignment(const ir::KBuffer& buffer, const Expr& address) const {
  const std::int64_t bytes = buffer.type.bytes();
  const auto tested = aligned.find(buffer.id);
  const std::int64_t known = std::max({buffer.align, bytes, tested == aligned.end() ? 1 : tested->second});
  const std::int64_t a = std::gcd(known, std::gcd(known_multiple(address), std::int64_t{1} << 20) * bytes);
  return llvm::Align(static_cast<std::uint64_t>(a & -a));
}

// ---- loads -----------------------------------------------------------------------------------------------------------
Value* Emitter::load(const Expr& e) {
  const ir::KBuffer& buffer = buffer_of(unit, e.node()->id);
  const Addressing addressing(*this, buffer.id);
  const auto args = ir::args_of(e);
  const Type t = e.type();
  Value* mask = args.size() > 1 ? emit(args[1]) : nullptr;
  if (mask && t.lanes > 1 && !mask->getType()->isVectorTy()) mask = b.CreateVectorSplat(math.count(t), mask);
  if (mask && all_true(mask)) mask = nullptr;
  const bool packed = is_packed(buffer);
  count_bytes(Access::read, buffer, t);
  if (t.lanes > 1 && packed) return load_packed_vector(buffer, t, args[0], mask);
  if (t.lanes > 1) return math.from_memory(t, load_vector(buffer, t, args[0], mask));
  Value* index = packed ? emit(args[0]) : element_at(buffer, args[0]);
  auto read = [&] { return packed ? load_packed_scalar(buffer, t, index) : load_scalar(buffer, t, index); };
  if (!mask) return math.from_memory(t, read());
  llvm::BasicBlock *before = b.GetInsertBlock(), *reads = block("reads"), *joined = block("joined");
  b.CreateCondBr(mask, reads, joined);
  b.SetInsertPoint(reads);
  Value* v = read();
  b.CreateBr(joined);
  b.SetInsertPoint(joined);
  llvm::PHINode* phi = b.CreatePHI(v->getType(), 2);
  phi->addIncoming(v, reads);
  phi->addIncoming(llvm::Constant::getNullValue(v->getType()), before);
  return math.from_memory(t, phi);
}

Value* Emitter::load_scalar(const ir::KBuffer& buffer, Type t, Value* at) {
  llvm::LoadInst* v =
      b.CreateAlignedLoad(math.memory_type(t.element()), at, llvm::Align(static_cast<std::uint64_t>(t.bytes())));
  unit.tag_access(v, buffer.id);
  return v;
}

namespace {
bool reads_data(const Expr& address) {
  bool found = false;
  ir::walk(address, [&](const Expr& e) { return found = found || ir::is(e, ir::Op::load), !found; });
  return found;
}
}  // namespace

Value* Emitter::load_neighbors(const ir::KBuffer& buffer, Type t, Value* at, llvm::Align align) {
  Type part = t;
  part.lanes = static_cast<std::uint16_t>(lanes_of_part(buffer, base_of(buffer.id), t));
  const auto bytes = static_cast<std::uint64_t>(part.lanes) * static_cast<std::uint64_t>(t.bytes());
  std::vector<Value*> parts;
  for (std::uint64_t k = 0; k * static_cast<std::uint64_t>(part.lanes) < static_cast<std::uint64_t>(t.lanes); ++k) {
    llvm::LoadInst* v = b.CreateAlignedLoad(math.memory_type(part), k ? b.CreateConstGEP1_64(b.getInt8Ty(), at, k * bytes) : at,
                                            llvm::commonAlignment(align, k * bytes));
    unit.tag_access(v, buffer.id);
    parts.push_back(v);
  }
  return parts.size() == 1 ? parts.front() : llvm::concatenateVectors(b, parts);
}

void Emitter::store_neighbors(const ir::KBuffer& buffer, Type t, Value* v, Value* at, llvm::Align align) {
  const int lanes = t.scalable ? t.lanes : lanes_of_part(buffer, base_of(buffer.id), t);
  for (int k = 0; k < t.lanes; k += lanes) {
    const auto bytes = static_cast<std::uint64_t>(k) * static_cast<std::uint64_t>(t.bytes());
    Value* part = v;
    if (lanes != t.lanes)
      part = b.CreateShuffleVector(v, llvm::createSequentialMask(static_cast<unsigned>(k), static_cast<unsigned>(lanes), 0));
    unit.tag_access(b.CreateAlignedStore(part, k ? b.CreateConstGEP1_64(b.getInt8Ty(), at, bytes) : at,
                                         llvm::commonAlignment(align, bytes)),
                    buffer.id);
  }
}

Value* Emitter::load_vector(const ir::KBuffer& buffer, Type t, const Expr& address, Value* mask) {
  llvm::Type* type = math.memory_type(t);
  Value* zero = llvm::Constant::getNullValue(type);
  const auto ramp = as_ramp(address);
  const std::int64_t stride = ramp ? constant_stride(*ramp) : kUnknown;
  if (ramp) kept_.push_back(ramp->base), kept_.push_back(ramp->stride);
  if (stride == 1) {
    Value* at = element_at(buffer, ramp->base);
    const llvm::Align align = alignment(buffer, ramp->base);
    const bool whole = mask && whole_in_frame(unit, buffer, base_of(buffer.id), t, ramp->base);
    if (mask && !whole) {
      llvm::Instruction* v = b.CreateMaskedLoad(type, at, align, mask, zero);
      unit.tag_access(v, buffer.id);
      return v;
    }
    Value* v = load_neighbors(buffer, t, at, align);
    return whole ? b.CreateSelect(mask, v, zero) : v;
  }
  if (!mask && stride == 0)
    return b.CreateVectorSplat(math.count(t), load_scalar(buffer, t, element(buffer, place(ramp->base))));
  const llvm::Align align(static_cast<std::uint64_t>(t.bytes()));
  if (!mask && t.scalable) mask = llvm::ConstantInt::getTrue(math.type(ir::like(bool_, t)));  // no lane can be named
  if (!mask && !thread_of && stride >= 2 && stride <= 4)
    if (const auto phase = place_in_period(buffer, t, *ramp, stride))
      return load_of_period(buffer, t, place(ramp->base), *phase, stride, align);
  if (!mask && stride >= -4 && stride <= 4) return load_strided(buffer, t, place(ramp->base), stride, align);
  if (mask && stride == 0 && loads_under_masks(t)) return load_one_masked(buffer, t, place(ramp->base), align, mask);
  if (mask && stride >= -4 && stride <= 4 && loads_under_masks(t))
    return load_strided_masked(buffer, t, place(ramp->base), stride, align, mask);
  if (!ramp && !thread_of)
    if (Value* found = load_clamped(buffer, t, address, mask)) return found;
  if (!ramp)
    if (Value* found = load_pattern(buffer, t, address, align, mask)) return found;
  if (!ramp)
    if (Value* found = load_from_table(buffer, t, address, mask)) return found;
  if (!ramp) {
    const Anywhere at = anywhere(t, address);
    return !thread_of && !t.scalable && reads_data(address) ? load_anywhere(buffer, t, at, mask)
                                                            : load_lanes(buffer, t, at, mask);
  }
  if (mask || gathers(t)) return load_lanes(buffer, t, Anywhere{nullptr, place(address)}, mask);
  Value *base = place(ramp->base), *step = place(ramp->stride);
  if (base->getType() != step->getType()) base = b.CreateSExt(base, b.getInt64Ty()), step = b.CreateSExt(step, b.getInt64Ty());
  return each_lane(t, [&](std::uint64_t k) {
    Value* at = b.CreateAdd(base, b.CreateMul(step, llvm::ConstantInt::get(step->getType(), k)));
    return load_scalar(buffer, t, element(buffer, at));
  });
}

// ---- stores ----------------------------------------------------------------------------------------------------------
void Emitter::store(const ir::KStore& s) {
  if (s.atomic) return update(s);
  const ir::KBuffer& buffer = buffer_of(unit, s.buffer);
  const Type t = s.value.type();
  if (t.element() != buffer.type.element())
    throw InternalError("codegen: a store of another type than " + buffer.name + " has");
  if (is_packed(buffer)) throw InternalError("codegen: a store into the packed argument " + buffer.name);
  Value* v = math.to_memory(t, expr(s.value));
  Value* mask = s.mask.empty() ? nullptr : expr(s.mask);
  count_bytes(Access::write, buffer, t);
  if (mask && all_true(mask)) mask = nullptr;
  if (t.lanes > 1) {
    if (mask && !mask->getType()->isVectorTy()) {
      when(mask, [&] { store_vector(buffer, t, s.address, v, nullptr); });
      return;
    }
    store_vector(buffer, t, s.address, v, mask);
    return;
  }
  auto write = [&] {
    Value* at = element_of(buffer, s.address);
    unit.tag_access(b.CreateAlignedStore(v, at, llvm::Align(static_cast<std::uint64_t>(t.bytes()))), buffer.id);
  };
  if (mask)
    when(mask, write);
  else
    write();
}

namespace {

llvm::AtomicRMWInst::BinOp operation(ir::Op op, Type t) {
  using Rmw = llvm::AtomicRMWInst;
  const bool sign = t.is_signed();
  switch (op) {
    case ir::Op::add:
      return t.is_float() ? Rmw::FAdd : Rmw::Add;
    case ir::Op::min:
      if (t.is_float()) break;
      return sign ? Rmw::Min : Rmw::UMin;
    case ir::Op::max:
      if (t.is_float()) break;
      return sign ? Rmw::Max : Rmw::UMax;
    case ir::Op::bit_and:
      return Rmw::And;
    case ir::Op::bit_or:
      return Rmw::Or;
    case ir::Op::bit_xor:
      return Rmw::Xor;
    default:
      break;
  }
  throw InternalError(std::string("codegen: an atomic ") + ir::op_name(op) + " of " + ir::text(t));
}

}  // namespace

// Relaxed: barriers and the ends of loops and launches order what is updated with what is read.
void Emitter::update(const ir::KStore& s) {
  const ir::KBuffer& buffer = buffer_of(unit, s.buffer);
  const Type t = s.value.type();
  const auto how = operation(*s.atomic, t.element());
  Value* v = expr(s.value);
  Value* mask = s.mask.empty() ? nullptr : expr(s.mask);
  const Addressing addressing(*this, buffer.id);
  Value* index = address(s.address);
  const bool shared = buffer.storage == ir::Storage::shared;
  count_bytes(Access::read, buffer, t), count_bytes(Access::write, buffer, t);
  const llvm::SyncScope::ID scope = !thread_of ? static_cast<llvm::SyncScope::ID>(llvm::SyncScope::System)
                                               : unit.context->getOrInsertSyncScopeID(shared ? "block" : "device");
  for (int k = 0; k < t.lanes; ++k) {
    const auto lane_of = [&](Value* x) {
      return x->getType()->isVectorTy() ? b.CreateExtractElement(x, static_cast<std::uint64_t>(k)) : x;
    };
    const auto one = [&] {
      unit.tag_access(
          b.CreateAtomicRMW(how, element(buffer, lane_of(index)), lane_of(v),
                            llvm::Align(static_cast<std::uint64_t>(t.bytes())), llvm::AtomicOrdering::Monotonic, scope),
          buffer.id);
    };
    if (mask && !all_true(mask))
      when(lane_of(mask), one);
    else
      one();
  }
}

namespace {

// Stores of one whole register: those that have an instruction to go past the caches.
bool streams(const Unit& unit, bool on_device, const ir::KBuffer& buffer, std::uint64_t bytes) {
  const auto it = unit.kernel.argument_buffers.find(buffer.id);
  return !on_device && it != unit.kernel.argument_buffers.end() && it->second.streamed &&
         (bytes == 16 || bytes == 32 || bytes == 64) && bytes * 8 <= static_cast<std::uint64_t>(unit.target.vector_bits());
}

}  // namespace

// The instruction faults off a boundary of its own size, so the boundary is known or asked for.
void Emitter::store_past_caches(const ir::KBuffer& buffer, Value* v, Value* at, llvm::Align known, std::uint64_t bytes) {
  auto stream = [&] {
    llvm::StoreInst* access = b.CreateAlignedStore(v, at, llvm::Align(bytes));
    access->setMetadata(llvm::LLVMContext::MD_nontemporal,
                        llvm::MDNode::get(*unit.context, llvm::ConstantAsMetadata::get(b.getInt32(1))));
    unit.tag_access(access, buffer.id);
  };
  if (known.value() >= bytes) return stream();
  Value* off = b.CreateAnd(b.CreatePtrToInt(at, b.getInt64Ty()), b.getInt64(bytes - 1));
  llvm::BasicBlock *on = block("boundary"), *between = block("between"), *after = block("after");
  b.CreateCondBr(b.CreateICmpEQ(off, b.getInt64(0)), on, between);
  b.SetInsertPoint(on);
  stream();
  b.CreateBr(after);
  b.SetInsertPoint(between);
  unit.tag_access(b.CreateAlignedStore(v, at, known), buffer.id);
  b.CreateBr(after);
  b.SetInsertPoint(after);
}

// Stores past the caches are ordered with nothing else: before others may look, they are waited for.
void Emitter::end_streams() {
  for (const auto& [id, buffer] : unit.kernel.argument_buffers)
    if (buffer.streamed && unit.target.architecture() == Architecture::x86_64) {  // elsewhere they are a hint
      b.CreateIntrinsic(b.getVoidTy(), llvm::Intrinsic::x86_sse_sfence, {});
      return;
    }
}

void Emitter::store_vector(const ir::KBuffer& buffer, Type t, const Expr& address, Value* v, Value* mask) {
  const Addressing addressing(*this, buffer.id);
  const auto ramp = as_ramp(address);
  const llvm::Align element_align(static_cast<std::uint64_t>(t.bytes()));
  if (ramp && ir::is_int(ramp->stride, 1)) {
    Value* at = element_of(buffer, ramp->base);
    const llvm::Align align = alignment(buffer, ramp->base);
    const auto bytes = static_cast<std::uint64_t>(t.lanes) * static_cast<std::uint64_t>(t.bytes());
    if (!mask && !t.scalable && streams(unit, thread_of != nullptr, buffer, bytes)) {
      store_past_caches(buffer, v, at, align, bytes);
      return;
    }
    if (mask && whole_in_frame(unit, buffer, base_of(buffer.id), t, ramp->base)) {
      v = b.CreateSelect(mask, v, load_neighbors(buffer, t, at, align)), mask = nullptr;
    }
    if (!mask) return store_neighbors(buffer, t, v, at, align);
    unit.tag_access(b.CreateMaskedStore(v, at, align, mask), buffer.id);
    return;
  }
  Value* index = this->address(address);
  if (t.scalable && !mask) mask = llvm::ConstantInt::getTrue(math.type(ir::like(bool_, t)));
  if (mask || (unit.target.has("avx512f") && t.bits >= 32 && t.lanes >= 4)) {
    unit.tag_access(b.CreateMaskedScatter(v, element(buffer, index), element_align, mask), buffer.id);
    return;
  }
  for (int k = 0; k < t.lanes; ++k) {
    const auto lane = static_cast<std::uint64_t>(k);
    Value* at = element(buffer, b.CreateExtractElement(index, lane));
    unit.tag_access(b.CreateAlignedStore(b.CreateExtractElement(v, lane), at, element_align), buffer.id);
  }
}

void Emitter::prefetch(const ir::KPrefetch& s) {
  if (thread_of) return prefetch_on_device(s);
  Value* index = address(s.address);
  if (index->getType()->isVectorTy()) index = b.CreateExtractElement(index, std::uint64_t{0});
  Value* at = element(buffer_of(unit, s.buffer), index);
  b.CreateIntrinsic(llvm::Intrinsic::prefetch, {at->getType()}, {at, b.getInt32(0), b.getInt32(3), b.getInt32(1)});
}

}  // namespace ashlar::codegen
