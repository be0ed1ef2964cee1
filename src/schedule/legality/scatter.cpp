// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Obligations of scatters: targets lie in the result, and iterations that run at once choose different elements.
#include <algorithm>

#include <ashlar/analysis/cascade.h>
#include <ashlar/analysis/puts.h>
#include <ashlar/analysis/regions.h>

#include "schedule/legality/legality.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

using analysis::Facts;

namespace {

// Of an element of an injective table its indices, where they do not depend on data; else nothing.
std::vector<Expr> indices_of_injective(const Program& p, const Expr& target) {
  Expr e = target;
  const auto keeps = [](const Expr& x) {  // values apart
    if (ir::is(x, ir::Op::in_range)) return true;
    if (!ir::is(x, ir::Op::cast)) return false;
    const Type from = ir::args_of(x).front().type();
    return !from.is_float() && (x.type().is_index() || (!x.type().is_float() && x.type().bits >= from.bits));
  };
  while (keeps(e)) e = Expr(ir::args_of(e).front());
  if (!ir::is(e, ir::Op::load) || !p.buffer(e.node()->id).injective) return {};
  const auto args = ir::args_of(e);
  if (std::any_of(args.begin(), args.end(), analysis::depends_on_data)) return {};
  return {args.begin(), args.end()};
}

// What data say of a target alike in all iterations, as variables: of cell[n] + dx - 3, where n stands still, c + dx - 3.
// `parts`: what the variables stand for, one each.
Expr without_same_data(const Expr& e, const std::vector<Id>& varying, std::vector<Expr>& parts) {
  constexpr Id first_part = Id{1} << 57;  // apart from the ids of a Program, and from vscale_id
  if (!analysis::depends_on_data(e)) return e;
  const bool same = std::none_of(varying.begin(), varying.end(), [&](Id v) { return ir::uses_var(e, v); });
  if (same && e.type().is_index()) {
    const auto at = std::find_if(parts.begin(), parts.end(), [&](const Expr& part) { return ir::same(part, e); });
    const auto k = static_cast<Id>(at - parts.begin());
    if (at == parts.end()) parts.push_back(e);
    return ir::var(first_part + k, "data");
  }
  std::vector<Expr> args;
  for (const Expr& a : ir::args_of(e)) args.push_back(without_same_data(a, varying, parts));
  return args.empty() ? e : ir::rebuild(e, args);
}

std::string list_of(const std::vector<Expr>& at) {
  std::string s;
  for (const Expr& e : at) s += (s.empty() ? "" : ", ") + ir::text(e);
  return s;
}

}  // namespace

void prove_targets(Context& c, const ir::Stage& stage, const Facts& at_steps) {
  for (std::size_t d = 0; d < stage.targets.size(); ++d) {
    const ir::IterVar& v = stage.iters[d];
    if (!stage.scattered(v.id) || v.begin.empty())
      continue;  // an inferred box holds what readers want of it, and drops the rest
    analysis::each_case(stage.targets[d], stage.keep, at_steps, [&](const Expr& e, const Facts& here) {
      for (const auto& [condition, side] :
           {std::pair{ir::ge(e, v.begin), "below its begin "}, std::pair{ir::lt(e, v.end), "past its end "}}) {
        const auto proof = analysis::prove(condition, here);
        if (proof) continue;
        const bool defined = c.step.primitive.empty();
        const Where line = ir::is(e, ir::Op::load) || ir::is(e, ir::Op::cast) ? e.node()->where : stage.where;
        c.unproved(Obligation::cover,
                   {defined ? "scatter" : spelling_of(c.step),
                    "puts into " + stage.name + " inside of it (clamp the index, promise in_range, or drop points by put_if)",
                    ir::text(e) + " in dimension " + std::to_string(d) +
                        (proof.answer == analysis::Answer::refuted ? ", " : ", perhaps ") + side +
                        ir::text(side[0] == 'b' ? v.begin : v.end),
                    proof.why,
                    defined && line.line() != 0 ? line
                    : defined                   ? stage.where
                                                : c.step.where});
      }
      return true;
    });
  }
}

// A dimension whose target depends on data that the iterations change may have one value in any two of them: the others alone
// tell them apart, whether or not a step is kept.
void prove_steps_apart(Context& c, const Stmt& loop, const std::string& expected, const std::string& instead) {
  const Program& p = c.p;
  const NestStmt& nest = nest_of(p, loop.id).get<NestStmt>();
  const ir::Stage& stage = p.stage(nest.stage);
  const ir::Axis& axis = p.axis(loop.get<LoopStmt>().axis);
  const ir::Substitution values = ir::iter_values(p, nest);
  const std::string name = p.buffer(stage.buffers.front()).name;
  for (Id b : stage.buffers)
    if (!p.buffer(b).layout.map.empty())
      c.refuse("a scatter into storage as it was defined (move this call before transform_layout, fold or swizzle)",
               p.buffer(b).name + ", whose layout was set");
  ir::walk(loop.body(), [&](const Stmt& block) {
    const BlockStmt* leaf = block.as<BlockStmt>();
    if (!leaf || leaf->stage != stage.id) return;
    const auto path = ir::path_to(p, block.id);
    std::vector<Id> inner;
    bool inside = false;
    for (const Stmt* s : path) {
      if (inside && s->is<LoopStmt>()) inner.push_back(s->get<LoopStmt>().axis);
      inside = inside || s->id == loop.id;
    }
    std::vector<Id> varying = inner;
    varying.push_back(axis.id);
    analysis::Access put{name, true, {}, {}};
    std::vector<Expr> at, parts;
    bool table = false;
    for (const Expr& e : stage.targets) {
      at.push_back(ir::substitute(e, values));
      const Expr target = without_same_data(at.back(), varying, parts);
      if (!analysis::depends_on_data(target)) put.at.push_back(target);
      // equal elements of a table without duplicates are one element: its indices tell the steps apart
      for (const Expr& index : indices_of_injective(p, at.back())) put.at.push_back(index), table = true;
    }
    const std::string two =
        "iterations " + axis.name + " = 0 and " + axis.name + " = 1 both update " + name + "[" + list_of(stage.targets) + "]";
    const std::string found = name_of(p, loop) + ", steps of a scatter";
    if (put.at.empty())
      return c.unproved(Obligation::disjoint, expected, found, two + " where the data choose one element (" + instead + ")");
    const Facts facts = analysis::facts_at(p, path);
    analysis::Verdict v = analysis::disjoint(put, put, ir::axis_var(p, axis.id), inner, facts);
    // the indices of a table stand for its element: in words, the element
    if (!v && table) v.why = two + (v.why.empty() ? "" : ", as far as the table's indices say");
    if (!v) c.unproved(Obligation::disjoint, expected, found, v.why.empty() ? two : v.why);
  });
}

void prove_scatter_place(Context& c, const Stmt& nest) {
  const Program& p = c.p;
  const auto refuse_virtual = [&](const Stmt& s) {
    if (ir::is_loop(s, ir::LoopKind::vthread))
      c.refuse("a scatter apart from virtual threads (bind the loop to threads)",
               p.stage(nest.get<NestStmt>().stage).name + ", with " + name_of(p, s) + ", which is a vthread");
  };
  for (const Stmt* s : ir::path_to(p, nest.id)) refuse_virtual(*s);
  ir::walk(nest.body(), refuse_virtual);
}

}  // namespace ashlar::schedule
