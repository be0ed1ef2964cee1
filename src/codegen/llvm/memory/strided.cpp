// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads of every second to fourth element: vectors of neighbors, shuffled.
//
// Alone, a load touches nothing outside of the span between its first and its last element. Where the expression around reads
// all of a period, as the three colors of a pixel are, the neighbors are whole vectors, which the loads share; on AArch64
// they and their shuffles are one ld2, ld3 or ld4. Under a mask the vectors of neighbors are masked: they touch the elements
// of active lanes alone, at a small part of the time of a gather.
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include <ashlar/ir/build.h>
#include <ashlar/ir/numeric.h>

#include "codegen/llvm/emitter.h"

namespace ashlar::codegen {

using llvm::Value;

// Elements base + k * stride for k < n. With s = |stride|, s vectors of n consecutive elements are read: the first s - 1 side
// by side from the lowest address on, the last one so that it ends with the highest element. Nothing outside is touched.
Value* Emitter::load_strided(const ir::KBuffer& buffer, Type t, Value* base, std::int64_t stride, llvm::Align align) {
  const int n = t.lanes, s = static_cast<int>(std::abs(stride));
  const int last = s * (n - 1) + 1 - n;
  const auto number = [&](std::int64_t v) { return llvm::ConstantInt::getSigned(base->getType(), v); };
  if (stride < 0) base = b.CreateAdd(base, number(stride * (n - 1)));
  std::vector<Value*> parts;
  for (int j = 0; j < s; ++j) {
    Value* at = element(buffer, b.CreateAdd(base, number(j < s - 1 ? j * n : last)));
    llvm::LoadInst* part = b.CreateAlignedLoad(math.memory_type(t), at, align);
    unit.tag_access(part, buffer.id);
    parts.push_back(part);
  }
  std::vector<int> part_of(static_cast<std::size_t>(n)), offset(static_cast<std::size_t>(n));
  for (int k = 0; k < n; ++k) {
    const int position = s * (stride < 0 ? n - 1 - k : k);
    const int p = std::min(position / n, s - 1);
    part_of[static_cast<std::size_t>(k)] = p;
    offset[static_cast<std::size_t>(k)] = position - (p < s - 1 ? p * n : last);
  }
  Value* result = nullptr;
  for (int p = 0; p < s; ++p) {
    std::vector<int> pick(static_cast<std::size_t>(n));
    for (std::size_t k = 0; k < pick.size(); ++k)
      pick[k] = part_of[k] == p ? offset[k] + (result ? n : 0) : part_of[k] < p && result ? static_cast<int>(k) : -1;
    result = result ? b.CreateShuffleVector(result, parts[static_cast<std::size_t>(p)], pick)
                    : b.CreateShuffleVector(parts[static_cast<std::size_t>(p)], pick);
  }
  return result;
}

namespace {

// An address of which one term, or a multiple of one, is max(min(place, high), low), as a border that is repeated has it;
// `high` or `low` may be missing.
struct Clamped {
  Expr place, high, low;  // the bounds are scalars
  Expr rest, times;       // the address is rest + times * the clamped place; empty: 0 and 1
  Expr at(const Expr& of_place) const {
    const Expr e = times.empty() ? of_place : ir::mul(times, of_place);
    return rest.empty() ? e : ir::add(rest, e);
  }
};

std::optional<Clamped> clamped_of(const Expr& address) {
  Clamped c;
  const auto clamps = [](const Expr& e) { return ir::is(e, ir::Op::min) || ir::is(e, ir::Op::max); };
  const auto bend = [&](const auto& self, const Expr& e) -> bool {
    if (!clamps(e)) return c.place = e, true;
    const auto args = ir::args_of(e);
    const int k = ir::is(args[0], ir::Op::broadcast) ? 0 : 1;
    if (!ir::is(args[static_cast<std::size_t>(k)], ir::Op::broadcast) || !self(self, args[static_cast<std::size_t>(1 - k)]))
      return false;
    Expr& bound = ir::is(e, ir::Op::min) ? c.high : c.low;
    const Expr& inner = ir::is(e, ir::Op::min) ? c.low : c.high;
    if (!bound.empty()) return false;
    bound = ir::args_of(args[static_cast<std::size_t>(k)])[0];
    // The outer bound is the one that holds where they contradict each other.
    if (!inner.empty())
      (ir::is(e, ir::Op::min) ? c.low : c.high) = ir::is(e, ir::Op::min) ? ir::min(inner, bound) : ir::max(inner, bound);
    return true;
  };
  const auto add = [&](const auto& self, const Expr& e) -> bool {
    if (ir::is(e, ir::Op::add)) return self(self, ir::args_of(e)[0]) && self(self, ir::args_of(e)[1]);
    if (clamps(e)) return c.place.empty() && bend(bend, e);
    if (ir::is(e, ir::Op::mul) && c.place.empty())
      for (const std::size_t k : {0, 1})
        if (ir::is(ir::args_of(e)[k], ir::Op::broadcast) && clamps(ir::args_of(e)[1 - k])) {
          c.times = ir::args_of(e)[k];
          return bend(bend, ir::args_of(e)[1 - k]);
        }
    c.rest = c.rest.empty() ? e : ir::add(c.rest, e);
    return true;
  };
  if (!add(add, address) || c.place.empty()) return std::nullopt;
  return c;
}

}  // namespace

// Lanes between the bounds are one masked load of neighbors or of a pattern, those beyond a bound another one of what stands
// there: one element, or the few values of a point.
Value* Emitter::load_clamped(const ir::KBuffer& buffer, Type t, const Expr& address, Value* mask) {
  if (!loads_under_masks(t)) return nullptr;
  const auto c = clamped_of(address);
  if (!c) return nullptr;
  const auto near = [&](const Expr& e) {
    const auto ramp = as_ramp(e);
    std::int64_t stride = 0;
    if (ramp) return ir::is_int(ramp->stride, &stride) && (stride == 0 || stride == 1);
    return has_pattern(t, e, true);
  };
  const auto lanes = [&](const Expr& bound) { return ir::broadcast(bound, t.lanes); };
  for (const Expr& place : {c->place, c->high.empty() ? c->place : lanes(c->high), c->low.empty() ? c->place : lanes(c->low)})
    if (!near(c->at(place))) return nullptr;
  const auto active = [&](Value* v) { return mask ? b.CreateAnd(mask, v) : v; };
  const auto kept = [&](const Expr& e) {
    kept_.push_back(e);
    return e;
  };
  Value *inside = nullptr, *result = nullptr;
  std::vector<std::pair<Value*, Value*>> beyond;  // lanes, and what they load
  for (const bool high : {false, true}) {
    const Expr& bound = high ? c->high : c->low;
    if (bound.empty()) continue;
    Value* out = emit(kept(high ? ir::gt(c->place, lanes(bound)) : ir::lt(c->place, lanes(bound))));
    inside = inside ? b.CreateAnd(inside, b.CreateNot(out)) : b.CreateNot(out);
    beyond.emplace_back(out, load_vector(buffer, t, kept(c->at(lanes(bound))), active(out)));
  }
  result = load_vector(buffer, t, kept(c->at(c->place)), active(inside));
  for (const auto& [out, v] : beyond) result = b.CreateSelect(out, v, result);
  return result;
}

// Masked loads of this type are single instructions.
bool Emitter::loads_under_masks(Type t) const {
  if (t.scalable || t.lanes < 4) return false;
  if (unit.target.has(t.bits >= 32 ? "avx512f" : "avx512bw")) return t.bits >= 8;
  return t.bits >= 32 && unit.target.has("avx2");
}

// One element in the active lanes, 0 in the others; not read where none is active.
Value* Emitter::load_one_masked(const ir::KBuffer& buffer, Type t, Value* at, llvm::Align align, Value* mask) {
  Value* first = b.CreateInsertElement(llvm::Constant::getNullValue(mask->getType()), b.CreateOrReduce(mask), std::uint64_t{0});
  Value* zero = llvm::Constant::getNullValue(math.memory_type(t));
  llvm::CallInst* one = b.CreateMaskedLoad(math.memory_type(t), element(buffer, at), align, first, zero);
  unit.tag_access(one, buffer.id);
  return b.CreateSelect(mask, b.CreateShuffleVector(one, std::vector<int>(static_cast<std::size_t>(t.lanes), 0)), zero);
}

// Elements base + k * stride for those k < n whose lanes are active, 0 in the others.
Value* Emitter::load_strided_masked(const ir::KBuffer& buffer, Type t, Value* base, std::int64_t stride, llvm::Align align,
                                    Value* mask) {
  const int n = t.lanes, s = static_cast<int>(std::abs(stride));
  const auto number = [&](std::int64_t v) { return llvm::ConstantInt::getSigned(base->getType(), v); };
  if (stride < 0) base = b.CreateAdd(base, number(stride * (n - 1)));
  const auto lane = [&](int position) { return stride < 0 ? n - 1 - position / s : position / s; };
  Value *no_lane = llvm::Constant::getNullValue(mask->getType()), *result = nullptr;
  std::vector<int> pick(static_cast<std::size_t>(n));
  for (int p = 0; p < s; ++p) {
    for (int k = 0; k < n; ++k) pick[static_cast<std::size_t>(k)] = (p * n + k) % s == 0 ? lane(p * n + k) : n;
    Value* active = b.CreateShuffleVector(mask, no_lane, pick);
    llvm::CallInst* part = b.CreateMaskedLoad(math.memory_type(t), element(buffer, b.CreateAdd(base, number(p * n))), align,
                                              active, llvm::Constant::getNullValue(math.memory_type(t)));
    unit.tag_access(part, buffer.id);
    for (int k = 0; k < n; ++k) {
      const int position = s * (stride < 0 ? n - 1 - k : k);
      pick[static_cast<std::size_t>(k)] = position / n == p            ? position % n + (result ? n : 0)
                                          : position / n < p && result ? k
                                                                       : -1;
    }
    result = result ? b.CreateShuffleVector(result, part, pick) : b.CreateShuffleVector(part, pick);
  }
  return result;
}

// How many elements before `at` a period begins all of which the root reads anyhow: elements base - place + k of the buffer for
// k < n * stride. Nothing where there is none.
std::optional<std::int64_t> Emitter::place_in_period(const ir::KBuffer& buffer, Type t, const Ramp& at, std::int64_t stride) {
  if (!strided_) {
    strided_.emplace();
    ir::walk(root_, [&](const Expr& e) {
      if (!ir::is(e, ir::Op::load) || ir::args_of(e).size() > 1 || e.type().lanes == 1) return true;
      if (const auto ramp = as_ramp(ir::args_of(e)[0])) strided_->push_back({e.node()->id, e.type(), *ramp});
      return true;
    });
  }
  std::set<std::int64_t> read;  // relative to `at`
  for (const Strided& s : *strided_) {
    if (s.buffer != buffer.id || !(s.type == t) || !ir::is_int(s.at.stride, stride)) continue;
    const auto d = constant_difference(s.at.base, at.base);
    if (d && std::abs(*d) < stride) read.insert(*d);
  }
  for (std::int64_t place = 0; place < stride; ++place)
    if (read.contains(-place) && read.contains(stride - 1 - place)) return place;
  return std::nullopt;
}

Value* Emitter::load_of_period(const ir::KBuffer& buffer, Type t, Value* base, std::int64_t place, std::int64_t stride,
                               llvm::Align align) {
  const int n = t.lanes, s = static_cast<int>(stride), first = static_cast<int>(place);
  const auto number = [&](std::int64_t v) { return llvm::ConstantInt::getSigned(base->getType(), v); };
  base = b.CreateSub(base, number(place));
  const auto read = [&](int from, Type type) {
    llvm::LoadInst* v = b.CreateAlignedLoad(math.memory_type(type), element(buffer, b.CreateAdd(base, number(from))), align);
    unit.tag_access(v, buffer.id);
    return v;
  };
  std::vector<int> pick(static_cast<std::size_t>(n));
  if (unit.target.architecture() == Architecture::aarch64) {
    for (int k = 0; k < n; ++k) pick[static_cast<std::size_t>(k)] = first + s * k;
    return b.CreateShuffleVector(read(0, t.with_lanes(n * s)), pick);
  }
  Value* result = nullptr;
  for (int p = 0; p < s; ++p) {
    for (int k = 0; k < n; ++k) {
      const int position = first + s * k;
      pick[static_cast<std::size_t>(k)] = position / n == p            ? position % n + (result ? n : 0)
                                          : position / n < p && result ? k
                                                                       : -1;
    }
    Value* part = read(p * n, t);
    result = result ? b.CreateShuffleVector(result, part, pick) : b.CreateShuffleVector(part, pick);
  }
  return result;
}

}  // namespace ashlar::codegen
