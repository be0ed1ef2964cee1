// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/schedule/step.h>

#include <ashlar/analysis/domains.h>
#include <ashlar/analysis/verify.h>

#include <ashlar/analysis/kept_boxes.h>
#include "schedule/force.h"
#include "schedule/legality/legality.h"
#include "schedule/primitives/primitives.h"
#include "schedule/undo.h"

namespace ashlar::schedule {

const Primitive* primitive_of(std::string_view name) {
  for (const Primitive* p : primitives())
    if (name == std::string_view(p->name)) return p;
  return nullptr;
}

Traits traits_of(const Context& c) {
  const Primitive* p = primitive_of(c.step.primitive);
  if (!p) throw InternalError("a step of no primitive");
  return p->traits(c);
}

const char* spelling_of(const Step& step) {
  if (step.call) return step.call;
  const Primitive* p = primitive_of(step.primitive);
  return p ? static_cast<const char*>(p->spelling) : step.primitive.c_str();
}

namespace {

// A read without a bound stands at its own line when a program is built; where a step caused it, at the step's.
void derive_regions(Context& c, const Program* before) {
  if (const auto unit = analysis::symbolic_pad(c.p); !unit.empty())
    c.refuse("constant factors around a split with Tail::pad", "Parts: a factor of " + ir::text(unit));
  try {
    if (before && !c.target.is_gpu())
      analysis::derive_regions(c.p, *before, rearranged(c));
    else
      analysis::derive_regions(c.p, rearranged(c));
  } catch (const RefusalError& e) {
    c.refuse(e.refusal.expected, e.refusal.found + ", at " + location(e.refusal.where), e.refusal.conflict);
  }
}

// A variant's program stands in the program that it was made of, and that one in the next.
void hold_variants(Scheduled& state, std::size_t changed) {
  while (changed) {
    const Scheduled& own = state.variants[changed - 1];
    Program& outer = own.within ? state.variants[own.within - 1].program : state.program;
    std::size_t place = 0;
    for (std::size_t k = 0; k + 1 < changed; ++k) place += state.variants[k].within == own.within ? 1 : 0;
    outer.variants[place].program = std::make_shared<const Program>(own.program);
    changed = own.within;
  }
}

std::string condition_text(const Scheduled& state, std::size_t number) {
  const Scheduled& own = variant(state, number);
  std::size_t place = 0;
  for (std::size_t k = 0; k + 1 < number; ++k) place += state.variants[k].within == own.within ? 1 : 0;
  const std::string text = "where " + ir::text(variant(state, own.within).program.variants[place].condition);
  return own.within ? condition_text(state, own.within) + ", " + text : text;
}

}  // namespace

std::vector<std::string_view> primitive_names() {
  std::vector<std::string_view> names;
  for (const Primitive* p : primitives()) names.push_back(std::string_view(p->name));
  return names;
}

const Scheduled& variant(const Scheduled& all, std::size_t number) { return number ? all.variants.at(number - 1) : all; }

namespace {

const std::vector<Id>& apply(Scheduled& state, Step step, const Target& target,
                             std::vector<UnprovedObligation>* unproved_obligations, Undo* undo = nullptr) {
  const Primitive* primitive = primitive_of(step.primitive);
  if (!primitive) {
    std::vector<std::string> names;
    for (const Primitive* p : primitives()) names.emplace_back(p->name);
    refuse(step.primitive, "one of " + list_names(names), "\"" + step.primitive + "\"", step.where);
  }
  primitive->parameters.check(step, spelling_of(step));
  if (step.place.empty()) step.place = location(step.where);
  if (step.variant > state.variants.size())
    refuse(spelling_of(step), "a step of one of " + std::to_string(state.variants.size()) + " variants",
           "one of variant " + std::to_string(step.variant), step.where);
  Scheduled& on = step.variant ? state.variants[step.variant - 1] : state;
  Scheduled next{on.program, on.consumed, {}, {}};  // a refusal below leaves `state` as it was
  Context context{next, next.program, target, step, {}, unproved_obligations};
  const Traits traits = primitive->traits(context);
  if (traits.callers == Callers::changed && !state.variants.empty())
    context.refuse("what all variants share, as their arguments (move this call before specialize)",
                   "variants that were made before");
  primitive->apply(context);
  if (traits.places != Places::kept) prove_order(context);
  const Program* before = unproved_obligations ? nullptr : &on.program;
  if (traits.boxes != Boxes::kept) derive_regions(context, before);
  recheck(context, before);
  if (!unproved_obligations) analysis::verify(next.program, step.primitive, &on.program);  // which knows what is legal
  step.results = std::move(context.results);
  step.text = (step.variant ? condition_text(state, step.variant) + ": " : "") + call_text(on, step);
  if (!step.results.empty()) step.text += " -> " + result_text(next, step);
  std::swap(on.program, next.program);
  std::swap(on.consumed, next.consumed);
  if (undo) *undo = {std::move(next.program), std::move(next.consumed)};
  if (traits.gives == Gives::variant) {
    Scheduled made{*on.program.variants.back().program, on.consumed, {}, {}, step.variant, on.program.next_id};
    state.variants.push_back(std::move(made));
  }
  hold_variants(state, step.variant);
  state.trace.push_back(std::move(step));
  return state.trace.back().results;
}

}  // namespace

const std::vector<Id>& apply(Scheduled& state, Step step, const Target& target) {
  return apply(state, std::move(step), target, nullptr);
}

const std::vector<Id>& apply(Scheduled& state, Step step, const Target& target, Undo& undo) {
  return apply(state, std::move(step), target, nullptr, &undo);
}

Forced force(const Scheduled& state, Step step, const Target& target, std::vector<UnprovedObligation>* found) {
  Forced forced{state, {}};
  std::vector<UnprovedObligation>& unproved_obligations = found ? *found : forced.unproved_obligations;
  apply(forced.state, std::move(step), target, &unproved_obligations);
  if (found) forced.unproved_obligations = *found;
  return forced;
}

const char* name_of(Obligation o) {
  static constexpr const char* names[] = {"ORDER",      "DISJOINT", "COVER",  "OVERCOMPUTE",
                                          "IDEMPOTENT", "REASSOC",  "BIJECT", "CAPACITY"};
  return names[static_cast<int>(o)];
}

}  // namespace ashlar::schedule
