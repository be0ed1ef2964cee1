// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedules/src/draft.h"

#include <algorithm>
#include <cstdio>

#include <ashlar/schedule/capacity.h>

namespace ashlar::schedules {

const Classified& Draft::family(Id id) {
  if (const auto at = families_.find(id); at != families_.end()) return at->second;
  Classified c = classify(program(), stage(id), sizes());
  if (c.family == Family::column_reduction || c.family == Family::stencil)
    if (const Id along = terms_beside_few(*this, stage(id))) {
      c.family = Family::row_reduction, c.contiguous = along;
      c.why = "results that are neighbors are few, and lie otherwise than those of the next point";
    }
  return families_.emplace(id, std::move(c)).first->second;
}

Choice& Draft::choice(Id id) {
  while (of_.count(id)) id = of_.at(id);
  const auto at = choices_.find(id);
  if (at != choices_.end()) return at->second;
  order_.push_back(id);
  const Classified& c = family(id);
  return choices_.emplace(id, Choice{stage(id).name, c.family, {}, {c.why}}).first->second;
}

bool Draft::attempt(Id id, const std::string& what, const std::function<void()>& steps, const std::string& instead) {
  const std::string name = choice(id).stage;
  const std::optional<Refusal> refused = s.attempt([&] { steps(); });
  if (!refused) {
    if (!what.empty()) done(id, what);
    return true;
  }
  if (!what.empty())
    why(id, "not " + what + " (" + refused->primitive + " expects " + refused->expected + ", found " + refused->found + ")" +
                (instead.empty() ? "" : ": " + instead));
  return false;
}

Choices Draft::finish() {
  Choices all;
  for (const Id id : order_) all.stages.push_back(std::move(choices_.at(id)));
  return all;
}

std::string count(double n) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", n);
  return text;
}

std::string bytes(double n) {
  char text[32];
  const char* unit = n < 1e4 ? "B" : n < 1e7 ? "kB" : "MB";
  std::snprintf(text, sizeof text, "%.4g %s", n < 1e4 ? n : n < 1e7 ? n / 1e3 : n / 1e6, unit);
  return text;
}

Loop loop_over(Draft& d, const Stage& stage, Id variable) {
  const ir::Program& p = d.program();
  for (const Loop& l : stage.nest(d.where)) {
    const ir::Axis& a = p.axis(ir::find(p, l.id())->get<ir::LoopStmt>().axis);
    if (a.origin == ir::Axis::Origin::root && a.iter == variable) return l;
  }
  throw InternalError("a loop of a stage that was not scheduled yet");
}

void innermost(Draft& d, const Stage& stage, Loop loop) {
  std::vector<Loop> order;
  for (const Loop& l : stage.nest(d.where))
    if (!(l == loop)) order.push_back(l);
  order.push_back(loop);
  reorder(d, stage, order);
}

std::vector<Loop> whole_loops(Draft& d, const Stage& stage, bool reduce) {
  std::vector<Loop> loops;
  for (const auto& v : reduce ? reduce_of(d.stage(stage.id())) : spatial_of(d.stage(stage.id())))
    loops.push_back(loop_over(d, stage, v.id));
  return loops;
}

void reorder(Draft& d, const Stage& stage, const std::vector<Loop>& loops) {
  if (loops.size() > 1) stage.reorder(loops, d.where);
}

// Whether a point's position along the last dimension selects what it reads, as at a border.
bool has_borders(const ir::Stage& s) {
  const Id last = spatial_of(s).empty() ? 0 : spatial_of(s).back().id;
  bool found = false;
  for (const Expr& value : s.values)
    ir::walk(value, [&](const Expr& e) {
      const bool chooses = ir::is(e, ir::Op::mod) || ir::is(e, ir::Op::min) || ir::is(e, ir::Op::max);
      found = found || (chooses && e.type().is_index() && ir::uses_var(e, last)) ||
              (ir::is(e, ir::Op::select) && ir::uses_var(ir::args_of(e)[0], last));
      return !found;
    });
  return found;
}

// The lanes of a vector: one register of the stored type, and up to four of the widest type that a point computes with. Only
// one if points at borders select, so that few vectors contain a border.
int lanes_of(const Draft& d, const ir::Stage& s) {
  const Target& t = d.s.target();
  Type stored = d.program().buffer(s.buffers.front()).type, widest = stored;
  for (const Expr& e : s.values)
    ir::walk(e, [&](const Expr& x) {
      if (ir::is(x, ir::Op::load)) {
        if (x.type().bytes() > widest.bytes()) widest = x.type();
        return false;
      }
      if (!x.type().is_index() && !x.type().is_bool() && x.type().bytes() > widest.bytes()) widest = x.type();
      return true;
    });
  const int registers = has_borders(s) ? 1 : 4;
  return std::min(t.lanes(stored), registers * t.lanes(widest));
}

bool vectorize(Draft& d, Id id, Loop loop, std::optional<std::int64_t> extent) {
  const int lanes = lanes_that_fill(extent.value_or(0), lanes_of(d, d.stage(id)));
  const std::string along = " along " + std::string(loop.label(d.where));
  if (lanes < 2) return false;
  const Stage stage = d.handle(id);
  if (extent && *extent < 2) return false;
  if (extent && *extent <= lanes)
    return d.attempt(id, "a vector of " + count(static_cast<double>(*extent)) + along, [&] { stage.vectorize(loop, d.where); });
  if (d.s.target().has("sve")) {
    const int unit = 16 / std::max(1, d.program().buffer(d.stage(id).buffers.front()).type.bytes());
    const bool scalable = unit >= 2 && !d.s.attempt([&] { stage.vectorize(loop, Scalable{unit}, d.where); });
    if (scalable) return d.done(id, "vectors as long as the machine's" + along), true;
  }
  return d.attempt(id, "vectors of " + std::to_string(lanes) + along, [&] { stage.vectorize(loop, lanes, d.where); });
}

void require_fits(Draft& d, std::size_t from_step) {
  const auto& trace = d.s.scheduled().trace;
  for (std::size_t k = from_step; k < trace.size(); ++k)
    if (trace[k].primitive == "set_scope" && d.program().stages.count(trace[k].args.front().id))
      for (const Id b : d.stage(trace[k].args.front().id).buffers)
        schedule::require_capacity(d.program(), d.program().buffer(b));
}

bool on_stack(Draft& d, Id id) {
  const std::size_t before = d.s.scheduled().trace.size();
  return d.attempt(id, "", [&] {
    d.handle(id).store_in(Scope::stack, d.where);
    require_fits(d, before);
  });
}

}  // namespace ashlar::schedules
