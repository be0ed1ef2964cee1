// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addresses. An element of a shader's array has an index of 32 bits; an element in device memory has the address
// base + element * bytes. In a module with 32-bit indices that address is a pair of words, added with a carry, so the device
// needs no 64-bit integers.
//
// What an inner loop changes is added last, so that a driver keeps the rest from one iteration to the next: it does not move
// terms of a sum itself.
//
//   ((io * 128 + r) * stride + ko * 8) + c      in a loop over ko: base + 4 * ((io * 128 + r) * stride + c), then + 4 * ko * 8
#include <bit>

#include <ashlar/ir/build.h>

#include "codegen/spirv/emitter.h"

namespace ashlar::codegen::spirv {

using ir::Op;

// An index divided by a power of two of which it is a multiple, modulo 2^32: sums, differences and products are what their
// operands are.
Piece Emitter::low_word(const Expr& e, std::int64_t divisor) {
  const auto args = ir::args_of(e);
  const auto divides = [&](const Expr& x) { return known_multiple(x) % divisor == 0; };
  switch (ir::op_of(e)) {
    case Op::int_const:
      if (e.node()->i % divisor != 0) break;
      return math.integer(u32, static_cast<std::uint32_t>(e.node()->i / divisor));
    case Op::add:
    case Op::sub:
      if (!divides(args[0]) || !divides(args[1])) break;
      return math.binary(ir::op_of(e), low_word(args[0], divisor), low_word(args[1], divisor));
    case Op::mul:
      if (divides(args[0])) return math.binary(Op::mul, low_word(args[0], divisor), low_word(args[1]));
      if (divides(args[1])) return math.binary(Op::mul, low_word(args[0]), low_word(args[1], divisor));
      break;
    case Op::rare:
    case Op::in_range:
      return low_word(args[0], divisor);
    default:
      break;
  }
  Piece whole = emit(e).pieces[0];
  if (divisor > 1)
    whole = math.binary(Op::shr, whole, math.integer(whole.type, std::countr_zero(static_cast<std::uint64_t>(divisor))));
  return math.convert(u32, whole);
}

int Emitter::depth_of(const Expr& e) const {
  int depth = 0;
  ir::walk(e, [&](const Expr& x) {
    if (ir::is(x, Op::var))
      if (const auto it = depths_.find(x.node()->id); it != depths_.end()) depth = std::max(depth, it->second);
    return true;
  });
  return depth;
}

namespace {

struct Term {
  Expr e;
  bool negative;
};

bool is_sum(const Expr& e) { return ir::is(e, Op::add) || ir::is(e, Op::sub); }

}  // namespace

// The terms of an index by the depth of the innermost loop that changes them.
std::map<int, std::vector<std::pair<Expr, bool>>> Emitter::terms_of(const Expr& index) const {
  std::map<int, std::vector<std::pair<Expr, bool>>> terms;
  std::vector<std::pair<Expr, bool>> numbers;
  std::vector<Term> left{{index, false}};
  while (!left.empty()) {
    const Term t = left.back();
    left.pop_back();
    const auto args = ir::args_of(t.e);
    if (ir::is(t.e, Op::rare) || ir::is(t.e, Op::in_range)) {
      left.push_back({args[0], t.negative});
    } else if (is_sum(t.e)) {
      left.push_back({args[1], t.negative != ir::is(t.e, Op::sub)});
      left.push_back({args[0], t.negative});
    } else if (ir::is(t.e, Op::mul) && is_sum(args[0]) &&
               depth_of(ir::args_of(args[0])[0]) != depth_of(ir::args_of(args[0])[1])) {
      const auto sum = ir::args_of(args[0]);
      left.push_back({ir::mul(sum[1], args[1]), t.negative != ir::is(args[0], Op::sub)});
      left.push_back({ir::mul(sum[0], args[1]), t.negative});
    } else {
      (ir::is(t.e, Op::int_const) ? numbers : terms[depth_of(t.e)]).emplace_back(t.e, t.negative);
    }
  }
  // A number stays with what changes most: it is added there once for all threads.
  auto& last = terms.empty() ? terms[0] : terms.rbegin()->second;
  last.insert(last.end(), numbers.begin(), numbers.end());
  return terms;
}

// Of a scalar index: the address of the element in the device's memory, of type u64 (with indices of 32 bits its distance in
// bytes, of type u32), or its place in an array of the shader, which has less than 2^32 elements: words are what devices
// compute addresses in, and what drivers see neighbors by.
Piece Emitter::spot(const Place& p, const Expr& index) {
  if (p.kind == Place::Kind::array) return low_word(index, p.lanes);
  if (m.registers.index32) return distance(index, p.buffer->type.bytes());
  Piece address{p.address, u64};
  for (const auto& [depth, terms] : terms_of(index)) {
    Piece sum;
    for (const auto& [e, negative] : terms) {
      kept_.push_back(e);
      add(sum, emit(e).pieces[0], negative);
    }
    const Piece wide{math.convert(i64, sum).id, i64}, bytes = math.integer(i64, p.buffer->type.bytes());
    add(address, {math.binary(Op::mul, wide, bytes).id, u64});
  }
  return address;
}

void Emitter::add(Piece& sum, Piece x, bool negative) {
  if (sum.id)
    sum = math.binary(negative ? Op::sub : Op::add, sum, x);
  else
    sum = negative ? math.unary(Op::neg, x) : x;
}

// The bytes before an element, modulo 2^32: of 32 bits only the whole is known to fit. Each term that a loop changes is
// multiplied by itself, ko * 16 * 4 as ko * 64.
Piece Emitter::distance(const Expr& index, std::int64_t bytes) {
  const auto number = [&](std::int64_t n) { return math.integer(u32, static_cast<std::uint32_t>(n)); };
  const auto word = [&](const Expr& e) {
    kept_.push_back(e);
    return Piece{emit(e).pieces[0].id, u32};
  };
  const auto in_bytes = [&](const Expr& e) {
    std::int64_t n = 0;
    if (ir::is_int(e, &n)) return number(n * bytes);
    if (ir::is(e, Op::mul) && ir::is_int(ir::args_of(e)[1], &n))
      return math.binary(Op::mul, word(ir::args_of(e)[0]), number(n * bytes));
    return math.binary(Op::mul, word(e), number(bytes));
  };
  Piece all;
  for (const auto& [depth, terms] : terms_of(index)) {
    Piece sum;
    for (const auto& [e, negative] : terms) add(sum, depth > 0 ? in_bytes(e) : word(e), negative);
    add(all, depth > 0 ? sum : math.binary(Op::mul, sum, number(bytes)));
  }
  return all;
}

// The element so many behind.
Piece Emitter::behind(const Place& p, Piece at, std::int64_t elements) {
  if (elements == 0) return at;
  const bool by_bytes = at.type == u64 || (at.type == u32 && p.kind == Place::Kind::device);
  const std::int64_t distance = by_bytes ? elements * p.buffer->type.bytes() : elements / p.lanes;
  return math.binary(Op::add, at, math.integer(at.type, distance));
}

// A pointer to a value of type t that lies there. Lanes whose addresses are not all neighbors are indices.
Ref Emitter::pointer(const Place& p, Type t, Piece at) {
  if (p.kind == Place::Kind::array) {
    const Ref type = m.pointer(p.storage, m.type(held(t.element(), p.lanes)));
    return c.op(spv::OpAccessChain, type, {p.variable, math.convert(u32, at).id});
  }
  const Ref to = m.pointer(spv::StorageClassPhysicalStorageBuffer, m.memory_type(t));
  if (m.registers.index32) {
    const auto argument = k_.argument_buffers.find(p.buffer->id);
    const bool any = argument != k_.argument_buffers.end() && argument->second.order == ir::Buffer::Order::any;
    const Piece bytes =
        at.type == u32 ? Piece{at.id, i32} : math.binary(Op::mul, {at.id, i32}, math.integer(i32, p.buffer->type.bytes()));
    return behind(p.address, to, bytes, any);
  }
  Ref address = at.id;
  if (!(at.type == u64)) {
    const Piece wide{math.convert(i64, at).id, i64};
    address =
        c.op(spv::OpIAdd, m.type(u64), {p.address, math.binary(Op::mul, wide, math.integer(i64, p.buffer->type.bytes())).id});
  }
  return c.op(spv::OpConvertUToPtr, to, {address});
}

// A pointer of type `to` that many bytes behind an address of two words.
Ref Emitter::behind(Ref address, Ref to, Piece bytes, bool may_be_before) {
  const Ref word = m.type(u32);
  const auto part = [&](Ref of, Word n) { return Piece{c.op(spv::OpCompositeExtract, word, {of, n}), u32}; };
  const Ref sum = c.op(spv::OpIAddCarry, m.sum_and_carry(), {part(address, 0).id, bytes.id});
  Piece high = math.binary(Op::add, part(address, 1), part(sum, 1));
  if (may_be_before) high = math.binary(Op::add, high, {math.binary(Op::shr, bytes, math.integer(i32, 31)).id, u32});
  const Piece words[] = {part(sum, 0), high};
  return c.op(spv::OpBitcast, to, {math.composite(words).id});
}

// A pointer to a parameter that lies in memory, in the block at that address.
Ref Emitter::parameter(Ref block, std::int64_t offset, Type t) {
  const Ref to = m.pointer(spv::StorageClassPhysicalStorageBuffer, m.type(t));
  if (m.registers.index32) return behind(block, to, math.integer(i32, offset), false);
  const Ref at = c.op(spv::OpIAdd, m.type(u64), {block, m.integer(u64, offset)});
  return c.op(spv::OpConvertUToPtr, to, {at});
}

}  // namespace ashlar::codegen::spirv
