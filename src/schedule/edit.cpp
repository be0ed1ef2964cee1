// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedule/edit.h"

#include <algorithm>
#include <utility>

#include <ashlar/ir/function.h>
#include <ashlar/ir/operation.h>

#include "schedule/primitives/primitives.h"
#include "schedule/trace/cpp_names.h"

namespace ashlar::schedule {

// ---- context ---------------------------------------------------------------------------------------------------------------

void Context::refuse(const std::string& expected, const std::string& found, const std::string& conflict) const {
  ashlar::refuse(spelling_of(step), expected, found, step.where, conflict);
}

void Context::unproved(Obligation owed, const std::string& expected, const std::string& found,
                       const std::string& conflict) const {
  unproved(owed, {spelling_of(step), expected, found, conflict, step.where});
}

void Context::unproved(Obligation owed, Refusal refusal) const {
  if (!unproved_obligations) throw RefusalError(std::move(refusal));
  unproved_obligations->push_back({owed, std::move(refusal)});
}

const Arg& Context::arg(std::size_t k) const { return step.args.at(k); }

const Arg& Context::expect(std::size_t k, Arg::Kind kind) const {
  const Arg& a = arg(k);
  if (a.kind != kind) throw InternalError(step.primitive + " reads its argument " + std::to_string(k + 1) + " as another kind");
  return a;
}

const Scope& Context::scope(std::size_t k) const { return expect(k, Arg::Kind::word).scope; }

Stmt& Context::loop(std::size_t k) const {
  const Arg& a = expect(k, Arg::Kind::loop);
  if (const auto it = state.consumed.find(a.id); it != state.consumed.end())
    refuse("a loop of the program as it stands", it->second.name + ", which " + it->second.reason);
  Stmt* s = ir::find(p, a.id);
  if (!s || !s->is<LoopStmt>()) refuse("a loop of this schedule", "one whose step was taken back");
  const ir::Stage& stage = stage_around(p, s->id);
  if (const ir::Function* f = ir::computed_by(stage.values))
    refuse("a loop of a stage that formulas compute", name_of(p, *s) + ", which " + f->symbol + " computes a box at a time");
  return *s;
}

ir::Stage& Context::stage(std::size_t k) const {
  const Arg& a = expect(k, Arg::Kind::stage);
  if (const auto it = state.consumed.find(a.id); it != state.consumed.end())
    refuse("a stage of the program as it stands", it->second.name + ", which " + it->second.reason);
  const auto it = p.stages.find(a.id);
  if (it == p.stages.end()) refuse("a stage of this schedule", "one whose step was taken back");
  return it->second;
}

ir::Buffer& Context::buffer(std::size_t k) const {
  const Arg& a = expect(k, Arg::Kind::buffer);
  if (const auto it = state.consumed.find(a.id); it != state.consumed.end())
    refuse("a tensor of the program as it stands", it->second.name + ", which " + it->second.reason);
  const auto it = p.buffers.find(a.id);
  if (it == p.buffers.end()) refuse("a tensor of this schedule", "one whose step was taken back");
  return it->second;
}

std::int64_t Context::integer(std::size_t k) const { return expect(k, Arg::Kind::integer).value; }

const std::string& Context::word(std::size_t k) const { return expect(k, Arg::Kind::word).word; }

void Context::consume(Id id, const std::string& name, const std::string& verb, const std::vector<Id>& successors) {
  std::vector<std::string> names;
  for (Id s : successors) {
    const Stmt* loop = ir::find(p, s);
    const LoopStmt* l = loop ? loop->as<LoopStmt>() : nullptr;
    names.push_back(l ? p.axis(l->axis).name : "?");
  }
  state.consumed[id] = {name, verb + (names.empty() ? "" : " " + list_names(names)) + " at " + step.place, successors};
}

// ---- finding ---------------------------------------------------------------------------------------------------------------

namespace {
bool locate_in(std::vector<Stmt>& body, Id id, Spot& spot) {
  for (std::size_t k = 0; k < body.size(); ++k) {
    if (body[k].id == id) {
      spot = {&body, k};
      return true;
    }
    if (body[k].has_body() && locate_in(body[k].body(), id, spot)) return true;
  }
  return false;
}
}  // namespace

Spot locate(Program& p, Id statement) {
  Spot spot{nullptr, 0};
  if (!locate_in(p.body, statement, spot)) throw InternalError("a statement that is not in the tree");
  return spot;
}

const Stmt& nest_of(const Program& p, Id statement) {
  const auto path = ir::path_to(p, statement);
  for (std::size_t k = path.size(); k-- > 0;)
    if (path[k]->is<NestStmt>()) return *path[k];
  throw InternalError("a statement outside of any nest");
}
Stmt& nest_of(Program& p, Id statement) { return const_cast<Stmt&>(nest_of(static_cast<const Program&>(p), statement)); }

const ir::Stage& stage_around(const Program& p, Id statement) { return p.stage(nest_of(p, statement).get<NestStmt>().stage); }

Stmt& only_nest(Context& c, const ir::Stage& stage) {
  const auto nests = ir::nests_of(c.p, stage.id);
  if (nests.size() != 1)
    c.refuse("a stage that is computed at one place",
             stage.name + ", computed at " + std::to_string(nests.size()) + " (move this call before the peel that copied it)");
  const auto refuse_shared = [&](const std::string& found) {
    c.refuse("a stage with loops of its own (move this call before fuse_siblings)", found);
  };
  const NestStmt& nest = nests.front()->get<NestStmt>();
  if (nest.sibling) refuse_shared(stage.name + ", which shares " + c.p.axis(nest.sibling->loop).name);
  ir::walk(nest.body, [&](const Stmt& s) {
    if (const NestStmt* inner = s.as<NestStmt>(); inner && inner->sibling)
      refuse_shared(c.p.stage(inner->stage).name + ", which shares a loop inside of " + stage.name);
  });
  return const_cast<Stmt&>(*nests.front());
}

bool encloses(const Program& p, Id ancestor, Id statement) {
  if (ancestor == statement) return false;
  for (const Stmt* s : ir::path_to(p, statement))
    if (s->id == ancestor) return true;
  return false;
}

void drop_reduction_loops(const Program& p, std::vector<Stmt>& body, Id keep) {
  for (std::size_t k = 0; k < body.size();) {
    Stmt& s = body[k];
    if (s.has_body()) drop_reduction_loops(p, s.body(), keep);
    if (LoopStmt* loop = s.as<LoopStmt>(); loop && p.axis(loop->axis).reduce && loop->axis != keep) {
      std::vector<Stmt> inner = std::move(loop->body);
      body.erase(body.begin() + static_cast<std::ptrdiff_t>(k));
      body.insert(body.begin() + static_cast<std::ptrdiff_t>(k), std::make_move_iterator(inner.begin()),
                  std::make_move_iterator(inner.end()));
      k += inner.size();
    } else {
      ++k;
    }
  }
}

Expr over_symbols(const Context& c, const Expr& e, const char* what) {
  return ir::transform(e, [&](const Expr& x) -> Expr {
    if (!ir::operation(ir::op_of(x)).laws.pure) c.refuse(std::string(what) + " over symbols", ir::text(e));
    if (!ir::is(x, ir::Op::var)) return x;
    const auto it = c.p.symbols.find(x.node()->id);
    if (it == c.p.symbols.end()) c.refuse(std::string(what) + " over symbols", ir::text(e));
    return ir::var(it->first, it->second.name, ir::index_type, x.node()->where);
  });
}

Expr condition_over_symbols(const Context& c) {
  const Expr condition = over_symbols(c, c.arg(0).exprs.front(), "a condition");
  if (ir::free_vars(condition).empty()) c.refuse("a condition over symbols", ir::text(condition));
  std::string written;
  if (!cpp::expression(condition, [](Id, const std::string& name) { return name; }, written))
    c.refuse(
        "comparisons of index arithmetic over symbols, joined by && and || (a select or a conversion is another condition)",
        ir::text(condition));
  if (analysis::can_prove(ir::logic_not(condition), analysis::facts_of_arguments(c.p)))
    c.refuse("a condition that some call can keep", ir::text(condition) + ", which is never true");
  return condition;
}

std::string name_of(const Program& p, const Stmt& loop) {
  return p.axis(loop.get<LoopStmt>().axis).name + " of " + stage_around(p, loop.id).name;
}

const char* word(ir::LoopKind kind) {
  static constexpr const char* words[] = {"serial", "parallel", "vectorized", "unrolled",
                                          "bound",  "vthread",  "tensorized", "tile"};
  return words[static_cast<int>(kind)];
}

std::string list_names(const std::vector<std::string>& names) {
  std::string s;
  for (std::size_t k = 0; k < names.size(); ++k) s += (k == 0 ? "" : k + 1 == names.size() ? " and " : ", ") + names[k];
  return s;
}

std::vector<Expr> conditions_on_points(const ir::Stage& stage, const std::vector<Expr>& point) {
  ir::Substitution at;
  std::vector<Id> steps;
  for (const ir::IterVar& v : stage.iters)
    if (v.kind == ir::IterKind::reduce)
      steps.push_back(v.id);
    else
      at.emplace_back(v.id, point.at(at.size()));
  std::vector<Expr> atoms;
  for (const Expr& atom : stage.domain)
    if (std::none_of(steps.begin(), steps.end(), [&](Id s) { return ir::uses_var(atom, s); }))
      atoms.push_back(ir::substitute(atom, at));
  return atoms;
}

std::optional<std::vector<std::pair<Expr, Expr>>> declared_box(const Program& p, const ir::Buffer& b) {
  std::vector<std::pair<Expr, Expr>> box;
  if (!b.stage) {
    for (const Expr& extent : b.extents) box.emplace_back(ir::index(0), extent);
    return box;
  }
  const ir::Stage& s = p.stage(b.stage);
  std::vector<Expr> points;
  for (const ir::IterVar& v : s.iters) {
    if (v.kind == ir::IterKind::reduce) continue;
    if (v.begin.empty()) return std::nullopt;
    for (const ir::IterVar& other : s.iters)
      if (ir::uses_var(v.begin, other.id) || ir::uses_var(v.end, other.id)) return std::nullopt;
    box.emplace_back(v.begin, v.end), points.push_back(ir::var(v.id, v.name));
  }
  if (!conditions_on_points(s, points).empty()) return std::nullopt;
  return box;
}

bool reads_buffer(const ir::Stage& stage, Id buffer) {
  const auto reads = analysis::reads_of(stage);
  return std::any_of(reads.begin(), reads.end(), [&](const analysis::Read& r) { return r.load.node()->id == buffer; });
}

namespace {
template <class F>
bool any_block(const Stmt& s, const F& test) {
  if (s.is<BlockStmt>() && test(s)) return true;
  return std::any_of(s.body().begin(), s.body().end(), [&](const Stmt& b) { return any_block(b, test); });
}
}  // namespace

bool block_reads(const Program& p, const Stmt& block, Id buffer) {
  const auto reads = analysis::reads_of(p.stage(block.get<BlockStmt>().stage));
  return std::any_of(reads.begin(), reads.end(),
                     [&](const analysis::Read& r) { return r.load.node()->id == buffer && analysis::happens_in(r, block); });
}
bool subtree_reads(const Program& p, const Stmt& s, Id buffer) {
  return any_block(s, [&](const Stmt& b) { return block_reads(p, b, buffer); });
}
bool subtree_writes(const Program& p, const Stmt& s, Id buffer) {
  return any_block(s, [&](const Stmt& b) {
    const auto& buffers = p.stage(b.get<BlockStmt>().stage).buffers;
    return std::find(buffers.begin(), buffers.end(), buffer) != buffers.end();
  });
}

void require_serial(const Context& c, const Stmt& loop, bool may_combine) {
  const LoopStmt& l = loop.get<LoopStmt>();
  if (l.kind != ir::LoopKind::serial)
    c.refuse("a loop without a kind yet",
             name_of(c.p, loop) + ", which was " + word(l.kind) +
                 (l.kind == ir::LoopKind::bound ? std::string(" to ") + ir::text(l.bound_to) : "") + " at " +
                 location(loop.where) + " (move this call before it)");
  if (l.pipeline)
    c.refuse("a loop without a kind yet",
             name_of(c.p, loop) + ", which was pipelined at " + location(l.pipeline->where) + " (move this call before it)");
  if (l.combines && !may_combine)
    c.refuse("a loop without a kind yet",
             name_of(c.p, loop) + ", whose threads are combined, at " + location(loop.where) + " (move this call before it)");
}

std::string copied_by(const Program& p, const Stmt& loop, const std::string& step) {
  const auto blocks = ir::blocks_of(p, stage_around(p, loop.id).id);
  const bool init =
      std::any_of(blocks.begin(), blocks.end(), [](const Stmt* b) { return b->get<BlockStmt>().piece == ir::Piece::init; });
  return init ? ", which decompose_init copied (move the " + step + " before it)"
              : ", which peel copied (move the " + step + " before the peel)";
}

void require_whole(const Context& c, const Stmt& loop) {
  if (loop.get<LoopStmt>().part != ir::Part::all)
    c.refuse("a whole loop", name_of(c.p, loop) + ", which was peeled or partitioned at " + location(loop.where) +
                                 " (move this call before it)");
}

void require_no_slide(const Context& c, const Stmt& loop) {
  if (slides_along(c.p.body, loop.id))
    c.refuse("a loop that no stage slides along", name_of(c.p, loop) + " (its warm-up is its first iteration)");
}

void require_no_producer(const Context& c, const ir::Stage& stage, const Stmt& s) {
  if (const NestStmt* n = s.as<NestStmt>())
    c.refuse("a stage with nothing placed in it yet (move this call before compute_at of its producers)",
             c.p.stage(n->stage).name + " inside " + stage.name);
}

void require_undivided_block(const Context& c, const ir::Stage& stage, const Stmt& s) {
  if (const BlockStmt* block = s.as<BlockStmt>(); block && block->piece != ir::Piece::whole)
    c.refuse("a stage whose init was not taken apart (move this call before decompose_init)", stage.name);
}

void require_undivided_loop(const Context& c, const Stmt& s) {
  if (const LoopStmt* loop = s.as<LoopStmt>(); loop && loop->part != ir::Part::all)
    c.refuse("a stage of whole loops (move this call before the peel)", name_of(c.p, s) + ", a part of one");
}

// ---- editing ---------------------------------------------------------------------------------------------------------------

namespace {

// Gives the statement and all below it ids of their own; slides and prefetches follow the loops among them.
void rename_in(Program& p, Stmt& top) {
  std::map<Id, Id> loops;
  const auto follow = [&](Id& loop) {
    if (const auto it = loops.find(loop); it != loops.end()) loop = it->second;
  };
  const auto rename = [&](Stmt& s) {
    s.copy_of = std::exchange(s.id, p.fresh());
    if (s.is<LoopStmt>()) loops[s.copy_of] = s.id;
    if (NestStmt* nest = s.as<NestStmt>())
      for (ir::Slide& slide : nest->slides) follow(slide.loop);
    if (PrefetchStmt* prefetch = s.as<PrefetchStmt>()) follow(prefetch->loop);
  };
  rename(top);
  if (top.has_body()) ir::walk(top.body(), rename);
}

// The nest gets axes of its own; its loops and conditions follow. Axes of nests around it stay.
void fresh_axes(Program& p, NestStmt& nest) {
  std::map<Id, Id> to;
  std::vector<Id> pending;
  for (const ir::Root& r : nest.roots) pending.push_back(r.axis);
  while (!pending.empty()) {
    const Id a = pending.back();
    pending.pop_back();
    if (to.count(a)) continue;
    to[a] = p.fresh();
    for (Id n : p.axis(a).became) pending.push_back(n);
  }
  const auto follow = [&](Id& axis) {
    if (const auto it = to.find(axis); it != to.end()) axis = it->second;
  };
  ir::Substitution vars;
  for (const auto& [from, id] : to) {
    ir::Axis a = p.axis(from);
    a.id = id;
    follow(a.parent), follow(a.outer), follow(a.inner);
    for (Id& b : a.became) follow(b);
    p.axes[id] = a;
    vars.emplace_back(from, ir::var(id, a.name));
  }
  for (ir::Root& r : nest.roots) r.axis = to.at(r.axis);
  if (nest.sibling) nest.sibling->axis = to.at(nest.sibling->axis);
  ir::walk(nest.body, [&](Stmt& s) {
    if (LoopStmt* loop = s.as<LoopStmt>()) follow(loop->axis);
    if (NestStmt* inner = s.as<NestStmt>(); inner && inner->sibling) follow(inner->sibling->loop);
    if (BlockStmt* block = s.as<BlockStmt>())
      for (Expr& w : block->when) w = ir::substitute(w, vars);
  });
}

}  // namespace

Stmt copy_subtree(Program& p, const Stmt& s) {
  Stmt copy = s;
  rename_in(p, copy);
  if (copy.has_body())
    ir::walk(copy.body(), [&](Stmt& below) {
      if (NestStmt* nest = below.as<NestStmt>()) fresh_axes(p, *nest);
    });
  return copy;
}

void replace_axis(std::vector<Stmt>& body, Id axis, const Expr& value) {
  ir::walk(body, [&](Stmt& s) {
    if (BlockStmt* block = s.as<BlockStmt>())
      for (Expr& w : block->when) w = ir::substitute(w, {{axis, value}});
  });
}

bool slides_along(const std::vector<Stmt>& body, Id loop) {
  bool found = false;
  ir::walk(body, [&](const Stmt& s) {
    if (const NestStmt* nest = s.as<NestStmt>())
      for (const ir::Slide& slide : nest->slides) found = found || slide.loop == loop;
  });
  return found;
}

void move_prefetches(std::vector<Stmt>& body, Id from, Id to) {
  ir::walk(body, [&](Stmt& s) {
    if (PrefetchStmt* prefetch = s.as<PrefetchStmt>(); prefetch && prefetch->loop == from) prefetch->loop = to;
  });
}

Stmt fresh_alloc(Program& p, Id buffer, Where where) { return {p.fresh(), 0, where, AllocStmt{.buffer = buffer}}; }

Stmt fresh_nest(Program& p, const ir::Stage& stage, Where where) {
  const Id nest_id = p.fresh(), block_id = p.fresh();
  NestStmt nest{.stage = stage.id};
  std::vector<Stmt> loops(stage.iters.size());
  for (std::size_t k = stage.iters.size(); k-- > 0;) {
    const ir::IterVar& v = stage.iters[k];
    const Id axis = ir::add_root_axis(p, v);
    nest.roots.insert(nest.roots.begin(), ir::Root{v.id, axis, {}, {}});
    loops[k] = {p.fresh(), 0, where, LoopStmt{.axis = axis}};
  }
  nest.body = ir::nest_body(p, stage, std::move(loops), {block_id, 0, where, BlockStmt{.stage = stage.id}});
  return {nest_id, 0, where, std::move(nest)};
}

void insert_before_use(Program& p, std::vector<Stmt>& body, std::vector<Stmt> statements, const std::vector<Id>& buffers) {
  auto it = std::find_if(body.begin(), body.end(), [&](const Stmt& s) {
    return std::any_of(buffers.begin(), buffers.end(), [&](Id buffer) {
      return subtree_reads(p, s, buffer) || subtree_writes(p, s, buffer) ||
             (s.is<PrefetchStmt>() && s.get<PrefetchStmt>().buffer == buffer);
    });
  });
  body.insert(it, std::make_move_iterator(statements.begin()), std::make_move_iterator(statements.end()));
}

ir::Buffer& new_buffer(Context& c, const ir::Buffer& like, const std::string& name, const Scope& scope) {
  ir::Buffer b;
  b.id = c.p.fresh();
  b.name = name;
  b.type = like.type;
  b.rank = like.rank;
  b.scope = scope;
  b.where = c.step.where;
  return c.p.buffers[b.id] = b;
}

void insert_beside(Program& p, Id statement, Stmt s, bool behind) {
  const Spot spot = locate(p, statement);
  spot.body->insert(spot.body->begin() + static_cast<std::ptrdiff_t>(spot.index) + (behind ? 1 : 0), std::move(s));
}

void insert_before(Program& p, Id statement, std::vector<Stmt> made) {
  const Spot spot = locate(p, statement);
  spot.body->insert(spot.body->begin() + static_cast<std::ptrdiff_t>(spot.index), std::make_move_iterator(made.begin()),
                    std::make_move_iterator(made.end()));
}

Stmt take(Program& p, Id statement) {
  const Spot spot = locate(p, statement);
  Stmt s = std::move(*spot);
  spot.body->erase(spot.body->begin() + static_cast<std::ptrdiff_t>(spot.index));
  return s;
}

}  // namespace ashlar::schedule
