// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scatters, and reductions whose terms several blocks have (block.h). Blocks run in any order, and a kernel reads a tensor or
// writes it. So a first launch stores the starting values, and a second one combines with them in memory.
//
//   for b   block_x                            launch 1: counts[b] = 0
//     init counts                         ->
//   for y   block_x                            launch 2: atomic add counts[in[y, x]] 1
//     for x   tile
//       update counts[in[y, x]] += 1
//
// A scatter whose steps are proved to choose different elements needs no atomic updates: a step stores its value combined with
// the starting value.
#include <algorithm>
#include <utility>

#include <ashlar/analysis/atomic.h>
#include <ashlar/analysis/regions.h>
#include <ashlar/analysis/thread_tree.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

#include "lower/nodes.h"
#include "lower/tiles/block.h"

namespace ashlar::lowering {

namespace {

// The statements that lead to blocks of this piece. Starting values have no terms: their loops are left out.
std::vector<Stmt> only(const ir::Program& p, const std::vector<Stmt>& list, ir::Piece piece) {
  std::vector<Stmt> kept;
  for (const Stmt& s : list) {
    if (const BlockStmt* own = s.as<BlockStmt>()) {
      if (own->piece != piece && own->piece != ir::Piece::whole) continue;
      Stmt block = s;
      block.get<BlockStmt>().piece = piece;
      kept.push_back(std::move(block));
      continue;
    }
    const LoopStmt* loop = s.as<LoopStmt>();
    if (!loop) {
      if (piece == ir::Piece::update) kept.push_back(s);
      continue;
    }
    std::vector<Stmt> inside = only(p, loop->body, piece);
    if (inside.empty()) continue;
    if (piece == ir::Piece::init && p.axis(loop->axis).reduce) {
      for (Stmt& i : inside) kept.push_back(std::move(i));
      continue;
    }
    Stmt copy = s;
    copy.get<LoopStmt>().body = std::move(inside);
    kept.push_back(std::move(copy));
  }
  return kept;
}

bool shares_elements(const ir::Program& p, const Stmt& root) {
  bool any = false;
  const ir::Stage& stage = p.stage(root.get<NestStmt>().stage);
  ir::walk(root.body(),
           [&](const Stmt& s) { any = any || (ir::is_loop(s, LoopKind::bound) && p.axis(s.get<LoopStmt>().axis).reduce); });
  return stage.scatters() || (stage.atomic && any);
}

}  // namespace

std::vector<Stmt> pieces_of(const ir::Program& p, const Stmt& root) {
  if (!shares_elements(p, root)) return {root};
  std::vector<Stmt> pieces;
  for (const ir::Piece piece : {ir::Piece::init, ir::Piece::update}) {
    Stmt copy = root;
    copy.get<NestStmt>().body = only(p, root.body(), piece);
    if (copy.body().empty()) continue;  // the init may be a nest of its own
    pieces.push_back(std::move(copy));
  }
  return pieces;
}

ir::Value BlockLowering::identity(std::size_t component) const {
  const ir::Stage& s = *nests_.back()->stage;
  return ir::value_of(analysis::identity_of(s.is_recurrence() ? s.scan : s.reducer, component, s.values[component].type()));
}

// Combines the value with memory, where the conditions hold.
void BlockLowering::update(const ir::Buffer& b, const std::vector<Expr>& index, Id value, const std::vector<Expr>& conditions,
                           const Dimensions& dims) {
  const Id tensor = tensor_of(b, now().stage->where);
  const Id where = full(mask(conditions, dims), dims), offset = offsets(b, index, dims);
  b_.atomic(tensor, *analysis::atomic_operator(*now().stage), offset, value, where);
}

// The steps of a scatter at the dimensions of the tile.
void BlockLowering::scatter_terms() {
  Current& c = now();
  const ir::Stage& stage = *c.stage;
  const auto here = [&](const Expr& e) { return ir::substitute(e, c.values); };
  Dimensions dims = c.spatial;
  dims.insert(dims.end(), c.terms.begin(), c.terms.end());
  if (!stage.atomic)
    for (const Stmt* s : path_)
      if (const LoopStmt* l = s->as<LoopStmt>();
          l && (l->kind == LoopKind::serial || l->kind == LoopKind::unrolled) && !ir::is_int(known(p_.axis(l->axis).extent), 1))
        refuse("tiles", "a scatter whose steps combine in memory (atomic), or all run at once",
               stage.name + ", with " + p_.axis(l->axis).name + ", whose steps follow one another", s->where);
  std::vector<Expr> conditions;
  for (const Expr& e : analysis::conditions_of(p_, path_))
    if (const Expr condition = known(e); !ir::is_int(condition, 1)) conditions.push_back(condition);
  add_ends(dims, conditions);
  if (!stage.keep.empty()) conditions.push_back(known(here(stage.keep)));
  std::vector<Expr> index;
  for (std::size_t d = 0; d < stage.targets.size(); ++d) {
    index.push_back(known(here(stage.targets[d])));
    const ir::Root& box = c.nest->roots[d];
    for (const Expr& inside : {ir::ge(index[d], box.begin), ir::lt(index[d], ir::add(box.begin, box.extent))})
      if (const Expr condition = known(inside); !ir::is_int(condition, 1) && !analysis::can_prove(condition, facts_))
        conditions.push_back(condition);
  }
  const std::vector<Expr> some = apart(conditions, dims);
  const bool around = std::exchange(defined_, true);  // data decide where memory is accessed
  where(some, {}, [&] {
    ir::Substitution at;  // of starting values
    for (std::size_t d = 0; d < stage.targets.size(); ++d) at.emplace_back(stage.iters[d].id, here(stage.targets[d]));
    std::vector<Expr> values, starts;
    for (const Expr& e : stage.values) values.push_back(here(e));
    for (const Expr& e : stage.inits) starts.push_back(ir::substitute(e, at));
    if (!stage.atomic) values = ir::combine(stage.reducer, starts, values);
    for (std::size_t k = 0; k < values.size(); ++k) {
      const ir::Buffer& b = memory(stage.buffers[k]);
      if (!b.layout.map.empty()) refuse("tiles", "stages without a layout of their own", b.name, b.where);
      done_.clear();
      Id value = full(spelled(values[k]), dims);
      done_.clear();
      if (stage.atomic) {
        update(b, in_memory(stage.buffers[k], index), value, conditions, dims);
        continue;
      }
      if (b.type.is_bool()) value = b_.cast(u8, value);
      const Id tensor = tensor_of(b, stage.where);
      const Id inside = full(mask(conditions, dims), dims), offset = offsets(b, in_memory(stage.buffers[k], index), dims);
      b_.scatter(tensor, offset, value, inside, hints(stage.buffers[k], false));
    }
    return std::vector<Id>{};
  });
  defined_ = around;
}

}  // namespace ashlar::lowering
