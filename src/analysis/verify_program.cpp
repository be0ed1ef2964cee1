#include <ashlar/analysis/verify.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <unordered_set>

#include <ashlar/ir/build.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

#include "analysis/verify_expr.h"

namespace ashlar::analysis {

using ir::Axis;
using ir::Buffer;
using ir::Id;
using ir::Op;
using ir::Part;
using ir::Program;
using ir::Stage;
using ir::Stmt;
using Kind = Stmt::Kind;

namespace {

// The tree flattened in order of execution: each statement with its parent and the nest around it.
struct Place {
  const Stmt* stmt = nullptr;
  int parent = -1, nest = -1;  // positions; nest: the innermost around it, not itself
  int end = 0;                 // one past its last descendant
};

class View {
 public:
  explicit View(const Program& program) : p(program) {
    flatten(program.body, -1, -1);
    collect();
  }

  const Program& p;
  std::vector<Place> places;
  struct Node {
    const Expr* e;
    const std::string* where;  // the stage, buffer or axis it belongs to
  };
  std::vector<Node> nodes;  // of all expressions of the program, shared ones once

  const Stmt& at(int k) const { return *places[static_cast<std::size_t>(k)].stmt; }
  const Place& place(int k) const { return places[static_cast<std::size_t>(k)]; }
  int size() const { return static_cast<int>(places.size()); }

  std::string name(const Stmt& s) const {
    const auto named = [](const auto& map, Id id) {
      const auto it = map.find(id);
      return it == map.end() ? "?" : it->second.name;
    };
    switch (s.kind) {
      case Kind::nest: return "nest " + named(p.stages, s.stage);
      case Kind::loop: return "loop " + named(p.axes, s.axis);
      case Kind::block: return "block " + named(p.stages, s.stage);
      case Kind::alloc: return "alloc " + named(p.buffers, s.buffer);
      case Kind::prefetch: return "prefetch " + named(p.buffers, s.buffer);
    }
    return "?";
  }
  // The loops around a statement up to its nest, outermost first.
  std::vector<const Stmt*> own_loops(int k) const {
    std::vector<const Stmt*> loops;
    for (int i = place(k).parent; i >= 0 && i != place(k).nest; i = place(i).parent)
      if (at(i).kind == Kind::loop) loops.push_back(&at(i));
    std::reverse(loops.begin(), loops.end());
    return loops;
  }
  template <class F> void each(Kind kind, F&& f) const {
    for (int k = 0; k < size(); ++k)
      if (at(k).kind == kind) f(k, at(k));
  }

 private:
  void collect() {
    std::unordered_set<const ir::Node*> seen;
    seen.reserve(1024);
    std::vector<const Expr*> pending;
    const auto add = [&](const Expr& root, const std::string& where) {
      if (root.empty()) return;
      pending.push_back(&root);
      while (!pending.empty()) {
        const Expr& e = *pending.back();
        pending.pop_back();
        if (!seen.insert(e.node()).second) continue;
        nodes.push_back({&e, &where});
        for (const Expr& x : ir::args_of(e)) pending.push_back(&x);
      }
    };
    for (const auto& [id, s] : p.stages) {
      for (const ir::IterVar& v : s.iters) add(v.begin, s.name), add(v.end, s.name);
      for (const auto* list : {&s.domain, &s.values, &s.inits, &s.reducer.combine})
        for (const Expr& e : *list) add(e, s.name);
      add(s.fill, s.name);
    }
    for (const auto& [id, b] : p.buffers)
      for (const auto* list : {&b.extents, &b.layout.map, &b.layout.strides})
        for (const Expr& e : *list) add(e, b.name);
    for (const auto& [id, x] : p.axes) add(x.extent, x.name), add(x.factor, x.name);
    static const std::string conditions = "a condition", box = "a box", assumption = "an assumption";
    for (const Place& place : places) {
      for (const ir::Root& r : place.stmt->roots) add(r.begin, box), add(r.extent, box);
      for (const Expr& e : place.stmt->when) add(e, conditions);
    }
    for (const Expr& e : p.assumptions) add(e, assumption);
  }

  void flatten(const std::vector<Stmt>& body, int parent, int nest) {
    for (const Stmt& s : body) {
      const int here = size();
      places.push_back({&s, parent, nest, 0});
      flatten(s.body, here, s.kind == Kind::nest ? here : nest);
      places[static_cast<std::size_t>(here)].end = size();
    }
  }
};

using Broken = std::string;  // what breaks the rule; empty: it holds
struct Rule : VerifierRule {
  Broken (*check)(const View&);
};

template <class F> Broken each_node(const Expr& root, std::unordered_set<const ir::Node*>& seen, F&& f) {
  std::vector<const Expr*> pending{&root};
  while (!pending.empty()) {
    const Expr& e = *pending.back();
    pending.pop_back();
    if (!seen.insert(e.node()).second) continue;
    if (Broken b = f(e); !b.empty()) return b;
    for (const Expr& a : ir::args_of(e)) pending.push_back(&a);
  }
  return {};
}

// What a piece of a stage reads: an init starts accumulators, an update only combines.
std::vector<const Expr*> loads_of(const Stage& s, Stmt::Piece piece = Stmt::Piece::whole) {
  std::vector<const Expr*> loads;
  for (const auto* list : {&s.values, &s.inits, &s.domain}) {
    if ((piece == Stmt::Piece::init && list == &s.values) || (piece == Stmt::Piece::update && list == &s.inits)) continue;
    for (const Expr& root : *list) {
      std::unordered_set<const ir::Node*> seen;
      each_node(root, seen, [&](const Expr& e) {
        if (ir::is(e, Op::load)) loads.push_back(&e);
        return Broken{};
      });
    }
  }
  return loads;
}

bool within(const Axis& a, const View& v, const std::set<Id>& roots) {
  for (Id r : ir::roots_of(v.p, a.id))
    if (!roots.count(r)) return false;
  return true;
}

std::set<Id> root_axes(const Stmt& nest) {
  std::set<Id> ids;
  for (const ir::Root& r : nest.roots) ids.insert(r.axis);
  return ids;
}

// The cells that a part of an axis covers: first, middle and last iteration, or full and ragged tiles.
unsigned cells(Part part) {
  switch (part) {
    case Part::all: return 0b111;
    case Part::first: return 0b001;
    case Part::but_first: return 0b110;
    case Part::last: return 0b100;
    case Part::but_last: return 0b011;
    case Part::middle: return 0b010;
    case Part::end: return 0b100;
    case Part::full: return 0b001;
    case Part::rest: return 0b110;
  }
  return 0;
}

// ---- ids ---------------------------------------------------------------------------------------------------------------

Broken ids_resolve(const View& v) {
  const Program& p = v.p;
  for (const auto& [id, b] : p.buffers)
    if (b.id != id || (b.stage && !p.stages.count(b.stage))) return "buffer " + b.name;
  for (const auto& [id, s] : p.stages) {
    if (s.id != id) return "stage " + s.name;
    for (Id b : s.buffers)
      if (!p.buffers.count(b)) return "a buffer of stage " + s.name;
  }
  for (const auto& [id, a] : p.axes) {
    if (a.id != id) return "axis " + a.name;
    for (Id other : {a.parent, a.outer, a.inner})
      if (other && !p.axes.count(other)) return "an axis that " + a.name + " came from";
    for (Id next : a.became)
      if (!p.axes.count(next)) return "an axis that " + a.name + " became";
  }
  for (const ir::Argument& a : p.arguments)
    if (!(a.kind == ir::ArgumentKind::scalar ? p.scalars.count(a.id) : p.buffers.count(a.id))) return "an argument";
  for (const Place& place : v.places) {
    const Stmt& s = *place.stmt;
    const bool stage = s.kind == Kind::nest || s.kind == Kind::block, buffer = s.kind == Kind::alloc || s.kind == Kind::prefetch;
    if ((stage && !p.stages.count(s.stage)) || (buffer && !p.buffers.count(s.buffer)) || (s.kind == Kind::loop && !p.axes.count(s.axis)) ||
        (s.after && !p.stages.count(s.after)))
      return v.name(s);
    for (const ir::Root& r : s.roots)
      if (!p.axes.count(r.axis)) return "a root of " + v.name(s);
  }
  return {};
}

Broken ids_unique(const View& v) {
  std::set<Id> seen;
  for (const Place& place : v.places) {
    if (!place.stmt->id || !seen.insert(place.stmt->id).second) return v.name(*place.stmt);
    if (place.stmt->id >= v.p.next_id) return v.name(*place.stmt) + " beyond next_id";
  }
  return {};
}

Broken ids_variables(const View& v) {
  std::set<Id> known;
  for (const auto& [id, s] : v.p.symbols) known.insert(id);
  for (const auto& [id, s] : v.p.scalars) known.insert(id);
  for (const auto& [id, a] : v.p.axes) known.insert(id);
  for (const auto& [id, s] : v.p.stages) {
    for (const ir::IterVar& i : s.iters) known.insert(i.id);
    known.insert(s.reducer.left.begin(), s.reducer.left.end());
    known.insert(s.reducer.right.begin(), s.reducer.right.end());
  }
  for (const auto& [id, b] : v.p.buffers) known.insert(b.layout.vars.begin(), b.layout.vars.end());
  for (const View::Node& n : v.nodes)
    if (ir::is(*n.e, Op::var) && !known.count(n.e->node()->id)) return "variable " + ir::text(*n.e) + " in " + *n.where;
  return {};
}

// ---- types -------------------------------------------------------------------------------------------------------------

Broken types_operands(const View& v) {
  for (const View::Node& n : v.nodes)
    if (Broken wrong = wrong_types(*n.e); !wrong.empty()) return wrong + " in " + *n.where;
  return {};
}

Broken types_loads(const View& v) {
  for (const View::Node& n : v.nodes) {
    const Expr& e = *n.e;
    if (!ir::is(e, Op::load)) continue;
    const auto it = v.p.buffers.find(e.node()->id);
    if (it == v.p.buffers.end()) return "load of an unknown buffer in " + *n.where;
    if (static_cast<int>(e.node()->count) != it->second.rank) return ir::text(e) + " of a buffer of rank " + std::to_string(it->second.rank);
    if (!(e.node()->type == it->second.type)) return ir::text(e) + " as " + ir::text(e.node()->type) + " of a buffer of " + ir::text(it->second.type);
    for (const Expr& i : ir::args_of(e))
      if (!i.node()->type.is_index()) return ir::text(e) + " at a subscript of type " + ir::text(i.node()->type);
  }
  return {};
}

Broken types_conditions(const View& v) {
  for (const auto& [id, s] : v.p.stages)
    for (const Expr& e : s.domain)
      if (!(e.type() == bool_)) return ir::text(e) + " in the domain of " + s.name;
  for (const Place& place : v.places)
    for (const Expr& e : place.stmt->when)
      if (!(e.type() == bool_)) return ir::text(e) + " at " + v.name(*place.stmt);
  for (const Expr& e : v.p.assumptions)
    if (!(e.type() == bool_)) return ir::text(e) + " assumed";
  return {};
}

// ---- stages and buffers ------------------------------------------------------------------------------------------------

Broken stage_components(const View& v) {
  for (const auto& [id, s] : v.p.stages) {
    if (s.values.empty() || s.values.size() != s.buffers.size()) return s.name;
    for (std::size_t k = 0; k < s.values.size(); ++k) {
      const Buffer& b = v.p.buffer(s.buffers[k]);
      if (!(b.type == s.values[k].type())) return ir::text(s.values[k].type()) + " stored to " + b.name + " of " + ir::text(b.type);
      if (b.stage != id) return b.name + ", which names another stage";
    }
  }
  return {};
}

Broken stage_rank(const View& v) {
  for (const auto& [id, s] : v.p.stages)
    for (Id b : s.buffers)
      if (v.p.buffer(b).rank != s.spatial_rank()) return v.p.buffer(b).name + " of rank " + std::to_string(v.p.buffer(b).rank) + " written by " + s.name;
  return {};
}

Broken stage_reduction(const View& v) {
  for (const auto& [id, s] : v.p.stages) {
    const bool reduces = std::any_of(s.iters.begin(), s.iters.end(), [](const ir::IterVar& i) { return i.kind == ir::IterKind::reduce; });
    if (reduces && !s.is_reduction()) return s.name + " without a reducer";
    if (s.is_reduction() && s.inits.size() != s.values.size()) return s.name + " with " + std::to_string(s.inits.size()) + " inits";
    if (s.reducer.kind == ir::ReducerKind::custom &&
        (s.reducer.combine.size() != s.values.size() || s.reducer.left.size() != s.values.size() || s.reducer.right.size() != s.values.size()))
      return "the reducer of " + s.name;
  }
  return {};
}

Broken stage_scope(const View& v) {
  for (const auto& [id, s] : v.p.stages) {
    std::set<Id> own, spatial;
    for (const auto& [symbol, unused] : v.p.symbols) own.insert(symbol), spatial.insert(symbol);
    for (const auto& [scalar, unused] : v.p.scalars) own.insert(scalar), spatial.insert(scalar);
    for (const ir::IterVar& i : s.iters) {
      for (const Expr* bound : {&i.begin, &i.end})
        if (!bound->empty())
          for (Id x : ir::free_vars(*bound))
            if (!own.count(x)) return "the range of " + i.name + " of " + s.name;
      own.insert(i.id);
      if (i.kind != ir::IterKind::reduce) spatial.insert(i.id);
    }
    for (const auto* list : {&s.values, &s.domain})
      for (const Expr& e : *list)
        for (Id x : ir::free_vars(e))
          if (!own.count(x)) return ir::text(e) + " of " + s.name;
    for (const Expr& e : s.inits)
      for (Id x : ir::free_vars(e))
        if (!spatial.count(x)) return "the init " + ir::text(e) + " of " + s.name;
  }
  return {};
}

Broken stage_acyclic(const View& v) {
  enum { fresh, open, done };
  std::map<Id, int> state;
  struct Frame { Id stage; std::vector<Id> reads; std::size_t next; };
  for (const auto& [root, unused] : v.p.stages) {
    if (state[root] != fresh) continue;
    std::vector<Frame> stack;
    const auto enter = [&](Id id) {
      state[id] = open;
      Frame f{id, {}, 0};
      for (const Expr* e : loads_of(v.p.stage(id))) {
        const auto it = v.p.buffers.find(e->node()->id);
        if (it != v.p.buffers.end() && it->second.stage) f.reads.push_back(it->second.stage);
      }
      stack.push_back(std::move(f));
    };
    enter(root);
    while (!stack.empty()) {
      Frame& f = stack.back();
      if (f.next == f.reads.size()) {
        state[f.stage] = done;
        stack.pop_back();
        continue;
      }
      const Id next = f.reads[f.next++];
      if (state[next] == open) return v.p.stage(f.stage).name + " and " + v.p.stage(next).name;
      if (state[next] == fresh) enter(next);
    }
  }
  return {};
}

Broken buffer_arguments(const View& v) {
  std::set<Id> given;
  for (const ir::Argument& a : v.p.arguments) {
    if (a.kind == ir::ArgumentKind::scalar) continue;
    const Buffer& b = v.p.buffer(a.id);
    const bool output = a.kind == ir::ArgumentKind::output;
    if (!given.insert(a.id).second || b.role != (output ? ir::Role::output : ir::Role::input)) return b.name;
    if (static_cast<int>(b.extents.size()) != b.rank) return b.name + " with " + std::to_string(b.extents.size()) + " extents";
    if (output != (b.stage != 0)) return b.name + (output ? ", which no stage writes" : ", which a stage writes");
  }
  for (const auto& [id, b] : v.p.buffers)
    if (b.role != ir::Role::temporary && !given.count(id)) return b.name + ", which is no argument";
  return {};
}

Broken buffer_layout(const View& v) {
  for (const auto& [id, b] : v.p.buffers) {
    const ir::Layout& l = b.layout;
    if (!l.map.empty() && static_cast<int>(l.vars.size()) != b.rank) return b.name;
    for (const Expr& e : l.map)
      if (!e.type().is_index()) return b.name;
    const int physical = l.map.empty() ? b.rank : static_cast<int>(l.map.size());
    if (!l.strides.empty() && static_cast<int>(l.strides.size()) != physical) return b.name + " with " + std::to_string(l.strides.size()) + " strides";
    if (l.pad_to < 1 || l.align_dim >= physical) return b.name;
  }
  return {};
}

// ---- nests, axes, loops ------------------------------------------------------------------------------------------------

Broken nest_roots(const View& v) {
  Broken broken;
  int derived = 0, open = 0;
  v.each(Kind::nest, [&](int, const Stmt& nest) {
    const Stage& s = v.p.stage(nest.stage);
    bool ok = nest.roots.size() == s.iters.size();
    for (std::size_t k = 0; ok && k < nest.roots.size(); ++k) {
      const ir::Root& r = nest.roots[k];
      const Axis& a = v.p.axis(r.axis);
      ok = r.iter == s.iters[k].id && a.origin == Axis::Origin::root && a.iter == r.iter && a.reduce == (s.iters[k].kind == ir::IterKind::reduce);
      ok = ok && r.begin.empty() == r.extent.empty();
      (r.begin.empty() ? open : derived)++;
    }
    if (!ok && broken.empty()) broken = v.name(nest);
  });
  if (broken.empty() && derived && open) return "some boxes derived, some not";
  return broken;
}

Broken axis_provenance(const View& v) {
  for (const auto& [id, a] : v.p.axes) {
    switch (a.origin) {
      case Axis::Origin::root: break;
      case Axis::Origin::split_outer: case Axis::Origin::split_inner: {
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
    if (broken.empty() && (nest < 0 || !a.became.empty() || !within(a, v, root_axes(v.at(nest))))) broken = v.name(loop);
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
      if (v.at(i).kind == Kind::loop && (v.at(i).loop_kind == ir::LoopKind::parallel || v.at(i).loop_kind == ir::LoopKind::vectorized) && broken.empty())
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
    if (!ir::is_int(a.extent) && broken.empty()) broken = v.name(loop) + " of extent " + ir::text(a.extent);
  });
  return broken;
}

Broken loop_reduction(const View& v) {
  Broken broken;
  v.each(Kind::loop, [&](int, const Stmt& loop) {
    const bool spread = loop.loop_kind == ir::LoopKind::parallel || loop.loop_kind == ir::LoopKind::vectorized;
    if (spread && v.p.axis(loop.axis).reduce && broken.empty()) broken = v.name(loop);
  });
  return broken;
}

// ---- blocks ------------------------------------------------------------------------------------------------------------

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
    std::set<Id> wanted, around;
    for (const ir::Root& r : v.at(v.place(k).nest).roots)
      for (Id leaf : ir::leaves_of(v.p, r.axis))
        if (block.piece != Stmt::Piece::init || !v.p.axis(leaf).reduce) wanted.insert(leaf);
    for (const Stmt* loop : v.own_loops(k)) around.insert(loop->axis);
    if (block.piece == Stmt::Piece::init) std::erase_if(around, [&](Id a) { return v.p.axis(a).reduce && !wanted.count(a); });
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
      if (block.kind != Kind::block || v.place(k).nest != at || block.piece == Stmt::Piece::init) continue;
      std::map<Id, Part> parts;
      for (const Stmt* loop : v.own_loops(k)) {
        parts[loop->axis] = loop->part;
        if (loop->part != Part::all && std::find(peeled.begin(), peeled.end(), loop->axis) == peeled.end()) peeled.push_back(loop->axis);
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
        broken = v.name(nest) + (covered ? ": a part is computed " + std::to_string(covered) + " times" : ": a part is computed by no block");
        return;
      }
    }
  });
  return broken;
}

Broken block_init(const View& v) {
  Broken broken;
  v.each(Kind::nest, [&](int at, const Stmt& nest) {
    bool init = false, whole = false, update = false;
    for (int k = at + 1; k < v.place(at).end; ++k) {
      const Stmt& block = v.at(k);
      if (block.kind != Kind::block || v.place(k).nest != at || !broken.empty()) continue;
      if (block.piece != Stmt::Piece::whole && !v.p.stage(block.stage).is_reduction()) broken = v.name(block) + ", which is no reduction";
      if (block.piece == Stmt::Piece::init) init = true;
      if (block.piece == Stmt::Piece::whole) whole = true;
      if (block.piece == Stmt::Piece::update) {
        update = true;
        if (!init && !block.first_stores) broken = v.name(block) + " updated before its init";
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
    if (!s.is_reduction() || s.reducer.order != ir::Reducer::Order::exact || block.piece == Stmt::Piece::init || !broken.empty()) return;
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

// Walks in order of execution with what is allocated and what has been computed so far.
Broken in_order(const View& v, bool storage) {
  struct State {
    const View& v;
    bool storage;
    std::multiset<Id> live;
    std::set<Id> begun;  // stages of which some nest has started

    Broken body(const std::vector<Stmt>& list) {
      std::vector<Id> here;
      for (const Stmt& s : list) {
        if (s.kind == Kind::alloc) {
          if (storage && live.count(s.buffer)) return v.name(s) + " while it is allocated";
          if (storage && v.p.buffer(s.buffer).role != ir::Role::temporary) return v.name(s) + ", an argument";
          live.insert(s.buffer);
          here.push_back(s.buffer);
        }
        if (s.kind == Kind::nest) begun.insert(s.stage);
        if (s.kind == Kind::block)
          if (Broken b = block(s); !b.empty()) return b;
        if (Broken b = body(s.body); !b.empty()) return b;
      }
      for (Id b : here) live.erase(live.find(b));
      return {};
    }
    Broken block(const Stmt& s) {
      const Stage& stage = v.p.stage(s.stage);
      const auto usable = [&](Id id) { return v.p.buffer(id).role != ir::Role::temporary || live.count(id) > 0; };
      for (Id b : stage.buffers)
        if (storage && !usable(b)) return stage.name + " stores to " + v.p.buffer(b).name;
      for (const Expr* e : loads_of(stage, s.first_stores ? Stmt::Piece::whole : s.piece)) {
        const Buffer& b = v.p.buffer(e->node()->id);
        if (storage && !usable(b.id)) return stage.name + " reads " + b.name;
        if (!storage && b.stage && !begun.count(b.stage)) return stage.name + " reads " + b.name;
      }
      return {};
    }
  };
  return State{v, storage, {}, {}}.body(v.p.body);
}

Broken storage_live(const View& v) { return in_order(v, true); }
Broken order_produced(const View& v) { return in_order(v, false); }

Broken order_outputs(const View& v) {
  std::set<Id> computed;
  for (const Place& place : v.places)
    if (place.stmt->kind == Kind::nest) computed.insert(place.stmt->stage);
  for (const auto& [id, b] : v.p.buffers)
    if (b.role == ir::Role::output && !computed.count(b.stage)) return b.name;
  return {};
}

Broken slide_loop(const View& v) {
  Broken broken;
  v.each(Kind::nest, [&](int k, const Stmt& nest) {
    for (const ir::Slide& slide : nest.slides) {
      bool around = false;
      for (int i = v.place(k).parent; i >= 0; i = v.place(i).parent)
        around = around || (v.at(i).id == slide.loop && v.at(i).kind == Kind::loop && v.at(i).loop_kind == ir::LoopKind::serial);
      const auto& iters = v.p.stage(nest.stage).iters;
      const bool own = std::any_of(iters.begin(), iters.end(), [&](const ir::IterVar& i) { return i.id == slide.iter; });
      if ((!around || !own) && broken.empty()) broken = v.name(nest);
    }
  });
  return broken;
}

constexpr Rule rules[] = {
    {{"ids.resolve", "every id refers to something that exists"}, ids_resolve},
    {{"ids.unique", "statements have ids of their own, below next_id"}, ids_unique},
    {{"ids.variables", "a variable is a symbol, a scalar, an axis, an iteration variable or a parameter"}, ids_variables},
    {{"axis.provenance", "axes and what they were split or fused into name each other"}, axis_provenance},
    {{"types.operands", "operands have the types that their operator takes"}, types_operands},
    {{"types.loads", "a load has its buffer's type and one index a dimension"}, types_loads},
    {{"types.conditions", "conditions are of type bool"}, types_conditions},
    {{"stage.components", "a stage has a buffer for each value, of its type"}, stage_components},
    {{"stage.rank", "a stage writes at its spatial iteration variables, one a dimension"}, stage_rank},
    {{"stage.reduction", "a stage has reduce variables only with a reducer and inits"}, stage_reduction},
    {{"stage.scope", "a stage is defined over its own variables, symbols and scalars; inits without reduce variables"}, stage_scope},
    {{"stage.acyclic", "no stage needs itself"}, stage_acyclic},
    {{"buffer.arguments", "arguments are inputs that no stage writes and outputs that one does"}, buffer_arguments},
    {{"buffer.layout", "a layout has a variable for each dimension and a stride for each physical one"}, buffer_layout},
    {{"nest.roots", "a nest has one root axis for each iteration variable of its stage, in order"}, nest_roots},
    {{"loop.own", "a loop runs over a leaf of its nest's axes"}, loop_own},
    {{"loop.once", "no axis runs inside itself"}, loop_once},
    {{"loop.parallel", "a parallel loop is inside no parallel or vectorized one"}, loop_parallel},
    {{"loop.constant", "vectorized and unrolled loops have constant extents"}, loop_constant},
    {{"loop.reduction", "reduction loops are neither parallel nor vectorized"}, loop_reduction},
    {{"block.own", "a block belongs to the stage of its nest"}, block_own},
    {{"block.leaves", "the loops around a block run over every leaf axis of its nest; around an init over the spatial ones"}, block_leaves},
    {{"block.cover", "the pieces of a nest cover its domain, each point once"}, block_cover},
    {{"block.init", "a point is initialised before it is updated"}, block_init},
    {{"block.order", "a reducer that keeps its order has its loops in the order of definition"}, block_order},
    {{"storage.live", "a temporary is allocated once around all its uses"}, storage_live},
    {{"order.produced", "what a block reads has been computed before, or is being computed around it"}, order_produced},
    {{"order.outputs", "every output is computed"}, order_outputs},
    {{"slide.loop", "a nest slides along a serial loop around it"}, slide_loop},
};

}  // namespace

std::span<const VerifierRule> program_rules() {
  static const auto table = [] {
    std::array<VerifierRule, std::size(rules)> t;
    std::copy(std::begin(rules), std::end(rules), t.begin());
    return t;
  }();
  return table;
}

void verify(const Program& program, std::string_view after) {
  const View view(program);
  for (const Rule& r : rules)
    if (const Broken found = r.check(view); !found.empty())
      throw InternalError((after.empty() ? std::string() : "after " + std::string(after) + ": ") + r.name + ": " + r.sentence + "; found: " + found);
}

}  // namespace ashlar::analysis
