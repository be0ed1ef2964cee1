// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/analysis/verify.h>

#include <array>
#include <iterator>

#include <ashlar/ir/refusal.h>

#include <ashlar/analysis/reads.h>
#include "analysis/verify/view.h"
#include <ashlar/ir/work.h>

namespace ashlar::analysis {

namespace {

using namespace verifier;

struct Rule : VerifierRule {
  Broken (*check)(const View&);
  bool of_definitions = false;  // of stages and buffers alone, whatever the tree
};

// clang-format off
constexpr Rule rules[] = {
    {{"ids.resolve", "every id refers to something that exists"}, ids_resolve},
    {{"ids.unique", "statements have ids of their own, below next_id"}, ids_unique},
    {{"ids.variables", "a variable is a symbol, a scalar, an axis, an iteration variable or a parameter"}, ids_variables},
    {{"axis.provenance", "axes and what they were split or fused into name each other"}, axis_provenance},
    {{"types.operands", "operands have the types that their operator takes"}, types_operands},
    {{"types.loads", "a load has its buffer's type and one index a dimension"}, types_loads},
    {{"types.conditions", "conditions are of type bool"}, types_conditions},
    {{"stage.components", "a stage has a buffer for each value, of its type"}, stage_components, true},
    {{"stage.rank", "a stage writes at its spatial iteration variables, one a dimension"}, stage_rank, true},
    {{"stage.reduction", "a stage has reduce variables only with a reducer and inits"}, stage_reduction, true},
    {{"stage.scope", "a stage is defined over its own variables, symbols and scalars; inits without reduce variables"}, stage_scope, true},
    {{"stage.scatter", "a scatter is a reduction with a target for each dimension"}, stage_scatter, true},
    {{"stage.atomic", "an atomic stage is a reduction with one value, whose combiner is an operator of memory"}, stage_atomic, true},
    {{"stage.acyclic", "no stage needs itself, but a recurrence its own elements, and what is inside of it"}, stage_acyclic, true},
    {{"stage.recurrence", "a recurrence reads itself at elements before, along its ordered variables"}, stage_recurrence, true},
    {{"buffer.arguments", "arguments are inputs that no stage writes and outputs that one does"}, buffer_arguments, true},
    {{"buffer.layout", "a layout has a variable for each dimension and a stride for each physical one"}, buffer_layout},
    {{"nest.roots", "a nest has one root axis for each iteration variable of its stage, in order"}, nest_roots},
    {{"nest.after", "a nest that follows a producer stands in a nest of it"}, nest_after},
    {{"loop.own", "a loop runs over a leaf of its nest's axes"}, loop_own},
    {{"loop.once", "no axis runs inside itself"}, loop_once},
    {{"loop.parallel", "a parallel loop is inside no parallel or vectorized one"}, loop_parallel},
    {{"loop.constant", "vectorized and unrolled loops have constant extents"}, loop_constant},
    {{"loop.ordered", "the loops of a recurrence compute what a step reads before it, and what is inside of it between its steps"}, loop_ordered},
    {{"loop.reduction", "reduction loops are neither parallel nor vectorized, but those of a scatter, and parallel ones of an atomic stage"}, loop_reduction},
    {{"loop.part", "a part of a cut axis has its cuts, and no other part has any; whole tiles are those of a split"}, loop_part},
    {{"loop.tight", "a tight loop is the inner loop of a split, or one of a skew"}, loop_tight},
    {{"loop.bound", "only a bound loop names blocks or threads"}, loop_bound},
    {{"loop.combined", "a loop whose threads are combined is one of a reduction, bound or serial"}, loop_combined},
    {{"loop.tensorized", "a tensorized loop names an intrinsic of the program, and no other loop does"}, loop_tensorized},
    {{"loop.pipeline", "a pipeline has 2 stages or more, and its serial loop computes the stages that it loads"}, loop_pipeline},
    {{"block.own", "a block belongs to the stage of its nest"}, block_own},
    {{"block.leaves", "the loops around a block run over every leaf axis of its nest; around an init over the spatial ones, around steps of a scatter over the others and its ordinary dimensions"}, block_leaves},
    {{"block.cover", "the pieces of a nest cover its domain, each point once"}, block_cover},
    {{"block.init", "a point is initialized before it is updated"}, block_init},
    {{"block.order", "a reducer that keeps its order has its loops in the order of definition"}, block_order},
    {{"block.stores", "only a reduction stores its first step, and only a stage with dropped dimensions stores components apart"}, block_stores},
    {{"storage.live", "a temporary is allocated once around all its uses"}, storage_live},
    {{"order.produced", "what a block reads has been computed before, or is being computed around it"}, order_produced},
    {{"order.outputs", "every output is computed"}, order_outputs},
    {{"nest.beside", "a nest beside a loop has a loop for its iterations, and stands in all that this one became"}, nest_beside},
    {{"slide.loop", "a nest slides along a serial or unrolled loop around it"}, slide_loop},
    {{"prefetch.loop", "a prefetch looks ahead along a loop around it, by 1 iteration or more"}, prefetch_loop},
};
// clang-format on

}  // namespace

std::span<const VerifierRule> program_rules() {
  static const auto table = [] {
    std::array<VerifierRule, std::size(rules)> t;
    std::copy(std::begin(rules), std::end(rules), t.begin());
    return t;
  }();
  return table;
}

void verify(const ir::Program& program, std::string_view after, const ir::Program* before) {
  ++ir::work.verified;
  const bool defined_anew = !before || !same_definitions(program, *before);
  const View view(program, defined_anew, before);
  for (const Rule& r : rules)
    if (r.of_definitions && !defined_anew)
      continue;
    else if (const Broken found = r.check(view); !found.empty())
      throw InternalError((after.empty() ? std::string() : "after " + std::string(after) + ": ") + r.name + ": " + r.sentence +
                          "; found: " + found);
}

}  // namespace ashlar::analysis
