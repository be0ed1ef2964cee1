// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules about how it is carried out: nests, axes, loops, blocks, storage, order of execution.
#include <algorithm>
#include <map>
#include <set>

#include <ashlar/analysis/regions.h>
#include <ashlar/ir/print.h>

#include "analysis/verify/view.h"
#include <ashlar/ir/by_definition.h>

namespace ashlar::analysis::verifier {
namespace {

bool within(const Axis& a, const View& v, const Stmt& nest) {
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
  v.each(Kind::nest, [&](int, const Stmt& nest) {
    const Stage& s = v.p.stage(nest.stage);
    bool ok = nest.roots.size() == s.iters.size();
    for (std::size_t k = 0; ok && k < nest.roots.size(); ++k) {
      const ir::Root& r = nest.roots[k];
      const Axis& a = v.p.axis(r.axis);
      ok = r.iter == s.iters[k].id && a.origin == Axis::Origin::root && a.iter == r.iter &&
           a.reduce == (s.iters[k].kind == ir::IterKind::reduce);
      ok = ok && r.begin.empty() == r.extent.empty();
    }
    if (!ok && broken.empty()) broken = v.name(nest);
  });
  bool derived = false, open = false;
  ir::walk(v.p.body, [&](const Stmt& s) {
    for (const ir::Root& r : s.roots) (r.begin.empty() ? open : derived) = true;
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
  v.each(Kind::loop, [&](int k, const Stmt& loop) {
    const Axis& a = v.p.axis(loop.axis);
    const int nest = v.place(k).nest;
    if (broken.empty() && (nest < 0 || !a.became.empty() || !within(a, v, v.at(nest)))) broken = v.name(loop);
  });
  return broken;
}

Broken loop_once(const View& v) {
  Broken broken;
  v.each(Kind::loop, [&](int k, const Stmt& loop) {
    for (const Stmt* outer : v.own_loops(k))
      if (outer->axis == loop.axis && broken.empty()) broken = v.name(loop) + " inside itself";
  });
  return broken;
}

Broken loop_parallel(const View& v) {
  Broken broken;
  v.each(Kind::loop, [&](int k, const Stmt& loop) {
    if (loop.loop_kind != ir::LoopKind::parallel) return;
    for (int i = v.place(k).parent; i >= 0; i = v.place(i).parent)
      if (v.at(i).kind == Kind::loop &&
          (v.at(i).loop_kind == ir::LoopKind::parallel || v.at(i).loop_kind == ir::LoopKind::vectorized) && broken.empty())
        broken = v.name(loop) + " inside " + v.name(v.at(i));
  });
  return broken;
}

Broken loop_constant(const View& v) {
  Broken broken;
  v.each(Kind::loop, [&](int, const Stmt& loop) {
    if (loop.loop_kind != ir::LoopKind::vectorized && loop.loop_kind != ir::LoopKind::unrolled) return;
    const Axis& a = v.p.axis(loop.axis);
    if (a.extent.empty() || loop.part != Part::all) return;  // not derived; a peeled part may be one iteration of many
    if (ir::is_int(a.extent) || !broken.empty()) return;
    // constant where it stands: below the first iteration of a triangle, say
    const ir::LoopRange range = ir::range_of(v.p, loop);
    const Expr extent = loop.tight ? ir::sub(range.end, range.begin) : a.extent;
    if (!constant_max(extent, facts_at(v.p, loop.id))) broken = v.name(loop) + " of extent " + ir::text(a.extent);
  });
  return broken;
}

Broken loop_reduction(const View& v) {
  Broken broken;
  v.each(Kind::loop, [&](int k, const Stmt& loop) {
    const int nest = v.place(k).nest;
    if (nest >= 0 && v.p.stage(v.at(nest).stage).scatters()) return;
    const bool atomic = nest >= 0 && v.p.stage(v.at(nest).stage).atomic;
    const bool spread = (loop.loop_kind == ir::LoopKind::parallel && !atomic) || loop.loop_kind == ir::LoopKind::vectorized;
    if (spread && v.p.axis(loop.axis).reduce && broken.empty()) broken = v.name(loop);
  });
  return broken;
}

// ---- blocks ------------------------------------------------------------------------------------------------------------

// A piece that takes steps of a reduction; the others stand outside of its loops.
bool takes_steps(const Stmt& block) { return block.piece == Stmt::Piece::whole || block.piece == Stmt::Piece::update; }

Broken block_own(const View& v) {
  Broken broken;
  v.each(Kind::block, [&](int k, const Stmt& block) {
    const int nest = v.place(k).nest;
    if (broken.empty() && (nest < 0 || v.at(nest).stage != block.stage)) broken = v.name(block);
  });
  return broken;
}

Broken block_leaves(const View& v) {
  Broken broken;
  v.each(Kind::block, [&](int k, const Stmt& block) {
    if (!broken.empty()) return;
    std::vector<Id> wanted, around;
    for (const ir::Root& r : v.at(v.place(k).nest).roots)
      for (Id leaf : ir::leaves_of(v.p, r.axis))
        if (takes_steps(block) ? !v.p.stage(block.stage).scattered(r.iter) : !v.p.axis(leaf).reduce) wanted.push_back(leaf);
    for (const Stmt* loop : v.own_loops(k)) around.push_back(loop->axis);
    for (std::vector<Id>* ids : {&wanted, &around}) {
      std::sort(ids->begin(), ids->end());
      ids->erase(std::unique(ids->begin(), ids->end()), ids->end());
    }
    if (!takes_steps(block))
      std::erase_if(around, [&](Id a) { return v.p.axis(a).reduce && !std::binary_search(wanted.begin(), wanted.end(), a); });
    if (wanted != around) broken = v.name(block);
  });
  return broken;
}

// Pieces of one nest: over the axes that were peeled, each cell has one piece.
Broken block_cover(const View& v) {
  Broken broken;
  v.each(Kind::nest, [&](int at, const Stmt& nest) {
    if (!broken.empty()) return;
    std::vector<std::map<Id, Part>> pieces;
    std::vector<Id> peeled;
    for (int k = at + 1; k < v.place(at).end; ++k) {
      const Stmt& block = v.at(k);
      if (block.kind != Kind::block || v.place(k).nest != at || !takes_steps(block)) continue;
      if (block.stores == Stmt::Stores::dropped) continue;  // a second half of blocks that are counted
      std::map<Id, Part> parts;
      for (const Stmt* loop : v.own_loops(k)) {
        parts[loop->axis] = loop->part;
        if (loop->part != Part::all && std::find(peeled.begin(), peeled.end(), loop->axis) == peeled.end())
          peeled.push_back(loop->axis);
      }
      pieces.push_back(std::move(parts));
    }
    if (pieces.empty()) {
      broken = v.name(nest) + " without a block";
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
        broken = v.name(nest) +
                 (covered ? ": a part is computed " + std::to_string(covered) + " times" : ": a part is computed by no block");
        return;
      }
    }
  });
  return broken;
}

Broken block_init(const View& v) {
  Broken broken;
  v.each(Kind::nest, [&](int at, const Stmt& nest) {
    bool init = false, begin = false, whole = false, update = false;
    for (int k = at + 1; k < v.place(at).end; ++k) {
      const Stmt& block = v.at(k);
      if (block.kind != Kind::block || v.place(k).nest != at || !broken.empty()) continue;
      if (block.piece != Stmt::Piece::whole && !v.p.stage(block.stage).is_reduction())
        broken = v.name(block) + ", which is no reduction";
      if (block.piece == Stmt::Piece::whole && v.p.stage(block.stage).scatters()) broken = v.name(block) + " in one piece";
      if (block.piece == Stmt::Piece::init) init = true;
      if (block.piece == Stmt::Piece::begin) begin = true;
      if (block.piece == Stmt::Piece::whole) {  // a call that starts its sums by itself stays whole beside others
        bool called = false;
        for (int up = v.place(k).parent; up > at; up = v.place(up).parent)
          called = called || (v.at(up).kind == Kind::loop && v.at(up).loop_kind == ir::LoopKind::tensorized);
        whole = whole || !called;
      }
      if (block.piece == Stmt::Piece::update) {
        update = true;
        bool over_threads = false;  // then it accumulates into its thread's part
        for (int up = v.place(k).parent; up > at; up = v.place(up).parent) over_threads = over_threads || v.at(up).combines;
        if (!init && !(begin && over_threads) && !block.first_stores) broken = v.name(block) + " updated before its init";
      }
    }
    if (whole && (init || update) && broken.empty()) broken = v.name(nest) + " half taken apart";
  });
  return broken;
}

// A reducer that keeps its order meets its terms in the order of definition.
Broken block_order(const View& v) {
  Broken broken;
  v.each(Kind::block, [&](int k, const Stmt& block) {
    const Stage& s = v.p.stage(block.stage);
    if (!s.is_reduction() || s.reducer.order == ir::Reducer::Order::any || !takes_steps(block) || !broken.empty()) return;
    std::vector<Id> wanted;
    for (const ir::Root& r : v.at(v.place(k).nest).roots)
      for (Id leaf : ir::leaves_of(v.p, r.axis))
        if (v.p.axis(leaf).reduce && std::find(wanted.begin(), wanted.end(), leaf) == wanted.end()) wanted.push_back(leaf);
    std::vector<Id> found;
    for (const Stmt* loop : v.own_loops(k))
      if (v.p.axis(loop->axis).reduce) found.push_back(loop->axis);
    if (found != wanted) broken = v.name(block);
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
      if (s.kind == Kind::alloc) {
        if (storage_ && live_[s.buffer]) return v_.name(s) + " while it is allocated";
        if (storage_ && v_.p.buffer(s.buffer).role != ir::Role::temporary) return v_.name(s) + ", an argument";
        ++live_[s.buffer];
        here.push_back(s.buffer);
      }
      if (s.kind == Kind::nest) begun_[s.stage] = true;
      if (s.kind == Kind::block)
        if (Broken b = block(s); !b.empty()) return b;
      if (Broken b = body(s.body); !b.empty()) return b;
    }
    for (Id b : here) --live_[b];
    return {};
  }

 private:
  bool usable(const Buffer& b) const { return b.role != ir::Role::temporary || live_[b.id] > 0; }

  Broken block(const Stmt& s) {
    const Stage& stage = v_.p.stage(s.stage);
    if (storage_)
      for (Id b : stage.buffers)
        if (!usable(v_.p.buffer(b))) return stage.name + " stores to " + v_.p.buffer(b).name;
    const Stmt::Piece piece = s.first_stores && s.piece != Stmt::Piece::combine ? Stmt::Piece::whole : s.piece;
    thread_local ir::ByDefinition<std::vector<Id>> known;
    if (piece == Stmt::Piece::whole && stage.domain.empty()) {
      const auto loaded = known.of(stage, [&] { return buffers_of(stage, piece); });
      return read(stage, *loaded);
    }
    return read(stage, buffers_of(stage, piece));
  }

  static std::vector<Id> buffers_of(const Stage& stage, Stmt::Piece piece) {
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
    if (s.kind == Kind::nest) computed.insert(s.stage);
  });
  for (const auto& [id, b] : v.p.buffers)
    if (b.role == ir::Role::output && !computed.count(b.stage)) return b.name;
  return {};
}

Broken nest_beside(const View& v) {
  Broken broken;
  v.each(Kind::nest, [&](int k, const Stmt& nest) {
    if ((nest.loop == 0) != (nest.axis == 0) && broken.empty()) broken = v.name(nest);
    if (!nest.loop || !broken.empty()) return;
    if (!v.p.axes.count(nest.loop) || !v.p.axes.count(nest.axis) || !within(v.p.axis(nest.axis), v, nest)) {
      broken = v.name(nest);
      return;
    }
    std::vector<Id> around;
    for (int i = v.place(k).parent; i >= 0; i = v.place(i).parent)
      if (v.at(i).kind == Kind::loop) around.push_back(v.at(i).axis);
    for (Id leaf : ir::leaves_of(v.p, nest.loop))
      if (std::find(around.begin(), around.end(), leaf) == around.end()) broken = v.name(nest);
  });
  return broken;
}

Broken slide_loop(const View& v) {
  Broken broken;
  v.each(Kind::nest, [&](int k, const Stmt& nest) {
    for (const ir::Slide& slide : nest.slides) {
      bool around = false;
      for (int i = v.place(k).parent; i >= 0; i = v.place(i).parent)
        around = around || (v.at(i).id == slide.loop && v.at(i).kind == Kind::loop &&
                            (v.at(i).loop_kind == ir::LoopKind::serial || v.at(i).loop_kind == ir::LoopKind::unrolled));
      const auto& iters = v.p.stage(nest.stage).iters;
      const bool own = std::any_of(iters.begin(), iters.end(), [&](const ir::IterVar& i) { return i.id == slide.iter; });
      if ((!around || !own) && broken.empty()) broken = v.name(nest);
    }
  });
  return broken;
}

}  // namespace ashlar::analysis::verifier
