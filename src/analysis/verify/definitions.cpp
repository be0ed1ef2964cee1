// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules about what is defined: ids, types, stages, buffers.
#include <algorithm>
#include <map>
#include <set>

#include <ashlar/analysis/atomic.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/recurrence.h>
#include <ashlar/ir/vscale.h>

#include "analysis/verify/expr.h"
#include "analysis/verify/view.h"

namespace ashlar::analysis::verifier {
namespace {

template <class F>
Broken each_node(const Expr& root, std::unordered_set<const ir::Node*>& seen, F&& f) {
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

}  // namespace

std::vector<const Expr*> loads_of(const Stage& s, ir::Piece piece) {
  std::vector<const Expr*> loads;
  const auto add = [&](const Expr& root) {
    std::unordered_set<const ir::Node*> seen;
    each_node(root, seen, [&](const Expr& e) {
      if (ir::is(e, Op::load)) loads.push_back(&e);
      return Broken{};
    });
  };
  if (piece == ir::Piece::whole || piece == ir::Piece::update) {
    for (const Expr& e : s.targets) add(e);
    if (!s.keep.empty()) add(s.keep);
  }
  for (const auto* list : {&s.values, &s.inits, &s.domain}) {
    if ((piece != ir::Piece::whole && piece != ir::Piece::update && list == &s.values) ||
        ((piece == ir::Piece::update || piece == ir::Piece::begin) && list == &s.inits))
      continue;
    for (const Expr& root : *list) add(root);
  }
  return loads;
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
    const bool resolved = ir::match(
        s, [&](const NestStmt& nest) { return p.stages.count(nest.stage) && (!nest.after || p.stages.count(nest.after)); },
        [&](const LoopStmt& loop) { return p.axes.count(loop.axis) != 0; },
        [&](const BlockStmt& block) { return p.stages.count(block.stage) != 0; },
        [&](const AllocStmt& alloc) { return p.buffers.count(alloc.buffer) != 0; },
        [&](const PrefetchStmt& prefetch) { return p.buffers.count(prefetch.buffer) != 0; });
    if (!resolved) return v.name(s);
    if (const NestStmt* nest = s.as<NestStmt>())
      for (const ir::Root& r : nest->roots)
        if (!p.axes.count(r.axis)) return "a root of " + v.name(s);
  }
  return {};
}

Broken ids_unique(const View& v) {
  std::vector<bool> met(static_cast<std::size_t>(v.p.next_id));
  const auto visit = [&](const auto& self, const std::vector<Stmt>& body) -> Broken {
    for (const Stmt& s : body) {
      if (s.id >= v.p.next_id) return v.name(s) + " beyond next_id";
      if (!s.id || met[s.id]) return v.name(s);
      met[s.id] = true;
      if (Broken b = self(self, s.body()); !b.empty()) return b;
    }
    return {};
  };
  return visit(visit, v.p.body);
}

Broken ids_variables(const View& v) {
  std::vector<Id> known{ir::vscale_id};
  for (const auto& [id, s] : v.p.symbols) known.push_back(id);
  for (const auto& [id, s] : v.p.scalars) known.push_back(id);
  for (const auto& [id, a] : v.p.axes) known.push_back(id);
  for (const auto& [id, s] : v.p.stages) {
    for (const ir::IterVar& i : s.iters) known.push_back(i.id);
    known.insert(known.end(), s.reducer.left.begin(), s.reducer.left.end());
    known.insert(known.end(), s.reducer.right.begin(), s.reducer.right.end());
  }
  for (const auto& [id, b] : v.p.buffers) {
    known.insert(known.end(), b.layout.vars.begin(), b.layout.vars.end());
    const bool given = b.role == ir::Role::input || b.role == ir::Role::output;  // names what the caller says
    for (const Expr& stride : b.layout.strides)
      if (given)
        for (const Id variable : ir::free_vars(stride)) known.push_back(variable);
  }
  std::sort(known.begin(), known.end());
  for (const View::Node& n : v.nodes)
    if (ir::is(*n.e, Op::var) && !std::binary_search(known.begin(), known.end(), n.e->node()->id))
      return "variable " + ir::text(*n.e) + " in " + *n.where;
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
    if (static_cast<int>(e.node()->count) != it->second.rank)
      return ir::text(e) + " of a buffer of rank " + std::to_string(it->second.rank);
    if (!(e.node()->type == it->second.type))
      return ir::text(e) + " as " + ir::text(e.node()->type) + " of a buffer of " + ir::text(it->second.type);
    for (const Expr& i : ir::args_of(e))
      if (!i.node()->type.is_index()) return ir::text(e) + " at a subscript of type " + ir::text(i.node()->type);
  }
  return {};
}

Broken types_conditions(const View& v) {
  for (const auto& [id, s] : v.p.stages)
    for (const Expr& e : s.domain)
      if (!(e.type() == bool_)) return ir::text(e) + " in the domain of " + s.name;
  for (const auto& [id, s] : v.p.stages)
    if (!s.keep.empty() && !(s.keep.type() == bool_)) return ir::text(s.keep) + " of " + s.name;
  for (const Place& place : v.places)
    if (const BlockStmt* block = place.stmt->as<BlockStmt>())
      for (const Expr& e : block->when)
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
      if (!(b.type == s.values[k].type()))
        return ir::text(s.values[k].type()) + " stored to " + b.name + " of " + ir::text(b.type);
      if (b.stage != id) return b.name + ", which names another stage";
    }
  }
  return {};
}

Broken stage_rank(const View& v) {
  for (const auto& [id, s] : v.p.stages)
    for (Id b : s.buffers)
      if (v.p.buffer(b).rank != s.spatial_rank())
        return v.p.buffer(b).name + " of rank " + std::to_string(v.p.buffer(b).rank) + " written by " + s.name;
  return {};
}

Broken stage_reduction(const View& v) {
  for (const auto& [id, s] : v.p.stages) {
    const bool reduces =
        std::any_of(s.iters.begin(), s.iters.end(), [](const ir::IterVar& i) { return i.kind == ir::IterKind::reduce; });
    if (reduces && !s.is_reduction()) return s.name + " without a reducer";
    if (s.is_reduction() && s.inits.size() != s.values.size())
      return s.name + " with " + std::to_string(s.inits.size()) + " inits";
    if (s.reducer.kind == ir::ReducerKind::custom &&
        (s.reducer.combine.size() != s.values.size() || s.reducer.left.size() != s.values.size() ||
         s.reducer.right.size() != s.values.size()))
      return "the reducer of " + s.name;
  }
  return {};
}

Broken stage_scope(const View& v) {
  for (const auto& [id, s] : v.p.stages) {
    if (v.defined_before(s)) continue;
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
    for (const ir::IterVar& i : s.iters)
      if (s.scattered(i.id)) own.erase(i.id);  // a step chooses its element
    std::vector<Expr> steps = s.targets;
    if (!s.keep.empty()) steps.push_back(s.keep);
    for (const auto* list : {&s.values, &s.domain, static_cast<const std::vector<Expr>*>(&steps)})
      for (const Expr& e : *list)
        for (Id x : ir::free_vars(e))
          if (!own.count(x)) return ir::text(e) + " of " + s.name;
    for (const Expr& e : s.inits)
      for (Id x : ir::free_vars(e))
        if (!spatial.count(x)) return "the init " + ir::text(e) + " of " + s.name;
  }
  return {};
}

Broken stage_scatter(const View& v) {
  for (const auto& [id, s] : v.p.stages) {
    if (!s.scatters() && s.keep.empty()) continue;
    if (!s.is_reduction()) return s.name + " without a reducer";
    if (static_cast<int>(s.targets.size()) != s.spatial_rank())
      return s.name + " with " + std::to_string(s.targets.size()) + " targets";
    for (const Expr& e : s.targets)
      if (!e.type().is_index()) return ir::text(e) + " of " + s.name;
  }
  return {};
}

Broken stage_atomic(const View& v) {
  for (const auto& [id, s] : v.p.stages)
    if (s.atomic && !atomic_operator(s)) return s.name;
  return {};
}

Broken stage_acyclic(const View& v) {
  enum { fresh, open, done };
  const std::map<Id, Id> around = ir::recurrences_around(v.p);
  std::map<Id, int> state;
  struct Frame {
    Id stage;
    std::vector<Id> reads;
    std::size_t next;
  };
  for (const auto& [root, unused] : v.p.stages) {
    if (state[root] != fresh) continue;
    std::vector<Frame> stack;
    const auto enter = [&](Id id) {
      state[id] = open;
      Frame f{id, {}, 0};
      for (const Expr* e : loads_of(v.p.stage(id))) {
        const auto it = v.p.buffers.find(e->node()->id);
        const auto inside = around.find(id);
        const bool recurs = it != v.p.buffers.end() && ((it->second.stage == id && v.p.stage(id).is_recurrence()) ||
                                                        (inside != around.end() && it->second.stage == inside->second));
        if (it != v.p.buffers.end() && it->second.stage && !recurs) f.reads.push_back(it->second.stage);
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
    if (b.role == ir::Role::constant) {
      std::int64_t bytes = b.type.bytes();
      for (const Expr& e : b.extents) {
        std::int64_t n = 0;
        if (!ir::is_int(e, &n)) return b.name + ", a constant of extent " + ir::text(e);
        bytes *= n;
      }
      if (given.count(id) || b.stage != 0 || !b.data || static_cast<std::int64_t>(b.data->size()) != bytes ||
          static_cast<int>(b.extents.size()) != b.rank)
        return b.name + ", a constant";
    } else if (b.role != ir::Role::temporary && !given.count(id)) {
      return b.name + ", which is not an argument";
    }
  return {};
}

Broken buffer_layout(const View& v) {
  for (const auto& [id, b] : v.p.buffers) {
    const ir::Layout& l = b.layout;
    if (!l.map.empty() && static_cast<int>(l.vars.size()) != b.rank) return b.name;
    for (const Expr& e : l.map)
      if (!e.type().is_index()) return b.name;
    const int physical = l.map.empty() ? b.rank : static_cast<int>(l.map.size());
    if (!l.strides.empty() && static_cast<int>(l.strides.size()) != physical)
      return b.name + " with " + std::to_string(l.strides.size()) + " strides";
    if (l.pad_to < 1 || l.align_dim >= physical) return b.name;
  }
  return {};
}

}  // namespace ashlar::analysis::verifier
