// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules about the attributes of one node: what a part, a binding, a call, a pipeline, a slide or a prefetch refers to stands
// where it has to.
#include <algorithm>

#include <ashlar/ir/skew.h>

#include "analysis/verify/view.h"
#include "analysis/nodes.h"

namespace ashlar::analysis::verifier {

namespace {

// Is there a nest of the stage in the list, or below it?
bool computes(const std::vector<Stmt>& list, Id stage) {
  return std::any_of(list.begin(), list.end(),
                     [&](const Stmt& s) { return ir::is_nest_of(s, stage) || computes(s.body(), stage); });
}

// Keeps the first statement that breaks a rule.
template <class Node, class F>
Broken first(const View& v, F&& breaks) {
  Broken broken;
  v.each<Node>([&](int k, const Stmt& s, const Node& node) {
    if (!broken.empty()) return;
    if (const Broken why = breaks(k, s, node); !why.empty()) broken = v.name(s) + why;
  });
  return broken;
}

}  // namespace

// ---- nests -------------------------------------------------------------------------------------------------------------

Broken nest_after(const View& v) {
  return first<NestStmt>(v, [&](int k, const Stmt&, const NestStmt& nest) -> Broken {
    if (!nest.after || v.inside(k, [&](const Stmt& around) { return ir::is_nest_of(around, nest.after); })) return {};
    return " outside of " + v.p.stage(nest.after).name;
  });
}

Broken slide_loop(const View& v) {
  return first<NestStmt>(v, [&](int k, const Stmt&, const NestStmt& nest) -> Broken {
    const auto& iters = v.p.stage(nest.stage).iters;
    for (const ir::Slide& slide : nest.slides) {
      const bool around = v.inside(k, [&](const Stmt& s) {
        return s.id == slide.loop && (ir::is_loop(s, LoopKind::serial) || ir::is_loop(s, LoopKind::unrolled));
      });
      const bool own = std::any_of(iters.begin(), iters.end(), [&](const ir::IterVar& i) { return i.id == slide.iter; });
      if (!around) return " along a loop that is not around it, or not serial";
      if (!own) return " of a variable that it has not";
    }
    return {};
  });
}

// ---- loops -------------------------------------------------------------------------------------------------------------

Broken loop_part(const View& v) {
  return first<LoopStmt>(v, [&](int, const Stmt&, const LoopStmt& loop) -> Broken {
    const bool from = loop.part == Part::above || loop.part == Part::between || loop.part == Part::beyond;
    const bool to = loop.part == Part::below || loop.part == Part::between;
    if (loop.from.empty() == from) return from ? " without the cut that it runs from" : " from a cut that its part has not";
    if (loop.to.empty() == to) return to ? " without the cut that it runs to" : " to a cut that its part has not";
    const bool of_split = loop.part == Part::full || loop.part == Part::rest;
    if (of_split && v.p.axis(loop.axis).origin != Axis::Origin::split_outer)
      return " over whole tiles, where no split made any";
    return {};
  });
}

Broken loop_tight(const View& v) {
  return first<LoopStmt>(v, [&](int, const Stmt&, const LoopStmt& loop) -> Broken {
    if (!loop.tight || v.p.axis(loop.axis).origin == Axis::Origin::split_inner || !ir::skews_of(v.p, loop.axis).empty())
      return {};
    return " is tight, and neither the inner loop of a split nor one of a skew";
  });
}

Broken loop_bound(const View& v) {
  return first<LoopStmt>(v, [&](int, const Stmt&, const LoopStmt& loop) -> Broken {
    if (loop.kind == LoopKind::bound || loop.bound_to == ThreadAxis{}) return {};
    return " names " + std::string(ir::text(loop.bound_to)) + " and is not bound";
  });
}

Broken loop_combined(const View& v) {
  return first<LoopStmt>(v, [&](int, const Stmt&, const LoopStmt& loop) -> Broken {
    if (!loop.combines) return {};
    if (!v.p.axis(loop.axis).reduce) return " is not a loop of a reduction";
    if (loop.kind != LoopKind::bound && loop.kind != LoopKind::serial) return " is neither bound nor about to be";
    return {};
  });
}

Broken loop_tensorized(const View& v) {
  return first<LoopStmt>(v, [&](int, const Stmt&, const LoopStmt& loop) -> Broken {
    if ((loop.kind == LoopKind::tensorized) != (loop.intrinsic != 0))
      return loop.intrinsic ? " names an intrinsic and is not tensorized" : " without an intrinsic";
    if (loop.intrinsic && !v.p.intrinsics.count(loop.intrinsic)) return " by an intrinsic that the program has not";
    return {};
  });
}

Broken loop_pipeline(const View& v) {
  return first<LoopStmt>(v, [&](int, const Stmt&, const LoopStmt& loop) -> Broken {
    if (!loop.pipeline) return {};
    if (loop.pipeline->stages < 2) return " of " + std::to_string(loop.pipeline->stages) + " stages";
    if (loop.kind != LoopKind::serial) return " is not serial";
    if (loop.pipeline->loads.empty()) return " without loads";
    for (Id load : loop.pipeline->loads) {
      const auto it = v.p.stages.find(load);
      if (it == v.p.stages.end()) return " of a stage that does not exist";
      if (!computes(loop.body, load)) return " of " + it->second.name + ", which is not computed in it";
    }
    return {};
  });
}

// ---- leaves ------------------------------------------------------------------------------------------------------------

Broken block_stores(const View& v) {
  return first<BlockStmt>(v, [&](int, const Stmt&, const BlockStmt& block) -> Broken {
    const Stage& stage = v.p.stage(block.stage);
    if (block.first_stores && !stage.is_reduction()) return " stores first, and is not a reduction";
    const bool drops =
        std::any_of(stage.buffers.begin(), stage.buffers.end(), [&](Id b) { return !v.p.buffer(b).layout.dropped.empty(); });
    if (block.stores != ir::Stores::all && !drops) return " stores components apart, none of which drops a dimension";
    return {};
  });
}

Broken prefetch_loop(const View& v) {
  return first<ir::PrefetchStmt>(v, [&](int k, const Stmt&, const ir::PrefetchStmt& prefetch) -> Broken {
    if (prefetch.distance < 1) return " ahead by " + std::to_string(prefetch.distance) + " iterations";
    const bool around = v.inside(k, [&](const Stmt& s) { return s.id == prefetch.loop && s.is<LoopStmt>(); });
    return around ? "" : " along a loop that is not around it";
  });
}

}  // namespace ashlar::analysis::verifier
