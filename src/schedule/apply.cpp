// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/schedule/step.h>

#include <ashlar/analysis/domains.h>
#include <ashlar/analysis/verify.h>

#include <ashlar/analysis/settled.h>
#include "schedule/force.h"
#include "schedule/legality/legality.h"
#include "schedule/primitives/primitives.h"
#include "schedule/undo.h"

namespace ashlar::schedule {

std::span<const Primitive> primitives() {
  static constexpr Primitive table[] = {
      {"split", apply_split},
      {"split_parts", apply_split_parts},
      {"fuse", apply_fuse},
      {"skew", apply_skew},
      {"reorder", apply_reorder},
      {"peel", apply_peel},
      {"partition", apply_partition},
      {"reverse", apply_reverse},
      {"tighten", apply_tighten},
      {"unroll", apply_unroll},
      {"unroll_and_jam", apply_unroll_and_jam},
      {"vectorize", apply_vectorize},
      {"parallel", apply_parallel},
      {"bind", apply_bind},
      {"vthread", apply_vthread},
      {"cross_thread_reduce", apply_cross_thread},
      {"pipeline", apply_pipeline},
      {"double_buffer", apply_double_buffer},
      {"compute_at", apply_compute_at},
      {"compute_root", apply_compute_root},
      {"inline", apply_inline},
      {"store_at", apply_store_at},
      {"slide", apply_slide},
      {"fold", apply_fold},
      {"fuse_into", apply_fuse_into},
      {"fuse_siblings", apply_fuse_siblings},
      {"clone", apply_clone},
      {"cut", apply_cut},
      {"cache_read", apply_cache_read},
      {"cache_write", apply_cache_write},
      {"set_layout", apply_set_layout},
      {"swizzle", apply_swizzle},
      {"align", apply_align},
      {"drop_dim", apply_drop_dim},
      {"set_scope", apply_set_scope},
      {"widen", apply_widen},
      {"pack_argument", apply_pack_argument},
      {"rfactor", apply_rfactor},
      {"associative_scan", apply_associative_scan},
      {"roll", apply_roll},
      {"prefetch", apply_prefetch},
      {"stream_store", apply_stream_store},
      {"decompose_init", apply_decompose_init},
      {"atomic", apply_atomic},
      {"tensorize", apply_tensorize},
      {"assume", apply_assume},
      {"specialize", apply_specialize},
      {"injective", apply_injective},
      {"distribute", apply_distribute},
  };
  return table;
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
  for (const Primitive& p : primitives()) names.push_back(p.name);
  return names;
}

const Scheduled& variant(const Scheduled& all, std::size_t number) { return number ? all.variants.at(number - 1) : all; }

namespace {

const std::vector<Id>& apply(Scheduled& state, Step step, const Target& target, std::vector<Forgiven>* forgiven,
                             Undo* undo = nullptr) {
  const Primitive* primitive = nullptr;
  for (const Primitive& p : primitives())
    if (step.primitive == p.name) primitive = &p;
  if (!primitive) {
    std::vector<std::string> names;
    for (const Primitive& p : primitives()) names.push_back(p.name);
    refuse(step.primitive, "one of " + list_names(names), "\"" + step.primitive + "\"", step.where);
  }
  if (step.place.empty()) step.place = location(step.where);
  if (step.variant > state.variants.size())
    refuse(step.primitive, "a step of one of " + std::to_string(state.variants.size()) + " variants",
           "one of variant " + std::to_string(step.variant), step.where);
  const bool of_arguments =
      step.primitive == "pack_argument" || step.primitive == "injective" || step.primitive == "stream_store";
  if (of_arguments && !state.variants.empty())
    refuse(step.primitive, "what all variants share, as their arguments (move this call before specialize)",
           "variants that were made before", step.where);
  Scheduled& on = step.variant ? state.variants[step.variant - 1] : state;
  Scheduled next{on.program, on.consumed, {}, {}};  // a refusal below leaves `state` as it was
  Context context{next, next.program, target, step, {}, forgiven};
  primitive->apply(context);
  if (!annotates(context)) prove_order(context);
  const Program* before = forgiven ? nullptr : &on.program;
  if (!keeps_boxes(context)) derive_regions(context, before);
  recheck(context, before);
  if (!forgiven) analysis::verify(next.program, step.primitive, &on.program);  // which knows what is legal
  step.results = std::move(context.results);
  step.text = (step.variant ? condition_text(state, step.variant) + ": " : "") + call_text(on, step);
  if (!step.results.empty()) step.text += " -> " + result_text(next, step);
  std::swap(on.program, next.program);
  std::swap(on.consumed, next.consumed);
  if (undo) *undo = {std::move(next.program), std::move(next.consumed)};
  if (step.primitive == "specialize") {
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

Forced force(const Scheduled& state, Step step, const Target& target, std::vector<Forgiven>* found) {
  Forced forced{state, {}};
  std::vector<Forgiven>& forgiven = found ? *found : forced.forgiven;
  apply(forced.state, std::move(step), target, &forgiven);
  if (found) forced.forgiven = *found;
  return forced;
}

const char* name_of(Obligation o) {
  static constexpr const char* names[] = {"ORDER",      "DISJOINT", "COVER",  "OVERCOMPUTE",
                                          "IDEMPOTENT", "REASSOC",  "BIJECT", "CAPACITY"};
  return names[static_cast<int>(o)];
}

}  // namespace ashlar::schedule
