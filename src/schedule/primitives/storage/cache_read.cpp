// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cache_read(source, readers, scope, fill): a new stage holds a copy of what the readers read; with a fill value it holds
// that value where the source has no element, so that readers may read past its end: of an argument, or of a stage whose box
// was declared (of another one readers decide where it has elements).
//
//   C[i, j] = sum A[i, k] * B[k, j]     cache_read(B, {C}):   B_cache[k, j] = B[k, j]
//                                                             C[i, j] = sum A[i, k] * B_cache[k, j]
//
// The new stage is computed just before its first reader; compute_at places it. Legality: COVER, with the reads of all stages.
#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"
#include "schedule/trace/cpp_names.h"
#include "schedule/primitives/storage/storage.h"

namespace ashlar::schedule {

namespace {

std::vector<std::string> index_names(const Program& p, const ir::Buffer& b) {
  std::vector<std::string> names;
  if (b.stage)
    for (const ir::IterVar& v : p.stage(b.stage).iters)
      if (v.kind != ir::IterKind::reduce) names.push_back(v.name);
  for (std::size_t d = names.size(); d < static_cast<std::size_t>(b.rank); ++d) names.push_back("d" + std::to_string(d));
  return names;
}

void redirect(std::vector<Expr>& values, Id from, const ir::Buffer& to) {
  for (Expr& v : values)
    v = ir::transform(v, [&](const Expr& x) {
      return ir::is(x, ir::Op::load) && x.node()->id == from
                 ? ir::load(to.id, to.name, to.type, ir::args_of(x), x.node()->where)
                 : x;
    });
}

}  // namespace

void redirect_reads(ir::Stage& reader, Id from, const ir::Buffer& to) {
  for (auto* list : {&reader.values, &reader.inits, &reader.targets}) redirect(*list, from, to);
  if (reader.keep.empty()) return;
  std::vector<Expr> keep{reader.keep};
  redirect(keep, from, to);
  reader.keep = keep.front();
}

namespace {

// match: the stages named, which read the source as one stage reads another
std::vector<Id> readers_named(Context& c, Id source, std::size_t first) {
  const std::string& name = c.p.buffer(source).name;
  if (c.count() <= first) c.refuse("at least one stage that reads " + name, "none");
  std::vector<Id> readers;
  for (std::size_t k = first; k < c.count(); ++k) {
    const ir::Stage& reader = c.stage(k);
    if (reader.id == c.p.buffer(source).stage) require_no_recurrence(c, reader, " (name its other readers)");
    const auto reads = analysis::reads_of(reader);
    const auto of_source = [&](const analysis::Read& r) { return r.load.node()->id == source; };
    if (std::none_of(reads.begin(), reads.end(), [&](const analysis::Read& r) { return of_source(r) && !r.bounds; }))
      c.refuse("stages that read " + name,
               reader.name + (std::any_of(reads.begin(), reads.end(), of_source)
                                  ? ", of whose axes it says how far they run: such tables are read where they lie"
                                  : ", which does not"));
    for (const Stmt* n : ir::nests_of(c.p, reader.id))
      if (n->get<NestStmt>().after && n->get<NestStmt>().after == c.p.buffer(source).stage)
        c.refuse("a reader that is computed after its source (move this call before fuse_into)", reader.name);
    readers.push_back(reader.id);
  }
  return readers;
}

// rewrite: a stage that copies, and holds the fill value outside of the source's box, where there is one
ir::Stage copy_of(Context& c, const ir::Buffer& from, const ir::Buffer& to, const Expr& fill) {
  ir::Stage stage;
  stage.id = c.p.fresh();
  stage.name = to.name;
  stage.where = c.step.where;
  stage.buffers = {to.id};
  stage.origin = ir::Stage::Origin::cache_read;
  stage.origin_of = from.id;
  stage.has_fill = !fill.empty();
  stage.fill = fill;
  const auto box = stage.has_fill ? declared_box(c.p, from) : std::nullopt;
  std::vector<Expr> at;
  Expr inside = ir::boolean(true);
  const auto names = index_names(c.p, from);
  for (std::size_t d = 0; d < names.size(); ++d) {
    ir::IterVar v;
    v.id = c.p.fresh();
    v.name = names[d];
    v.where = c.step.where;
    stage.iters.push_back(v);
    at.push_back(ir::var(v.id, v.name));
    if (box)
      inside = ir::logic_and(inside, ir::logic_and(ir::ge(at.back(), (*box)[d].first), ir::lt(at.back(), (*box)[d].second)));
  }
  if (from.stage) stage.domain = conditions_on_points(c.p.stage(from.stage), at);  // there is nothing to copy elsewhere
  Expr value = ir::load(from.id, from.name, from.type, at, c.step.where);
  if (box && !at.empty()) value = ir::select(inside, value, fill);
  stage.values = {value};
  return stage;
}

// arguments: source buffer, scope, 1 and the fill value as a map of no variables (or 0), the readers
void apply_cache_read(Context& c) {
  // match
  const Id source = c.buffer(0).id;
  const Scope scope = c.scope(1);
  require_scope(c, scope);
  const bool fills = c.integer(2) != 0;
  const std::vector<Id> readers = readers_named(c, source, fills ? 4 : 3);
  const ir::Buffer from = c.p.buffer(source);
  if (fills && !declared_box(c.p, from))
    c.refuse("a fill value where the source is an input, or a stage with a box that was declared",
             from.name + ", another stage");
  const Expr fill = fills ? c.arg(3).exprs.front() : Expr();
  if (fills && !(fill.type() == from.type))
    c.refuse("a fill value of type " + ir::text(from.type), ir::text(fill) + " of type " + ir::text(fill.type()));
  // rewrite
  const ir::Buffer to = new_buffer(c, from, from.name + "_cache", scope);
  const ir::Stage stage = copy_of(c, from, to, fill);
  c.p.stages[stage.id] = stage;
  c.p.buffers[to.id].stage = stage.id;
  for (Id r : readers) redirect_reads(c.p.stages[r], source, to);
  std::vector<Stmt> made;
  made.push_back(fresh_alloc(c.p, to.id, c.step.where));
  made.push_back(fresh_nest(c.p, c.p.stage(stage.id), c.step.where));
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

std::string line_of_cache_read(CppCall& w, const Step& s) {
  const bool fills = s.args[2].value != 0;
  const std::string readers = stages_from(w, s, fills ? 4 : 3, &CppCall::stage_ref), source = w.buffer_ref(s.args[0].id);
  std::string fill;
  if (fills && !cpp::constant(s.args[3].exprs.front(), fill)) throw NoForm{};
  return w.schedule() + ".cache_read(" + source + ", " + readers + ", " + scope_text(s.args[1]) + (fills ? ", " + fill : "") +
         ")";
}

// Sometimes with a fill value: of an input, or of a stage whose box was declared.
bool draw_cache_read(Draw& d) {
  const Program& p = d.p;
  std::vector<Id> buffers, readers;
  for (const auto& [id, b] : p.buffers) buffers.push_back(id);
  const Id buffer = d.any(buffers);
  for (const auto& [id, stage] : p.stages)
    if (reads_buffer(stage, buffer)) readers.push_back(id);
  if (readers.empty()) return false;
  const ir::Buffer& b = p.buffer(buffer);
  const bool declared = !b.stage || (!p.stage(b.stage).iters.empty() && !p.stage(b.stage).iters.front().begin.empty());
  const bool fills = declared && (b.role == ir::Role::input || b.stage) && d.one_in(3);
  std::vector<Arg> args{Arg::buffer(buffer), Arg::place(d.one_in(2) ? Scope::stack : Scope::global), Arg::integer(fills)};
  if (fills) {
    const int v = !b.type.is_bool() && d.one_in(3) ? 3 : 0;
    args.push_back(Arg::map({}, {b.type.is_float() ? ir::float_const(b.type, v) : ir::int_const(b.type, v)}));
  }
  const std::size_t first = d.pick(static_cast<std::uint32_t>(readers.size()));
  for (std::size_t k = 0; k < readers.size(); ++k)
    if (k == first || d.pick(2) == 0) args.push_back(Arg::stage(readers[k]));
  return d.step("cache_read", std::move(args));
}

}  // namespace

extern constexpr Primitive cache_read_primitive{
    .name = "cache_read",
    .spelling = "cache_read",
    .parameters = {takes::tensor(), takes::scope(), takes::number("filled"), takes::value("fill value").if_so(),
                   takes::stage("reader").any_number()},
    .traits = Traits{Reads::changed, Places::moved, Boxes::derived, Layouts::proved, Callers::kept, Gives::handles},
    .apply = apply_cache_read,
    .cpp = line_of_cache_read,
    .draw = Drawing{.often = 1, .draw = draw_cache_read},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

std::vector<Arg> Schedule::reader_args(StageRef source, std::initializer_list<StageRef> readers, const Scope& scope,
                                       const Operand* fill, Where where) const {
  const ir::Id buffer = Stage::buffer_of(*state_, source, "cache_read", where);
  std::vector<Arg> args{Arg::buffer(buffer), Arg::place(scope), Arg::integer(fill ? 1 : 0)};
  if (fill) {
    const Type type = state_->scheduled.program.buffer(buffer).type;
    if (!fill->is_number()) refuse("cache_read", "a number to fill with", "an Expr", where);
    if (fill->number_type().is_bool() && !type.is_bool())
      refuse("cache_read", "a value to fill " + ir::text(type) + " with", "a bool", where);
    Expr value;
    if (type.is_float())
      value = ir::float_const(type, fill->number_type().is_float() ? fill->real() : static_cast<double>(fill->integer()));
    else if (!fill->number_type().is_float())
      value = ir::int_const(type, fill->integer());
    else
      refuse("cache_read", "an integer to fill " + ir::text(type) + " with", "a floating number", where);
    args.push_back(Arg::map({}, {value}));
  }
  for (const StageRef& r : readers) args.push_back(Arg::stage(stage_of(r, "cache_read", where)));
  return args;
}
Stage Schedule::cache_read(StageRef source, std::initializer_list<StageRef> readers, Scope scope, Where w) {
  const Stage any(0, state_);
  return Stage(any.apply(schedule::cache_read_primitive, reader_args(source, readers, scope, nullptr, w), w)[0], state_);
}
Stage Schedule::cache_read(StageRef source, std::initializer_list<StageRef> readers, Scope scope, Operand fill, Where w) {
  const Stage any(0, state_);
  return Stage(any.apply(schedule::cache_read_primitive, reader_args(source, readers, scope, &fill, w), w)[0], state_);
}

}  // namespace ashlar
