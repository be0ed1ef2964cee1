// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedule/handles.h"

#include <algorithm>

namespace ashlar::schedule {
namespace {

// Does a statement lead to nothing but the init that decompose_init took out?
bool leads_to_init(const ir::Stmt& s) {
  if (const ir::BlockStmt* block = s.as<ir::BlockStmt>()) return block->piece == ir::Piece::init;
  return !s.body().empty() && std::all_of(s.body().begin(), s.body().end(), leads_to_init);
}

void collect_loops(const std::vector<ir::Stmt>& body, ir::Id stage, bool inside, std::vector<ir::Id>& found) {
  for (const ir::Stmt& s : body) {
    if (s.is<ir::LoopStmt>() && inside) found.push_back(s.id);
    collect_loops(s.body(), stage, s.is<ir::NestStmt>() ? ir::is_nest_of(s, stage) : inside, found);
  }
}

}  // namespace

ir::Id loop_over(const ir::Stmt& nest, ir::Id axis, bool of_init) {
  ir::Id found = 0;
  const auto visit = [&](const auto& self, const std::vector<ir::Stmt>& body, bool any) -> void {
    for (const ir::Stmt& l : body) {
      const bool init = l.is<ir::LoopStmt>() && leads_to_init(l);
      if (ir::runs_over(l, axis) && !found && (any || init == of_init)) found = l.id;
      self(self, l.body(), any);
    }
  };
  visit(visit, nest.body(), false);
  if (!found) visit(visit, nest.body(), true);  // one that stands around both; or in a scatter, around the init alone
  return found;
}

RootLoops root_loops(const ir::Program& p, const ir::Stage& stage, bool reduce, bool of_init) {
  RootLoops result;
  const auto nests = ir::nests_of(p, stage.id);
  for (const ir::IterVar& v : stage.iters) {
    if ((v.kind == ir::IterKind::reduce) != reduce) continue;
    for (const ir::Root& r : nests.front()->get<ir::NestStmt>().roots) {
      if (r.iter != v.id) continue;
      if (!p.axis(r.axis).became.empty() && !result.became) result.became = r.axis;
      result.loops.push_back(loop_over(*nests.front(), r.axis, of_init));
    }
  }
  return result;
}

ir::Id copy_inside(const ir::Stmt& peeled, ir::Id of) {
  ir::Id found = peeled.copy_of == of ? peeled.id : 0;
  ir::walk(peeled.body(), [&](const ir::Stmt& s) {
    if (s.is<ir::LoopStmt>() && s.copy_of == of) found = s.id;
  });
  return found;
}

std::vector<ir::Id> all_loops(const ir::Program& p, ir::Id stage) {
  std::vector<ir::Id> found;
  collect_loops(p.body, stage, false, found);
  return found;
}

}  // namespace ashlar::schedule
