#include "forced.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include <ashlar/analysis/interval.h>
#include <ashlar/analysis/regions.h>
#include <ashlar/ir/refusal.h>

#include "schedule/force.h"

namespace fuzz {
namespace {

using namespace ashlar;

// ---- what takes its terms in order ---------------------------------------------------------------------------------------
// A reduction that keeps its order keeps it whatever it computes. Another formula, and terms that differ, show every change of
// the order in the result.

bool exact_order(const ir::Stage& s) { return s.is_reduction() && s.reducer.order == ir::Reducer::Order::exact; }

bool any_exact_order(const ir::Program& p) {
  return std::any_of(p.stages.begin(), p.stages.end(), [](const auto& s) { return exact_order(s.second); });
}

Expr in_order(Type t, const Expr& left, const Expr& right) {
  if (t.is_bool()) return ir::logic_or(ir::logic_not(left), right);
  const Expr scale = t.is_float() ? ir::float_const(t, 0.75) : ir::int_const(t, 3);
  return ir::add(ir::mul(scale, left), right);
}

Expr of_its_own(Type t, const Expr& term, const ir::Stage& s) {
  Expr step = ir::index(1);
  for (const ir::IterVar& v : s.iters)
    if (v.kind == ir::IterKind::reduce) step = ir::add(ir::mul(step, ir::index(5)), ir::var(v.id, v.name));
  if (t.is_bool()) return ir::ne(term, ir::eq(ir::mod(step, ir::index(3)), ir::index(0)));
  return ir::add(term, ir::cast(t, ir::mod(step, ir::index(7))));
}

ir::Program with_order(ir::Program p) {
  for (auto& [id, s] : p.stages) {
    if (!exact_order(s)) continue;
    s.reducer.kind = ir::ReducerKind::custom;
    s.reducer.fused = false;
    s.reducer.left.clear(), s.reducer.right.clear(), s.reducer.combine.clear(), s.reducer.identity.clear();
    for (std::size_t k = 0; k < s.buffers.size(); ++k) {
      const Type t = p.buffer(s.buffers[k]).type;
      s.values[k] = of_its_own(t, s.values[k], s);
      s.reducer.left.push_back(p.fresh()), s.reducer.right.push_back(p.fresh());
      s.reducer.identity.push_back(t.is_float() ? ir::float_const(t, 0) : ir::int_const(t, 0));
      s.reducer.combine.push_back(in_order(t, ir::var(s.reducer.left.back(), "l", t), ir::var(s.reducer.right.back(), "r", t)));
    }
  }
  for (ir::Variant& v : p.variants) v.program = std::make_shared<ir::Program>(with_order(*v.program));
  return p;
}

// The steps of an atomic stage come in any order where its loops are parallel.
void take_as_they_come(ir::Program& p, ir::Id stage) {
  const std::function<void(std::vector<ir::Stmt>&, bool)> visit = [&](std::vector<ir::Stmt>& body, bool own) {
    for (ir::Stmt& s : body) {
      const bool here = s.is<ir::NestStmt>() ? ir::is_nest_of(s, stage) : own;
      if (ir::LoopStmt* loop = s.as<ir::LoopStmt>(); loop && here && p.axis(loop->axis).reduce)
        loop->kind = ir::LoopKind::parallel;
      if (s.has_body()) visit(s.body(), here);
    }
  };
  visit(p.body, false);
}

// ---- running --------------------------------------------------------------------------------------------------------------

// The sizes that a refusal names: "false for N = 18, i0 = 0".
Sizes sizes_in(const std::string& conflict, const ir::Program& p) {
  Sizes sizes;
  const std::string text = " " + conflict;
  for (const auto& [id, s] : p.symbols) {
    const std::string name = " " + s.name + " = ";
    if (const auto at = text.find(name); at != std::string::npos) sizes[s.name] = std::atoll(text.c_str() + at + name.size());
  }
  return sizes;
}

bool small(const Sizes& sizes) {
  std::int64_t all = 1;
  for (const auto& [name, n] : sizes) all *= std::clamp<std::int64_t>(n, 1, 1000);
  return all <= 400;
}

// ---- where there is nothing to see ------------------------------------------------------------------------------------------

// A loop of at most one iteration, or a tail of a split that divides.
bool moot(const ir::Program& p, const schedule::Step& step) {
  const analysis::Facts facts = analysis::facts_of_arguments(p);
  for (const schedule::Arg& arg : step.args) {
    if (arg.kind != schedule::Arg::Kind::loop) continue;
    const ir::Stmt* found = ir::find(p, arg.id);
    const ir::LoopStmt* loop = found ? found->as<ir::LoopStmt>() : nullptr;
    if (!loop) continue;
    const auto most = analysis::constant_max(ir::extent_of(p, *loop), facts);
    if (most && *most <= 1) return true;
    if (step.primitive == "split" &&
        analysis::can_prove(ir::eq(ir::mod(p.axis(loop->axis).extent, ir::index(step.args[1].value)), ir::index(0)), facts))
      return true;
  }
  return false;
}

// The stages that a step is about, those that they read, and their readers.
std::set<ir::Id> concerned(const ir::Program& p, const schedule::Step& step) {
  std::set<ir::Id> stages;
  for (const schedule::Arg& arg : step.args) {
    if (arg.kind == schedule::Arg::Kind::stage) stages.insert(arg.id);
    if (arg.kind == schedule::Arg::Kind::loop)
      for (const ir::Stmt* s : ir::path_to(p, arg.id))
        if (const ir::NestStmt* nest = s->as<ir::NestStmt>()) stages.insert(nest->stage);
  }
  const std::set<ir::Id> named = stages;
  for (const auto& [id, s] : p.stages)
    for (const analysis::Read& r : analysis::reads_of(s))
      if (const ir::Id from = p.buffer(r.load.node()->id).stage; named.count(from)) stages.insert(id);
  return stages;
}

constexpr std::int64_t most_blocks = 1000000;  // of a run

// One of them is computed nowhere, or at one point in one step.
bool never_runs(Runs& runs, const ir::Program& before, const ir::Program& p, const schedule::Step& step) {
  const std::set<ir::Id> stages = concerned(before, step);
  std::map<ir::Id, std::int64_t> most;
  interp::Options options;
  options.max_blocks = most_blocks;
  for (std::size_t n = 0; n < runs.count(); ++n) {
    interp::Arguments args = runs.at(n).start;
    try {
      for (const auto& [id, times] : interp::run(p, args, options).evaluations) most[id] = std::max(most[id], times);
    } catch (const interp::RunError& e) {
      if (e.kind != interp::RunError::Kind::limit) throw;
    }
  }
  return std::any_of(stages.begin(), stages.end(), [&](ir::Id id) { return most.count(id) && most.at(id) <= 1; });
}

// What running it shows; empty if all is as the algorithm has it.
std::string shown(const ir::Program& p, Runs& runs, const Sizes& witness, bool regrouped) {
  const std::size_t of_witness = !witness.empty() && small(witness) ? 3 : 0;
  for (std::size_t n = 0; n < runs.count() + of_witness; ++n) {
    const Runs::Run run = n < of_witness ? runs.of(witness, n) : runs.at(n - of_witness);
    interp::Options options;
    options.parallel_order = n % 3 == 0   ? interp::Options::Order::forward
                             : n % 3 == 1 ? interp::Options::Order::reverse
                                          : interp::Options::Order::shuffled;
    options.races = options.layouts = true, options.max_blocks = most_blocks;
    interp::Arguments found = run.start;
    try {
      interp::run(p, found, options);
    } catch (const interp::RunError& e) {
      if (e.kind == interp::RunError::Kind::limit)
        continue;  // nests computed again in every iteration around them: it shows nothing
      return std::string(e.what()) + ", where " + run.shape;
    }
    const std::string d = compare(runs.algorithm(), found, run.expected, regrouped);
    if (!d.empty()) return d + ", where " + run.shape;
  }
  return "";
}

}  // namespace

Runs::Run Runs::of(const Sizes& sizes, std::uint64_t seed) const {
  Run run;
  Source source{Random(seed)};
  Sizes all = *draw_sizes(source, algorithm_, {}).kept;
  for (const auto& [name, n] : sizes) all[name] = n;
  run.start = *draw_arguments(source, algorithm_, values_, all, run.shape);
  run.expected = run.start;
  interp::run_algorithm(algorithm_, run.expected);
  return run;
}

const Runs::Run& Runs::at(std::size_t n) {
  while (runs_.size() <= n) runs_.push_back(of({}, runs_.size()));
  return runs_[n];
}

Finding force(Runs& runs, const schedule::Scheduled& state, const schedule::Step& step, const Target& target, bool regrouped) {
  Finding f;
  std::vector<schedule::UnprovedObligation> unproved_obligations;
  std::optional<schedule::Forced> forced;
  try {
    forced = schedule::force(state, step, target, &unproved_obligations);
  } catch (const RefusalError& e) { f.why = e.refusal.expected; } catch (const InternalError& e) {
    f.why = e.what();
  }
  if (!unproved_obligations.empty()) {
    f.owed = schedule::name_of(unproved_obligations.front().owed);
    f.refusal = unproved_obligations.front().refusal.text();
  }
  if (!forced) return f;
  const ir::Program& before = schedule::variant(state, step.variant).program;
  if (unproved_obligations.empty()) {
    f.why = "more than the target has room for";
    return f;
  }
  try {
    f.why = shown(forced->state.program, runs, sizes_in(unproved_obligations.front().refusal.conflict, runs.algorithm()),
                  regrouped);
    const bool order = std::any_of(unproved_obligations.begin(), unproved_obligations.end(),
                                   [](const auto& x) { return x.owed == schedule::Obligation::reassoc; });
    if (f.why.empty() && order && any_exact_order(runs.algorithm())) {
      Runs ordered(with_order(runs.algorithm()), {});
      schedule::Scheduled instead = state;
      instead.program = with_order(std::move(instead.program));
      for (schedule::Scheduled& v : instead.variants) v.program = with_order(std::move(v.program));
      if (step.primitive == "atomic" && step.variant == 0)
        take_as_they_come(instead.program, step.args.front().id);
      else
        instead = schedule::force(instead, step, target).state;
      f.why = shown(instead.program, ordered, {}, regrouped);
    }
  } catch (const std::exception& e) {
    f.why = e.what();
    return f;
  }
  f.kind = !f.why.empty()                                                                ? Finding::Kind::confirmed
           : moot(before, step) || never_runs(runs, before, forced->state.program, step) ? Finding::Kind::moot
                                                                                         : Finding::Kind::unconfirmed;
  return f;
}

std::string compare(const ir::Program& p, interp::Arguments& found, const interp::Arguments& expected, bool regrouped,
                    bool loose_zeros) {
  for (std::size_t k = 0; k < expected.size(); ++k) {
    if (p.arguments[k].kind != ir::ArgumentKind::output) continue;
    if (loose_zeros && expected[k].array.type.is_float())
      each(expected[k].array.shape, [&](const auto& at) {
        if (const ir::Value v = expected[k].array.at(at); std::isnan(v.f)) found[k].array.set(at, v);
      });
    const std::string d = regrouped || loose_zeros ? interp::difference(found[k].array, expected[k].array, 0, 0)
                                                   : interp::difference(found[k].array, expected[k].array);
    if (!d.empty()) return p.buffer(p.arguments[k].id).name + d;
  }
  return "";
}

}  // namespace fuzz
