// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedule/primitives/rescale.h"

#include <algorithm>
#include <cmath>

#include <ashlar/interp/tape.h>
#include <ashlar/ir/recurrence.h>

#include "schedule/primitives/primitives.h"
#include "schedule/trace/cpp_names.h"

namespace ashlar::schedule {

namespace {

class NoMemory final : public interp::Memory {
 public:
  int resolve(Id, const char*) override { throw InternalError("a load in an expression without loads"); }
  interp::Value read(int, const std::int64_t*, int) override { throw InternalError("a load in an expression without loads"); }
  std::string where() const override { return "roll"; }
};

}  // namespace

void require_plain(const Context& c, const ir::Stage& stage, const Stmt& nest) {
  const NestStmt& node = nest.get<NestStmt>();
  if (stage.scatters() || stage.atomic || stage.is_recurrence()) c.refuse("reductions that store each point once", stage.name);
  if (!node.slides.empty() || node.after || node.sibling) c.refuse("stages that are placed on their own", stage.name);
  if (ir::recurrences_around(c.p).count(stage.id))
    c.refuse("a stage outside of recurrences", stage.name + ", which one reads and that reads it");
  for (const ir::IterVar& v : stage.iters)
    if (v.descending)
      c.refuse("loops in the order of their variables (move this call before reverse)", v.name + " of " + stage.name);
  for (const ir::Root& r : node.roots)
    if (!ir::is_leaf(c.p, r.axis))
      c.refuse("loops as they were defined (move this call before other steps)", c.p.axis(r.axis).name + " of " + stage.name);
  ir::walk(nest.body(), [&](const Stmt& s) {
    require_no_producer(c, stage, s);
    require_undivided_block(c, stage, s);
    if (const LoopStmt* loop = s.as<LoopStmt>();
        loop && (loop->kind != ir::LoopKind::serial || loop->part != ir::Part::all || loop->combines || loop->pipeline))
      c.refuse("loops without a kind or a part yet (move this call before it)", name_of(c.p, s));
  });
}

Rescale rescale_of(const Context& c, std::size_t arg) {
  const Arg& declared = c.arg(arg);
  std::string written;
  if (!cpp::expression(declared.exprs.front(), [](Id, const std::string& name) { return name; }, written))
    c.refuse("a rescale of arithmetic, functions of one number, comparisons and select, which a saved schedule can hold",
             ir::text(declared.exprs.front()));
  return {declared.exprs.front(), declared.vars};
}

std::string rescale_text(const Arg& rescale) {
  std::string text;
  const auto name = [&](Id id, const std::string&) { return id == rescale.vars[0] ? std::string("old") : "now"; };
  if (!cpp::expression(rescale.exprs.front(), name, text)) throw NoForm{};
  return "[](Expr old, Expr now) { return " + text + "; }";
}

Sampled sampled_of(const Context& c, const ir::Stage& follower, const ir::Stage& leader, ashlar::Type type) {
  Sampled sampled;
  sampled.leader = 1;
  std::vector<std::pair<Expr, Id>> known;
  bool reads = false;
  const auto of_leader = [&](const Expr& e) {
    if (!ir::is(e, ir::Op::load)) return false;
    const Id buffer = e.node()->id;
    if (std::find(leader.buffers.begin(), leader.buffers.end(), buffer) == leader.buffers.end()) return false;
    const auto at = ir::args_of(e);
    bool own = buffer == leader.buffers.front();
    for (std::size_t d = 0; own && d < at.size(); ++d)
      own = ir::is(at[d], ir::Op::var) && at[d].node()->id == follower.iters[d].id;
    if (!own) c.refuse("reads of the leader's value at the follower's own point", ir::text(e));
    return reads = true;
  };
  const std::function<Expr(const Expr&)> sample = [&](const Expr& e) -> Expr {
    if (of_leader(e)) return ir::var(sampled.leader, "leader", type);
    if (ir::is(e, ir::Op::load) || ir::is(e, ir::Op::var) || ir::is(e, ir::Op::call)) {
      for (const auto& [seen, id] : known)
        if (ir::same(seen, e)) return ir::var(id, "x", e.type());
      const Id id = known.size() + 2;
      known.emplace_back(e, id);
      sampled.others.emplace_back(id, e.type());
      return ir::var(id, "x", e.type());
    }
    const auto args = ir::args_of(e);
    if (args.empty()) return e;
    std::vector<Expr> fresh;
    for (const Expr& a : args) fresh.push_back(sample(a));
    return ir::make(ir::op_of(e), e.type(), fresh);
  };
  sampled.term = sample(follower.values.front());
  ir::Substitution back;
  const std::size_t rank = static_cast<std::size_t>(leader.spatial_rank()), more = follower.iters.size() - leader.iters.size();
  for (std::size_t k = 0; k < leader.iters.size() && leader.iters.size() <= follower.iters.size(); ++k) {
    const ir::IterVar& v = follower.iters[k < rank ? k : k + more];
    back.emplace_back(leader.iters[k].id, ir::var(v.id, v.name));
  }
  sampled.met = sample(ir::substitute(leader.values.front(), back));
  if (!reads) c.refuse("a sum whose terms read the leader", follower.name + ", which does not read " + leader.name);
  return sampled;
}

void try_rescale(const Context& c, const Sampled& s, const Rescale& declared, ashlar::Type type, bool rises) {
  const Id old_id = s.others.size() + 2, now_id = old_id + 1;
  const Expr rescale = declared.of(ir::var(old_id, "old", type), ir::var(now_id, "now", type));
  NoMemory memory;
  interp::Slots slots;
  interp::Tape term(s.term, slots, memory, interp::Select::strict), factor(rescale, slots, memory, interp::Select::strict),
      met(s.met, slots, memory, interp::Select::strict);
  std::uint64_t state = 0x9E3779B97F4A7C15u;
  const auto draw = [&](ashlar::Type t) {  // -2 .. 2; whole numbers of integers
    state = state * 6364136223846793005u + 1442695040888963407u;
    const double x = static_cast<double>(state >> 40) / static_cast<double>(1 << 22) - 2;
    return t.is_float() ? ir::float_value(t, x)
                        : ir::int_value(t, static_cast<std::int64_t>(t.is_bool() ? x > 0 : std::abs(x * 2)));
  };
  const auto real = [](const ir::Value& v) { return v.type.is_float() ? v.f : static_cast<double>(v.i); };
  for (int round = 0; round < 24; ++round) {
    for (const auto& [id, t] : s.others) slots.set(id, draw(t));
    ir::Value a = draw(type), b = draw(type);
    if (round >= 16) {  // what was met is the maximum itself
      a = met.run();
      b = ir::float_value(type, a.f + (rises ? 1 : -1) * (std::abs(b.f) + 0.5));
      if (!std::isfinite(a.f) || a.f == b.f) continue;
    }
    if ((real(a) > real(b)) == rises) std::swap(a, b);
    slots.set(old_id, a), slots.set(now_id, b);
    const double f = real(factor.run());
    slots.set(s.leader, a);
    const double before = real(term.run());
    slots.set(s.leader, b);
    const double after = real(term.run());
    const double difference = std::abs(after - before * f), size = std::abs(after) + std::abs(before * f);
    if (!(difference <= 1e-3 * size + 1e-6))
      c.refuse("a rescale with term(now) = term(old) * rescale(old, now)", "rescale(old, now) = " + ir::text(rescale),
               "with old = " + ir::text(a) + " and now = " + ir::text(b) + " a term goes from " + std::to_string(before) +
                   " to " + std::to_string(after) + ", and not to " + std::to_string(before * f));
  }
}

}  // namespace ashlar::schedule
