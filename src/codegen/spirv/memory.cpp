// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads and stores: which instructions an address and a mask lead to.
//
//   scalar                        a load or store; under a condition, a branch around it
//   ramp of stride 1, device      one access of up to 4 lanes a piece, as aligned as it is known to be
//   the same, shared              the same where all accesses of the buffer are such and aligned: it is an array of vectors
//   constant address, registers   whole variables
//   anything else, or masked      one lane after another
//   atomic                        one read-modify-write a lane
//
// address.cpp has the addresses.
#include <cstdlib>
#include <numeric>

#include <ashlar/ir/build.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

#include "codegen/spirv/emitter.h"

namespace ashlar::codegen::spirv {

using ir::Op;

const Place& Emitter::place_of(ir::Id id) const {
  const auto it = places_.find(id);
  if (it == places_.end()) throw InternalError("spirv: a buffer of kernel " + k_.name + " has no storage in its launch");
  return it->second;
}

std::int64_t Emitter::alignment(const Place& p, const Expr& address) const {
  const std::int64_t bytes = p.buffer->type.bytes(), known = std::max(p.buffer->align, bytes);
  const std::int64_t a = std::gcd(known, std::gcd(known_multiple(address), std::int64_t{1} << 20) * bytes);
  return a & -a;
}

Piece Emitter::from_memory(const Place& p, Type t, Ref v) {
  if (!t.is_bool() || p.kind != Place::Kind::device) return {v, t};
  return math.comparison(Op::ne, {v, u8.with_lanes(t.lanes)}, math.integer(u8.with_lanes(t.lanes), 0));
}

Ref Emitter::to_memory(const Place& p, Piece v) {
  return v.type.is_bool() && p.kind == Place::Kind::device ? math.convert(u8, v).id : v.id;
}

// What is said of an access to the device's memory: its alignment; and that others may see it.
Word Emitter::of_device() const {
  return spv::MemoryAccessAlignedMask | (m.vulkan_memory ? Word{spv::MemoryAccessNonPrivatePointerMask} : Word{0});
}

Piece Emitter::load_piece(const Place& p, Type t, Piece index, std::int64_t align) {
  const Ref at = pointer(p, t, index);
  const bool shared = p.storage == spv::StorageClassWorkgroup;
  if (const Type as = held(t.element(), p.lanes); p.lanes > 1 && !(as == t)) {
    if (!m.vulkan_memory) return math.bytes_of(t, c.op(spv::OpLoad, m.type(as), {at}));
    return math.bytes_of(t, c.op(spv::OpLoad, m.type(as), {at, spv::MemoryAccessNonPrivatePointerMask}));
  }
  if (p.kind == Place::Kind::array && !(shared && m.vulkan_memory)) return {c.op(spv::OpLoad, m.type(t), {at}), t};
  if (p.kind == Place::Kind::array) return {c.op(spv::OpLoad, m.type(t), {at, spv::MemoryAccessNonPrivatePointerMask}), t};
  return from_memory(p, t, c.op(spv::OpLoad, m.memory_type(t), {at, of_device(), static_cast<Word>(align)}));
}

void Emitter::store_piece(const Place& p, Piece value, Piece index, std::int64_t align) {
  const bool word = p.lanes > 1 && !(held(value.type.element(), p.lanes) == value.type);
  const Ref at = pointer(p, value.type, index), v = word ? math.word_of(value).id : to_memory(p, value);
  if (p.kind != Place::Kind::array)
    c.effect(spv::OpStore, {at, v, of_device(), static_cast<Word>(align)});
  else if (p.storage == spv::StorageClassWorkgroup && m.vulkan_memory)
    c.effect(spv::OpStore, {at, v, spv::MemoryAccessNonPrivatePointerMask});
  else
    c.effect(spv::OpStore, {at, v});
}

// Of two elements to a byte (arguments of i4 and u4): the byte, the half moved to the top, and down again.
Piece Emitter::load_half(const Place& p, Type t, Piece index) {
  const Type byte = t.is_signed() ? i8 : u8;
  const Piece one = math.integer(index.type, 1);
  const Piece read = load_piece(p, byte, math.binary(Op::shr, index, one), 1);
  const Piece odd = math.comparison(Op::ne, math.binary(Op::bit_and, index, one), math.integer(index.type, 0));
  const Piece four = math.integer(byte, 4);
  const Piece top = math.select(odd, read, math.binary(Op::shl, read, four));
  return {math.binary(Op::shr, top, four).id, t};
}

// ---- registers at constant addresses ---------------------------------------------------------------------------------
Value Emitter::load_slots(const Place& p, Type t, std::int64_t first) {
  std::vector<Piece> lanes;
  for (std::int64_t at = first; at < first + t.lanes;) {
    const auto slot = p.slots.find(at);
    if (slot == p.slots.end()) throw InternalError("spirv: a register of " + p.buffer->name + " was not found");
    const auto [count, variable] = slot->second;
    const Type group = t.element().with_lanes(count), as = held(t.element(), count);
    const Ref read = c.op(spv::OpLoad, m.type(as), {variable});
    const Piece whole = as == group ? Piece{read, group} : math.bytes_of(group, read);
    for (int k = 0; k < count; ++k) lanes.push_back(math.lane(whole, k));
    if (count == t.lanes && lanes.size() == static_cast<std::size_t>(count)) return {t, {whole}};
    at += count;
  }
  return gather(t, lanes);
}

void Emitter::store_slots(const Place& p, const Value& v, std::int64_t first) {
  int n = 0;
  for (std::int64_t at = first; n < v.type.lanes;) {
    const auto slot = p.slots.find(at);
    if (slot == p.slots.end()) throw InternalError("spirv: a register of " + p.buffer->name + " was not found");
    const auto [count, variable] = slot->second;
    Piece part;
    if (n % 4 == 0 && v.pieces[static_cast<std::size_t>(n / 4)].type.lanes == count) {
      part = v.pieces[static_cast<std::size_t>(n / 4)];
    } else {
      std::vector<Piece> lanes;
      for (int k = 0; k < count; ++k) lanes.push_back(lane(v, n + k));
      part = math.composite(lanes);
    }
    const bool word = !(held(v.type.element(), count) == part.type);
    c.effect(spv::OpStore, {variable, word ? math.word_of(part).id : part.id});
    n += count, at += count;
  }
}

Type held(Type element, int lanes) {
  const bool bytes = lanes == 4 && (element == i8 || element == u8);
  return bytes ? u32 : element.with_lanes(lanes);
}

// Two elements to a byte.
bool is_packed(const Place& p) { return p.buffer->type.is_packed() && p.buffer->storage == ir::Storage::argument; }

// Whether lanes that are neighbors are accessed together; of an array of vectors all of them are.
bool by_vectors(const Place& p) { return p.kind == Place::Kind::device || p.lanes > 1; }

// ---- what loads and stores share ---------------------------------------------------------------------------------------
Value Emitter::condition_of(const Expr& mask, int lanes) {  // none for an empty mask
  if (mask.empty()) return {};
  const Value condition = emit(mask);
  return condition.type.lanes == lanes ? condition : splat(condition.pieces[0], lanes);
}

std::optional<Ramp> Emitter::kept_ramp(const Expr& address, int lanes) {
  auto ramp = lanes > 1 ? as_ramp(address) : std::nullopt;
  if (ramp) kept_.insert(kept_.end(), {ramp->base, ramp->stride});
  return ramp;
}

// The index of each lane. Lanes of an array of the shader that are neighbors are its first one's index and a number.
std::function<Piece(int)> Emitter::indices(const Place& p, const Expr& address, const std::optional<Ramp>& ramp, int lanes) {
  if (lanes == 1) {
    const Piece one = is_packed(p) ? emit(address).pieces[0] : spot(p, address);
    return [one](int) { return one; };
  }
  std::int64_t step = 0;
  if (p.kind == Place::Kind::array && ramp && ir::is_int(ramp->stride, &step)) {
    const Piece first = low_word(ramp->base);
    return [this, first, step](int k) {
      return k == 0 ? first : math.binary(Op::add, first, math.integer(u32, static_cast<std::uint32_t>(k * step)));
    };
  }
  const Value all = emit(address);
  return [this, all](int k) { return lane(all, k); };
}

namespace {
std::int64_t slot_of(const Expr& address) {
  std::int64_t slot = 0;
  if (!ir::is_int(address, &slot)) throw InternalError("spirv: a register at a variable address");
  return slot;
}
}  // namespace

// ---- loads -----------------------------------------------------------------------------------------------------------
Value Emitter::load(const Expr& e) {
  const auto args = ir::args_of(e);
  return load_at(e.node()->id, e.type(), args[0], args.size() > 1 ? args[1] : Expr());
}

Value Emitter::load_at(ir::Id buffer, Type t, const Expr& address, const Expr& mask) {
  const Place& p = place_of(buffer);
  const Value condition = condition_of(mask, t.lanes);
  const auto ramp = kept_ramp(address, t.lanes);
  const Type element = t.element();
  if (p.kind == Place::Kind::slots) {
    const std::int64_t first = slot_of(ramp ? ramp->base : address);
    Value v = load_slots(p, t, first);
    if (mask.empty()) return v;
    const Value none = splat({m.zero(element), element}, t.lanes);
    return each(t, {&condition, &v, &none}, [&](std::span<const Piece> x) { return math.select(x[0], x[1], x[2]); });
  }
  const bool packed = is_packed(p);
  const std::int64_t align = alignment(p, ramp ? ramp->base : address);
  if (mask.empty() && !packed && ramp && by_vectors(p) && ir::is_int(ramp->stride, std::int64_t{1})) {
    const Piece base = spot(p, ramp->base);
    Value v{t, {}};
    std::int64_t at = 0;
    for (int count : piece_lanes(t.lanes)) {
      v.pieces.push_back(load_piece(p, element.with_lanes(count), behind(p, base, at), std::gcd(align, at * element.bytes())));
      at += count;
    }
    return v;
  }
  if (mask.empty() && !packed && ramp && ir::is_int(ramp->stride, std::int64_t{0}))
    return splat(load_piece(p, element, spot(p, ramp->base), align), t.lanes);
  const auto index_of = indices(p, address, ramp, t.lanes);
  std::vector<Piece> lanes;
  for (int k = 0; k < t.lanes; ++k) {
    const Piece index = index_of(k);
    const std::int64_t own = t.lanes == 1 ? align : element.bytes();
    auto read = [&] { return packed ? load_half(p, element, index) : load_piece(p, element, index, own); };
    if (mask.empty()) {
      lanes.push_back(read());
      continue;
    }
    const Ref v = c.value_when(lane(condition, k).id, m.type(element), m.zero(element), [&] { return read().id; });
    lanes.push_back({v, element});
  }
  return gather(t, lanes);
}

// ---- stores ----------------------------------------------------------------------------------------------------------
void Emitter::store(const ir::KStore& s) {
  memo_.clear();
  kept_.clear();
  if (s.atomic) return update(s);
  const Value v = emit(s.value);
  store_at(s.buffer, s.address, v, s.mask);
}

namespace {

spv::Op operation(ir::Op op, Type t) {
  if (t.is_float() || t.bits != 32)
    throw InternalError("spirv: an atomic " + std::string(ir::op_name(op)) + " of " + ir::text(t));
  switch (op) {
    case Op::add:
      return spv::OpAtomicIAdd;
    case Op::min:
      return t.is_signed() ? spv::OpAtomicSMin : spv::OpAtomicUMin;
    case Op::max:
      return t.is_signed() ? spv::OpAtomicSMax : spv::OpAtomicUMax;
    case Op::bit_and:
      return spv::OpAtomicAnd;
    case Op::bit_or:
      return spv::OpAtomicOr;
    case Op::bit_xor:
      return spv::OpAtomicXor;
    default:
      throw InternalError(std::string("spirv: an atomic ") + ir::op_name(op));
  }
}

}  // namespace

// Relaxed: barriers and the ends of launches order what is updated with what is read.
void Emitter::update(const ir::KStore& s) {
  const Place& p = place_of(s.buffer);
  const Value v = emit(s.value), indices = emit(s.address);
  const Value condition = condition_of(s.mask, v.type.lanes);
  const Type element = v.type.element();
  const spv::Op op = operation(*s.atomic, element);
  const Word scope = p.kind == Place::Kind::device ? m.device_scope() : Word{spv::ScopeWorkgroup};
  for (int k = 0; k < v.type.lanes; ++k) {
    const Piece index = lane(indices, k), value = lane(v, k);
    const auto one = [&] {
      const Ref at = pointer(p, element, index);
      c.op(op, m.type(element), {at, m.integer(u32, scope), m.integer(u32, spv::MemorySemanticsMaskNone), value.id});
    };
    if (s.mask.empty())
      one();
    else
      c.when(lane(condition, k).id, one);
  }
}

void Emitter::store_at(ir::Id buffer, const Expr& address, const Value& v, const Expr& mask) {
  const Place& p = place_of(buffer);
  const Type t = v.type;
  const Value condition = condition_of(mask, t.lanes);
  const auto ramp = kept_ramp(address, t.lanes);
  const Type element = t.element();
  if (p.kind == Place::Kind::slots) {
    const std::int64_t first = slot_of(ramp ? ramp->base : address);
    if (mask.empty()) return store_slots(p, v, first);
    const Value old = load_slots(p, t, first);
    store_slots(p, each(t, {&condition, &v, &old}, [&](std::span<const Piece> x) { return math.select(x[0], x[1], x[2]); }),
                first);
    return;
  }
  const std::int64_t align = alignment(p, ramp ? ramp->base : address);
  if (mask.empty() && ramp && by_vectors(p) && ir::is_int(ramp->stride, std::int64_t{1})) {
    const Piece base = spot(p, ramp->base);
    std::int64_t at = 0;
    for (const Piece& piece : v.pieces) {
      store_piece(p, piece, behind(p, base, at), std::gcd(align, at * element.bytes()));
      at += piece.type.lanes;
    }
    return;
  }
  const auto index_of = indices(p, address, ramp, t.lanes);
  const std::int64_t own = t.lanes == 1 ? align : element.bytes();
  for (int k = 0; k < t.lanes; ++k) {
    const Piece index = index_of(k), value = lane(v, k);
    if (mask.empty())
      store_piece(p, value, index, own);
    else
      c.when(lane(condition, k).id, [&] { store_piece(p, value, index, own); });
  }
}

}  // namespace ashlar::codegen::spirv
