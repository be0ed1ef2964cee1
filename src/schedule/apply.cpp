#include <ashlar/schedule/step.h>

#include <ashlar/analysis/domains.h>
#include <ashlar/analysis/verify.h>

#include "schedule/legality.h"
#include "schedule/primitives.h"

namespace ashlar::schedule {

std::span<const Primitive> primitives() {
  static constexpr Primitive table[] = {
      {"split", apply_split},
      {"split_parts", apply_split_parts},
      {"fuse", apply_fuse},
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
      {"clone", apply_clone},
      {"cache_read", apply_cache_read},
      {"cache_write", apply_cache_write},
      {"set_layout", apply_set_layout},
      {"swizzle", apply_swizzle},
      {"align", apply_align},
      {"drop_dim", apply_drop_dim},
      {"set_scope", apply_set_scope},
      {"pack_argument", apply_pack_argument},
      {"rfactor", apply_rfactor},
      {"prefetch", apply_prefetch},
      {"stream_store", apply_stream_store},
      {"decompose_init", apply_decompose_init},
      {"atomic", apply_atomic},
      {"tensorize", apply_tensorize},
      {"assume", apply_assume},
      {"distribute", apply_distribute},
  };
  return table;
}

namespace {

// A read without a bound stands at its own line when a program is built; where a step caused it, at the step's.
void derive_regions(Context& c) {
  if (const auto unit = analysis::symbolic_pad(c.p); !unit.empty())
    c.refuse("constant factors around a split with Tail::pad", "Parts: a factor of " + ir::text(unit));
  try {
    analysis::derive_regions(c.p, rearranged(c));
  } catch (const RefusalError& e) {
    c.refuse(e.refusal.expected, e.refusal.found + ", at " + location(e.refusal.where), e.refusal.conflict);
  }
}

}  // namespace

std::vector<std::string_view> primitive_names() {
  std::vector<std::string_view> names;
  for (const Primitive& p : primitives()) names.push_back(p.name);
  return names;
}

const std::vector<Id>& apply(Scheduled& state, Step step, const Target& target) {
  const Primitive* primitive = nullptr;
  for (const Primitive& p : primitives())
    if (step.primitive == p.name) primitive = &p;
  if (!primitive) {
    std::vector<std::string> names;
    for (const Primitive& p : primitives()) names.push_back(p.name);
    refuse(step.primitive, "one of " + list_names(names), "\"" + step.primitive + "\"", step.where);
  }
  if (step.place.empty()) step.place = location(step.where);
  Scheduled next{state.program, state.consumed, {}};  // a refusal below leaves `state` as it was
  Context context{next, next.program, target, step, {}};
  primitive->apply(context);
  if (!annotates(context)) prove_order(context);
  if (!keeps_boxes(context)) derive_regions(context);
  recheck(context);
  analysis::verify(next.program, step.primitive, &state.program);
  step.results = std::move(context.results);
  step.text = call_text(state, step);
  if (!step.results.empty()) step.text += " -> " + result_text(next, step);
  state.trace.push_back(std::move(step));
  state.program = std::move(next.program);
  state.consumed = std::move(next.consumed);
  return state.trace.back().results;
}

}  // namespace ashlar::schedule
