// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/analysis/packed.h>

#include <algorithm>

#include <ashlar/analysis/facts.h>
#include <ashlar/analysis/interval.h>
#include <ashlar/analysis/simplify.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

#include <ashlar/analysis/evaluate.h>

namespace ashlar::analysis {

std::vector<Expr> packed_extents(const std::map<ir::Id, ir::Symbol>& symbols, const ir::Buffer& b) {
  ir::Program declared;  // facts come from programs
  declared.symbols = symbols;
  const Facts facts = facts_of_arguments(declared);
  std::vector<VarRange> ranges;
  for (std::size_t d = 0; d < b.layout.vars.size(); ++d)
    ranges.push_back({b.layout.vars[d], {ir::index(0), ir::sub(b.extents[d], ir::index(1))}});
  std::vector<Expr> extents;
  for (const Expr& e : b.layout.map) {
    const Interval i = bounds_over(e, ranges, facts);
    if (!i.bounded()) throw InternalError("the layout of " + b.name + " has no bound");
    extents.push_back(simplify(ir::add(i.hi, ir::index(1)), facts));
  }
  if (b.layout.align_dim >= 0) {
    Expr& e = extents.at(static_cast<std::size_t>(b.layout.align_dim));
    e = simplify(ir::mul(ir::ceil_div(e, ir::index(b.layout.pad_to)), ir::index(b.layout.pad_to)), facts);
  }
  return extents;
}

std::vector<std::byte> packed_data(const ir::Buffer& b) {
  if (b.layout.map.empty()) return *b.data;
  const auto number = [](const Expr& e) {
    std::int64_t n = 0;
    if (!ir::is_int(e, &n)) throw InternalError("a constant of extent " + ir::text(e));
    return n;
  };
  std::vector<std::int64_t> logical, physical;
  for (const Expr& e : b.extents) logical.push_back(number(e));
  for (const Expr& e : packed_extents({}, b)) physical.push_back(number(e));
  std::size_t places = 1, elements = 1;
  for (const std::int64_t n : physical) places *= static_cast<std::size_t>(std::max<std::int64_t>(n, 0));
  for (const std::int64_t n : logical) elements *= static_cast<std::size_t>(n);
  const auto size = static_cast<std::size_t>(b.type.bytes());
  std::vector<std::byte> packed(places * size);
  Assignment at;
  for (const ir::Id v : b.layout.vars) at.push_back({v, nullptr, 0});
  for (std::size_t e = 0; e < elements; ++e) {  // row-major
    std::size_t rest = e;
    for (std::size_t d = logical.size(); d-- > 0;) {
      at[d].value = static_cast<std::int64_t>(rest % static_cast<std::size_t>(logical[d]));
      rest /= static_cast<std::size_t>(logical[d]);
    }
    std::size_t place = 0;
    for (std::size_t d = 0; d < physical.size(); ++d) {
      const auto p = evaluate(b.layout.map[d], at);
      if (!p || *p < 0 || *p >= physical[d]) throw InternalError("the layout of " + b.name + " leaves its box");
      place = place * static_cast<std::size_t>(physical[d]) + static_cast<std::size_t>(*p);
    }
    std::copy_n(b.data->begin() + static_cast<std::ptrdiff_t>(e * size), size,
                packed.begin() + static_cast<std::ptrdiff_t>(place * size));
  }
  return packed;
}

}  // namespace ashlar::analysis
