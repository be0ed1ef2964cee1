// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ir/program.h>

#include <algorithm>
#include <unordered_set>

#include <ashlar/ir/build.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/ir/skew.h>

namespace ashlar::ir {
namespace {

template <class Map>
const typename Map::mapped_type& at(const Map& map, Id id, const char* what) {
  const auto it = map.find(id);
  if (it == map.end()) throw InternalError(std::string("no ") + what + " with id " + std::to_string(id));
  return it->second;
}

bool find_path(const std::vector<Stmt>& body, Id id, std::vector<const Stmt*>& path) {
  for (const Stmt& s : body) {
    path.push_back(&s);
    if (s.id == id || find_path(s.body(), id, path)) return true;
    path.pop_back();
  }
  return false;
}

Stmt* find_in(std::vector<Stmt>& body, Id id) {
  for (Stmt& s : body) {
    if (s.id == id) return &s;
    if (!s.has_body()) continue;
    if (Stmt* found = find_in(s.body(), id)) return found;
  }
  return nullptr;
}

}  // namespace

void Stmt::refuse_node() const {
  static constexpr const char* names[] = {"block", "nest", "loop", "alloc", "prefetch"};
  throw InternalError(std::string("a statement of another kind: ") + names[node.index()]);
}

const std::vector<Stmt>& Stmt::body() const {
  static const std::vector<Stmt> none;
  if (const LoopStmt* loop = as<LoopStmt>()) return loop->body;
  if (const NestStmt* nest = as<NestStmt>()) return nest->body;
  return none;
}
std::vector<Stmt>& Stmt::body() {
  if (LoopStmt* loop = as<LoopStmt>()) return loop->body;
  return get<NestStmt>().body;
}

const Buffer& Program::buffer(Id id) const { return at(buffers, id, "buffer"); }
const Stage& Program::stage(Id id) const { return at(stages, id, "stage"); }
const Axis& Program::axis(Id id) const { return at(axes, id, "axis"); }

std::vector<const Stmt*> path_to(const Program& p, Id statement) {
  std::vector<const Stmt*> path;
  path.reserve(16);
  find_path(p.body, statement, path);
  return path;
}
Stmt* find(Program& p, Id statement) { return find_in(p.body, statement); }
const Stmt* find(const Program& p, Id statement) { return find_in(const_cast<std::vector<Stmt>&>(p.body), statement); }

void walk(const std::vector<Stmt>& body, const std::function<void(const Stmt&)>& enter) {
  for (const Stmt& s : body) {
    enter(s);
    walk(s.body(), enter);
  }
}
void walk(std::vector<Stmt>& body, const std::function<void(Stmt&)>& enter) {
  for (Stmt& s : body) {
    enter(s);
    if (s.has_body()) walk(s.body(), enter);
  }
}

namespace {
template <class Node>
std::vector<const Stmt*> collect(const Program& p, Id stage) {
  std::vector<const Stmt*> found;
  walk(p.body, [&](const Stmt& s) {
    if (const Node* node = s.as<Node>(); node && node->stage == stage) found.push_back(&s);
  });
  return found;
}
}  // namespace

std::vector<const Stmt*> nests_of(const Program& p, Id stage) { return collect<NestStmt>(p, stage); }
std::vector<const Stmt*> blocks_of(const Program& p, Id stage) { return collect<BlockStmt>(p, stage); }

const Stmt* alloc_of(const Program& p, Id id) {
  const Stmt* found = nullptr;
  walk(p.body, [&](const Stmt& s) {
    if (const AllocStmt* alloc = s.as<AllocStmt>(); alloc && (alloc->buffer == id || s.id == id) && !found) found = &s;
  });
  return found;
}

// ---- provenance --------------------------------------------------------------------------------------------------------

Id add_root_axis(Program& p, const IterVar& v) {
  Axis axis;
  axis.id = p.fresh();
  axis.name = v.name;
  axis.where = v.where;
  axis.iter = v.id;
  axis.reduce = v.kind == IterKind::reduce;
  p.axes[axis.id] = axis;
  return axis.id;
}

Expr axis_var(const Program& p, Id axis) { return var(axis, p.axis(axis).name); }

std::vector<Id> successors(const Program& p, Id axis) { return p.axis(axis).became; }

bool is_leaf(const Program& p, Id axis) { return successors(p, axis).empty(); }

Expr axis_value(const Program& p, Id axis) {
  const auto next = successors(p, axis);
  if (next.empty()) return axis_var(p, axis);
  if (next.size() == 2) {
    const Axis& outer = p.axis(next[0]);
    Expr base = mul(axis_value(p, next[0]), outer.factor);
    if (outer.tail == Tail::shift) base = min(base, sub(p.axis(axis).extent, outer.factor));
    return add(base, axis_value(p, next[1]));
  }
  const Axis& fused = p.axis(next[0]);
  const Expr value = axis_value(p, fused.id);
  if (fused.origin == Axis::Origin::skewed) return sub(value, skew_offset(p, fused));
  const Expr& width = p.axis(fused.inner).extent;
  return fused.outer == axis ? div(value, width) : mod(value, width);
}

std::vector<Id> roots_of(const Program& p, Id axis) {
  const Axis& a = p.axis(axis);
  switch (a.origin) {
    case Axis::Origin::root:
      return {axis};
    case Axis::Origin::split_outer:
    case Axis::Origin::split_inner:
      return roots_of(p, a.parent);
    case Axis::Origin::skewed:
    case Axis::Origin::fused: {
      auto roots = roots_of(p, a.outer);
      for (Id r : roots_of(p, a.origin == Axis::Origin::fused ? a.inner : a.parent))
        if (std::find(roots.begin(), roots.end(), r) == roots.end()) roots.push_back(r);
      return roots;
    }
  }
  return {};
}

std::vector<Id> leaves_of(const Program& p, Id axis) {
  const auto next = successors(p, axis);
  if (next.empty()) return {axis};
  std::vector<Id> leaves;
  const auto take = [&](Id from) {
    for (Id l : leaves_of(p, from))
      if (std::find(leaves.begin(), leaves.end(), l) == leaves.end()) leaves.push_back(l);
  };
  for (Id n : next) {
    take(n);
    if (p.axis(n).origin == Axis::Origin::skewed) take(p.axis(n).outer);
  }
  return leaves;
}

Expr extent_of(const Program& p, const LoopStmt& loop) {
  const Axis& a = p.axis(loop.axis);
  if (!loop.tight || !skews_of(p, loop.axis).empty()) return a.extent;
  return min(a.extent, sub(p.axis(a.parent).extent, mul(axis_value(p, p.axis(a.parent).became.front()), a.factor)));
}

LoopRange range_of(const Program& p, const Stmt& statement) {
  const LoopStmt& loop = statement.get<LoopStmt>();
  const Axis& a = p.axis(loop.axis);
  if (loop.tight && !skews_of(p, loop.axis).empty()) return skewed_range(p, statement);
  const Expr zero = index(0), one = index(1), extent = extent_of(p, loop);
  switch (loop.part) {
    case Part::all:
      return {zero, extent};
    case Part::first:
      return {zero, min(one, extent)};
    case Part::but_first:
      return {one, extent};
    case Part::last:
      return {max(zero, sub(extent, one)), extent};
    case Part::but_last:
      return {zero, sub(extent, one)};
    case Part::middle:
      return {one, sub(extent, one)};
    case Part::end:
      return {max(one, sub(extent, one)), extent};
    case Part::full:
      return {zero, div(p.axis(a.parent).extent, a.factor)};
    case Part::rest:
      return {div(p.axis(a.parent).extent, a.factor), extent};
    case Part::below:
      return {zero, min(loop.to, extent)};
    case Part::between:
      return {loop.from, min(loop.to, extent)};
    case Part::above:
    case Part::beyond:
      return {loop.from, extent};
  }
  return {};
}

namespace {
Expr value_of(const Program& p, const IterVar& v, const Root& r) {
  const Expr step = axis_value(p, r.axis);
  return v.descending ? sub(add(r.begin, sub(r.extent, index(1))), step) : add(r.begin, step);
}
}  // namespace

Expr iter_value(const Program& p, const NestStmt& nest, Id iter) {
  const Stage& stage = p.stage(nest.stage);
  for (std::size_t k = 0; k < nest.roots.size(); ++k)
    if (nest.roots[k].iter == iter) return value_of(p, stage.iters.at(k), nest.roots[k]);
  throw InternalError("a nest lacks a root for an iteration variable");
}

Substitution iter_values(const Program& p, const NestStmt& nest) {
  Substitution s;
  const Stage& stage = p.stage(nest.stage);
  for (std::size_t k = 0; k < nest.roots.size(); ++k)
    s.emplace_back(nest.roots[k].iter, value_of(p, stage.iters.at(k), nest.roots[k]));
  return s;
}

}  // namespace ashlar::ir
