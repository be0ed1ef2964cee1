// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Outputs that are computed inside of a loop of their reader: what the iterations need must be all of them.
//
//   for s                                worst needs fit[t, s] for every t and s, so that each element of fit is computed
//     for t                              in some iteration, whatever the loops are
//       nest fit[t, s]
//       worst[s] = max(worst[s], fit[t, s])
//
// A stage needs a box of what it reads: where it reads the element at variables of its own, each in one dimension, under no
// condition, all that these variables take. Its own points are those that are needed of it, of a result all.
#include <algorithm>
#include <set>

#include <ashlar/ir/function.h>

#include "schedule/legality/legality.h"

namespace ashlar::schedule {
namespace {

using Box = std::vector<std::pair<Expr, Expr>>;  // [begin, end) of each dimension, over symbols

bool over_symbols(const Program& p, const Expr& e) {
  const auto free = ir::free_vars(e);
  return !analysis::depends_on_data(e) && std::all_of(free.begin(), free.end(), [&](Id v) { return p.symbols.count(v) > 0; });
}

struct Needed {
  const Program& p;
  const analysis::Facts facts = analysis::facts_of_arguments(p);

  // The range of a reader's variable at the points that are needed of it.
  std::optional<std::pair<Expr, Expr>> range(const ir::Stage& reader, const Box& points, Id variable) const {
    for (std::size_t k = 0; k < reader.iters.size(); ++k) {
      const ir::IterVar& v = reader.iters[k];
      if (v.id != variable) continue;
      if (v.kind != ir::IterKind::reduce) return points[k];
      if (v.begin.empty() || !over_symbols(p, v.begin) || !over_symbols(p, v.end)) return {};
      return std::pair{v.begin, v.end};
    }
    return {};
  }

  std::optional<Box> box(const ir::Stage& reader, const Box& points, const analysis::Read& r) const {
    Box all;
    std::set<Id> used;
    for (const Expr& at : ir::args_of(r.load)) {
      const auto taken = ir::is(at, ir::Op::var) ? range(reader, points, at.node()->id) : std::nullopt;
      if (!taken || !used.insert(at.node()->id).second) return {};
      all.push_back(*taken);
    }
    for (const ir::IterVar& v : reader.iters) {
      if (used.count(v.id)) continue;
      const auto other = range(reader, points, v.id);  // without a value of it nothing is read
      if (!other || !analysis::can_prove(ir::lt(other->first, other->second), facts)) return {};
    }
    return all;
  }

  // What readers need of the stage, a box each.
  std::vector<Box> by_readers(const ir::Stage& stage) const {
    std::vector<Box> all;
    for (const auto& [id, reader] : p.stages) {
      if (id == stage.id || reader.is_recurrence() || reader.scatters() || !reader.domain.empty() ||
          ir::computed_by(reader.values) ||
          std::none_of(stage.buffers.begin(), stage.buffers.end(), [&](Id b) { return reads_buffer(reader, b); }))
        continue;
      for (const Box& points : of(reader))
        for (const analysis::Read& r : analysis::reads_of(reader))
          if (r.conditions.empty() && !r.of_start && !r.bounds &&
              std::find(stage.buffers.begin(), stage.buffers.end(), r.load.node()->id) != stage.buffers.end())
            if (auto found = box(reader, points, r)) all.push_back(std::move(*found));
    }
    return all;
  }

  std::vector<Box> of(const ir::Stage& stage) const {
    for (const Id b : stage.buffers) {
      const auto declared =
          p.buffer(b).role == ir::Role::temporary || !stage.domain.empty() ? std::nullopt : declared_box(p, p.buffer(b));
      if (declared) return {*declared};
    }
    return by_readers(stage);
  }
};

}  // namespace

bool stores_outputs(const Program& p, const ir::Stage& stage) {
  return std::any_of(stage.buffers.begin(), stage.buffers.end(), [&](Id b) { return p.buffer(b).role != ir::Role::temporary; });
}

void prove_needed(Context& c, const ir::Stage& stage, const std::string& besides) {
  const std::string expected =
      "a stage that is not an output, or one that a result reads completely (others are computed at root; "
      "fuse_siblings merges its loop with another stage's)";
  for (const Id b : stage.buffers)
    if (c.p.buffer(b).may_alias_inputs)
      c.refuse("an output that lies apart from the inputs, or one computed at root", c.p.buffer(b).name + ", which may be one");
  const Needed needed{c.p};
  for (const Box& box : needed.by_readers(stage)) {
    bool all = true;
    for (std::size_t d = 0; d < box.size(); ++d) {
      const ir::IterVar& v = stage.iters[d];
      all = all && !v.begin.empty() && analysis::can_prove(ir::le(box[d].first, v.begin), needed.facts) &&
            analysis::can_prove(ir::ge(box[d].second, v.end), needed.facts);
    }
    if (all) return;
  }
  c.unproved(Obligation::cover, expected, stage.name + besides);
}

}  // namespace ashlar::schedule
