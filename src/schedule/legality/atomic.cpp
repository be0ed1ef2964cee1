// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Obligations of atomic stages: memory combines their values; every element is started before the first step that may come, and
// read after the last.
#include <algorithm>

#include <ashlar/analysis/atomic.h>
#include <ashlar/analysis/dropped.h>

#include "schedule/legality/legality.h"

namespace ashlar::schedule {

using ir::LoopKind;

namespace {

// Do steps of the reduction run at once along this loop?
bool at_once(const Program& p, const Stmt& s) {
  const LoopStmt* loop = s.as<LoopStmt>();
  return loop && p.axis(loop->axis).reduce && (loop->kind == LoopKind::parallel || loop->kind == LoopKind::bound);
}

bool blocks(const Stmt& s) { return ir::is_loop(s, LoopKind::bound) && ir::is_block(s.get<LoopStmt>().bound_to); }

// The types that memory combines: integers; of floats it adds those of 32 and 64 bits.
bool has(const Target& target, Type t, ir::Op op) {
  if (t.is_bool() || t.is_index() || t.bits < 8) return false;
  const bool vulkan = target.is_gpu() && target.device().kind == Device::Kind::vulkan;
  if (t.is_float()) return !vulkan && op == ir::Op::add && t.bits >= 32;
  if (vulkan) return t.bits == 32;
  return !target.is_gpu() || t.bits >= 32;
}

const char* types_of(const Target& target) {
  if (!target.is_gpu()) return "integers of 8 to 64 bits, and sums of f32 and f64";
  return target.device().kind == Device::Kind::vulkan ? "integers of 32 bits"
                                                      : "integers of 32 and 64 bits, and sums of f32 and f64";
}

// The blocks of a stage in this nest, not in those inside.
void own_blocks(const Stmt& s, std::vector<const Stmt*>& found) {
  for (const Stmt& b : s.body()) {
    if (b.is<BlockStmt>()) found.push_back(&b);
    if (b.is<LoopStmt>()) own_blocks(b, found);
  }
}

// Blocks of a launch wait for nobody: what they share is started by a launch before them.
void prove_started(Context& c, const Stmt& nest) {
  const Program& p = c.p;
  std::vector<const Stmt*> all;
  own_blocks(nest, all);
  for (const Stmt* block : all) {
    if (block->get<BlockStmt>().piece != ir::Piece::whole && block->get<BlockStmt>().piece != ir::Piece::update) continue;
    const auto path = ir::path_to(p, block->id);
    const auto shared = std::find_if(path.begin(), path.end(), [&](const Stmt* s) {
      return at_once(p, *s) && blocks(*s) && nest_of(p, s->id).id == nest.id;
    });
    if (shared == path.end()) continue;
    for (auto around = path.begin(); around != shared; ++around) {
      if (!blocks(**around)) continue;
      const bool init =
          block->get<BlockStmt>().piece == ir::Piece::whole || std::any_of(all.begin(), all.end(), [&](const Stmt* other) {
            return other->get<BlockStmt>().piece == ir::Piece::init && encloses(p, (*around)->id, other->id);
          });
      if (!init) continue;
      const std::string &k = p.axis((*shared)->get<LoopStmt>().axis).name, &name = p.stage(nest.get<NestStmt>().stage).name;
      c.unproved(Obligation::order,
                 "the init of " + name + " in a launch before the blocks that share its elements (reorder " + k +
                     " outside of the other blocks, or decompose_init before these)",
                 name_of(p, **around) + ", bound to " + ir::text((*around)->get<LoopStmt>().bound_to) +
                     ", around the init and " + k + ", bound to " + ir::text((*shared)->get<LoopStmt>().bound_to),
                 "block " + k + " = 1 may update an element before block " + k + " = 0 has stored its init");
    }
  }
}

}  // namespace

void prove_memory_combines(Context& c, const ir::Stage& stage) {
  if (!stage.is_reduction())
    c.refuse("a reduction or scatter, whose steps combine in memory", stage.name + ", which stores each element once");
  if (stage.buffers.size() != 1)
    c.refuse("a reduction of one value (memory combines one at a time)",
             stage.name + ", of " + std::to_string(stage.buffers.size()));
  const ir::Buffer& b = c.p.buffer(stage.buffers.front());
  if (stage.reducer.fused)
    c.refuse("terms that are not products when they are added (sum(f32(a * b)) rounds each first)",
             stage.name + ", which accumulates by fused multiply-adds, as memory does not");
  const auto op = analysis::atomic_operator(stage);
  if (!op)
    c.refuse("a combiner that memory has: a sum, minimum or maximum, or one of the user's own that is &, | or ^",
             stage.name + ", reduced by " +
                 (stage.reducer.kind == ir::ReducerKind::product ? std::string("a product") : stage.reducer.name));
  prove_reassociation(c, stage, "its steps are taken as they come", "two steps of one element, the first after the second");
  if (!has(c.target, b.type, *op))
    c.refuse(std::string("values that the memory of ") + std::string(c.target.text()) + " combines: " + types_of(c.target),
             stage.name + ", " + ir::op_name(*op) + " of " + ir::text(b.type));
}

void prove_atomic(Context& c, const Stmt& nest) {
  const Program& p = c.p;
  const ir::Stage& stage = p.stage(nest.get<NestStmt>().stage);
  const ir::Buffer& b = p.buffer(stage.buffers.front());
  if (!(b.scope == Scope::global) && !(b.scope == Scope::shared))
    c.refuse("memory that steps which run at once share: Scope::global or shared", b.name + " in Scope::" + b.scope.name);
  if (analysis::drops(p, stage)) c.refuse("storage of all dimensions for atomic steps", b.name + ", which lacks dimensions");
  const auto path = ir::path_to(p, nest.id);
  if (path.size() > 1 && path[path.size() - 2]->is<LoopStmt>()) {
    const Stmt& loop = *path[path.size() - 2];
    const LoopStmt& node = loop.get<LoopStmt>();
    if (const auto& pipeline = node.pipeline;
        pipeline && std::find(pipeline->loads.begin(), pipeline->loads.end(), stage.id) != pipeline->loads.end())
      c.refuse("loads whose steps are not atomic", stage.name + ", a load of the pipeline of " + name_of(p, loop));
  }
  std::vector<const Stmt*> loops;
  const std::function<void(const Stmt&)> visit = [&](const Stmt& s) {
    for (const Stmt& inner : s.body()) {
      if (const NestStmt* n = inner.as<NestStmt>(); n && n->after == stage.id)
        for (const Stmt* l : loops)
          if (at_once(p, *l))
            c.unproved(Obligation::order,
                       "readers behind all loops whose steps run at once (move their fuse_into to a loop outside)",
                       p.stage(n->stage).name + " inside " + name_of(p, *l),
                       "the last iteration of " + p.axis(l->get<LoopStmt>().axis).name + " may come before the first");
      const LoopStmt* over = inner.as<LoopStmt>();
      if (!over) continue;
      if (over->combines)
        c.refuse("a reduction that is either atomic or combined over threads",
                 name_of(p, inner) + ", whose threads are combined");
      if (over->kind == LoopKind::tensorized)
        c.refuse("steps that store one value each", name_of(p, inner) + ", which an intrinsic carries out");
      loops.push_back(&inner);
      visit(inner);
      loops.pop_back();
    }
  };
  visit(nest);
  prove_started(c, nest);
}

}  // namespace ashlar::schedule
