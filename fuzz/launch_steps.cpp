#include "launch_steps.h"

#include <algorithm>

namespace fuzz {
namespace {

using namespace ashlar;

bool has_bound(const Stmt& nest) {
  bool any = false;
  ir::walk(nest.body, [&](const Stmt& s) { any |= s.kind == Stmt::Kind::loop && s.loop_kind == ir::LoopKind::bound; });
  return any;
}

// Has a loop over warps or lanes, or one over another view of the threads (`flat` = false)?
bool has_view(const Stmt& nest, bool flat) {
  bool any = false;
  ir::walk(nest.body, [&](const Stmt& s) {
    if (s.kind != Stmt::Kind::loop || s.loop_kind != ir::LoopKind::bound || ir::is_block(s.bound_to)) return;
    any |= flat ? s.bound_to == gpu::lane || s.bound_to == gpu::warp : s.bound_to.level == gpu::thread_x.level;
  });
  return any;
}

std::vector<const Stmt*> loops_below(const Stmt& s) {
  std::vector<const Stmt*> loops;
  ir::walk(s.body, [&](const Stmt& x) {
    if (x.kind == Stmt::Kind::loop) loops.push_back(&x);
  });
  return loops;
}

bool is_constant(const Program& p, const Stmt& loop) { return ir::is_int(p.axis(loop.axis).extent); }

}  // namespace

std::optional<Drawn> draw_launch_step(Source& s, const Program& p, int warp) {
  static constexpr const char* names[] = {"bind",         "bind",      "bind",     "bind",      "bind",
                                          "vthread",      "set_scope", "shared",   "set_scope", "cross_thread_reduce",
                                          "reduce",       "pipeline",  "pipeline", "atomic",    "atomic",
                                          "double_buffer"};
  const std::string name = names[s.pick(static_cast<std::uint32_t>(std::size(names)))];
  std::vector<const Stmt*> roots;
  for (const Stmt& root : p.body)
    if (root.kind == Stmt::Kind::nest) roots.push_back(&root);
  if (roots.empty()) return std::nullopt;
  const Stmt& root = *roots[s.pick(static_cast<std::uint32_t>(roots.size()))];
  const std::vector<const Stmt*> loops = loops_below(root);
  const auto any_of = [&](auto&& wanted) -> const Stmt* {
    std::vector<const Stmt*> found;
    std::copy_if(loops.begin(), loops.end(), std::back_inserter(found), wanted);
    return found.empty() ? nullptr : found[s.pick(static_cast<std::uint32_t>(found.size()))];
  };
  const auto reduces = [&](const Stmt* l) { return p.axis(l->axis).reduce; };
  const auto stage_of = [&](const Stmt* l) {
    Id stage = root.stage;
    for (const Stmt* around : ir::path_to(p, l->id))
      if (around->kind == Stmt::Kind::nest) stage = around->stage;
    return stage;
  };
  const auto at_once = [&](const Stmt* l) { return p.stage(stage_of(l)).atomic; };
  const auto serial = [&](const Stmt* l) { return l->loop_kind == ir::LoopKind::serial; };
  std::vector<Id> temporaries;
  for (const auto& [id, b] : p.buffers)
    if (b.role == ir::Role::temporary && b.stage && ir::alloc_of(p, id)) temporaries.push_back(b.stage);

  if (name == "bind") {
    static constexpr const char* blocks[] = {"block_x", "block_y"};
    static constexpr const char* threads[] = {"thread_x", "thread_x", "thread_x", "thread_y",
                                              "threads",  "threads",  "lane",     "warp"};
    static constexpr const char* lanes[] = {"lane", "lane", "lane", "lane", "warp", "warp", "warp", "threads"};
    if (!has_bound(root) && !s.one_in(4)) {  // the outermost loop, over blocks
      if (loops.empty()) return std::nullopt;
      return made("bind", {Arg::loop(loops.front()->id), Arg::text(blocks[s.pick(2)])});
    }
    const Stmt* loop =
        any_of([&](const Stmt* l) { return serial(l) && is_constant(p, *l) && (l->combines || !reduces(l) || at_once(l)); });
    if (!loop || s.one_in(8)) loop = any_of([](const Stmt*) { return true; });
    if (!loop) return std::nullopt;
    if (s.one_in(8)) return made("bind", {Arg::loop(loop->id), Arg::text(blocks[s.pick(2)])});
    const bool flat = warp > 1 && (has_view(root, true) || (!has_view(root, false) && s.one_in(2)));
    return made("bind", {Arg::loop(loop->id), Arg::text((flat ? lanes : threads)[s.pick(8)])});
  }
  if (name == "vthread") {
    const Stmt* loop = any_of([&](const Stmt* l) { return serial(l) && is_constant(p, *l) && !reduces(l); });
    return loop ? std::optional(made("vthread", {Arg::loop(loop->id)})) : std::nullopt;
  }
  if (name == "set_scope" || name == "shared") {
    if (temporaries.empty()) return std::nullopt;
    const Scope& scope = name == "shared" || !s.one_in(3) ? Scope::shared : Scope::registers;
    return made("set_scope",
                {Arg::stage(temporaries[s.pick(static_cast<std::uint32_t>(temporaries.size()))]), Arg::place(scope)});
  }
  if (name == "cross_thread_reduce" || name == "reduce") {
    const Stmt* loop = any_of([&](const Stmt* l) { return serial(l) && reduces(l) && (is_constant(p, *l) || s.one_in(8)); });
    if (!loop) return std::nullopt;
    Drawn d = made("cross_thread_reduce", {Arg::loop(loop->id)});
    d.reassociates = true;
    return d;
  }
  if (name == "atomic") {
    const Stmt* loop = any_of([&](const Stmt* l) { return serial(l) && reduces(l); });
    if (!loop) return std::nullopt;
    static constexpr const char* axes[] = {"block_x", "block_y", "thread_x", "thread_x", "threads", "lane"};
    const schedule::Step bind = made("bind", {Arg::loop(loop->id), Arg::text(axes[s.pick(6)])}).step;
    Drawn d = made("atomic", {Arg::stage(stage_of(loop))});
    d.reassociates = true;
    if (at_once(loop))
      d.step = bind;
    else
      d.then.push_back(bind);
    return d;
  }
  // pipeline: of what is computed right inside a loop, in shared memory
  std::vector<std::pair<const Stmt*, Id>> places;
  for (const Stmt* l : loops)
    for (const Stmt& inner : l->body)
      if (inner.kind == Stmt::Kind::nest && serial(l))
        if (const ir::Stage& stage = p.stage(inner.stage); p.buffer(stage.buffers.front()).scope == Scope::shared)
          places.emplace_back(l, stage.id);
  if (places.empty() || s.one_in(2)) {  // made so, first
    const Stmt* l = any_of(serial);
    if (!l || temporaries.empty()) return std::nullopt;
    const Arg stage = Arg::stage(temporaries[s.pick(static_cast<std::uint32_t>(temporaries.size()))]);
    Drawn d = made("compute_at", {stage, Arg::loop(l->id)});
    d.then.push_back(made("set_scope", {stage, Arg::place(Scope::shared)}).step);
    if (name == "double_buffer") {
      d.then.push_back(made("double_buffer", {stage}).step);
      return d;
    }
    d.then.push_back(
        made("pipeline", {Arg::loop(l->id), Arg::integer(s.between(2, 4)), Arg::integer(s.one_in(2)), stage}).step);
    return d;
  }
  const auto& [loop, load] = places[s.pick(static_cast<std::uint32_t>(places.size()))];
  if (name == "double_buffer") return made("double_buffer", {Arg::stage(load)});
  std::vector<Arg> args{Arg::loop(loop->id), Arg::integer(s.between(2, 4)), Arg::integer(s.one_in(2))};
  for (const auto& [at, stage] : places)
    if (at == loop && (stage == load || s.one_in(2))) args.push_back(Arg::stage(stage));
  return made("pipeline", std::move(args));
}

std::vector<schedule::Step> bind_next(const Program& p, std::size_t attempt, bool may_regroup) {
  for (const Stmt& root : p.body) {
    if (root.kind != Stmt::Kind::nest || has_bound(root)) continue;
    const std::vector<const Stmt*> loops = loops_below(root);
    for (const char* axis : {"block_x", "thread_x"}) {
      if (attempt < loops.size()) return {made("bind", {Arg::loop(loops[attempt]->id), Arg::text(axis)}).step};
      attempt -= loops.size();
    }
    if (!may_regroup) return {};
    std::vector<const Stmt*> reduces;
    std::copy_if(loops.begin(), loops.end(), std::back_inserter(reduces),
                 [&](const Stmt* l) { return p.axis(l->axis).reduce; });
    const bool any_constant = std::any_of(reduces.begin(), reduces.end(), [&](const Stmt* l) { return is_constant(p, *l); });
    if (attempt >= reduces.size()) return {};
    const Arg over = Arg::loop(reduces[attempt]->id);
    if (!any_constant) return {made("split", {over, Arg::integer(4), Arg::text("guard")}).step};
    return {made("cross_thread_reduce", {over}).step, made("bind", {over, Arg::text("thread_x")}).step};
  }
  return {};
}

}  // namespace fuzz
