#pragma once
// Programs put together by hand, for tests of lowering: stages over symbols, and the few tree transformations they need.
//
//   Handmade h("scale");
//   Expr n = h.symbol("N");
//   Id in = h.input("A", f32, {n}), out = h.output("B", f32, {n});
//   Id s = h.stage("B", out, {{"i", n}}, {}, [&](auto i) { return ir::mul(h.read(in, {i[0]}), h.number(f32, 2)); });
//   auto [o, i] = h.split(h.axis(s, "i"), 16);   h.kind(i, LoopKind::vectorized);
//   Kernel k = h.lowered();
#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <ashlar/analysis/regions.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/lower/lower.h>

#include "tests/support/program_arguments.h"

namespace handmade {

using namespace ashlar;
using ir::AllocStmt;
using ir::BlockStmt;
using ir::Id;
using ir::LoopKind;
using ir::LoopStmt;
using ir::NestStmt;
using ir::PrefetchStmt;
using ir::Stmt;

struct Dim {
  std::string name;
  Expr end;
};
using Point = std::vector<Expr>;

class Handmade {
 public:
  ir::Program p;
  explicit Handmade(std::string name) { p.name = std::move(name); }

  Expr symbol(const std::string& name, std::int64_t min = 0) {
    const Id id = p.fresh();
    ir::Symbol s;
    s.id = id;
    s.name = name;
    s.min = min;
    p.symbols[id] = s;
    return ir::var(id, name);
  }
  Expr number(Type t, double v) const {
    return t.is_float() ? ir::float_const(t, v) : ir::int_const(t, static_cast<std::int64_t>(v));
  }

  Id input(const std::string& name, Type t, std::vector<Expr> extents) {
    return argument(ir::ArgumentKind::input, name, t, std::move(extents));
  }
  Id output(const std::string& name, Type t, std::vector<Expr> extents) {
    return argument(ir::ArgumentKind::output, name, t, std::move(extents));
  }
  Id temporary(const std::string& name, Type t, int rank, Scope scope = Scope::global) {
    ir::Buffer b;
    b.id = p.fresh();
    b.name = name;
    b.type = t;
    b.rank = rank;
    b.scope = scope;
    p.buffers[b.id] = b;
    return b.id;
  }
  Expr read(Id buffer, const Point& at) const { return ir::load(buffer, p.buffer(buffer).name, p.buffer(buffer).type, at); }

  // A stage with a declared domain, computed at the end of the program; reductions where `reduce` is given, from `init`.
  Id stage(const std::string& name, Id buffer, const std::vector<Dim>& spatial, const std::vector<Dim>& reduce,
           const std::function<Expr(const Point&)>& value, ir::ReducerKind kind = ir::ReducerKind::none, Expr init = {}) {
    return stages(
        name, {buffer}, spatial, reduce, [&](const Point& at) { return std::vector<Expr>{value(at)}; }, kind,
        init.empty() ? std::vector<Expr>{} : std::vector<Expr>{init});
  }
  Id stages(const std::string& name, const std::vector<Id>& buffers, const std::vector<Dim>& spatial,
            const std::vector<Dim>& reduce, const std::function<std::vector<Expr>(const Point&)>& values,
            ir::ReducerKind kind = ir::ReducerKind::none, std::vector<Expr> inits = {}) {
    ir::Stage s;
    s.id = p.fresh();
    s.name = name;
    Point at;
    auto iterate = [&](const Dim& d, ir::IterKind k) {
      ir::IterVar v;
      v.id = p.fresh();
      v.name = d.name;
      v.kind = k;
      if (!d.end.empty()) v.begin = ir::index(0), v.end = d.end;
      s.iters.push_back(v);
      at.push_back(ir::var(v.id, v.name));
    };
    for (const Dim& d : spatial) iterate(d, ir::IterKind::spatial);
    for (const Dim& d : reduce) iterate(d, ir::IterKind::reduce);
    s.values = values(at);
    s.inits = std::move(inits);
    s.reducer.kind = kind;
    s.reducer.fused = kind == ir::ReducerKind::sum && ir::is(s.values.front(), ir::Op::mul);
    s.buffers = buffers;
    for (Id b : buffers) {
      p.buffers.at(b).stage = s.id;
      if (p.buffer(b).role == ir::Role::temporary) { p.body.push_back({p.fresh(), 0, {}, AllocStmt{.buffer = b}}); }
    }
    const Id nest_id = p.fresh();
    NestStmt nest{.stage = s.id};
    Stmt inner{p.fresh(), 0, {}, BlockStmt{.stage = s.id}};
    for (std::size_t k = s.iters.size(); k-- > 0;) {
      ir::Axis a;
      a.id = p.fresh();
      a.name = s.iters[k].name;
      a.iter = s.iters[k].id;
      a.reduce = s.iters[k].kind == ir::IterKind::reduce;
      p.axes[a.id] = a;
      nest.roots.insert(nest.roots.begin(), {s.iters[k].id, a.id, {}, {}});
      LoopStmt loop{.axis = a.id};
      loop.body.push_back(std::move(inner));
      inner = {p.fresh(), 0, {}, std::move(loop)};
    }
    nest.body.push_back(std::move(inner));
    const Id id = s.id;
    p.stages[id] = std::move(s);
    p.body.push_back({nest_id, 0, {}, std::move(nest)});
    return id;
  }

  // ---- the tree --------------------------------------------------------------------------------------------------------
  Stmt& nest(Id stage) { return *ir::find(p, ir::nests_of(p, stage).at(0)->id); }
  Id axis(Id stage, const std::string& name) {
    for (const ir::Root& r : nest(stage).get<NestStmt>().roots)
      if (p.axis(r.axis).name == name) return r.axis;
    throw InternalError("no axis " + name);
  }
  Stmt& loop(Id axis) {
    Id found = 0;
    ir::walk(p.body, [&](const Stmt& s) {
      if (ir::runs_over(s, axis) && !found) found = s.id;
    });
    return *ir::find(p, found);
  }
  Stmt& block(Id stage) { return *ir::find(p, ir::blocks_of(p, stage).at(0)->id); }
  void kind(Id axis, LoopKind k) { loop(axis).get<LoopStmt>().kind = k; }
  std::pair<Id, Id> split(Id axis, std::int64_t factor, ir::Tail tail = ir::Tail::guard) {
    ir::Axis outer = p.axis(axis), inner = outer;
    outer.id = p.fresh();
    inner.id = p.fresh();
    outer.name += "o";
    inner.name += "i";
    outer.origin = ir::Axis::Origin::split_outer;
    inner.origin = ir::Axis::Origin::split_inner;
    outer.parent = inner.parent = axis;
    outer.factor = inner.factor = ir::index(factor);
    outer.tail = inner.tail = tail;
    p.axes[outer.id] = outer;
    p.axes[inner.id] = inner;
    LoopStmt& l = loop(axis).get<LoopStmt>();
    LoopStmt below{.axis = inner.id};
    below.body = std::move(l.body);
    l.body.clear();
    l.axis = outer.id;
    l.body.push_back({p.fresh(), 0, {}, std::move(below)});
    p.axes.at(axis).became = {outer.id, inner.id};
    return {outer.id, inner.id};
  }
  // The loops over these axes, a perfect nest, in a new order.
  void reorder(const std::vector<Id>& axes) {
    std::vector<Stmt*> chain;
    Stmt* at = nullptr;
    ir::walk(p.body, [&](const Stmt& s) {
      const LoopStmt* l = s.as<LoopStmt>();
      if (!at && l && std::find(axes.begin(), axes.end(), l->axis) != axes.end()) at = ir::find(p, s.id);
    });
    for (; at; at = at->body().size() == 1 && at->body()[0].is<LoopStmt>() ? &at->body()[0] : nullptr)
      if (std::find(axes.begin(), axes.end(), at->get<LoopStmt>().axis) != axes.end()) chain.push_back(at);
    if (chain.size() != axes.size()) throw InternalError("reorder of loops that are no perfect nest");
    for (std::size_t k = 0; k < axes.size(); ++k) chain[k]->get<LoopStmt>().axis = axes[k];
  }
  // Peels a loop: `first` of it (or `full`), then the others.
  void peel(Id axis, ir::Part one, ir::Part others) {
    Stmt& l = loop(axis);
    const Id id = l.id;
    Stmt copy = l;
    renew(copy);
    l.get<LoopStmt>().part = one;
    copy.get<LoopStmt>().part = others;
    std::vector<Stmt>* list = list_of(p.body, id);
    const auto here = std::find_if(list->begin(), list->end(), [&](const Stmt& s) { return s.id == id; });
    list->insert(here + 1, std::move(copy));
  }
  // Moves the alloc and the nest of a stage to the beginning of a loop's body.
  void compute_at(Id stage, Id axis) {
    std::vector<Stmt> moved;
    auto take = [&](Id id) {
      std::vector<Stmt>* list = list_of(p.body, id);
      const auto here = std::find_if(list->begin(), list->end(), [&](const Stmt& s) { return s.id == id; });
      moved.push_back(std::move(*here));
      list->erase(here);
    };
    for (Id b : p.stage(stage).buffers) take(ir::alloc_of(p, b)->id);
    take(ir::nests_of(p, stage).at(0)->id);
    Stmt& l = loop(axis);
    l.body().insert(l.body().begin(), std::make_move_iterator(moved.begin()), std::make_move_iterator(moved.end()));
  }

  ir::Program derived() {
    ir::Program q = p;
    analysis::derive_regions(q);
    return q;
  }
  ir::Kernel lowered(const LowerOptions& options = {}) { return lower(derived(), options); }

 private:
  Id argument(ir::ArgumentKind kind, const std::string& name, Type t, std::vector<Expr> extents) {
    return add_argument(p, kind, name, t, std::move(extents));
  }
  void renew(Stmt& s) {
    s.copy_of = s.id;
    s.id = p.fresh();
    if (s.has_body())
      for (Stmt& k : s.body()) renew(k);
  }
  static std::vector<Stmt>* list_of(std::vector<Stmt>& body, Id id) {
    for (Stmt& s : body) {
      if (s.id == id) return &body;
      if (!s.has_body()) continue;
      if (auto* found = list_of(s.body(), id)) return found;
    }
    return nullptr;
  }
};

}  // namespace handmade
