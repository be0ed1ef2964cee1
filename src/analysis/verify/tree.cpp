// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules about how it is carried out: nests, axes, loops, blocks, storage, order of execution.
#include <algorithm>
#include <map>
#include <set>

#include <ashlar/analysis/regions.h>
#include <ashlar/ir/print.h>

#include "analysis/verify/view.h"
#include <ashlar/ir/by_definition.h>

#include "analysis/nodes.h"

namespace ashlar::analysis::verifier {

using ir::Piece;

namespace {

bool within(const Axis& a, const View& v, const NestStmt& nest) {
  for (Id r : ir::roots_of(v.p, a.id))
    if (std::none_of(nest.roots.begin(), nest.roots.end(), [&](const ir::Root& root) { return root.axis == r; })) return false;
  return true;
}

// The cells that a part of an axis covers: first, middle and last iteration, or full and ragged tiles.
unsigned cells(Part part) {
  switch (part) {
    case Part::all:
      return 0b111;
    case Part::first:
      return 0b001;
    case Part::but_first:
      return 0b110;
    case Part::last:
      return 0b100;
    case Part::but_last:
      return 0b011;
    case Part::middle:
      return 0b010;
    case Part::end:
      return 0b100;
    case Part::full:
    case Part::below:
      return 0b001;
    case Part::rest:
    case Part::above:
      return 0b110;
    case Part::between:
      return 0b010;
    case Part::beyond:
      return 0b100;
  }
  return 0;
}

}  // namespace

// ---- nests, axes, loops ------------------------------------------------------------------------------------------------

Broken nest_roots(const View& v) {
  Broken broken;
  v.each<NestStmt>([&](int, const Stmt& s, const NestStmt& nest) {
    const Stage& stage = v.p.stage(nest.stage);
    bool ok = nest.roots.size() == stage.iters.size();
    for (std::size_t k = 0; ok && k < nest.roots.size(); ++k) {
      const ir::Root& r = nest.roots[k];
      const Axis& a = v.p.axis(r.axis);
      ok = r.iter == stage.iters[k].id && a.origin == Axis::Origin::root && a.iter == r.iter &&
           a.reduce == (stage.iters[k].kind == ir::IterKind::reduce);
      ok = ok && r.begin.empty() == r.extent.empty();
    }
    if (!ok && broken.empty()) broken = v.name(s);
  });
  bool derived = false, open = false;
  ir::walk(v.p.body, [&](const Stmt& s) {
    if (const NestStmt* nest = s.as<NestStmt>())
      for (const ir::Root& r : nest->roots) (r.begin.empty() ? open : derived) = true;
  });
  if (broken.empty() && derived && open) return "some boxes derived, some not";
  return broken;
}

Broken axis_provenance(const View& v) {
  for (const auto& [id, a] : v.p.axes) {
    switch (a.origin) {
      case Axis::Origin::root:
        break;
      case Axis::Origin::split_outer:
      case Axis::Origin::split_inner: {
        const Axis& parent = v.p.axis(a.parent);
        const std::size_t side = a.origin == Axis::Origin::split_inner;
        if (parent.became.size() != 2 || parent.became[side] != id || a.reduce != parent.reduce) return a.name;
        if (a.factor.empty() && a.parts == 0) return a.name + " without a factor";
        if (!a.factor.empty() && !a.factor.type().is_index()) return a.name;
        break;
      }
      case Axis::Origin::fused:
        for (Id from : {a.outer, a.inner})
          if (v.p.axis(from).became != std::vector<Id>{id}) return a.name;
        break;
      case Axis::Origin::skewed: {
        std::int64_t f = 0;
        if (v.p.axis(a.parent).became != std::vector<Id>{id} || a.outer == a.parent) return a.name;
        if (a.reduce || v.p.axis(a.parent).reduce || v.p.axis(a.outer).reduce) return a.name + " of a reduction";
        if (a.factor.empty() || !ir::is_int(a.factor, &f) || f == 0) return a.name + " without a factor";
        break;
      }
    }
    std::size_t steps = 0;  // an axis that came from itself
    for (Id up = a.parent; up; up = v.p.axis(up).parent)
      if (++steps > v.p.axes.size()) return a.name;
  }
  return {};
}

Broken loop_own(const View& v) {
  Broken broken;
  v.each<LoopStmt>([&](int k, const Stmt& s, const LoopStmt& loop) {
    const Axis& a = v.p.axis(loop.axis);
    if (broken.empty() && (v.place(k).nest < 0 || !a.became.empty() || !within(a, v, v.nest(k)))) broken = v.name(s);
  });
  return broken;
}

Broken loop_once(const View& v) {
  Broken broken;
  v.each<LoopStmt>([&](int k, const Stmt& s, const LoopStmt& loop) {
    for (const LoopStmt* outer : v.own_loops(k))
      if (outer->axis == loop.axis && broken.empty()) broken = v.name(s) + " inside itself";
  });
  return broken;
}

Broken loop_parallel(const View& v) {
  Broken broken;
  v.each<LoopStmt>([&](int k, const Stmt& s, const LoopStmt& loop) {
    if (loop.kind != LoopKind::parallel) return;
    for (int i = v.place(k).parent; i >= 0; i = v.place(i).parent)
      if ((ir::is_loop(v.at(i), LoopKind::parallel) || ir::is_loop(v.at(i), LoopKind::vectorized)) && broken.empty())
        broken = v.name(s) + " inside " + v.name(v.at(i));
  });
  return broken;
}

Broken loop_constant(const View& v) {
  Broken broken;
  v.each<LoopStmt>([&](int, const Stmt& s, const LoopStmt& loop) {
    if (loop.kind != LoopKind::vectorized && loop.kind != LoopKind::unrolled) return;
    const Axis& a = v.p.axis(loop.axis);
    if (a.extent.empty() || loop.part != Part::all) return;  // not derived; a peeled part may be one iteration of many
    if (ir::is_int(a.extent) || !broken.empty()) return;
    // constant where it stands: below the first iteration of a triangle, say
    const ir::LoopRange range = ir::range_of(v.p, s);
    const Expr extent = loop.tight ? ir::sub(range.end, range.begin) : a.extent;
    if (!constant_max(extent, facts_at(v.p, s.id))) broken = v.name(s) + " of extent " + ir::text(a.extent);
  });
  return broken;
}

Broken loop_reduction(const View& v) {
  Broken broken;
  v.each<LoopStmt>([&](int k, const Stmt& s, const LoopStmt& loop) {
    const Stage* stage = v.place(k).nest >= 0 ? &v.p.stage(v.nest(k).stage) : nullptr;
    if (stage && stage->scatters()) return;
    const bool spread = (loop.kind == LoopKind::parallel && !(stage && stage->atomic)) || loop.kind == LoopKind::vectorized;
    if (spread && v.p.axis(loop.axis).reduce && broken.empty()) broken = v.name(s);
  });
  return broken;
}

// ---- blocks ------------------------------------------------------------------------------------------------------------

namespace {
// A piece that takes steps of a reduction; the others stand outside of its loops.
bool takes_steps(const BlockStmt& block) { return block.piece == Piece::whole || block.piece == Piece::update; }
}  // namespace

Broken block_own(const View& v) {
  Broken broken;
  v.each<BlockStmt>([&](int k, const Stmt& s, const BlockStmt& block) {
    if (broken.empty() && (v.place(k).nest < 0 || v.nest(k).stage != block.stage)) broken = v.name(s);
  });
  return broken;
}

Broken block_leaves(const View& v) {
  Broken broken;
  v.each<BlockStmt>([&](int k, const Stmt& s, const BlockStmt& block) {
    if (!broken.empty()) return;
    std::vector<Id> wanted, around;
    for (const ir::Root& r : v.nest(k).roots)
      for (Id leaf : ir::leaves_of(v.p, r.axis))
        if (takes_steps(block) ? !v.p.stage(block.stage).scattered(r.iter) : !v.p.axis(leaf).reduce) wanted.push_back(leaf);
    for (const LoopStmt* loop : v.own_loops(k)) around.push_back(loop->axis);
    for (std::vector<Id>* ids : {&wanted, &around}) {
      std::sort(ids->begin(), ids->end());
      ids->erase(std::unique(ids->begin(), ids->end()), ids->end());
    }
    if (!takes_steps(block))
      std::erase_if(around, [&](Id a) { return v.p.axis(a).reduce && !std::binary_search(wanted.begin(), wanted.end(), a); });
    if (wanted != around) broken = v.name(s);
  });
  return broken;
}

namespace {
// Calls f(place, statement, node) for the blocks of a nest itself.
template <class F>
void each_block(const View& v, int nest, F&& f) {
  for (int k = nest + 1; k < v.place(nest).end; ++k)
    if (const BlockStmt* block = v.at(k).as<BlockStmt>(); block && v.place(k).nest == nest) f(k, v.at(k), *block);
}
}  // namespace

// Pieces of one nest: over the axes that were peeled, each cell has one piece.
Broken block_cover(const View& v) {
  Broken broken;
  v.each<NestStmt>([&](int at, const Stmt& s, const NestStmt&) {
    if (!broken.empty()) return;
    std::vector<std::map<Id, Part>> pieces;
    std::vector<Id> peeled;
    each_block(v, at, [&](int k, const Stmt&, const BlockStmt& block) {
      if (!takes_steps(block)) return;
      if (block.stores == ir::Stores::dropped) return;  // a second half of blocks that are counted
      std::map<Id, Part> parts;
      for (const LoopStmt* loop : v.own_loops(k)) {
        parts[loop->axis] = loop->part;
        if (loop->part != Part::all && std::find(peeled.begin(), peeled.end(), loop->axis) == peeled.end())
          peeled.push_back(loop->axis);
      }
      pieces.push_back(std::move(parts));
    });
    if (pieces.empty()) {
      broken = v.name(s) + " without a block";
      return;
    }
    if (peeled.size() > 8) return;  // 3^9 cells are not worth it; the primitives keep parts together
    std::size_t total = 1;
    for (std::size_t k = 0; k < peeled.size(); ++k) total *= 3;
    for (std::size_t cell = 0; cell < total; ++cell) {
      int covered = 0;
      for (const auto& parts : pieces) {
        std::size_t rest = cell;
        bool inside = true;
        for (Id axis : peeled) {
          const auto it = parts.find(axis);
          inside = inside && (cells(it == parts.end() ? Part::all : it->second) >> (rest % 3) & 1);
          rest /= 3;
        }
        covered += inside;
      }
      if (covered != 1) {
        broken = v.name(s) +
                 (covered ? ": a part is computed " + std::to_string(covered) + " times" : ": a part is computed by no block");
        return;
      }
    }
  });
  return broken;
}

Broken block_init(const View& v) {
  Broken broken;
  v.each<NestStmt>([&](int at, const Stmt& s, const NestStmt&) {
    bool init = false, begin = false, whole = false, update = false;
    each_block(v, at, [&](int k, const Stmt& leaf, const BlockStmt& block) {
      if (!broken.empty()) return;
      // is there such a loop around it, in the nest?
      const auto in_loop = [&](const auto& wanted) {
        for (int up = v.place(k).parent; up > at; up = v.place(up).parent)
          if (const LoopStmt* loop = v.at(up).as<LoopStmt>(); loop && wanted(*loop)) return true;
        return false;
      };
      if (block.piece != Piece::whole && !v.p.stage(block.stage).is_reduction())
        broken = v.name(leaf) + ", which is not a reduction";
      if (block.piece == Piece::whole && v.p.stage(block.stage).scatters()) broken = v.name(leaf) + " in one piece";
      if (block.piece == Piece::init) init = true;
      if (block.piece == Piece::begin) begin = true;
      if (block.piece == Piece::whole)  // a call that starts its sums by itself stays whole beside others
        whole = whole || !in_loop([](const LoopStmt& loop) { return loop.kind == LoopKind::tensorized; });
      if (block.piece == Piece::update) {
        update = true;
        // over threads it accumulates into its thread's part
        const bool over_threads = in_loop([](const LoopStmt& loop) { return loop.combines; });
        if (!init && !(begin && over_threads) && !block.first_stores) broken = v.name(leaf) + " updated before its init";
      }
    });
    if (whole && (init || update) && broken.empty()) broken = v.name(s) + " half taken apart";
  });
  return broken;
}

// A reducer that keeps its order meets its terms in the order of definition.
Broken block_order(const View& v) {
  Broken broken;
  v.each<BlockStmt>([&](int k, const Stmt& s, const BlockStmt& block) {
    const Stage& stage = v.p.stage(block.stage);
    if (!stage.is_reduction() || stage.reducer.order == ir::Reducer::Order::any || !takes_steps(block) || !broken.empty())
      return;
    std::vector<Id> wanted;
    for (const ir::Root& r : v.nest(k).roots)
      for (Id leaf : ir::leaves_of(v.p, r.axis))
        if (v.p.axis(leaf).reduce && std::find(wanted.begin(), wanted.end(), leaf) == wanted.end()) wanted.push_back(leaf);
    std::vector<Id> found;
    for (const LoopStmt* loop : v.own_loops(k))
      if (v.p.axis(loop->axis).reduce) found.push_back(loop->axis);
    if (found != wanted) broken = v.name(s);
  });
  return broken;
}

// ---- storage and order of execution ------------------------------------------------------------------------------------

namespace {
// Walks in order of execution with what is allocated and what has been computed so far.
class InOrder {
 public:
  InOrder(const View& v, bool storage)
      : v_(v),
        storage_(storage),
        live_(v.p.buffers.empty() ? 0 : v.p.buffers.rbegin()->first + 1),
        begun_(v.p.stages.empty() ? 0 : v.p.stages.rbegin()->first + 1) {}

  Broken body(const std::vector<Stmt>& list) {
    std::vector<Id> here;
    for (const Stmt& s : list) {
      if (const AllocStmt* alloc = s.as<AllocStmt>()) {
        if (storage_ && live_[alloc->buffer]) return v_.name(s) + " while it is allocated";
        if (storage_ && v_.p.buffer(alloc->buffer).role != ir::Role::temporary) return v_.name(s) + ", an argument";
        ++live_[alloc->buffer];
        here.push_back(alloc->buffer);
      }
      if (const NestStmt* nest = s.as<NestStmt>()) begun_[nest->stage] = true;
      if (const BlockStmt* leaf = s.as<BlockStmt>())
        if (Broken b = block(*leaf); !b.empty()) return b;
      if (Broken b = body(s.body()); !b.empty()) return b;
    }
    for (Id b : here) --live_[b];
    return {};
  }

 private:
  bool usable(const Buffer& b) const { return b.role != ir::Role::temporary || live_[b.id] > 0; }

  Broken block(const BlockStmt& leaf) {
    const Stage& stage = v_.p.stage(leaf.stage);
    if (storage_)
      for (Id b : stage.buffers)
        if (!usable(v_.p.buffer(b))) return stage.name + " stores to " + v_.p.buffer(b).name;
    const Piece piece = leaf.first_stores && leaf.piece != Piece::combine ? Piece::whole : leaf.piece;
    thread_local ir::ByDefinition<std::vector<Id>> known;
    if (piece == Piece::whole && stage.domain.empty()) {
      const auto loaded = known.of(stage, [&] { return buffers_of(stage, piece); });
      return read(stage, *loaded);
    }
    return read(stage, buffers_of(stage, piece));
  }

  static std::vector<Id> buffers_of(const Stage& stage, Piece piece) {
    std::vector<Id> all;
    for (const Expr* e : loads_of(stage, piece))
      if (std::find(all.begin(), all.end(), e->node()->id) == all.end()) all.push_back(e->node()->id);
    return all;
  }

  Broken read(const Stage& stage, const std::vector<Id>& buffers) const {
    for (Id id : buffers) {
      const Buffer& b = v_.p.buffer(id);
      if (storage_ && !usable(b)) return stage.name + " reads " + b.name;
      if (!storage_ && b.stage && !begun_[b.stage]) return stage.name + " reads " + b.name;
    }
    return {};
  }

  const View& v_;
  const bool storage_;
  std::vector<int> live_;    // by buffer
  std::vector<bool> begun_;  // stages of which some nest has started
};

}  // namespace

Broken storage_live(const View& v) { return InOrder(v, true).body(v.p.body); }
Broken order_produced(const View& v) { return InOrder(v, false).body(v.p.body); }

Broken order_outputs(const View& v) {
  std::set<Id> computed;
  ir::walk(v.p.body, [&](const Stmt& s) {
    if (const NestStmt* nest = s.as<NestStmt>()) computed.insert(nest->stage);
  });
  for (const auto& [id, b] : v.p.buffers)
    if (b.role == ir::Role::output && !computed.count(b.stage)) return b.name;
  return {};
}

Broken nest_beside(const View& v) {
  Broken broken;
  v.each<NestStmt>([&](int k, const Stmt& s, const NestStmt& nest) {
    if (!nest.sibling || !broken.empty()) return;
    const auto [loop, axis] = *nest.sibling;
    if (!v.p.axes.count(loop) || !v.p.axes.count(axis) || !within(v.p.axis(axis), v, nest)) {
      broken = v.name(s);
      return;
    }
    for (Id leaf : ir::leaves_of(v.p, loop))
      if (!v.inside(k, [&](const Stmt& around) { return ir::runs_over(around, leaf); })) broken = v.name(s);
  });
  return broken;
}

}  // namespace ashlar::analysis::verifier
