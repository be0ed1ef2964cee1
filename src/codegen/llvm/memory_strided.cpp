// Loads of every second to fourth element: vectors of neighbours, shuffled.
//
// Alone, a load touches nothing outside of the span between its first and its last element. Where the expression around reads
// all of a period, as the three colours of a pixel are, the neighbours are whole vectors, which the loads share; on AArch64
// they and their shuffles are one ld2, ld3 or ld4. Under a mask the vectors of neighbours are masked: they touch the elements
// of active lanes alone, at a small part of the time of a gather. Elements that lanes repeat, x(i / 2), are one such vector
// too.
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

// Lane k of an address is base + offsets[k].
struct Pattern {
  Expr base;  // a scalar
  std::vector<std::int64_t> offsets;
};

// The lanes of what has no variables: ramp(0, 1) / 2 is 0 0 1 1 2 2 ...
std::optional<std::vector<std::int64_t>> constant_lanes(const Expr& e) {
  const int n = e.type().lanes;
  std::vector<std::int64_t> lanes(static_cast<std::size_t>(n));
  std::int64_t v = 0, step = 0;
  const auto args = ir::args_of(e);
  const auto each = [&](auto f) {
    for (std::size_t k = 0; k < lanes.size(); ++k) lanes[k] = f(k);
    return lanes;
  };
  switch (ir::op_of(e)) {
    case ir::Op::int_const:
      return each([&](std::size_t) { return e.node()->i; });
    case ir::Op::broadcast:
      if (!ir::is_int(args[0], &v)) return std::nullopt;
      return each([&](std::size_t) { return v; });
    case ir::Op::ramp:
      if (!ir::is_int(args[0], &v) || !ir::is_int(args[1], &step)) return std::nullopt;
      return each([&](std::size_t k) { return v + step * static_cast<std::int64_t>(k); });
    case ir::Op::add:
    case ir::Op::sub:
    case ir::Op::mul:
    case ir::Op::div:
    case ir::Op::mod: {
      const auto a = constant_lanes(args[0]), b = constant_lanes(args[1]);
      if (!a || !b) return std::nullopt;
      return each([&](std::size_t k) {
        const std::int64_t x = (*a)[k], y = (*b)[k];
        switch (ir::op_of(e)) {
          case ir::Op::add:
            return x + y;
          case ir::Op::sub:
            return x - y;
          case ir::Op::mul:
            return x * y;
          case ir::Op::div:
            return ir::floor_div(x, y);
          default:
            return ir::floor_mod(x, y);
        }
      });
    }
    default:
      return std::nullopt;
  }
}

std::optional<Pattern> pattern_of(const Expr& address) {
  Pattern p{ir::index(0), std::vector<std::int64_t>(static_cast<std::size_t>(address.type().lanes), 0)};
  const auto add = [&](const auto& self, const Expr& e, int sign) -> bool {
    const auto args = ir::args_of(e);
    if (ir::is(e, ir::Op::add) || ir::is(e, ir::Op::sub))
      return self(self, args[0], sign) && self(self, args[1], ir::is(e, ir::Op::add) ? sign : -sign);
    std::int64_t step = 0;
    if (ir::is(e, ir::Op::broadcast) || (ir::is(e, ir::Op::ramp) && ir::is_int(args[1], &step))) {
      p.base = sign > 0 ? ir::add(p.base, args[0]) : ir::sub(p.base, args[0]);
      for (std::size_t k = 0; k < p.offsets.size(); ++k) p.offsets[k] += sign * step * static_cast<std::int64_t>(k);
      return true;
    }
    const auto lanes = constant_lanes(e);
    for (std::size_t k = 0; lanes && k < p.offsets.size(); ++k) p.offsets[k] += sign * (*lanes)[k];
    return lanes.has_value();
  };
  if (!add(add, address, 1)) return std::nullopt;
  return p;
}

}  // namespace

// Lanes in a pattern that is known, within one vector of neighbours: x(i / 2) reads 0 0 1 1 2 2 ... The vector ends with the
// farthest of them. Empty where the address is no such pattern.
Value* Emitter::load_pattern(const ir::KBuffer& buffer, Type t, const Expr& address, llvm::Align align) {
  if (t.scalable) return nullptr;
  const auto p = pattern_of(address);
  if (!p) return nullptr;
  const auto [low, high] = std::minmax_element(p->offsets.begin(), p->offsets.end());
  const std::int64_t from = *low, span = *high - from + 1;
  if (span > t.lanes) return nullptr;
  kept_.push_back(p->base);
  Value* base = place(p->base);
  Value* at = element(buffer, b.CreateAdd(base, llvm::ConstantInt::getSigned(base->getType(), from)));
  if (span == 1) return b.CreateVectorSplat(math.count(t), load_scalar(buffer, t, at));
  llvm::LoadInst* part = b.CreateAlignedLoad(math.memory_type(t.with_lanes(static_cast<int>(span))), at, align);
  unit.tag_access(part, buffer.id);
  std::vector<int> pick;
  for (const std::int64_t o : p->offsets) pick.push_back(static_cast<int>(o - from));
  return b.CreateShuffleVector(part, pick);
}

namespace {

// An address base + max(min(ramp, high), low), as a border that is repeated has it; `high` or `low` may be missing.
struct Clamped {
  Expr base, ramp, high, low;  // `ramp` is of stride 1, the others are scalars
};

std::optional<Clamped> clamped_of(const Expr& address) {
  Clamped c;
  c.base = ir::index(0);
  const auto bend = [&](const auto& self, const Expr& e) -> bool {
    if (ir::is(e, ir::Op::ramp)) return c.ramp = e, ir::is_int(ir::args_of(e)[1], 1);
    if (!ir::is(e, ir::Op::min) && !ir::is(e, ir::Op::max)) return false;
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
    if (ir::is(e, ir::Op::broadcast)) return c.base = ir::add(c.base, ir::args_of(e)[0]), true;
    return c.ramp.empty() && bend(bend, e);
  };
  if (!add(add, address) || c.ramp.empty() || (c.high.empty() && c.low.empty())) return std::nullopt;
  return c;
}

}  // namespace

// Lanes between the bounds are one masked load, those beyond a bound the one element there.
Value* Emitter::load_clamped(const ir::KBuffer& buffer, Type t, const Expr& address, llvm::Align align, Value* mask) {
  if (!loads_under_masks(t)) return nullptr;
  const auto c = clamped_of(address);
  if (!c) return nullptr;
  const auto active = [&](Value* v) { return mask ? b.CreateAnd(mask, v) : v; };
  const auto lanes = [&](const Expr& bound) { return ir::broadcast(bound, t.lanes); };
  const auto test = [&](const Expr& e) {
    kept_.push_back(e);
    return emit(e);
  };
  const auto at = [&](const Expr& e) {
    kept_.push_back(ir::add(c->base, e));
    return place(kept_.back());
  };
  Value *inside = nullptr, *result = nullptr;
  const auto also = [&](Value* v) { inside = inside ? b.CreateAnd(inside, v) : v; };
  std::vector<std::pair<Value*, Value*>> beyond;  // lanes, and their one element
  for (const bool high : {false, true}) {
    const Expr& bound = high ? c->high : c->low;
    if (bound.empty()) continue;
    Value* out = test(high ? ir::gt(c->ramp, lanes(bound)) : ir::lt(c->ramp, lanes(bound)));
    also(b.CreateNot(out));
    beyond.emplace_back(out, load_one_masked(buffer, t, at(bound), align, active(out)));
  }
  llvm::Type* type = math.memory_type(t);
  llvm::CallInst* part = b.CreateMaskedLoad(type, element(buffer, at(ir::args_of(c->ramp)[0])), align, active(inside),
                                            llvm::Constant::getNullValue(type));
  unit.tag_access(part, buffer.id);
  result = part;
  for (const auto& [out, one] : beyond) result = b.CreateSelect(out, one, result);
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
