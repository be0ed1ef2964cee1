// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/analysis/recurrence.h>

#include <algorithm>
#include <set>

#include <ashlar/ir/print.h>
#include <ashlar/ir/recurrence.h>

#include <ashlar/analysis/blocks.h>

#include "analysis/nodes.h"

namespace ashlar::analysis {

namespace {

// What is known of value(reader) - value(what it reads), for one axis.
struct Difference {
  enum class Kind { exact, positive, not_negative, unknown } kind = Kind::unknown;
  std::int64_t by = 0;  // exact
  bool none() const { return kind == Kind::exact && by == 0; }
  bool forward() const { return kind == Kind::positive || (kind == Kind::exact && by > 0); }
  bool not_back() const { return forward() || none() || kind == Kind::not_negative; }
};

constexpr Difference positive{Difference::Kind::positive, 0}, not_negative{Difference::Kind::not_negative, 0}, unknown{};

// The differences of one read along the axes of a nest, while some leaves are known to be at one iteration.
struct Differences {
  const Program& p;
  const ir::Stage& stage;
  const ir::SelfRead& read;
  std::set<Id> same = {};

  bool equal(Id axis) const {
    const ir::Axis& a = p.axis(axis);
    if (a.became.empty()) return same.count(axis) > 0;
    if (const ir::Axis& next = p.axis(a.became.front()); next.origin == ir::Axis::Origin::skewed && !equal(next.outer))
      return false;
    return std::all_of(a.became.begin(), a.became.end(), [&](Id n) { return equal(n); });
  }

  // Of s = i + factor t.
  static Difference skewed(const Difference& i, const Difference& t, const Expr& factor) {
    std::int64_t f = 0;
    ir::is_int(factor, &f);
    if (t.none()) return i;
    if (i.kind == Difference::Kind::exact && t.kind == Difference::Kind::exact)
      return {Difference::Kind::exact, i.by + f * t.by};
    if (f < 0 || !i.not_back() || !t.not_back()) return unknown;
    return i.forward() || t.forward() ? positive : not_negative;
  }

  // Where s = i + factor t is one value, and neither i nor t goes back, both stay where they are.
  bool stays(Id axis) const {
    return std::any_of(p.axes.begin(), p.axes.end(), [&](const auto& entry) {
      const ir::Axis& s = entry.second;
      std::int64_t f = 0;
      return s.origin == ir::Axis::Origin::skewed && (s.outer == axis || s.parent == axis) && ir::is_int(s.factor, &f) &&
             f > 0 && equal(s.id) && derived(s.parent).not_back() && derived(s.outer).not_back();
    });
  }

  Difference of(Id axis) const {
    const Difference d = derived(axis);
    return d.kind == Difference::Kind::not_negative && stays(axis) ? Difference{Difference::Kind::exact, 0} : d;
  }

  // Of a loop of one iteration: what is not known to be apart is in that one.
  Difference derived(Id axis) const {
    const Difference d = of_origin(p.axis(axis));
    return d.kind != Difference::Kind::exact && !d.forward() && ir::is_int(p.axis(axis).extent, 1)
               ? Difference{Difference::Kind::exact, 0}
               : d;
  }

  Difference at_root(std::size_t d) const {
    if (read.back[d]) return {Difference::Kind::exact, *read.back[d]};
    if (!read.least[d] || *read.least[d] < 0) return unknown;
    return *read.least[d] > 0 ? positive : not_negative;
  }

  // As the axes that this one came from have it.
  Difference of_origin(const ir::Axis& a) const {
    switch (a.origin) {
      case ir::Axis::Origin::root: {
        for (std::size_t d = 0; d < stage.iters.size(); ++d)
          if (stage.iters[d].id == a.iter) return at_root(d);
        return unknown;
      }
      case ir::Axis::Origin::split_outer: {
        const Difference whole = of(a.parent);
        if (whole.none()) return whole;
        return whole.not_back() ? not_negative : unknown;
      }
      case ir::Axis::Origin::split_inner: {
        const Difference whole = of(a.parent);
        return whole.none() || equal(p.axis(a.parent).became.front()) ? whole : unknown;
      }
      case ir::Axis::Origin::fused: {
        const Difference outer = of(a.outer), inner = of(a.inner);
        if (outer.none()) return inner;
        if (outer.forward()) return positive;
        return outer.not_back() && inner.not_back() ? not_negative : unknown;
      }
      case ir::Axis::Origin::skewed:
        return skewed(of(a.parent), of(a.outer), a.factor);
    }
    return unknown;
  }
};

bool in_order(const LoopStmt& loop) { return loop.kind == ir::LoopKind::serial || loop.kind == ir::LoopKind::unrolled; }
// Every iteration is a thread of its own, whatever loop stands around.
bool threads(const LoopStmt& loop) { return loop.kind == ir::LoopKind::bound || loop.kind == ir::LoopKind::vthread; }

// Do the threads of a block wait for one another between the iterations of a loop around, so that each reads what others stored
// in earlier ones? They do where they share the memory (lower/threads/synchronize.cpp); other blocks are not waited for.
bool waited_for(const Program& p, const ir::Stage& stage, const LoopStmt& loop) {
  return loop.kind == ir::LoopKind::bound && !ir::is_block(loop.bound_to) &&
         std::all_of(stage.buffers.begin(), stage.buffers.end(), [&](Id b) {
           const Scope scope = p.buffer(b).scope;
           return scope == Scope::shared || scope == Scope::global;
         });
}

std::string point(const std::string& name, const std::vector<std::string>& at) {
  std::string s = name + "[";
  for (std::size_t d = 0; d < at.size(); ++d) s += (d ? ", " : "") + at[d];
  return s + "]";
}

// Two iterations that the read connects, from the smallest steps that have one before them.
std::string connected(const Program& p, const ir::Stage& stage, const ir::SelfRead& r) {
  std::vector<std::string> reader, source;
  for (std::size_t d = 0; d < r.back.size(); ++d) {
    if (!r.back[d]) {
      reader.push_back(stage.iters[d].name);
      source.push_back(ir::text(ir::args_of(r.load)[d]));
      continue;
    }
    const std::int64_t back = stage.iters[d].descending ? -*r.back[d] : *r.back[d], at = std::max<std::int64_t>(back, 0);
    reader.push_back(std::to_string(at));
    source.push_back(std::to_string(at - back));
  }
  const std::string& name = p.buffer(r.load.node()->id).name;
  return point(stage.name, reader) + " reads " + point(name, source);
}

std::optional<Misorder> misordered(const Program& p, const ir::Stage& stage, const std::vector<const Stmt*>& loops,
                                   const ir::SelfRead& r) {
  const Differences always{p, stage, r};
  Differences differences{p, stage, r};
  const auto report = [&](const Stmt* loop, bool order) {
    return Misorder{loop, order, ir::text(r.load), connected(p, stage, r)};
  };
  bool carried = false;
  for (const Stmt* s : loops) {
    const LoopStmt& loop = s->get<LoopStmt>();
    if (threads(loop) && !always.of(loop.axis).none() && !(carried && waited_for(p, stage, loop))) return report(s, false);
    if (carried) continue;
    const Difference d = differences.of(loop.axis);
    if (!d.none()) {
      if (!d.not_back()) return report(s, true);
      const bool scanned = loop.kind == ir::LoopKind::tile && stage.scan.kind != ir::ReducerKind::none;  // as a whole
      if (!in_order(loop) && !scanned) return report(s, false);
      carried = d.forward();
    }
    differences.same.insert(loop.axis);
  }
  return {};
}

}  // namespace

std::optional<Misorder> misordered(const Program& p, const Stmt& nest) {
  const ir::Stage& stage = p.stage(nest.get<NestStmt>().stage);
  const auto reads = ir::self_reads(p, stage);
  std::optional<Misorder> found;
  std::vector<const Stmt*> loops;
  const auto visit = [&](const auto& self, const std::vector<Stmt>& body) -> void {
    for (const Stmt& s : body) {
      if (s.is<NestStmt>() || found) continue;
      if (s.is<LoopStmt>()) loops.push_back(&s);
      if (s.is<BlockStmt>())
        for (const ir::SelfRead& r : reads)
          if (!found) found = misordered(p, stage, loops, r);
      self(self, s.body());
      if (s.is<LoopStmt>()) loops.pop_back();
    }
  };
  visit(visit, nest.body());
  return found;
}

bool iterations_apart(const Program& p, const ir::Stage& stage, Id axis) {
  for (const ir::SelfRead& r : ir::self_reads(p, stage))
    if (!Differences{p, stage, r}.of(axis).none()) return false;
  return true;
}

void close_box(const Program& p, const ir::Stage& stage, std::vector<Interval>& box) {
  if (!stage.is_recurrence()) return;
  const auto reads = ir::self_reads(p, stage);
  for (std::size_t d = 0; d < box.size(); ++d) {
    bool moves = false, backwards = true;
    for (const ir::SelfRead& r : reads) {
      moves = moves || !r.back[d] || *r.back[d] != 0;
      backwards = backwards && r.least[d] && *r.least[d] >= 0;
    }
    const ir::IterVar& v = stage.iters[d];
    if (moves && !(backwards && v.descending)) box[d].lo = v.begin;
    if (moves && !(backwards && !v.descending)) box[d].hi = ir::sub(v.end, ir::index(1));
  }
}

}  // namespace ashlar::analysis
