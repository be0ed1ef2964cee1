// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ir/intrinsics.h>

#include <ashlar/ir/build.h>
#include <ashlar/ir/refusal.h>

namespace ashlar::ir {
namespace {

using Operand = IntrinsicOperand;
using Access = Operand::Access;
using Place = Operand::Place;
using Numbers = std::vector<Expr>;  // logical indices, or the map over them

Operand tile_of(std::string name, Access access, Place place, Type type, std::vector<std::int64_t> shape) {
  Operand o;
  o.name = std::move(name);
  o.access = access;
  o.place = place;
  o.type = type;
  o.shape = std::move(shape);
  o.id = fresh_id();
  return o;
}

template <class F>
Operand mapped(Operand o, F&& map) {
  Numbers vars;
  for (std::size_t d = 0; d < o.shape.size(); ++d) {
    o.vars.push_back(fresh_id());
    vars.push_back(var(o.vars.back(), std::string(1, static_cast<char>('p' + d))));
  }
  o.map = map(vars);
  return o;
}

Operand number(std::string name, Type type = index_type) {
  Operand o;
  o.name = std::move(name);
  o.kind = Operand::Kind::value;
  o.type = type;
  o.id = fresh_id();
  return o;
}

Operand other(std::string name, Operand::Kind kind, Access access) {
  Operand o;
  o.name = std::move(name);
  o.kind = kind;
  o.access = access;
  o.place = Place::global;
  o.id = fresh_id();
  return o;
}

Intrinsic named(DeviceOp device, std::string name, int group) {
  Intrinsic f;
  f.id = fresh_id();
  f.device = device;
  f.name = std::move(name);
  f.group = group;
  return f;
}

Numbers iterate(std::vector<Id>& ids, std::size_t n, char first) {
  Numbers vars;
  for (std::size_t d = 0; d < n; ++d) {
    ids.push_back(fresh_id());
    vars.push_back(var(ids.back(), std::string(1, static_cast<char>(first + static_cast<char>(d)))));
  }
  return vars;
}

Expr at(const Operand& o, const Numbers& indices) { return load(o.id, o.name, o.type, indices); }
Expr operator*(const Expr& a, std::int64_t b) { return mul(a, index(b)); }
Expr operator+(const Expr& a, const Expr& b) { return add(a, b); }
Expr operator/(const Expr& a, std::int64_t b) { return div(a, index(b)); }
Expr operator%(const Expr& a, std::int64_t b) { return mod(a, index(b)); }

// One element a lane, moved between lanes.
template <class F>
Intrinsic shuffle(DeviceOp device, std::string name, const char* how, Type type, int warp, F&& source) {
  if (warp < 2) throw InternalError(name + ": a warp of one lane");
  Intrinsic f = named(device, std::move(name), warp);
  const auto own = [](const Numbers& p) { return Numbers{p[0], index(0)}; };
  f.operands = {mapped(tile_of("to", Access::write, Place::registers, type, {warp}), own),
                mapped(tile_of("from", Access::read, Place::registers, type, {warp}), own), number(how)};
  const Expr lane = iterate(f.spatial, 1, 'l')[0];
  f.value = at(f.operands[1], {source(lane, var(f.operands[2].id, how))});
  return f;
}

void check_half(Type t, const char* name) {
  if (t != f16 && t != bf16) throw InternalError(std::string(name) + " of a type that is neither f16 nor bf16");
}

Operand fragments(std::string name, Access access, Type type, int matrices, bool transposed) {
  return mapped(tile_of(std::move(name), access, Place::registers, type, {matrices, 8, 8}), [&](const Numbers& p) {
    const Expr &row = transposed ? p[2] : p[1], &column = transposed ? p[1] : p[2];
    return Numbers{row * 4 + column / 2, p[0] * 2 + column % 2};
  });
}

Intrinsic matrices_moved(DeviceOp device, std::string name, Operand to, Operand from) {
  Intrinsic f = named(device, std::move(name), 32);
  const Numbers p = iterate(f.spatial, 3, 'p');
  f.value = at(from, p);
  f.operands = {std::move(to), std::move(from)};
  return f;
}

Operand rows(std::string name, Access access, Type type, int matrices) {
  return mapped(tile_of(std::move(name), access, Place::shared, type, {matrices, 8, 8}),
                [](const Numbers& p) { return Numbers{p[0] * 8 + p[1], p[2]}; });
}

std::string matrices_name(const char* stem, int matrices, bool transposed) {
  if (matrices != 1 && matrices != 2 && matrices != 4)
    throw InternalError(std::string(stem) + " of a number that is not 1, 2, 4");
  return stem + std::string("_x") + std::to_string(matrices) + (transposed ? "_trans" : "");
}

}  // namespace

Intrinsic shuffle_xor(Type t, int warp) {
  return shuffle(DeviceOp::shuffle_xor, "shuffle_xor", "mask", t, warp,
                 [](const Expr& lane, const Expr& v) { return binary(Op::bit_xor, lane, v); });
}
Intrinsic shuffle_idx(Type t, int warp) {
  return shuffle(DeviceOp::shuffle_idx, "shuffle_idx", "source", t, warp, [](const Expr&, const Expr& v) { return v; });
}
Intrinsic shuffle_up(Type t, int warp) {
  return shuffle(DeviceOp::shuffle_up, "shuffle_up", "delta", t, warp,
                 [](const Expr& lane, const Expr& v) { return select(ge(lane, v), sub(lane, v), lane); });
}
Intrinsic shuffle_down(Type t, int warp) {
  return shuffle(DeviceOp::shuffle_down, "shuffle_down", "delta", t, warp,
                 [warp](const Expr& lane, const Expr& v) { return select(lt(add(lane, v), index(warp)), add(lane, v), lane); });
}

Intrinsic ldmatrix(Type t, int matrices, bool transposed) {
  if (t.bits != 16) throw InternalError("ldmatrix of elements that have not 16 bits");
  return matrices_moved(transposed ? DeviceOp::ldmatrix_transposed : DeviceOp::ldmatrix,
                        matrices_name("ldmatrix", matrices, transposed),
                        fragments("to", Access::write, t, matrices, transposed), rows("from", Access::read, t, matrices));
}
Intrinsic stmatrix(Type t, int matrices, bool transposed) {
  if (t.bits != 16) throw InternalError("stmatrix of elements that have not 16 bits");
  Intrinsic f = matrices_moved(transposed ? DeviceOp::stmatrix_transposed : DeviceOp::stmatrix,
                               matrices_name("stmatrix", matrices, transposed), rows("to", Access::write, t, matrices),
                               fragments("from", Access::read, t, matrices, transposed));
  f.needs = "sm_90";
  return f;
}

Intrinsic mma_m16n8k16(Type ab) {
  check_half(ab, "mma_m16n8k16");
  Intrinsic f = named(DeviceOp::mma_m16n8k16, "mma_m16n8k16_" + std::string(ab == f16 ? "f16" : "bf16"), 32);
  f.operands = {
      mapped(tile_of("d", Access::accumulate, Place::registers, f32, {16, 8}),
             [](const Numbers& p) { return Numbers{p[0] % 8 * 4 + p[1] / 2, p[0] / 8 * 2 + p[1] % 2}; }),
      mapped(tile_of("a", Access::read, Place::registers, ab, {16, 16}),
             [](const Numbers& p) { return Numbers{p[0] % 8 * 4 + p[1] % 8 / 2, p[1] / 8 * 4 + p[0] / 8 * 2 + p[1] % 2}; }),
      mapped(tile_of("b", Access::read, Place::registers, ab, {16, 8}),
             [](const Numbers& p) { return Numbers{p[1] * 4 + p[0] % 8 / 2, p[0] / 8 * 2 + p[0] % 2}; })};
  const Numbers ij = iterate(f.spatial, 2, 'i');
  const Expr k = iterate(f.reduce, 1, 'k')[0];
  f.reduce_extents = {16};
  f.value = mul(cast(f32, at(f.operands[1], {ij[0], k})), cast(f32, at(f.operands[2], {k, ij[1]})));
  f.accumulates = f.rounds_freely = true;
  f.needs = "sm_80";
  return f;
}

Intrinsic copy_async(Type t, int elements) {
  const int bytes = t.bytes() * elements;
  if (bytes != 4 && bytes != 8 && bytes != 16) throw InternalError("copy_async of a size that is not 4, 8 or 16 bytes");
  Intrinsic f = named(DeviceOp::copy_async, "copy_async_" + std::to_string(bytes), 1);
  const auto along = [](const Numbers& p) { return Numbers{p[0]}; };
  f.operands = {mapped(tile_of("to", Access::write, Place::shared, t, {elements}), along),
                mapped(tile_of("from", Access::read, Place::global, t, {elements}), along), number("valid")};
  for (Operand* o : {&f.operands[0], &f.operands[1]}) o->completion = Completion::copy_group;
  const Expr e = iterate(f.spatial, 1, 'e')[0];
  const Expr zero = t.is_float() ? float_const(t, 0) : int_const(t, 0);
  f.value = select(lt(e, var(f.operands[2].id, "valid")), at(f.operands[1], {e}), zero);
  f.needs = "sm_80";
  return f;
}

Intrinsic tma_load(Type t) {
  Intrinsic f = named(DeviceOp::tma_load, "tma_load", 1);
  f.operands = {tile_of("to", Access::write, Place::shared, t, {}), other("map", Operand::Kind::tensor_map, Access::read),
                other("barrier", Operand::Kind::barrier, Access::accumulate)};
  for (Operand* o : {&f.operands[0], &f.operands[1]}) o->proxy = Proxy::async, o->completion = Completion::barrier;
  f.operands[1].type = t;
  f.operands[2].place = Place::shared;
  f.needs = "sm_90";
  return f;
}

Intrinsic tma_store(Type t) {
  Intrinsic f = named(DeviceOp::tma_store, "tma_store", 1);
  f.operands = {other("map", Operand::Kind::tensor_map, Access::write), tile_of("from", Access::read, Place::shared, t, {})};
  for (Operand& o : f.operands) o.proxy = Proxy::async, o.completion = Completion::bulk_group;
  f.operands[0].type = t;
  f.needs = "sm_90";
  return f;
}

Intrinsic wgmma(int n, Type ab, bool a_in_registers) {
  check_half(ab, "wgmma");
  if (n < 8 || n > 256 || n % 8 != 0) throw InternalError("wgmma of a width that is not a multiple of 8 up to 256");
  Intrinsic f =
      named(DeviceOp::wgmma,
            "wgmma_m64n" + std::to_string(n) + "k16_" + (ab == f16 ? "f16" : "bf16") + (a_in_registers ? "_rs" : "_ss"), 128);
  const auto warps = [](const Numbers& p) { return p[0] / 16 * 32 + p[0] % 8 * 4 + p[1] % 8 / 2; };
  const auto held = [warps](const Numbers& p) { return Numbers{warps(p), p[1] / 8 * 4 + p[0] % 16 / 8 * 2 + p[1] % 2}; };
  f.operands.push_back(mapped(tile_of("d", Access::accumulate, Place::registers, f32, {64, n}), held));
  if (a_in_registers)
    f.operands.push_back(mapped(tile_of("a", Access::read, Place::registers, ab, {64, 16}), held));
  else
    f.operands.push_back(tile_of("a", Access::read, Place::shared, ab, {64, 16}));
  f.operands.push_back(tile_of("b", Access::read, Place::shared, ab, {n, 16}));
  for (Operand& o : f.operands) {
    o.completion = Completion::product_group;
    o.proxy = o.place == Place::shared ? Proxy::async : Proxy::generic;
  }
  if (!a_in_registers)
    for (const char* name : {"a_leading", "a_stride"}) f.operands.push_back(number(name));
  for (const char* name : {"b_leading", "b_stride", "swizzle", "accumulate"}) f.operands.push_back(number(name));
  f.accumulates = f.rounds_freely = true;
  f.needs = "sm_90a";
  return f;
}

std::int64_t swizzled(std::int64_t byte_address, int swizzle) {
  const std::int64_t mask = swizzle == 128 ? 7 : swizzle == 64 ? 3 : swizzle == 32 ? 1 : 0;
  return byte_address ^ (((byte_address >> 7) & mask) << 4);
}

}  // namespace ashlar::ir
