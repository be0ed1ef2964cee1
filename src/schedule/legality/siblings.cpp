// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Obligations of nests beside another's loop (fuse_siblings): what an iteration reads of its siblings has been computed by
// then.
#include <ashlar/analysis/siblings.h>
#include <ashlar/ir/recurrence.h>

#include <algorithm>

#include <ashlar/analysis/blocks.h>
#include <ashlar/analysis/reads.h>
#include "schedule/legality/legality.h"

namespace ashlar::schedule {
namespace {

// Of one nest in an iteration x of the loop: the values of a variable from begin + x unit on; of one that descends, those
// below end - x unit.
struct Slice {
  const ir::Stage& stage;
  std::size_t dim;
  Expr begin, end, unit;
  bool descending;
  Expr from(const Expr& x) const {
    return descending ? ir::sub(end, ir::mul(ir::add(x, ir::index(1)), unit)) : ir::add(begin, ir::mul(x, unit));
  }
  Expr iteration_of(const Expr& value) const {
    return ir::div(descending ? ir::sub(ir::sub(end, ir::index(1)), value) : ir::sub(value, begin), unit);
  }
};

std::optional<Slice> slice_of(const Program& p, const Stmt& nest, Id axis) {
  const ir::Stage& stage = p.stage(nest.get<NestStmt>().stage);
  const auto values = analysis::values_of(p, nest, axis);
  if (!values) return {};
  for (std::size_t d = 0; d < stage.iters.size(); ++d)
    if (stage.iters[d].id == values->iter)
      return Slice{stage, d, stage.iters[d].begin, stage.iters[d].end, values->unit, values->descending};
  return {};
}

struct Beside {
  Context& c;
  const Stmt& nest;
  const std::vector<const Stmt*> path = ir::path_to(c.p, nest.id);
  const Stmt& host = *analysis::host_of(path);
  const ir::Stage& own_stage = c.p.stage(nest.get<NestStmt>().stage);
  const ir::Stage& host_stage = c.p.stage(host.get<NestStmt>().stage);
  const ir::Sibling shared = *nest.get<NestStmt>().sibling;
  const Expr at = ir::axis_value(c.p, shared.loop);
  const analysis::Facts facts = analysis::facts_at(c.p, path);
  const std::string loop_name = c.p.axis(shared.loop).name + " of " + host_stage.name;

  // The loops of the host around are those that the shared one became; are its iterations taken in their order?
  bool in_order() const {
    const std::vector<Id> wanted = ir::leaves_of(c.p, shared.loop);
    std::vector<Id> found;
    bool serial = true;
    for (const Stmt* s : path) {
      const LoopStmt* loop = s->as<LoopStmt>();
      if (!loop) continue;
      if (std::find(wanted.begin(), wanted.end(), loop->axis) == wanted.end())
        c.refuse("the loop that " + own_stage.name + " shares to stand outside of the others of " + host_stage.name +
                     " (move this call before fuse_siblings)",
                 name_of(c.p, *s) + " around it");
      found.push_back(loop->axis);
      serial = serial && (loop->kind == ir::LoopKind::serial || loop->kind == ir::LoopKind::unrolled);
    }
    if (found.size() != wanted.size())
      c.refuse("all of " + loop_name + " around " + own_stage.name + ", which shares it", "a part of it");
    return serial && found == wanted;
  }

  // Iterations for all values: the last one may have fewer than a unit.
  void all_values(const Slice& own) const {
    const ir::IterVar& v = own.stage.iters[own.dim];
    const Expr reached = ir::mul(c.p.axis(shared.loop).extent, own.unit);
    if (const auto proof = analysis::prove(ir::ge(reached, ir::sub(v.end, v.begin)), analysis::facts_of_arguments(c.p)); !proof)
      c.unproved(Obligation::cover, "iterations of " + loop_name + " for all of " + own.stage.name,
                 ir::text(c.p.axis(shared.loop).extent), proof.why);
  }

  // The siblings whose values are there: the host, and the nests beside it that stand before this one.
  std::optional<Slice> sibling(Id stage, bool& is_one) const {
    is_one = host_stage.id == stage;
    if (is_one) return slice_of(c.p, host, shared.loop);
    for (const Stmt& s : path[path.size() - 2]->body()) {
      if (s.id == nest.id) break;
      const NestStmt* n = s.as<NestStmt>();
      if (!n || !n->sibling || n->stage != stage) continue;
      is_one = true;
      return slice_of(c.p, s, n->sibling->axis);
    }
    return {};
  }

  // The path of a block as far as the nest in the loop that it belongs to.
  analysis::Path below(analysis::Path block) const {
    while (block.size() > path.size()) block.pop_back();
    return block;
  }

  void read(const analysis::Read& r, const std::optional<Slice>& of, const std::vector<analysis::VarRange>& iters,
            const ir::Stage& reader, bool ordered) const {
    const ir::Buffer& b = c.p.buffer(r.load.node()->id);
    const std::string what = reader.name + " reads " + ir::text(r.load);
    if (!of)
      c.refuse("a loop over the values of one dimension of " + b.name + ", which " + reader.name + " reads, in their order",
               loop_name, what);
    const Expr& index = ir::args_of(r.load)[of->dim];
    const analysis::Interval i = analysis::index_interval(index, iters, facts);
    const Expr first = of->from(at), end = ir::add(first, of->unit);
    const std::string name = c.p.axis(shared.loop).name;
    // In the order of the loop: what is at the side of later iterations, and at that of earlier ones.
    const Expr &ahead = of->descending ? i.lo : i.hi, &behind = of->descending ? i.hi : i.lo;
    const auto conflict = [&](const Expr& value) {  // at iteration 0, or 1 where it lies before
      const bool later = &value == &ahead;
      ir::Substitution now;
      for (Id leaf : ir::leaves_of(c.p, shared.loop)) now.emplace_back(leaf, ir::index(0));
      if (!later && !now.empty()) now.back().second = ir::index(1);
      const Expr element = analysis::simplify(ir::substitute(value, now), facts);
      const Expr by = analysis::simplify(of->iteration_of(element), facts);
      return "iteration " + name + " = " + (later ? "0" : "1") + " of " + reader.name + " reads " + b.name + " at " +
             ir::text(index) + " = " + ir::text(element) + ", which iteration " + ir::text(by) + " computes";
    };
    const auto inside = [&](const Expr& value) {
      return !value.empty() && analysis::can_prove(&value == &i.hi ? ir::lt(value, end) : ir::ge(value, first), facts);
    };
    if (!inside(ahead))
      c.unproved(Obligation::order, "what an iteration of " + loop_name + " reads to be computed by then", what,
                 ahead.empty() ? what + ", an element without a bound" : conflict(ahead));
    if (!ordered && !inside(behind))
      c.unproved(Obligation::disjoint,
                 "iterations of " + loop_name + " in their order, or ones that read what they compute themselves", what,
                 behind.empty() ? what + ", an element without a bound" : conflict(behind));
  }

  // A recurrence beside another stage: the steps that an iteration reads are those of iterations before.
  void own_steps(const Slice& own, bool ordered) const {
    if (ordered || !own.stage.is_recurrence()) return;
    for (const ir::SelfRead& r : ir::self_reads(c.p, own.stage))
      if (!r.back[own.dim] || *r.back[own.dim] != 0)
        c.unproved(Obligation::disjoint, "iterations of " + loop_name + " in their order, or ones that are independent",
                   own.stage.name + " reads " + ir::text(r.load), "of another iteration of " + c.p.axis(shared.loop).name);
  }

  void prove() const {
    const bool ordered = in_order();
    const std::optional<Slice> own = slice_of(c.p, nest, shared.axis);
    if (!own)
      c.refuse("the loop of " + own_stage.name + " that is shared to stay one over the values of a dimension", "another");
    all_values(*own);
    own_steps(*own, ordered);
    const Id around = path[path.size() - 2]->id;
    for (const analysis::Path& block : analysis::TreeIndex(c.p).blocks) {
      if (!analysis::under(block, around)) continue;
      const bool its_own = analysis::under(block, nest.id);
      if (!its_own && analysis::host_of(below(block))) continue;  // a sibling's
      const ir::Stage& reader = c.p.stage(block.back()->get<BlockStmt>().stage);
      const auto iters = analysis::iter_intervals(c.p, block, around, facts);
      const std::vector<analysis::VarRange> spatial(iters.begin(), iters.begin() + reader.spatial_rank());
      for (const analysis::Read& r : analysis::reads_of(reader)) {
        const Id writer = c.p.buffer(r.load.node()->id).stage;
        // of siblings before, or what is computed in an iteration reads of this nest
        if (!writer || !analysis::happens_in(r, *block.back()) || (writer == own_stage.id) == its_own) continue;
        bool is_one = writer == own_stage.id;
        const std::optional<Slice> of = is_one ? own : sibling(writer, is_one);
        if (is_one) read(r, of, r.of_start ? spatial : iters, reader, ordered);
      }
    }
  }
};

}  // namespace

void prove_beside(Context& c, const Stmt& nest) { Beside{c, nest}.prove(); }

bool beside_stage(const Program& p, const Stmt& block, Id stage) {
  std::vector<const Stmt*> path = ir::path_to(p, block.id);
  for (; !path.empty(); path.pop_back())
    if (const Stmt* host = analysis::host_of(path); host && host->get<NestStmt>().stage == stage) return true;
  return false;
}

}  // namespace ashlar::schedule
