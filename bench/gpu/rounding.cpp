// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/gpu/rounding.h"

#include <algorithm>
#include <cmath>

#include "fuzz/each.h"

namespace gpu_bench {

using namespace ashlar;
using interp::Array;

bool rounds_freely(const ir::Kernel& k) {
  return std::any_of(k.intrinsics.begin(), k.intrinsics.end(), [](const auto& f) { return f.second.rounds_freely; });
}

// Of a product whose one factor is f32 and the other one narrow, the first is rounded to the type of the second.
static double rounded_factor(const ir::Kernel& k) {
  double most = 0;
  for (const auto& [id, f] : k.intrinsics) {
    bool wide = false;
    double narrow = 0;
    for (const ir::IntrinsicOperand& o : f.operands)
      if (o.kind == ir::IntrinsicOperand::Kind::tile && o.access == ir::IntrinsicOperand::Access::read) {
        wide = wide || o.type == f32;
        if (o.type == f16 || o.type == bf16) narrow = FreeSums::last(o.type);
      }
    if (f.rounds_freely && wide) most = std::max(most, narrow);
  }
  return most;
}

FreeSums::FreeSums(const ir::Kernel& k, const interp::Arguments& given)
    : magnitudes_(given), factors_(rounded_factor(k)), largest_(given.size()) {
  for (std::size_t n = 0; n < given.size(); ++n) {
    if (given[n].is_scalar) continue;
    Array& a = magnitudes_[n].array;
    for (const std::int64_t extent : a.shape) terms_ = std::max(terms_, static_cast<double>(extent));
    if (k.arguments[n].kind == ir::ArgumentKind::output || !a.type.is_float()) continue;
    fuzz::each(a.shape, [&](const auto& at) { a.set(at, ir::float_value(a.type, std::abs(a.at(at).f))); });
  }
  interp::run(k, magnitudes_);
  for (std::size_t n = 0; n < given.size(); ++n)
    if (!given[n].is_scalar && magnitudes_[n].array.type.is_float())
      fuzz::each(magnitudes_[n].array.shape, [&](const auto& at) {
        if (const double m = std::abs(magnitudes_[n].array.at(at).f); std::isfinite(m)) largest_[n] = std::max(largest_[n], m);
      });
}

// Half a unit in the last place, of a number of magnitude 1, where results are rounded once more than the sums in f32.
double FreeSums::last(Type t) { return t == f16 ? 0x1p-11 : t == bf16 ? 0x1p-8 : t == f32 ? 0 : 0x1p-4; }

// Tensor cores and the chain of fma's are within their own bounds of the sum without rounding. What follows a product at most
// doubles what they are apart. Rounded factors are weights of a mean (attention), so they move it by a part of the largest
// magnitude.
double FreeSums::most(std::size_t n, std::span<const std::int64_t> at) const {
  return 2 * (1.5 * terms_ * 0x1p-23 + terms_ * 0x1p-24) * magnitudes_[n].array.at(at).f + 2 * factors_ * largest_[n];
}

std::string FreeSums::beyond(std::size_t n, const Array& found, const Array& meant) const {
  if (!meant.type.is_float()) return interp::difference(found, meant);
  std::string wrong;
  fuzz::each(meant.shape, [&](const auto& at) {
    const double x = found.at(at).f, y = meant.at(at).f;
    if (x == y || (std::isnan(x) && std::isnan(y))) return;
    const double bound = most(n, at) + last(meant.type) * (std::abs(x) + std::abs(y));
    if (!wrong.empty() || (std::abs(x - y) <= bound && std::isfinite(bound))) return;
    std::string index;
    for (const std::int64_t i : at) index += (index.empty() ? "" : ", ") + std::to_string(i);
    wrong = "[" + index + "]: " + std::to_string(x) + ", expected " + std::to_string(y) + " within " + std::to_string(bound);
  });
  return wrong;
}

}  // namespace gpu_bench
