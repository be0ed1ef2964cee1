// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads of lanes in a pattern that is known, within vectors of neighbors that are shuffled:
//
//   x(i / 2)                  0 0 1 1 2 2 ..
//   rgb(i, 2 - c)             2 1 0 5 4 3 ..        of i and c in the lanes of one vector
//   planes(c, i)              three runs, one of each plane, which lie nobody knows how far apart
//
// A vector begins with the nearest and ends with the farthest element that a lane of it reads.
#include <algorithm>
#include <map>
#include <numeric>

#include <ashlar/ir/build.h>
#include <ashlar/ir/numeric.h>

#include "codegen/llvm/emitter.h"

namespace ashlar::codegen {

using llvm::Value;

namespace {

// Lane k of an address is base + offsets[k] + the sum of scalar * times[k] over what is far.
struct Pattern {
  Expr base;  // a scalar
  std::vector<std::int64_t> offsets;
  std::vector<std::pair<Expr, std::vector<std::int64_t>>> far;
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

bool add_to(Pattern& p, const Expr& e, std::int64_t times) {
  const auto args = ir::args_of(e);
  const std::size_t n = p.offsets.size();
  if (ir::is(e, ir::Op::add) || ir::is(e, ir::Op::sub))
    return add_to(p, args[0], times) && add_to(p, args[1], ir::is(e, ir::Op::add) ? times : -times);
  std::int64_t step = 0;
  if (ir::is(e, ir::Op::broadcast) || (ir::is(e, ir::Op::ramp) && ir::is_int(args[1], &step))) {
    p.base = ir::add(p.base, ir::mul(args[0], ir::index(times)));
    for (std::size_t k = 0; k < n; ++k) p.offsets[k] += times * step * static_cast<std::int64_t>(k);
    return true;
  }
  if (const auto lanes = constant_lanes(e)) {
    for (std::size_t k = 0; k < n; ++k) p.offsets[k] += times * (*lanes)[k];
    return true;
  }
  if (!ir::is(e, ir::Op::mul)) return false;
  const std::size_t at = ir::is(args[0], ir::Op::broadcast) ? 0 : 1;
  if (!ir::is(args[at], ir::Op::broadcast)) return false;
  const Expr& scalar = ir::args_of(args[at])[0];
  if (std::int64_t by = 0; ir::is_int(scalar, &by)) return add_to(p, args[1 - at], times * by);
  Pattern inner{ir::index(0), std::vector<std::int64_t>(n, 0), {}};
  if (!add_to(inner, args[1 - at], times) || !inner.far.empty()) return false;
  p.base = ir::add(p.base, ir::mul(scalar, inner.base));
  p.far.emplace_back(scalar, std::move(inner.offsets));
  return true;
}

std::optional<Pattern> pattern_of(const Expr& address) {
  Pattern p{ir::index(0), std::vector<std::int64_t>(static_cast<std::size_t>(address.type().lanes), 0), {}};
  if (!add_to(p, address, 1)) return std::nullopt;
  return p;
}

// Lanes that lie a known distance apart, and how far from those of other runs nobody knows.
struct Run {
  Expr base;
  std::vector<std::size_t> lanes;
  std::int64_t from = 0, span = 0;  // of their offsets
};

std::vector<Run> runs_of(const Pattern& p) {
  std::map<std::vector<std::int64_t>, Run> runs;
  for (std::size_t k = 0; k < p.offsets.size(); ++k) {
    std::vector<std::int64_t> key;
    for (const auto& [scalar, times] : p.far) key.push_back(times[k]);
    runs[key].lanes.push_back(k);
  }
  std::vector<Run> all;
  for (auto& [key, run] : runs) {
    run.base = p.base;
    for (std::size_t j = 0; j < key.size(); ++j)
      if (key[j] != 0) run.base = ir::add(run.base, ir::mul(p.far[j].first, ir::index(key[j])));
    std::int64_t low = p.offsets[run.lanes.front()], high = low;
    for (const std::size_t k : run.lanes) low = std::min(low, p.offsets[k]), high = std::max(high, p.offsets[k]);
    run.from = low, run.span = high - low + 1;
    all.push_back(std::move(run));
  }
  return all;
}

// The vector that is loaded of a run. Under a mask it may be longer than the run: what no lane reads is not active.
Type part_of(Type t, const Run& run, bool masked) {
  constexpr std::int64_t least = 4;
  return t.with_lanes(static_cast<int>(masked && run.span < least && t.lanes >= least ? least : run.span));
}

constexpr std::size_t most_runs = 4;
constexpr int most_repeats = 8;  // lanes that read one element, under a mask

}  // namespace

// The elements of a run side by side: pick[k] is that of lane k, -1 where the lane is none of the run. Under a mask those that
// an active lane reads, 0 otherwise.
Value* Emitter::load_run(const ir::KBuffer& buffer, Type t, Value* at, std::span<const int> pick, llvm::Align align,
                         Value* mask) {
  if (!mask) {
    llvm::LoadInst* part = b.CreateAlignedLoad(math.memory_type(t), at, align);
    unit.tag_access(part, buffer.id);
    return part;
  }
  const int none = static_cast<int>(pick.size());
  Value* active = nullptr;
  if (t.lanes <= 4) {  // is any lane of those active that read an element?
    const auto integer = [&](int bits) { return llvm::IntegerType::get(b.getContext(), static_cast<unsigned>(bits)); };
    Value* lanes = b.CreateBitCast(mask, integer(none));
    Value* elements = llvm::ConstantInt::get(integer(t.lanes), 0);
    for (int element = 0; element < t.lanes; ++element) {
      llvm::APInt readers(static_cast<unsigned>(none), 0);
      for (int k = 0; k < none; ++k)
        if (pick[static_cast<std::size_t>(k)] == element) readers.setBit(static_cast<unsigned>(k));
      if (readers.isZero()) continue;
      Value* some = b.CreateIsNotNull(b.CreateAnd(lanes, llvm::ConstantInt::get(b.getContext(), readers)));
      elements = b.CreateOr(elements, b.CreateShl(b.CreateZExt(some, integer(t.lanes)), static_cast<std::uint64_t>(element)));
    }
    active = b.CreateBitCast(elements, llvm::FixedVectorType::get(b.getInt1Ty(), static_cast<unsigned>(t.lanes)));
  } else {  // of each element the first lane that reads it, then the second one ...
    std::vector<int> seen(static_cast<std::size_t>(t.lanes), 0);
    std::vector<std::vector<int>> readers;
    for (int k = 0; k < none; ++k) {
      if (pick[static_cast<std::size_t>(k)] < 0) continue;
      const auto element = static_cast<std::size_t>(pick[static_cast<std::size_t>(k)]);
      const auto round = static_cast<std::size_t>(seen[element]++);
      if (round == readers.size()) readers.emplace_back(static_cast<std::size_t>(t.lanes), none);
      readers[round][element] = k;
    }
    for (const std::vector<int>& lanes : readers) {
      Value* some = b.CreateShuffleVector(mask, llvm::Constant::getNullValue(mask->getType()), lanes);
      active = active ? b.CreateOr(active, some) : some;
    }
  }
  llvm::Value* zero = llvm::Constant::getNullValue(math.memory_type(t));
  llvm::CallInst* part = b.CreateMaskedLoad(math.memory_type(t), at, align, active, zero);
  unit.tag_access(part, buffer.id);
  return part;
}

bool Emitter::has_pattern(Type t, const Expr& address, bool masked, int apart) const {
  if (t.scalable) return false;
  const auto p = pattern_of(address);
  if (!p) return false;
  const std::vector<Run> runs = runs_of(*p);
  if (masked && !loads_under_masks(t)) return false;
  return runs.size() <= most_runs && std::all_of(runs.begin(), runs.end(), [&](const Run& run) {
           std::map<std::int64_t, int> readers;
           int most = 0;
           for (const std::size_t k : run.lanes) most = std::max(most, ++readers[p->offsets[k]]);
           const Type part = part_of(t, run, masked);
           return run.span <= apart * t.lanes &&
                  (!masked || run.span == 1 || ((most <= most_repeats || part.lanes <= 4) && loads_under_masks(part)));
         });
}

// Empty where the address is no such pattern.
Value* Emitter::load_pattern(const ir::KBuffer& buffer, Type t, const Expr& address, llvm::Align align, Value* mask) {
  // What is on the stack was stored in vectors, and is shuffled from one into another: two loaded elements for each lane cost
  // little there.
  const bool vectors = !mask && (buffer.storage == ir::Storage::stack || buffer.storage == ir::Storage::registers);
  if (!has_pattern(t, address, mask != nullptr, vectors ? 2 : 1)) return nullptr;
  const auto p = pattern_of(address);
  const std::vector<Run> runs = runs_of(*p);
  Value* result = nullptr;
  for (const Run& run : runs) {
    kept_.push_back(run.base);
    Value* base = place(run.base);
    Value* first = b.CreateAdd(base, llvm::ConstantInt::getSigned(base->getType(), run.from));
    Value* at = element(buffer, first);
    std::vector<int> pick(static_cast<std::size_t>(t.lanes), -1), both(static_cast<std::size_t>(t.lanes));
    std::iota(both.begin(), both.end(), 0);
    for (const std::size_t k : run.lanes) {
      pick[k] = static_cast<int>(p->offsets[k] - run.from);
      both[k] += t.lanes;
    }
    Value* placed = nullptr;
    if (run.span > 1)
      placed = b.CreateShuffleVector(load_run(buffer, part_of(t, run, mask != nullptr), at, pick, align, mask), pick);
    else if (!mask)
      placed = b.CreateVectorSplat(math.count(t), load_scalar(buffer, t, at));
    else
      placed = load_one_masked(buffer, t, first, align,
                               b.CreateShuffleVector(llvm::Constant::getNullValue(mask->getType()), mask, both));
    result = result ? b.CreateShuffleVector(result, placed, both) : placed;
  }
  return mask ? b.CreateSelect(mask, result, llvm::Constant::getNullValue(math.memory_type(t))) : result;
}

// Tails of such lanes: base + offset < n, for offsets that are numbers, is offset < clamp(n - base, least, most + 1), in lanes
// as narrow as the offsets allow. Null for what has another form.
//
//   i + lane / 3 < W
Value* Emitter::lanes_of_pattern(const Expr& e) {
  const auto args = ir::args_of(e);
  const Type t = args[0].type();
  const ir::Op op = ir::op_of(e);
  if (!t.is_index() || t.lanes == 1 || t.scalable || op == ir::Op::eq || op == ir::Op::ne) return nullptr;
  const auto p = pattern_of(ir::sub(args[0], args[1]));
  if (!p || !p->far.empty()) return nullptr;
  const auto [low, high] = std::minmax_element(p->offsets.begin(), p->offsets.end());
  if (*low <= INT16_MIN || *high + 2 > INT16_MAX) return nullptr;
  const bool less = op == ir::Op::lt || op == ir::Op::le, past = op == ir::Op::le || op == ir::Op::gt;  // offset <= d, or > d
  const Expr difference = ir::sub(ir::index(0), p->base);
  kept_.push_back(difference);
  Value* d = emit(difference);
  d = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, d, llvm::ConstantInt::getSigned(d->getType(), *low - 1));
  d = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, d, llvm::ConstantInt::getSigned(d->getType(), *high + 1));
  if (past) d = b.CreateAdd(d, llvm::ConstantInt::getSigned(d->getType(), 1));
  // From *low - 1 to *high + 2. One register of 32-bit lanes is as good as a narrower one, and masks what is as wide.
  const bool wide = 32 * t.lanes <= unit.target.vector_bits(), bytes = *low > INT8_MIN && *high + 2 <= INT8_MAX;
  const Type lane = wide ? i32 : bytes ? i8 : i16;
  std::vector<llvm::Constant*> offsets;
  for (const std::int64_t o : p->offsets) offsets.push_back(math.integer(lane, o));
  Value* limit = b.CreateVectorSplat(math.count(t), b.CreateTrunc(d, math.type(lane)));
  Value* lanes = llvm::ConstantVector::get(offsets);
  return less ? b.CreateICmpSLT(lanes, limit) : b.CreateICmpSGE(lanes, limit);
}

}  // namespace ashlar::codegen
