// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What every operator computes, said in SPIR-V: the same values as ir/numeric.h, bit for bit (except for the payloads of NaNs),
// on a device whose floats behave as docs/codegen.md says.
//
// A Piece is a value of at most 4 lanes and the type of the IR that it stands for; in a register index is an integer of 64 or
// 32 bits, bf16 and the 8-bit floats are integers that hold their bits, and so is f16 unless the device computes with it.
// Integers carry no sign: `as` changes it freely. Float operations are decorated NoContraction; no instruction is used outside
// the operands for which it is defined.
//
// Operators are those that a device has (offers_of in translate.cpp), and those without an expansion (codegen/legalize.h).
//
//   Arithmetic a(function);   a.binary(Op::add, x, y)
#include <cmath>
#include <map>
#include <optional>

#include <ashlar/ir/build.h>
#include <ashlar/ir/operation.h>

#include "codegen/spirv/function.h"

namespace ashlar::codegen::spirv {

struct Piece {
  Ref id = 0;
  Type type;
};

class Arithmetic {
 public:
  explicit Arithmetic(Function& code) : c(code), m(code.m) {}

  bool used_fma32 = false, used_fma64 = false;  // what the device is asked to round once

  Piece integer(Type t, std::int64_t v) {
    const Piece p{m.integer(t, v), t};
    if (!t.is_bool()) constants_[p.id] = v;
    return p;
  }
  Piece real(Type t, double v) {
    const Piece p{m.real(t, v), t};
    if (v == 0) zeros_[p.id] = std::signbit(v);
    return p;
  }

  Piece unary(ir::Op, Piece);
  Piece binary(ir::Op, Piece, Piece);
  Piece comparison(ir::Op, Piece, Piece);
  Piece fma(Piece, Piece, Piece);
  Piece fma_of_machine(Piece, Piece, Piece);  // rounded once or twice, as the device does it
  Piece convert(Type to, Piece);              // lanes of `to` are ignored
  Piece bitcast(Type to, Piece);
  Piece select(Piece condition, Piece x, Piece y);
  Piece splat(Piece scalar, int lanes);
  Piece lane(Piece vector, int k);
  Piece composite(std::span<const Piece> lanes);  // of one type
  // Four bytes as a word, and back: bytes that were a word are not taken apart and put together again.
  Piece word_of(Piece bytes);
  Piece bytes_of(Type, Ref word);

 private:
  Piece as(Type t, Piece x) const { return {x.id, t.with_lanes(x.type.lanes)}; }  // the same register
  Piece op(spv::Op, Type result, std::initializer_list<Piece>);
  Piece glsl(Word instruction, std::initializer_list<Piece>);
  Piece exact(spv::Op, Piece, Piece);  // of floats, not contracted
  Piece test(spv::Op, Piece, Piece);
  Piece ordered(spv::Op, Piece, Piece);  // integers with a sign
  Piece add(Piece x, Piece y) { return op(spv::OpIAdd, x.type, {x, y}); }
  Piece sub(Piece x, Piece y) { return op(spv::OpISub, x.type, {x, y}); }
  Piece mul(Piece x, Piece y) { return op(spv::OpIMul, x.type, {x, y}); }
  Piece and_(Piece x, Piece y) { return op(x.type.is_bool() ? spv::OpLogicalAnd : spv::OpBitwiseAnd, x.type, {x, y}); }
  Piece or_(Piece x, Piece y) { return op(x.type.is_bool() ? spv::OpLogicalOr : spv::OpBitwiseOr, x.type, {x, y}); }
  Piece not_(Piece x) { return op(x.type.is_bool() ? spv::OpLogicalNot : spv::OpNot, x.type, {x}); }
  Piece like(Piece x, std::int64_t v) { return integer(x.type, v); }
  Piece resize(Type to, Piece x, bool is_signed);  // integers
  Piece quotient(Piece x, Piece y);                // toward zero
  Piece bits_of(Piece x);                          // f16, f32, f64: as u16, u32, u64
  Piece float_of(Type t, Piece bits);
  Piece magnitude_of(Piece bits);
  Piece is_nan(Piece);

  Piece float_unary(ir::Op, Piece);
  Piece rounded(ir::Op, Piece);  // floor, ceil, round, trunc of f32
  Piece root(Piece);             // of f32
  Piece wider(Piece);            // f32 to f64
  Piece float_binary(ir::Op, Piece, Piece);
  std::optional<Piece> with_zero(ir::Op, Piece, Piece);
  Piece float_to_integer(Type to, Piece);

  Function& c;
  Module& m;
  std::map<Ref, std::int64_t> constants_;  // integers, the same in all lanes
  std::map<Ref, Ref> words_;               // of four bytes that are one
  std::map<Ref, Piece> extended_;          // 64 bits: of which 32 they are the sign extension
  std::map<Ref, bool> zeros_;              // floats, in all lanes: constants that are 0, and whether it is -0
};

}  // namespace ashlar::codegen::spirv
