// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a scatter stores, and the loops that it is defined with.
#include <ashlar/ir/recurrence.h>

namespace ashlar::ir {

bool Stage::scattered(Id iter) const {
  for (std::size_t d = 0; d < targets.size(); ++d)
    if (iters[d].id == iter) return !(is(targets[d], Op::var) && targets[d].node()->id == iter);
  return false;
}

std::vector<Expr> stored_at(const Stage& stage, Piece piece) {
  if (stage.scatters() && piece != Piece::init) return stage.targets;
  std::vector<Expr> at;
  for (const IterVar& v : stage.iters)
    if (v.kind != IterKind::reduce) at.push_back(var(v.id, v.name));
  return at;
}

namespace {
// The loops of the chosen variables, the first outermost, around a body.
template <class F>
std::vector<Stmt> around(const Stage& stage, std::vector<Stmt>& loops, std::vector<Stmt> body, F&& chosen) {
  for (std::size_t k = loops.size(); k-- > 0;) {
    if (!chosen(stage.iters[k])) continue;
    loops[k].body() = std::move(body);
    body.clear();
    body.push_back(std::move(loops[k]));
  }
  return body;
}
}  // namespace

std::vector<Stmt> nest_body(Program& p, const Stage& stage, std::vector<Stmt> loops, Stmt block) {
  const auto single = [](Stmt s) {
    std::vector<Stmt> list;
    list.push_back(std::move(s));
    return list;
  };
  if (!stage.scatters()) {
    std::vector<Stmt> body = single(std::move(block));
    const std::vector<std::size_t> order = loop_order(p, stage);
    for (std::size_t k = order.size(); k-- > 0;) {
      loops[order[k]].body() = std::move(body);
      body = single(std::move(loops[order[k]]));
    }
    return body;
  }
  Stmt init = block;
  init.id = p.fresh();
  init.get<BlockStmt>().piece = Piece::init;
  block.get<BlockStmt>().piece = Piece::update;
  std::vector<Stmt> body =
      around(stage, loops, single(std::move(init)), [&](const IterVar& v) { return stage.scattered(v.id); });
  std::vector<Stmt> steps =
      around(stage, loops, single(std::move(block)), [](const IterVar& v) { return v.kind == IterKind::reduce; });
  body.push_back(std::move(steps.front()));
  return around(stage, loops, std::move(body),
                [&](const IterVar& v) { return v.kind != IterKind::reduce && !stage.scattered(v.id); });
}

}  // namespace ashlar::ir
