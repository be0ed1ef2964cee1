// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// specialize(condition): calls whose symbols keep the condition get a schedule of their own, a variant.
//
//   nest C                         where N <= 8          else
//     for j in N           ->        nest C                nest C
//       C                              for j in N            for j in N
//                                        C                     C
//
// The variant begins with the program as it stands. Its later steps may rely on the condition, those of the program that is
// left on the opposite; neither changes the other any more. What both need of their arguments is the same: the entry is one.
//
// Legality: nothing moves, but what the variant's condition tells makes its boxes other ones: all that the steps before need is
// proved of them again. Refused is a condition that leaves one of the two without calls, and one that is not over symbols.
#include "schedule/legality/legality.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

namespace {

// What calls keep that no variant takes: the program as if it had none.
ir::Program without_variants(const ir::Program& p) {
  ir::Program all = p;
  for (auto v = p.variants.rbegin(); v != p.variants.rend(); ++v)
    all.assumptions.erase(all.assumptions.begin() + static_cast<std::ptrdiff_t>(v->assumed));
  all.variants.clear();
  return all;
}

// Calls that keep the condition there are, but variants made before take them all; or calls that break it.
void require_calls_left(const Context& c, const Expr& condition) {
  const analysis::Facts now = analysis::facts_of_arguments(c.p);
  const auto never = [&](const analysis::Facts& f) { return analysis::can_prove(ir::logic_not(condition), f); };
  const auto always = [&](const analysis::Facts& f) { return analysis::can_prove(condition, f); };
  if (c.p.variants.empty() || (!never(now) && !always(now))) return;
  const analysis::Facts all = analysis::facts_of_arguments(without_variants(c.p));
  if (never(all) || always(all)) return;
  std::vector<std::string> taken;
  for (const ir::Variant& v : c.p.variants) taken.push_back(ir::text(v.condition));
  c.refuse("a condition that divides the calls that are left",
           ir::text(condition) + ", while the variant" + (taken.size() == 1 ? " where " : "s where ") + list_names(taken) +
               (taken.size() == 1 ? " takes" : " take") + " all calls that " + (never(now) ? "keep it" : "break it"));
}

void apply_specialize(Context& c) {
  // match
  require_calls_left(c, c.arg(0).exprs.front());
  const Expr condition = condition_over_symbols(c);
  for (const ir::Variant& v : c.p.variants)
    if (ir::same(v.condition, condition)) c.refuse("a condition without a variant yet", ir::text(condition));
  // prove
  if (analysis::can_prove(condition, analysis::facts_of_arguments(c.p)))
    c.refuse("a condition that some call breaks", ir::text(condition) + ", which always holds");
  // rewrite
  ir::Variant variant{condition, c.p.assumptions.size(), nullptr, c.step.where};
  Scheduled other{c.p, {}, {}, {}};
  other.program.variants.clear();
  other.program.assumptions.push_back(condition);
  analysis::derive_regions(other.program);
  Context there{other, other.program, c.target, c.step, {}};
  recheck(there, nullptr);  // boxes are other ones where more is known, and windows that slid there may move otherwise
  variant.program = std::make_shared<const ir::Program>(std::move(other.program));
  c.p.assumptions.push_back(ir::logic_not(condition));
  c.p.variants.push_back(std::move(variant));
}

// Which the fuzzer asks for by itself: it decides how many variants there may be.
bool draw_specialize(Draw& d) {
  if (d.p.symbols.empty()) return false;
  auto at = d.p.symbols.begin();
  std::advance(at, d.pick(static_cast<std::uint32_t>(d.p.symbols.size())));
  const Expr n = ir::var(at->first, at->second.name), f = ir::index(d.factor()), limit = ir::index(1 + d.pick(12));
  const Expr conditions[] = {ir::lt(n, limit), ir::ge(n, limit), ir::eq(ir::mod(n, f), ir::index(0)), ir::eq(n, limit)};
  return d.step("specialize", {Arg::map({}, {d.any(conditions)})});
}

}  // namespace

extern constexpr Primitive specialize_primitive{
    .name = "specialize",
    .spelling = "specialize",
    .parameters = {takes::condition()},
    .traits = Traits{Reads::changed, Places::kept, Boxes::derived, Layouts::kept, Callers::kept, Gives::variant},
    .apply = apply_specialize,
    .cpp = of_schedule,
    .draw = Drawing{.draw = draw_specialize},
};

}  // namespace ashlar::schedule
