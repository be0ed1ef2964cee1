// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedule/trace/step_keys.h"

#include <algorithm>

#include "schedule/edit.h"
#include <ashlar/instructions/kept.h>

namespace ashlar::schedule {

StepKeys::StepKeys(const ir::Program& algorithm) {
  for (const auto& [id, stage] : algorithm.stages) name(stage);
  users_ = stages_;
}

void StepKeys::name(const ir::Stage& stage) {
  const int n = ++count_[stage.name];
  stages_[stage.id] = stage.name + (n > 1 ? "#" + std::to_string(n) : "");
}

void StepKeys::made(const ir::Program& after) {
  for (const auto& [id, stage] : after.stages)
    if (!stages_.count(id)) name(stage);
}

// Where an axis comes from: "j", "outer j", "inner outer j", "(i, j)".
std::string StepKeys::axis(const ir::Program& p, Id id) const {
  const ir::Axis& a = p.axis(id);
  switch (a.origin) {
    case ir::Axis::Origin::split_outer:
      return "outer " + axis(p, a.parent);
    case ir::Axis::Origin::split_inner:
      return "inner " + axis(p, a.parent);
    case ir::Axis::Origin::fused:
      return "(" + axis(p, a.outer) + ", " + axis(p, a.inner) + ")";
    case ir::Axis::Origin::skewed:
      return axis(p, a.parent) + " skewed by " + ir::text(a.factor) + " along " + axis(p, a.outer);
    case ir::Axis::Origin::root:
      break;
  }
  for (const auto& [s, stage] : p.stages) {
    int same = 0;
    for (const ir::IterVar& v : stage.iters) {
      const bool named_so = v.name == a.name;
      same += named_so;
      if (v.id == a.iter) return v.name + (named_so && same > 1 ? "#" + std::to_string(same) : "");
    }
  }
  return a.name;
}

std::string StepKeys::loop(const ir::Program& p, Id id) const {
  const Stmt* found = ir::find(p, id);
  const LoopStmt* loop = found ? found->as<LoopStmt>() : nullptr;
  if (!loop) return "?";
  std::string parts;  // which of those that run over the axis: the parts of loops around it, and its own
  for (const Stmt* s : ir::path_to(p, id)) {
    const LoopStmt* over = s->as<LoopStmt>();
    if (!over || over->part == ir::Part::all) continue;
    parts += " in part " + std::to_string(static_cast<int>(over->part)) + " of " + axis(p, over->axis);
    if (!over->from.empty()) parts += " from " + ir::text(over->from);
  }
  bool init = false;
  ir::walk(loop->body, [&](const Stmt& s) {
    const BlockStmt* block = s.as<BlockStmt>();
    init = init || (block && block->piece == ir::Piece::init);
  });
  const auto it = stages_.find(stage_around(p, id).id);
  return axis(p, loop->axis) + " of " + (it == stages_.end() ? "?" : it->second) + (init ? " in its init" : "") + parts;
}

std::string StepKeys::arg(const ir::Program& p, const Arg& a) const {
  const auto stage = [&](Id id) {
    const auto it = stages_.find(id);
    return it == stages_.end() ? std::string("?") : it->second;
  };
  switch (a.kind) {
    case Arg::Kind::integer:
      return std::to_string(a.value);
    case Arg::Kind::word: {
      const Scope::Limits& l = a.scope.limits;
      if (!l.bytes) return a.word;
      return a.word + " of " + std::to_string(l.bytes) + " bytes at " + std::to_string(l.align) + ", " +
             std::to_string(l.address_space) + " " + l.c_qualifier;
    }
    case Arg::Kind::stage:
      return stage(a.id);
    case Arg::Kind::loop:
      return loop(p, a.id);
    case Arg::Kind::buffer: {
      if (!p.buffers.count(a.id)) return "?";
      const ir::Buffer& b = p.buffer(a.id);
      if (!b.stage) return b.name;
      const auto& of = p.stage(b.stage).buffers;
      const auto at = std::find(of.begin(), of.end(), a.id) - of.begin();
      return stage(b.stage) + (at ? "." + std::to_string(at) : "");
    }
    case Arg::Kind::intrinsic:
      return a.intrinsic->name + " " + digest_of(*a.intrinsic);
    case Arg::Kind::exprs: {
      std::string text;
      for (const Expr& e : a.exprs) {
        const Expr own = ir::transform(e, [&](const Expr& x) {
          const auto at = ir::is(x, ir::Op::var) ? std::find(a.vars.begin(), a.vars.end(), x.node()->id) : a.vars.end();
          if (at != a.vars.end()) {
            const auto k = static_cast<Id>(at - a.vars.begin());
            return ir::var(k + 1, "d" + std::to_string(k), x.type());
          }
          const auto it = ir::is(x, ir::Op::var) ? p.symbols.find(x.node()->id) : p.symbols.end();
          const bool symbol = it != p.symbols.end() && a.vars.empty();
          return symbol ? ir::var(it->first, it->second.name) : x;
        });
        text += (text.empty() ? "" : ", ") + ir::text(own);
      }
      return "[" + text + "]";
    }
  }
  return "?";
}

std::string StepKeys::key(const Scheduled& before, const Step& step) {
  std::string text = step.primitive + "(";
  for (std::size_t k = 0; k < step.args.size(); ++k) text += (k ? ", " : "") + arg(before.program, step.args[k]);
  return text + ")";
}

}  // namespace ashlar::schedule
