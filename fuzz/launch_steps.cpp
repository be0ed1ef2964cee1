#include "launch_steps.h"

#include <algorithm>

namespace fuzz {
namespace {

using namespace ashlar;

bool has_bound(const Stmt& nest) {
  bool any = false;
  ir::walk(nest.body(), [&](const Stmt& s) { any |= ir::is_loop(s, ir::LoopKind::bound); });
  return any;
}

std::vector<const Stmt*> loops_below(const Stmt& s) {
  std::vector<const Stmt*> loops;
  ir::walk(s.body(), [&](const Stmt& x) {
    if (x.is<ir::LoopStmt>()) loops.push_back(&x);
  });
  return loops;
}

bool is_constant(const Program& p, const Stmt& loop) { return ir::is_int(p.axis(loop.get<ir::LoopStmt>().axis).extent); }

schedule::Step made(const char* primitive, std::vector<Arg> args, Where where = Where::current()) {
  schedule::Step step;
  step.primitive = primitive;
  step.where = where;
  step.args = std::move(args);
  return step;
}

}  // namespace

std::vector<schedule::Step> bind_next(const Program& p, std::size_t attempt, bool may_regroup) {
  for (const Stmt& root : p.body) {
    if (!root.is<ir::NestStmt>() || has_bound(root)) continue;
    const std::vector<const Stmt*> loops = loops_below(root);
    for (const char* axis : {"block_x", "thread_x"}) {
      if (attempt < loops.size()) return {made("bind", {Arg::loop(loops[attempt]->id), Arg::text(axis)})};
      attempt -= loops.size();
    }
    if (!may_regroup) return {};
    std::vector<const Stmt*> reduces;
    std::copy_if(loops.begin(), loops.end(), std::back_inserter(reduces),
                 [&](const Stmt* l) { return p.axis(l->get<ir::LoopStmt>().axis).reduce; });
    const bool any_constant = std::any_of(reduces.begin(), reduces.end(), [&](const Stmt* l) { return is_constant(p, *l); });
    if (attempt >= reduces.size()) return {};
    const Arg over = Arg::loop(reduces[attempt]->id);
    if (!any_constant) return {made("split", {over, Arg::integer(4), Arg::text("guard")})};
    return {made("cross_thread_reduce", {over}), made("bind", {over, Arg::text("thread_x")})};
  }
  return {};
}

std::vector<schedule::Step> store_in_global(const Program& p) {
  std::vector<schedule::Step> steps;
  for (const auto& [id, stage] : p.stages)
    if (std::any_of(stage.buffers.begin(), stage.buffers.end(),
                    [&](ir::Id b) { return !(p.buffer(b).scope == Scope::global); }))
      steps.push_back(made("set_scope", {Arg::stage(id), Arg::place(Scope::global)}));
  return steps;
}

}  // namespace fuzz
