// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Branches, loops, reductions and scans: what has regions.
#include "tests/tileir/executor/run.h"

namespace ashlar::tileir {

void branch(Run& r, const Op& op, Flow& flow, std::vector<Value>& out) {
  const Tile& c = r.tile(op, 0);
  if (c.is_vague(0)) r.undefined(c, "a branch");
  const Block& b = op.regions[c.bits[0] != 0 ? 0 : 1];
  if (!b.present) return;
  std::vector<Value> yielded;
  flow = r.execute(b, yielded);
  if (flow != Flow::kYield) {
    out = std::move(yielded);  // to the loop around it, or to the caller
    return;
  }
  for (std::size_t n = 0; n < op.results.size(); ++n) r.values[op.first_result + n] = std::move(yielded[n]);
}

void loop(Run& r, const Op& op, Flow& flow) {
  const Block& b = op.regions[0];
  const bool counts = op.info->code == Code::kFor;
  std::vector<Value> carried;
  for (const u32 v : op.operands[counts ? 3 : 0]) carried.push_back(r.values[v]);
  int bits = 64;
  u64 at = 0, end = 0, step = 0;
  const bool is_unsigned = counts && op.flag(0);
  const auto below = [&](u64 a, u64 z) { return is_unsigned ? a < z : signed_of(a, bits) < signed_of(z, bits); };
  if (counts) {
    bits = bits_of(op.type(0).element());
    at = static_cast<u64>(r.scalar(op, 0, 0, "a bound of a loop")) & mask_of(bits),
    end = static_cast<u64>(r.scalar(op, 1, 0, "a bound of a loop")) & mask_of(bits);
    const i64 s = r.scalar(op, 2, 0, "the step of a loop");
    step = static_cast<u64>(s) & mask_of(bits);
    if (is_unsigned ? step == 0 : s <= 0) r.fault(FaultKind::kInvalid, "a step of " + std::to_string(s));
  }
  while (!counts || below(at, end)) {
    if (counts) {
      Tile t = make(*b.arguments[0], 1);
      t.bits[0] = at;
      r.values[b.first_argument] = Value{std::make_shared<const Tile>(std::move(t)), nullptr, 0};
    }
    for (std::size_t n = 0; n < carried.size(); ++n) r.values[b.first_argument + (counts ? 1 : 0) + n] = carried[n];
    const Flow f = r.execute(b, carried);
    if (f == Flow::kReturn) {
      flow = f;
      return;
    }
    if (f == Flow::kBreak) break;
    const u64 next = (at + step) & mask_of(bits);
    if (counts && !below(at, next)) break;  // the counter would wrap around
    at = next;
  }
  for (std::size_t n = 0; n < op.results.size(); ++n) r.values[op.first_result + n] = std::move(carried[n]);
}

namespace {

// Elements of all lanes at one place along the dimension: lane l = outer * inner + i.
struct Lanes {
  std::size_t outer, extent, inner;
  std::size_t at(std::size_t lane, std::size_t k) const { return (lane / inner * extent + k) * inner + lane % inner; }
};

Tile gathered(const Tile& x, const Type& scalar, const Lanes& l, std::size_t k, std::size_t first, std::size_t count) {
  Tile t = make(scalar, count);
  for (std::size_t n = 0; n < count; ++n) {
    const std::size_t m = l.at(first + n, k);
    t.bits[n] = x.bits[m];
    t.inherit(n, x, m);
  }
  return t;
}

// The lanes from `first`, `count` of them, through all of the dimension; out gets what was accumulated at each place.
template <class F>
void accumulate(Run& r, const Op& op, const Lanes& l, std::size_t first, std::size_t count, F out) {
  const Block& b = op.regions[0];
  const bool scan = op.info->code == Code::kScan, reverse = scan && op.number(1) != 0;
  const auto& identities = op.attributes[scan ? 2 : 1].items;
  const std::size_t operands = op.operands[0].size();
  std::vector<Value> sums;
  for (std::size_t k = 0; k < operands; ++k) {
    Tile t = make(*b.arguments[2 * k], 1);
    t.bits[0] = identities[k].value;
    sums.push_back(Value{std::make_shared<const Tile>(std::move(t)), nullptr, 0});
  }
  for (std::size_t step = 0; step < l.extent; ++step) {
    const std::size_t at = reverse ? l.extent - 1 - step : step;
    for (std::size_t k = 0; k < operands; ++k) {
      r.values[b.first_argument + 2 * k] =
          Value{std::make_shared<const Tile>(gathered(r.tile(op, 0, k), *b.arguments[2 * k], l, at, first, count)), nullptr, 0};
      r.values[b.first_argument + 2 * k + 1] = sums[k];
    }
    r.execute(b, sums);
    out(at, sums);
  }
}

}  // namespace

void reduction(Run& r, const Op& op) {
  const bool scan = op.info->code == Code::kScan;
  const std::size_t dim = op.number(0), operands = op.operands[0].size();
  const std::vector<i64>& shape = r.tile(op, 0).type->shape;
  Lanes l{1, static_cast<std::size_t>(shape[dim]), 1};
  for (std::size_t d = 0; d < shape.size(); ++d)
    (d < dim ? l.outer : l.inner) *= d == dim ? 1 : static_cast<std::size_t>(shape[d]);
  const std::size_t all = l.outer * l.inner, together = op.regions[0].lanewise ? all : 1;
  std::vector<Tile> out;
  for (std::size_t k = 0; k < operands; ++k)
    out.push_back(make(*op.results[k], static_cast<std::size_t>(op.results[k]->elements())));
  for (std::size_t first = 0; first < all; first += together) {
    accumulate(r, op, l, first, together, [&](std::size_t at, const std::vector<Value>& sums) {
      if (!scan && at + 1 < l.extent) return;
      for (std::size_t k = 0; k < operands; ++k) {
        for (std::size_t n = 0; n < together; ++n) {
          const std::size_t m = scan ? l.at(first + n, at) : first + n;
          out[k].bits[m] = sums[k].tile->at(n);
          out[k].inherit(m, *sums[k].tile, n);
        }
      }
    });
  }
  for (std::size_t k = 0; k < operands; ++k) r.set(op, std::move(out[k]), k);
}

}  // namespace ashlar::tileir
