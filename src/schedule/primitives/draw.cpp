// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedule/primitives/draw.h"

#include <algorithm>
#include <functional>

namespace ashlar::schedule {

std::vector<Id> Draw::stages() const {
  std::vector<Id> all;
  for (const auto& [id, stage] : p.stages)
    if (!ir::nests_of(p, id).empty()) all.push_back(id);
  return all;
}

Id Draw::temporary() {
  const std::vector<Id> all = stages();
  std::vector<Id> placed;
  std::copy_if(all.begin(), all.end(), std::back_inserter(placed),
               [&](Id id) { return p.buffer(p.stage(id).buffers.front()).role == ir::Role::temporary; });
  return placed.empty() || one_in(10) ? any(all) : any(placed);
}

Arg Draw::layout(int rank) {
  std::vector<Id> vars;
  std::vector<Expr> logical, map;
  for (int k = 0; k < rank; ++k)
    vars.push_back(static_cast<Id>(k + 1)), logical.push_back(ir::var(vars.back(), "d" + std::to_string(k)));
  const std::size_t which = pick(static_cast<std::uint32_t>(rank));
  const Expr f = ir::index(factors[pick(4)]);
  map = logical;
  switch (pick(4)) {
    case 0:  // panels
      map.insert(map.begin(), ir::div(logical[which], f));
      map.erase(map.begin() + static_cast<std::ptrdiff_t>(which) + 1);
      map.push_back(ir::mod(logical[which], f));
      break;
    case 1:
      map.assign(logical.rbegin(), logical.rend());
      break;
    case 2:
      map[which] = ir::add(map[which], any(logical));
      break;
    default:
      map[which] = ir::mod(map[which], f);
  }
  return Arg::map(vars, map);
}

bool Draw::step(const char* primitive, std::vector<Arg> args, Where where) {
  Step& made = steps.emplace_back();
  made.primitive = primitive;
  made.args = std::move(args);
  made.where = where;
  return true;
}

bool draw_loop(Draw& d, const char* primitive) {
  const std::vector<const Stmt*> loops = loops_of(d.p, d.stage());
  return !loops.empty() && d.step(primitive, {Arg::loop(d.any(loops)->id)});
}

bool draw_stage(Draw& d, const char* primitive) { return d.step(primitive, {Arg::stage(d.stage())}); }

bool draw_at(Draw& d, const char* primitive) {
  std::vector<Id> inside;
  for (const Id id : d.stages())
    if (!loops_around(d.p, id).empty()) inside.push_back(id);
  if (inside.empty()) return false;
  const Id stage = d.any(inside);
  return d.step(primitive, {Arg::stage(stage), Arg::loop(d.any(loops_around(d.p, stage))->id)});
}

std::vector<const Stmt*> loops_of(const Program& p, Id stage) {
  std::vector<const Stmt*> loops;
  const std::function<void(const std::vector<Stmt>&)> own = [&](const std::vector<Stmt>& body) {
    for (const Stmt& s : body) {
      if (s.is<NestStmt>()) continue;
      if (s.is<LoopStmt>()) loops.push_back(&s);
      own(s.body());
    }
  };
  for (const Stmt* nest : ir::nests_of(p, stage)) own(nest->body());
  return loops;
}

std::vector<const Stmt*> loops_around(const Program& p, Id stage) {
  std::vector<const Stmt*> loops;
  for (const Stmt* nest : ir::nests_of(p, stage))
    for (const Stmt* s : ir::path_to(p, nest->id))
      if (s->is<LoopStmt>()) loops.push_back(s);
  return loops;
}

std::vector<Id> readers_of(const Program& p, Id stage) {
  std::vector<Id> readers;
  for (const auto& [id, other] : p.stages)
    for (const Id b : p.stage(stage).buffers)
      if (id != stage && reads_buffer(other, b)) readers.push_back(id);
  return readers;
}

bool order_matters(const Program& p, const ir::Stage& s) {
  if (s.reducer.kind == ir::ReducerKind::custom)
    return std::any_of(s.buffers.begin(), s.buffers.end(), [&](Id b) { return p.buffer(b).type.is_float(); });
  return (s.reducer.kind == ir::ReducerKind::sum || s.reducer.kind == ir::ReducerKind::product) &&
         p.buffer(s.buffers.front()).type.is_float();
}

bool is_constant(const Program& p, const Stmt& loop) { return ir::is_int(p.axis(loop.get<LoopStmt>().axis).extent); }

// ---- launches --------------------------------------------------------------------------------------------------------------

const Stmt* Launch::loop_where(Draw& d, const std::function<bool(const Stmt&)>& wanted) const {
  std::vector<const Stmt*> found;
  std::copy_if(loops.begin(), loops.end(), std::back_inserter(found), [&](const Stmt* l) { return wanted(*l); });
  return found.empty() ? nullptr : d.any(found);
}

std::optional<Launch> draw_root(Draw& d) {
  std::vector<const Stmt*> roots;
  for (const Stmt& s : d.p.body)
    if (s.is<NestStmt>()) roots.push_back(&s);
  if (roots.empty()) return {};
  Launch launch{*d.any(roots), {}};
  ir::walk(launch.root.body(), [&](const Stmt& s) {
    if (s.is<LoopStmt>()) launch.loops.push_back(&s);
  });
  return launch;
}

std::vector<Id> stored_stages(const Program& p) {
  std::vector<Id> stages;
  for (const auto& [id, b] : p.buffers)
    if (b.role == ir::Role::temporary && b.stage && ir::alloc_of(p, id)) stages.push_back(b.stage);
  return stages;
}

}  // namespace ashlar::schedule
