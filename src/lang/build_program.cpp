// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/lang/build_program.h>

#include <algorithm>
#include <set>

#include <ashlar/ir/print.h>
#include <ashlar/ir/recurrence.h>
#include <ashlar/ir/refusal.h>

#include <ashlar/lang/definition.h>

namespace ashlar::lang {
namespace {

// A condition of a reduction keeps terms away, and never the start: it is over a variable of the terms.
Expr of_terms(const Expr& condition, const std::vector<ir::IterVar>& iters) {
  const ir::IterVar* term = nullptr;
  for (const ir::IterVar& v : iters) {
    if (v.kind != ir::IterKind::reduce) continue;
    if (ir::uses_var(condition, v.id)) return condition;
    if (!term) term = &v;
  }
  if (!term) throw InternalError("a condition of a reduction without terms");
  return ir::logic_and(condition, ir::ge(ir::var(term->id, term->name, ir::index_type, term->where), term->begin));
}

using ir::AllocStmt;
using ir::BlockStmt;
using ir::LoopStmt;
using ir::NestStmt;
using ir::Program;
using ir::Stmt;

// Tensors that a stage reads, in order of first appearance; a recurrence's own left out.
std::vector<Id> reads_of(const StageDef& s) {
  std::vector<Id> ids;
  const auto among = [](const std::vector<Id>& list, Id id) { return std::find(list.begin(), list.end(), id) != list.end(); };
  const auto add = [&](const Expr& e) {
    ir::walk(e, [&](const Expr& x) {
      if (ir::is(x, ir::Op::load) && !among(ids, x.node()->id) && !among(s.tensors, x.node()->id)) ids.push_back(x.node()->id);
      return true;
    });
  };
  for (const auto* list : {&s.values, &s.inits, &s.targets})
    for (const Expr& e : *list) add(e);
  if (!s.keep.empty()) add(s.keep);
  for (Id axis : s.axes)
    for (const Expr* bound : {&variable(axis, s.where).begin, &variable(axis, s.where).end}) add(*bound);
  return ids;
}

struct Builder {
  Built out;
  Program& p = out.program;
  Where where;
  std::vector<const TensorDef*> outputs;
  std::map<Id, const TensorDef*> direct;   // tensor of a stage -> the output that it is computed in
  std::set<Id> read;                       // tensors that some stage needed reads
  std::set<Id> emitted;                    // stages
  std::map<Id, Id> around;                 // stages that a recurrence reads and that read it -> the recurrence
  std::map<Id, std::vector<Stmt>> inside;  // of a recurrence: where those are computed
  std::map<Id, std::vector<Id>> reads;     // of stages, found once

  const std::vector<Id>& reads_of_stage(Id id) {
    const auto [at, fresh] = reads.try_emplace(id);
    if (fresh) at->second = reads_of(stage(id, where));
    return at->second;
  }

  // ---- arguments ---------------------------------------------------------------------------------------------------------
  void arguments(const std::vector<ArgumentRef>& list) {
    std::set<std::string> names;
    for (const ArgumentRef& a : list) {
      std::string name;
      Where own = where;  // where it was declared
      if (!a.scalar.empty()) {
        name = scalar(a.scalar);
        own = variable(a.scalar.node()->id, where).where;
      } else {
        const TensorDef& t = tensor(a.tensor.id(), where);
        if (t.kind != TensorDef::Kind::input && t.kind != TensorDef::Kind::output)
          refuse(p.name, "arguments that are inputs, outputs or scalars", "the stage " + t.name, t.where);
        name = t.name;
        own = t.where;
        tensor_argument(t);
      }
      if (!is_identifier(name)) refuse(p.name, "argument names that are C identifiers", "\"" + name + "\"", own);
      if (name.starts_with("ashlar_"))
        refuse(p.name, "argument names that do not begin with ashlar_, as names of generated headers do", name, own);
      if (!names.insert(name).second) refuse(p.name, "one argument of each name", "two called " + name, own);
    }
  }
  std::string scalar(const Expr& e) {
    const VariableDef* v = ir::is(e, ir::Op::var) ? find_variable(e.node()->id) : nullptr;
    if (!v || v->kind != VariableDef::Kind::scalar)
      refuse(p.name, "arguments that are inputs, outputs or scalars", ir::text(e), where);
    const Id id = p.fresh();
    out.variable_of[e.node()->id] = id;
    p.scalars[id] = {id, v->name, v->type, v->where};
    p.arguments.push_back({ir::ArgumentKind::scalar, id});
    return v->name;
  }
  void tensor_argument(const TensorDef& t) {
    for (const Bounds& b : t.shape)
      ir::walk(b.end, [&](const Expr& x) {
        if (ir::is(x, ir::Op::var) && !out.variable_of.count(x.node()->id)) {
          const VariableDef& v = variable(x.node()->id, t.where);
          if (v.name.starts_with("ashlar_"))
            refuse(p.name, "names of Symbols that do not begin with ashlar_, as names of generated headers do", v.name,
                   v.where);
          const Id id = p.fresh();
          out.variable_of[x.node()->id] = id;
          p.symbols[id] = {id, v.name, v.facts.min, v.facts.max, v.facts.multiple_of, v.where};
        }
        return true;
      });
    ir::Buffer b;
    b.id = p.fresh();
    b.name = t.name;
    b.type = t.type;
    b.rank = t.rank;
    b.role = t.kind == TensorDef::Kind::input ? ir::Role::input : ir::Role::output;
    for (const Bounds& e : t.shape) b.extents.push_back(rewritten(e.end, {}, t.where));
    b.align = t.layout.align;
    b.may_alias_inputs = t.layout.may_alias_inputs;
    b.order = static_cast<ir::Buffer::Order>(t.layout.order);
    b.where = t.where;
    p.arguments.push_back({t.kind == TensorDef::Kind::input ? ir::ArgumentKind::input : ir::ArgumentKind::output, b.id});
    out.buffer_of[t.id] = b.id;
    if (t.kind == TensorDef::Kind::output) outputs.push_back(&t);
    p.buffers[b.id] = std::move(b);
  }

  void constant(const TensorDef& t) {
    if (out.buffer_of.count(t.id)) return;
    ir::Buffer b;
    b.id = p.fresh();
    b.name = t.name;
    b.type = t.type;
    b.rank = t.rank;
    b.role = ir::Role::constant;
    b.order = ir::Buffer::Order::dense;
    b.data = t.data;
    b.where = t.where;
    for (const Bounds& e : t.shape) b.extents.push_back(e.end);
    out.buffer_of[t.id] = b.id;
    p.buffers[b.id] = std::move(b);
  }

  // ---- which outputs are computed in place ---------------------------------------------------------------------------------
  void plan() {
    std::vector<Id> pending;
    for (const TensorDef* o : outputs) {
      if (!o->bound)
        refuse(p.name, "a definition of every output: " + o->name + " = compute(...)", "the output " + o->name + " without one",
               o->where);
      note_stages(o->bound, pending);
    }
    std::set<Id> seen;
    while (!pending.empty()) {
      const Id id = pending.back();
      pending.pop_back();
      if (!seen.insert(id).second) continue;
      for (Id r : reads_of_stage(id)) {
        read.insert(r);
        if (tensor(r, where).kind == TensorDef::Kind::stage) pending.push_back(tensor(r, where).stage);
      }
    }
    for (const TensorDef* o : outputs) {
      const TensorDef& t = tensor(o->bound, o->where);
      if (t.kind == TensorDef::Kind::stage && !direct.count(t.id) && computed_in_place(*o, stage(t.stage, o->where)))
        direct[t.id] = o;
    }
  }
  // The stages below a tensor that is bound: its own, or those of the tensor that a view reads.
  void note_stages(Id id, std::vector<Id>& pending) {
    const TensorDef& t = resolve(id, where);
    if (t.kind == TensorDef::Kind::stage) pending.push_back(t.stage);
    if (t.kind == TensorDef::Kind::view) {
      read.insert(resolve(t.view.source, where).id);
      note_stages(t.view.source, pending);
    }
  }
  bool computed_in_place(const TensorDef& output, const StageDef& s) const {
    if (!s.inferred) return true;
    return std::all_of(s.tensors.begin(), s.tensors.end(), [&](Id t) {
      if (read.count(t)) return false;
      const auto other = direct.find(t);
      return other == direct.end() || same_shape(*other->second, output);
    });
  }
  static bool same_shape(const TensorDef& a, const TensorDef& b) {
    for (std::size_t d = 0; d < a.shape.size(); ++d)
      if (!ir::same(a.shape[d].end, b.shape[d].end)) return false;
    return true;
  }

  // ---- recurrences ----------------------------------------------------------------------------------------------------------
  // Finds the stages that a recurrence reads and that read it; does this one?
  bool note_inside(Id id, Id recurrence, std::map<Id, bool>& known) {
    bool any = false;
    for (Id r : reads_of_stage(id)) {
      const TensorDef& t = tensor(r, where);
      if (t.kind != TensorDef::Kind::stage) continue;
      if (t.stage == recurrence) {
        any = true;
        continue;
      }
      if (known.emplace(t.stage, false).second && note_inside(t.stage, recurrence, known)) {
        known[t.stage] = true;
        around[t.stage] = recurrence;
      }
      any = any || known[t.stage];
    }
    return any;
  }
  void begin_recurrence(Id id) {
    const StageDef& s = stage(id, where);
    if (s.along.empty()) return;
    std::map<Id, bool> known;
    note_inside(id, id, known);
    make_buffers(s);  // which those stages read
  }
  [[noreturn]] void read_outside(Id id) const {
    const StageDef& s = stage(id, where);
    refuse(s.name, "a stage that reads earlier steps to be read by the step alone",
           s.name + ", which is read elsewhere as well", s.where);
  }
  Id around_of(Id id) const {
    const auto it = around.find(id);
    return it == around.end() ? 0 : it->second;
  }
  // What a step reads through the stages inside of it was computed before it, too.
  void check_order(const ir::Stage& s) const {
    for (const ir::SelfRead& r : ir::self_reads(p, s))
      if (const auto found = ir::unordered(s, r))
        refuse(s.name, found->expected, found->found, r.load.node()->where, found->conflict);
  }

  // ---- stages ------------------------------------------------------------------------------------------------------------
  // Producers first; iterative, so that chains of any length pass.
  void emit_needed(Id root) {
    struct Frame {
      Id stage;
      std::vector<Id> reads;
      std::size_t next;
    };
    std::vector<Frame> stack;
    std::set<Id> open;
    const auto enter = [&](Id id) {
      if (emitted.count(id)) return;
      if (!open.insert(id).second) read_outside(id);  // it was reached before the recurrence that it reads
      begin_recurrence(id);
      stack.push_back({id, reads_of_stage(id), 0});
    };
    if (around_of(root)) read_outside(root);
    enter(root);
    while (!stack.empty()) {
      Frame& f = stack.back();
      if (f.next < f.reads.size()) {
        const TensorDef& t = tensor(f.reads[f.next++], where);
        const Id own = around_of(f.stage), its = around_of(t.stage);
        if (its && its != own && its != f.stage) read_outside(t.stage);
        if (t.kind == TensorDef::Kind::stage && own && t.stage == own) continue;  // the steps before
        if (t.kind == TensorDef::Kind::stage)
          enter(t.stage);
        else if (t.kind == TensorDef::Kind::constant)
          constant(t);
        else if (!out.buffer_of.count(t.id))
          refuse(stage(f.stage, where).name, "inputs that are arguments of " + p.name,
                 "the input " + t.name + ", which is not an argument", stage(f.stage, where).where);
        continue;
      }
      const Id id = f.stage;
      stack.pop_back();
      open.erase(id);
      emitted.insert(id);
      emit(stage(id, where), nullptr, id);
    }
  }

  // An identity stage that writes an output whose tensor is computed elsewhere.
  void emit_copy(const TensorDef& output) {
    const TensorDef& source = resolve(output.bound, output.where);
    StageDef s;
    s.name = output.name;
    s.where = output.where;
    s.domain = output.shape;
    std::vector<Expr> at;
    for (int d = 0; d < output.rank; ++d) {
      VariableDef v;
      v.name = "i" + std::to_string(d);
      at.push_back(ir::var(add(v), v.name));
      s.dimensions.push_back(at.back().node()->id);
    }
    s.values = {access(source.id, at, output.where)};
    for (Id r : reads_of(s)) {
      const TensorDef& t = tensor(r, where);
      if (t.kind == TensorDef::Kind::stage) emit_needed(t.stage);
      if (t.kind == TensorDef::Kind::constant) constant(t);
    }
    emit(s, &output);
  }

  void make_buffers(const StageDef& s) {
    for (Id t : s.tensors) {
      if (out.buffer_of.count(t)) continue;
      const auto it = direct.find(t);
      const Id b = it != direct.end() ? out.buffer_of.at(it->second->id) : new_temporary(tensor(t, s.where));
      out.buffer_of[t] = b;
    }
  }

  void emit(const StageDef& s, const TensorDef* copied_to, Id id = 0) {
    ir::Stage r;
    r.name = s.name;
    r.where = s.where;
    const TensorDef* shaped_by = nullptr;  // an output that gives an inferred domain its extents
    if (copied_to) r.buffers.push_back(out.buffer_of.at(copied_to->id));
    for (Id t : s.tensors) {
      const auto it = direct.find(t);
      if (it != direct.end() && !shaped_by) shaped_by = it->second;
    }
    make_buffers(s);
    for (Id t : s.tensors) r.buffers.push_back(out.buffer_of.at(t));
    r.id = p.fresh();
    for (Id b : r.buffers) p.buffers.at(b).stage = r.id;
    for (Id t : s.tensors) {
      out.stage_of[t] = r.id;
      if (const auto it = direct.find(t); it != direct.end()) out.stage_of[it->second->id] = r.id;
    }
    if (copied_to) out.stage_of[copied_to->id] = r.id;

    ir::Substitution local;  // the stage's own variables
    const auto iterate = [&](Id var, ir::IterKind kind, const Expr& begin, const Expr& end) {
      const VariableDef& v = variable(var, s.where);
      ir::IterVar i;
      i.id = p.fresh();
      i.name = v.name;
      i.kind = kind;
      i.where = kind == ir::IterKind::reduce ? v.where : s.where;
      if (!begin.empty()) i.begin = rewritten(begin, local, s.where), i.end = rewritten(end, local, s.where);
      local.emplace_back(var, ir::var(i.id, i.name, ir::index_type, i.where));
      out.iter_of[{r.id, var}] = i.id;
      r.iters.push_back(std::move(i));
    };
    for (std::size_t d = 0; d < s.dimensions.size(); ++d) {
      const std::vector<Bounds>* bounds = !s.domain.empty() ? &s.domain : shaped_by ? &shaped_by->shape : nullptr;
      const bool ordered = std::find(s.along.begin(), s.along.end(), d) != s.along.end();
      iterate(s.dimensions[d], ordered ? ir::IterKind::ordered : ir::IterKind::spatial, bounds ? (*bounds)[d].begin : Expr(),
              bounds ? (*bounds)[d].end : Expr());
    }
    r.along = s.along;
    for (std::size_t d : s.along) r.iters[d].descending = s.descending[d];
    for (Id a : s.axes) iterate(a, ir::IterKind::reduce, variable(a, s.where).begin, variable(a, s.where).end);
    for (const Expr& e : s.conditions) r.domain.push_back(of_terms(rewritten(e, local, s.where), r.iters));
    for (const Expr& e : s.values) r.values.push_back(rewritten(e, local, s.where));
    for (const Expr& e : s.inits) r.inits.push_back(rewritten(e, local, s.where));
    for (const Expr& e : s.targets) r.targets.push_back(rewritten(e, local, s.where));
    if (!s.keep.empty()) r.keep = rewritten(s.keep, local, s.where);
    for (auto [own, declared] : {std::pair(&r.reducer, &s.reducer), std::pair(&r.scan, &s.scan)}) {
      *own = *declared;
      for (auto* side : {&own->left, &own->right})
        for (Id& placeholder : *side) {
          const VariableDef& v = variable(placeholder, s.where);
          const Id fresh = p.fresh();
          local.emplace_back(placeholder, ir::var(fresh, v.name, v.type));
          placeholder = fresh;
        }
      for (Expr& e : own->combine) e = rewritten(e, local, s.where);
    }
    check_order(r);
    place(r, id);
    p.stages[r.id] = std::move(r);
  }

  Id new_temporary(const TensorDef& t) {
    ir::Buffer b;
    b.id = p.fresh();
    b.name = t.name;
    b.type = t.type;
    b.rank = t.rank;
    b.where = t.where;
    const Id id = b.id;
    p.buffers[id] = std::move(b);
    return id;
  }

  // Variables and loads in the program's ids. Every node is made anew, so hashes follow from the program alone.
  Expr rewritten(const Expr& e, const ir::Substitution& local, Where at) {
    return ir::transform(e, [&](const Expr& x) -> Expr {
      if (ir::is(x, ir::Op::load)) {
        const Id buffer = out.buffer_of.at(x.node()->id);
        return ir::load(buffer, p.buffer(buffer).name, x.type(), ir::args_of(x), x.node()->where);
      }
      if (!ir::is(x, ir::Op::var)) return x;
      for (const auto& [id, value] : local)
        if (id == x.node()->id) return value;
      const auto it = out.variable_of.find(x.node()->id);
      if (it == out.variable_of.end()) undetermined(x, at);
      return ir::var(it->second, x.node()->name, x.type(), x.node()->where);
    });
  }
  [[noreturn]] void undetermined(const Expr& x, Where at) {
    const VariableDef& v = variable(x.node()->id, at);
    if (v.kind == VariableDef::Kind::scalar)
      refuse(p.name, "scalars that are arguments", "the scalar " + v.name + ", which is not an argument", v.where);
    refuse(p.name, "symbols that the shape of some argument determines", "the symbol " + v.name + ", which is in no shape",
           v.where);
  }

  // At the top, in order of definition; or inside of a recurrence, between its steps.
  void place(const ir::Stage& s, Id definition) {
    const Id recurrence = around_of(definition);
    std::vector<Stmt>& to = recurrence ? inside[recurrence] : p.body;
    for (Id b : s.buffers) {
      if (p.buffer(b).role != ir::Role::temporary) continue;
      to.push_back({p.fresh(), 0, s.where, AllocStmt{.buffer = b}});
    }
    const Id nest_id = p.fresh();
    NestStmt nest{.stage = s.id};
    std::vector<Stmt> loops;
    for (const ir::IterVar& v : s.iters) {
      const Id axis = ir::add_root_axis(p, v);
      nest.roots.push_back({v.id, axis, {}, {}});
      loops.push_back({p.fresh(), 0, v.where, LoopStmt{.axis = axis}});
    }
    nest.body = ir::nest_body(p, s, std::move(loops), {p.fresh(), 0, s.where, BlockStmt{.stage = s.id}});
    if (const auto it = inside.find(definition); it != inside.end()) {
      std::vector<Stmt>* body = &nest.body;
      for (std::size_t left = s.along.size(); left > 0; body = &body->front().body())
        left -= std::any_of(s.along.begin(), s.along.end(),
                            [&](std::size_t d) { return ir::runs_over(body->front(), nest.roots[d].axis); });
      body->insert(body->begin(), std::make_move_iterator(it->second.begin()), std::make_move_iterator(it->second.end()));
    }
    to.push_back({nest_id, 0, s.where, std::move(nest)});
  }

  // Outputs in their order, except that one that may lie in an input comes after those that may not: these may read that input.
  void build() {
    plan();
    std::vector<const TensorDef*> sorted = outputs;
    std::stable_partition(sorted.begin(), sorted.end(), [](const TensorDef* o) { return !o->layout.may_alias_inputs; });
    for (const TensorDef* o : sorted) {
      const TensorDef& t = tensor(o->bound, o->where);
      const auto it = direct.find(t.id);
      if (it != direct.end() && it->second == o)
        emit_needed(t.stage);
      else
        emit_copy(*o);
    }
  }
};

}  // namespace

Built build_program(const std::string& name, const std::vector<ArgumentRef>& arguments, Where where) {
  Builder b;
  b.p.name = name;
  b.where = where;
  b.arguments(arguments);
  b.build();
  return std::move(b.out);
}

Expr Built::in_program(const Expr& e, Where where) const {
  return ir::transform(e, [&](const Expr& x) -> Expr {
    if (ir::is(x, ir::Op::load)) refuse("expression", "one over symbols and scalars", ir::text(e), where);
    if (!ir::is(x, ir::Op::var)) return x;
    const auto it = variable_of.find(x.node()->id);
    if (it == variable_of.end()) refuse("expression", "one over symbols and scalars of the arguments", ir::text(e), where);
    return ir::var(it->second, x.node()->name, x.type(), x.node()->where);
  });
}

}  // namespace ashlar::lang
