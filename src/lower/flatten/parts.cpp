// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions over threads (flatten.h): where a thread keeps its part of each value.
#include <algorithm>

#include <ashlar/analysis/thread_tree.h>

#include "lower/flatten/flatten.h"
#include "lower/nodes.h"

namespace ashlar::lowering {

// The block of a chain of loops that holds nothing but the begin of parts.
const ir::Stmt* Flattener::begin_of(const Stmt& s) {
  const Stmt* at = &s;
  while (at->is<ir::LoopStmt>() && at->body().size() == 1) at = &at->body().front();
  const ir::BlockStmt* leaf = at->as<ir::BlockStmt>();
  return leaf && leaf->piece == ir::Piece::begin ? at : nullptr;
}

void Flattener::begin_parts(const Stmt& chain, const Stmt& block) {
  const Id key = nest().id;
  if (const auto it = parts_.find(key); it != parts_.end() && it->second.open) return;
  const ir::Stage& stage = p_.stage(block.get<ir::BlockStmt>().stage);
  Parts parts;
  parts.name = stage.name;
  std::int64_t count = 1;
  bool constant = true;  // are all indices constants after unrolling?
  const Stmt* at = &chain;
  for (const ir::LoopStmt* loop = nullptr; (loop = at->as<ir::LoopStmt>()); at = &loop->body.front()) {
    if (loop->kind == LoopKind::bound) continue;
    const auto most = analysis::constant_max(p_.axis(loop->axis).extent, facts_);
    if (!most) throw InternalError("parts without a constant number");
    parts.digits.emplace_back(loop->axis, count);
    count *= *most;
    constant = constant && (loop->kind == LoopKind::unrolled || *most <= 1);
  }
  ir::KBuffer b;
  b.storage = constant ? ir::Storage::registers : ir::Storage::stack;
  b.elements = ir::index(count);
  for (const Around& a : around_) b.inside.push_back(a.axis);
  for (std::size_t c = 0; c < stage.buffers.size(); ++c)
    for (std::vector<Id>* list : {&parts.part, &parts.all}) {
      b.id = p_.fresh();
      list->push_back(b.id);
      b.type = p_.buffer(stage.buffers[c]).type;
      b.name = parts.name + (list == &parts.part ? "_part" : "_all") + (stage.buffers.size() == 1 ? "" : std::to_string(c));
      kernel_.buffers.emplace(b.id, b);
      ir::BufferFacts& facts = lowering_of(kernel_, b.id);
      facts.placed = block.where;
      if (list == &parts.part) facts.part = ir::PartFacts{analysis::identity_of(stage.reducer, c, b.type), {}};
    }
  ir::Combination combination{stage.name, stage.reducer, parts.part, parts.all, {}};
  combination.reducer.fused = false;
  const auto collect = [&](const auto& self, const std::vector<Stmt>& body) -> void {
    for (const Stmt& s : body) {
      if (s.is<ir::NestStmt>()) continue;  // a stage computed inside combines what is its own
      if (const ir::LoopStmt* loop = s.as<ir::LoopStmt>(); loop && loop->combines && loop->kind == LoopKind::bound) {
        for (Id part : parts.part) lowering_of(kernel_, part).part->over.insert(loop->axis);
        if (std::find(combination.axes.begin(), combination.axes.end(), loop->bound_to) == combination.axes.end())
          combination.axes.push_back(loop->bound_to);
      }
      self(self, s.body());
    }
  };
  collect(collect, nest().body());
  lowering_of(kernel_, parts.all.front()).combination = std::move(combination);
  parts_[key] = std::move(parts);
}

// The parts that the reduction of the current nest accumulates into; null if it accumulates into memory.
const Flattener::Parts* Flattener::parts_here(const Stmt& block) {
  const ir::BlockStmt& leaf = block.get<ir::BlockStmt>();
  if (leaf.piece == ir::Piece::init) return nullptr;
  const auto it = parts_.find(nest().id);
  if (it == parts_.end()) return nullptr;
  bool over_threads = leaf.piece != ir::Piece::update;
  for (std::size_t k = path_.size(); k-- > 0 && !path_[k]->is<ir::NestStmt>();)
    if (const ir::LoopStmt* loop = path_[k]->as<ir::LoopStmt>()) over_threads = over_threads || loop->combines;
  if (!over_threads) return nullptr;
  it->second.open = leaf.piece == ir::Piece::begin;
  return &it->second;
}
Expr Flattener::place_of_part(const Parts& parts) const {
  Expr at = ir::index(0);
  for (const auto& [axis, stride] : parts.digits) at = ir::add(at, ir::mul(known(ir::axis_var(p_, axis)), ir::index(stride)));
  return analysis::simplify(at, facts_);
}
std::vector<Expr> Flattener::load_parts(const std::vector<Id>& buffers, const Expr& at, Where where) const {
  std::vector<Expr> loads;
  for (Id id : buffers) {
    const ir::KBuffer& b = kernel_.buffers.at(id);
    loads.push_back(ir::load(id, b.name, b.type, std::vector<Expr>{at}, where));
  }
  return loads;
}

}  // namespace ashlar::lowering
