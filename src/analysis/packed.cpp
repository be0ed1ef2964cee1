#include <ashlar/analysis/packed.h>

#include <ashlar/analysis/facts.h>
#include <ashlar/analysis/interval.h>
#include <ashlar/analysis/simplify.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

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

}  // namespace ashlar::analysis
