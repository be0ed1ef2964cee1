// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of users' intrinsics, on tiles in the registers of the thread.
//
//   {c.result} = OpSDot {a.value} {b.value} {c.value}      c[i] = c[i] + OpSDot(a, row i of b), four bytes of each
//   {c.result} = Fma {a.value} {b.value} {c.value}         c[i] = Fma(a, b[i], c[i]), all lanes of c at once
#include <algorithm>
#include <array>
#include <string_view>

#include <ashlar/ir/build.h>
#include <ashlar/ir/emit_text.h>
#include <ashlar/ir/refusal.h>

#include "codegen/spirv/emitter.h"

namespace ashlar::codegen::spirv {

namespace {

using Operand = ir::IntrinsicOperand;

struct Instruction {
  std::string_view name;
  spv::Op op;
};
constexpr std::array kDots = {Instruction{"OpSDot", spv::OpSDot}, Instruction{"OpUDot", spv::OpUDot},
                              Instruction{"OpSUDot", spv::OpSUDot}};

[[noreturn]] void unknown(const ir::Intrinsic& f, const std::string& text) {
  refuse("vulkan",
         "{c.result} = OpSDot, OpUDot, OpSUDot or Fma {a.value} {b.value} {c.value} as the text of " + f.name + " for spirv",
         text, f.where);
}

}  // namespace

// The registers of a tile, row by row: where each element lies.
std::vector<std::int64_t> registers_of(const Operand& o, const ir::Call::Actual& a) {
  std::vector<std::int64_t> at;
  std::vector<std::int64_t> index(o.shape.size(), 0);
  const std::function<void(std::size_t)> fill = [&](std::size_t d) {
    if (d < o.shape.size()) {
      for (index[d] = 0; index[d] < o.shape[d]; ++index[d]) fill(d + 1);
      return;
    }
    ir::Substitution here;
    for (std::size_t k = 0; k < index.size(); ++k) here.emplace_back(o.vars[k], ir::index(index[k]));
    std::int64_t place = 0;
    if (o.map.empty() || !ir::is_int(ir::add(a.address, ir::substitute(o.map.back(), here)), &place))
      throw InternalError("spirv: a tile in registers at a place that is not a number");
    at.push_back(place);
  };
  fill(0);
  return at;
}

bool are_neighbors(std::span<const std::int64_t> at) {
  for (std::size_t k = 1; k < at.size(); ++k)
    if (at[k] != at[0] + static_cast<std::int64_t>(k)) return false;
  return true;
}

void Emitter::call_of_user(const ir::Call& call, const ir::Intrinsic& f) {
  const auto text = f.emit.find("spirv");
  if (text == f.emit.end())
    refuse("vulkan", "an implementation of " + f.name + " for spirv (m.emit(Backend::spirv, ...))", "none", f.where);
  const std::vector<ir::Placeholder> named = ir::placeholders_of(text->second).list;
  const std::size_t equals = text->second.find('='), first = text->second.find_first_not_of(' ', equals + 1);
  const std::string word = equals == text->second.npos || first == text->second.npos
                               ? ""
                               : text->second.substr(first, text->second.find(' ', first) - first);
  const auto dot = std::find_if(kDots.begin(), kDots.end(), [&](const Instruction& i) { return i.name == word; });
  const auto is = [&](std::size_t k, const char* field) { return named[k].field == field; };
  const bool fused = word == "Fma";
  if ((dot == kDots.end() && !fused) || named.size() != 4 || !is(0, "result") || !is(1, "value") || !is(2, "value") ||
      !is(3, "value") || named[0].name != named[3].name)
    unknown(f, text->second);
  const auto operand = [&](const std::string& name) {
    for (std::size_t k = 0; k < f.operands.size(); ++k)
      if (f.operands[k].name == name) return k;
    unknown(f, text->second);
  };
  if (!fused) {
    m.capability(spv::CapabilityDotProduct);
    m.capability(spv::CapabilityDotProductInput4x8BitPacked);
    m.extension("SPV_KHR_integer_dot_product");
  }
  memo_.clear();
  kept_.clear();
  const auto row = [&](ir::Id buffer, Type t, std::span<const std::int64_t> at) {
    if (are_neighbors(at)) {
      kept_.push_back(at.size() == 1 ? ir::index(at[0])
                                     : ir::ramp(ir::index(at[0]), ir::index(1), static_cast<int>(at.size())));
      return load_at(buffer, t.with_lanes(static_cast<int>(at.size())), kept_.back(), {});
    }
    std::vector<Piece> lanes;
    for (const std::int64_t place : at) {
      kept_.push_back(ir::index(place));
      lanes.push_back(load_at(buffer, t, kept_.back(), {}).pieces[0]);
    }
    return gather(t.with_lanes(static_cast<int>(at.size())), lanes);
  };
  constexpr std::size_t four = 4;
  const std::size_t to = operand(named[0].name);
  const std::vector<std::int64_t> sums = registers_of(f.operands[to], call.actuals[to]);
  const ir::Id result = call.actuals[to].buffer;
  const Type t = f.operands[to].type;
  const Value old = row(result, t, sums);
  const auto keep = [&](const Value& all) {
    if (are_neighbors(sums) && sums.size() > 1)
      return store_at(result, ir::ramp(ir::index(sums[0]), ir::index(1), static_cast<int>(sums.size())), all, {});
    for (std::size_t i = 0; i < sums.size(); ++i)
      store_at(result, ir::index(sums[i]), Value{t, {lane(all, static_cast<int>(i))}}, {});
  };
  if (fused) {
    if (!t.is_float()) unknown(f, text->second);
    Value factors[2];
    for (std::size_t n = 0; n < 2; ++n) {
      const std::size_t k = operand(named[n + 1].name);
      const std::vector<std::int64_t> all = registers_of(f.operands[k], call.actuals[k]);
      if (f.operands[k].type != t || (all.size() != 1 && all.size() != sums.size())) unknown(f, text->second);
      factors[n] = row(call.actuals[k].buffer, t, all);
      if (all.size() < sums.size())
        factors[n] = gather(t.with_lanes(static_cast<int>(sums.size())), std::vector<Piece>(sums.size(), factors[n].pieces[0]));
    }
    Value all{t.with_lanes(static_cast<int>(sums.size())), {}};
    for (std::size_t p = 0; p < old.pieces.size(); ++p)
      all.pieces.push_back(math.fma_of_machine(factors[0].pieces[p], factors[1].pieces[p], old.pieces[p]));
    return keep(all);
  }
  std::vector<Piece> lanes;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    Ref factors[2];
    for (std::size_t n = 0; n < 2; ++n) {
      const std::size_t k = operand(named[n + 1].name);
      const std::vector<std::int64_t> all = registers_of(f.operands[k], call.actuals[k]);
      if (f.operands[k].type.bits != 8 || (all.size() != four && all.size() != four * sums.size())) unknown(f, text->second);
      const auto part = std::span(all).subspan(all.size() == four ? 0 : four * i, four);
      const Value bytes = row(call.actuals[k].buffer, f.operands[k].type, part);
      factors[n] = math.word_of(bytes.pieces[0]).id;
    }
    const Piece product{
        c.op(dot->op, m.type(t), {factors[0], factors[1], static_cast<Word>(spv::PackedVectorFormatPackedVectorFormat4x8Bit)}),
        t};
    lanes.push_back(math.binary(ir::Op::add, lane(old, static_cast<int>(i)), product));
  }
  keep(gather(t.with_lanes(static_cast<int>(lanes.size())), lanes));
}

}  // namespace ashlar::codegen::spirv
