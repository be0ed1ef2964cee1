// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cache_terms(source, reader, scope): a new stage holds what one reader reads of the source, at the reader's own points: its
// indices are the variables that the reader's index is a sum of. So the elements of a tile of the reader are a tile of the
// stage, however far apart they are in the source.
//
//   y[i] = sum over k of x[2 * i + k] * w[k]      cache_terms(x, y):   x_terms[i, k] = x[2 * i + k]
//                                                                      y[i] = sum over k of x_terms[i, k] * w[k]
//
// An index that is no sum of multiples of variables stays an index of the stage. The stage is computed just before the reader;
// compute_at places it. Legality: COVER, with the reads of all stages.
#include <ashlar/analysis/reads.h>
#include <ashlar/schedule/schedule.h>

#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"
#include "schedule/primitives/storage/storage.h"

namespace ashlar::schedule {

namespace {

// The one read of the source by the reader's values. Empty, with what there is instead, if there is another.
Expr only_read(const ir::Stage& reader, Id source, std::string& found) {
  Expr only;
  for (const analysis::Read& r : analysis::reads_of(reader)) {
    if (r.load.node()->id != source) continue;
    const auto of_value = [&](const Expr& value) {
      bool here = false;
      ir::walk(value, [&](const Expr& e) { return here |= ir::same(e, r.load), !here; });
      return here;
    };
    const bool in_value = !r.of_start && !r.bounds && std::any_of(reader.values.begin(), reader.values.end(), of_value);
    if (!in_value) return found = ir::text(r.load) + ", of which it starts or ends", Expr();
    if (!only.empty() && !ir::same(only, r.load)) return found = ir::text(only) + " and " + ir::text(r.load), Expr();
    only = r.load;
  }
  if (only.empty()) return found = "none", Expr();
  const auto at = ir::args_of(only);
  if (std::any_of(at.begin(), at.end(), [](const Expr& i) { return ir::has_load(i); }))
    return found = ir::text(only) + ", at an index from data", Expr();
  return only;
}

// The variables of the stage in an index that is a sum of constant multiples of them, and of what is no variable of it. Empty
// if it is another.
std::vector<const ir::IterVar*> terms_of(const ir::Stage& reader, const Expr& index, const analysis::Facts& facts) {
  std::vector<const ir::IterVar*> all;
  for (const ir::IterVar& v : reader.iters) {
    if (!ir::uses_var(index, v.id)) continue;
    const Expr next = ir::substitute(index, {{v.id, ir::add(ir::var(v.id, v.name), ir::index(1))}});
    if (!ir::is_int(analysis::simplify(ir::sub(next, index), facts))) return {};
    all.push_back(&v);
  }
  return all;
}

// rewrite: the stage, and the read of it that takes the place of the reader's
ir::Stage terms(Context& c, const ir::Stage& reader, const ir::Buffer& from, const ir::Buffer& to, const Expr& read,
                Expr& instead) {
  ir::Stage stage;
  stage.id = c.p.fresh();
  stage.name = to.name;
  stage.where = c.step.where;
  stage.buffers = {to.id};
  ir::Substitution own;  // the reader's variables
  std::vector<Expr> at, in_reader;
  const auto dimension = [&](const std::string& name, const Expr& value) {
    ir::IterVar v;
    v.id = c.p.fresh();
    v.name = name;
    v.where = c.step.where;
    stage.iters.push_back(v);
    in_reader.push_back(value);
    return ir::var(v.id, v.name);
  };
  const analysis::Facts facts = analysis::facts_of_arguments(c.p);
  const auto indices = ir::args_of(read);
  for (std::size_t d = 0; d < indices.size(); ++d) {
    const auto parts = terms_of(reader, indices[d], facts);
    for (const ir::IterVar* v : parts)
      if (std::none_of(own.begin(), own.end(), [&](const auto& known) { return known.first == v->id; }))
        own.emplace_back(v->id, dimension(v->name, ir::var(v->id, v->name)));
    bool varies = false;
    for (const ir::IterVar& v : reader.iters) varies = varies || ir::uses_var(indices[d], v.id);
    at.push_back(parts.empty() && varies ? dimension("d" + std::to_string(d), indices[d]) : ir::substitute(indices[d], own));
  }
  if (from.stage) stage.domain = conditions_on_points(c.p.stage(from.stage), at);  // there is nothing to copy elsewhere
  stage.values = {ir::load(from.id, from.name, from.type, at, c.step.where)};
  instead = ir::load(to.id, to.name, to.type, in_reader, read.node()->where);
  return stage;
}

void apply_cache_terms(Context& c) {
  // match
  const ir::Buffer from = c.buffer(0);
  const Scope scope = c.scope(1);
  require_scope(c, scope);
  ir::Stage& reader = c.stage(2);
  if (reader.id == from.stage) require_no_recurrence(c, reader, " (name another reader)");
  std::string found;
  const Expr read = only_read(reader, from.id, found);
  if (read.empty()) c.refuse("one read of " + from.name + " in the values of " + reader.name, found);
  // rewrite
  ir::Buffer& to = new_buffer(c, from, from.name + "_terms", scope);
  Expr instead;
  const ir::Stage stage = terms(c, reader, from, to, read, instead);
  to.rank = static_cast<int>(stage.iters.size());
  to.stage = stage.id;
  c.p.stages[stage.id] = stage;
  for (Expr& v : c.p.stages[reader.id].values)
    v = ir::transform(v, [&](const Expr& x) { return ir::same(x, read) ? instead : x; });
  std::vector<Stmt> made;
  made.push_back(fresh_alloc(c.p, to.id, c.step.where));
  made.push_back(fresh_nest(c.p, stage, c.step.where));
  // at root, where the source is there already; beside the source where that is computed inside a loop
  std::vector<Stmt>* body = &c.p.body;
  if (from.stage) {
    const auto path = ir::path_to(c.p, only_nest(c, c.p.stage(from.stage)).id);
    if (path.size() > 1) body = &const_cast<Stmt*>(path[path.size() - 2])->body();
  }
  insert_before_use(c.p, *body, std::move(made), {to.id});
  // remap
  c.results = {stage.id};
}

std::string line_of_cache_terms(CppCall& w, const Step& s) {
  const std::string reader = w.stage_ref(s.args[2].id), source = w.buffer_ref(s.args[0].id);
  return w.schedule() + ".cache_terms(" + source + ", " + reader + ", " + scope_text(s.args[1]) + ")";
}

bool draw_cache_terms(Draw& d) {
  std::vector<std::pair<Id, Id>> pairs;
  for (const auto& [id, stage] : d.p.stages)
    for (const analysis::Read& r : analysis::reads_of(stage)) pairs.emplace_back(r.load.node()->id, id);
  if (pairs.empty()) return false;
  const auto [buffer, reader] = d.any(pairs);
  return d.step("cache_terms",
                {Arg::buffer(buffer), Arg::place(d.one_in(2) ? Scope::stack : Scope::global), Arg::stage(reader)});
}

}  // namespace

extern constexpr Primitive cache_terms_primitive{
    .name = "cache_terms",
    .spelling = "cache_terms",
    .parameters = {takes::tensor(), takes::scope(), takes::stage("reader")},
    .traits = Traits{Reads::changed, Places::moved, Boxes::derived, Layouts::proved, Callers::kept, Gives::handles},
    .apply = apply_cache_terms,
    .cpp = line_of_cache_terms,
    .draw = Drawing{.often = 1, .draw = draw_cache_terms},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Schedule::cache_terms(StageRef source, StageRef reader, Scope scope, Where w) {
  const Stage any(0, state_);
  const ir::Id from = Stage::buffer_of(*state_, source, "cache_terms", w);
  return Stage(any.apply(schedule::cache_terms_primitive,
                         {Arg::buffer(from), Arg::place(scope), Arg::stage(stage_of(reader, "cache_terms", w))}, w)[0],
               state_);
}

}  // namespace ashlar
