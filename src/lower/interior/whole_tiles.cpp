// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loop of collective calls, as the steps of a product by tensor cores, under conditions that tell tiles at the rim from those
// inside: what a block does in one step is there twice, without conditions for blocks and steps that lie wholly inside.
//
//   for ko                                              for ko
//     for k in [0, +2)                                    if M - block * 64 - 64 >= 0 && K - ko * 32 - 32 >= 0
//       for i in [0, +4)                                    for k in [0, +2)
//         if ko * 32 + k * 16 < K                             for i in [0, +4)
//           if i < min(M / 16 - block * 4, 4)       ->          call mma ...
//             call mma ...                                else
//                                                           as it was
//
// Invariant: the test is the same for all threads of the block, since its threads may meet inside. It says what the conditions
// ask of the thread and the loops for which they ask most.
#include <algorithm>
#include <optional>
#include <unordered_map>

#include <ashlar/analysis/interval.h>
#include <ashlar/analysis/simplify.h>
#include <ashlar/ir/build.h>

#include "lower/passes.h"

namespace ashlar::lowering {
namespace {

constexpr std::int64_t few_iterations = 4;  // iterations of a loop that is not a loop over steps

bool has_collective_call(const ir::Kernel& k, const std::vector<KStmt>& list) {
  return std::any_of(list.begin(), list.end(), [&](const KStmt& s) {
    if (const auto* call = s.as<ir::KCall>())
      return call->intrinsic != 0 && k.intrinsics.at(call->intrinsic).accumulates && k.intrinsics.at(call->intrinsic).group > 1;
    const auto bodies = s.bodies();
    return std::any_of(bodies.begin(), bodies.end(), [&](const auto* inside) { return has_collective_call(k, *inside); });
  });
}

// Loads of fragments by an instruction that a user describes, or one of instructions/ampere.h. They have few conditions to get
// rid of, and with two copies of them ptxas 13.0 spills for sm_100a.
bool loads_by_text(const ir::Kernel& k, const std::vector<KStmt>& list) {
  return std::any_of(list.begin(), list.end(), [&](const KStmt& s) {
    if (const auto* call = s.as<ir::KCall>(); call && call->intrinsic != 0) {
      const ir::Intrinsic& f = k.intrinsics.at(call->intrinsic);
      return f.group > 1 && !f.accumulates && f.device == ir::DeviceOp::none;
    }
    const auto bodies = s.bodies();
    return std::any_of(bodies.begin(), bodies.end(), [&](const auto* inside) { return loads_by_text(k, *inside); });
  });
}

// Copies of an argument whose rows begin anywhere, element by element: without conditions, the loads of all of them would stand
// side by side, for which registers do not suffice.
bool copies_elements(const ir::Kernel& k, const KStmt& s) {
  bool found = false;
  for_each_expr(s, [&](const Expr& e) {
    ir::walk(e, [&](const Expr& x) {
      if (!ir::is(x, Op::load)) return true;
      const ir::KBuffer& b = k.buffers.at(x.node()->id);
      found = found || (b.storage == ir::Storage::argument && b.align < 16);
      return true;
    });
  });
  for (const auto* inside : s.bodies())
    found = found || std::any_of(inside->begin(), inside->end(), [&](const KStmt& one) { return copies_elements(k, one); });
  return found;
}

// One statement of the loop, as it is inside.
class Inside {
 public:
  Inside(const ir::Kernel& kernel, const Facts& facts, const analysis::VarRange& threads)
      : kernel_(kernel), facts_(facts), ranges_{threads} {}

  // False where it is the same everywhere, or where the test would be long.
  bool find(const KStmt& s) {
    inside = statements({s});
    constexpr std::size_t most = 6;
    return !failed_ && !slacks.empty() && slacks.size() <= most;
  }
  std::vector<KStmt> inside;
  std::vector<Expr> slacks;  // that are to be at least 0

 private:
  std::vector<KStmt> statements(const std::vector<KStmt>& list) {
    std::vector<KStmt> out;
    for (const KStmt& s : list) {
      if (s.is<ir::KLet>()) failed_ = true;
      KStmt copy = s;
      for_each_expr(copy, [&](Expr& e) {
        if (!e.empty()) e = analysis::simplify(rewritten(e), facts_);
      });
      if (auto* store = copy.as<ir::KStore>(); store && !store->mask.empty() && ir::is_int(store->mask, 1))
        store->mask = Expr();
      if (auto* loop = copy.as<KFor>()) {
        body(*loop);
      } else {
        for (auto* list_inside : copy.bodies()) *list_inside = statements(*list_inside);
      }
      std::int64_t known = 0;
      if (auto* branch = copy.as<KIf>(); branch && ir::is_int(branch->condition, &known)) {
        for (KStmt& k : known ? branch->body : branch->otherwise) out.push_back(std::move(k));
        continue;
      }
      out.push_back(std::move(copy));
    }
    return out;
  }

  void body(KFor& loop) {
    const Facts outside = facts_;
    range(facts_, loop);
    ranges_.insert(ranges_.begin(), {loop.var, {loop.begin, ir::sub(ir::add(loop.begin, loop.extent), ir::index(1))}});
    done_.clear();
    loop.body = statements(loop.body);
    done_.clear();
    ranges_.erase(ranges_.begin());
    facts_ = outside;
    // Addresses of tiles at constant steps are constants.
    std::int64_t n = 0;
    if (loop.kind == ir::LoopKind::serial && ir::is_int(loop.extent, &n) && n <= few_iterations &&
        has_collective_call(kernel_, loop.body))
      loop.kind = ir::LoopKind::unrolled;
  }

  Expr rewritten(const Expr& e) {
    if (const auto it = done_.find(e.node()); it != done_.end()) return it->second;
    const auto args = ir::args_of(e);
    if (args.empty()) return e;
    std::vector<Expr> fresh;
    for (const Expr& a : args) fresh.push_back(rewritten(a));
    if (ir::is(e, Op::load) && fresh.size() == 2 && ir::is_int(fresh[1], 1)) fresh.pop_back();
    Expr result = fresh.size() == args.size() ? ir::rebuild(e, fresh)
                                              : ir::load(e.node()->id, e.node()->name, e.type(), fresh, e.node()->where);
    if (args.size() == 2 && args[0].type().is_index()) result = decided(result, fresh[0], fresh[1]);
    done_.emplace(e.node(), result);
    return result;
  }

  // Inside, a length is not cut short, and an index lies before its end.
  Expr decided(const Expr& e, const Expr& a, const Expr& b) {
    const Expr one = ir::index(1);
    switch (ir::op_of(e)) {
      case Op::min:
        if (ir::is_int(b)) return required(ir::sub(a, b)) ? b : e;
        return ir::is_int(a) && required(ir::sub(b, a)) ? a : e;
      case Op::max:
        if (ir::is_int(b)) return required(ir::sub(a, b)) ? a : e;
        return ir::is_int(a) && required(ir::sub(b, a)) ? b : e;
      case Op::lt:
        return differs(e) && required(ir::sub(ir::sub(b, a), one)) ? ir::boolean(true) : e;
      case Op::le:
        return differs(e) && required(ir::sub(b, a)) ? ir::boolean(true) : e;
      case Op::gt:
        return differs(e) && required(ir::sub(ir::sub(a, b), one)) ? ir::boolean(true) : e;
      case Op::ge:
        return differs(e) && required(ir::sub(a, b)) ? ir::boolean(true) : e;
      default:
        return e;
    }
  }

  bool differs(const Expr& e) const {  // between threads, or between iterations of the loops inside
    return std::any_of(ranges_.begin(), ranges_.end(), [&](const analysis::VarRange& r) { return ir::uses_var(e, r.id); });
  }

  // slack >= 0 everywhere inside, if the test asks for it.
  bool required(const Expr& slack) {
    const Expr least = analysis::bounds_over(analysis::simplify(slack, facts_), ranges_, facts_).lo;
    if (least.empty() || has_load(least) || differs(least)) return false;
    if (analysis::can_prove(ir::ge(least, ir::index(0)), facts_)) return true;
    if (ir::is_int(least) || analysis::can_prove(ir::lt(least, ir::index(0)), facts_)) return false;
    for (Expr& kept : slacks) {
      std::int64_t more = 0;
      if (!ir::is_int(analysis::simplify(ir::sub(least, kept), facts_), &more)) continue;
      if (more < 0) kept = least;
      return true;
    }
    slacks.push_back(least);
    return true;
  }

  const ir::Kernel& kernel_;
  Facts facts_;
  std::vector<analysis::VarRange> ranges_;  // of loops inside, innermost first, and of the threads
  std::unordered_map<const ir::Node*, Expr> done_;
  bool failed_ = false;
};

// The test: what does not follow from what else it asks.
Expr all_of(std::vector<Expr> slacks, const Facts& facts, Expr test = {}) {
  for (std::size_t n = slacks.size(); n-- > 0;) {
    Facts others = facts;
    for (std::size_t o = 0; o < slacks.size(); ++o)
      if (o != n) others.assume(ir::ge(slacks[o], ir::index(0)));
    if (analysis::can_prove(ir::ge(slacks[n], ir::index(0)), others))
      slacks.erase(slacks.begin() + static_cast<std::ptrdiff_t>(n));
  }
  for (const Expr& slack : slacks) {
    const Expr holds = analysis::simplify(ir::ge(slack, ir::index(0)), facts);
    test = test.empty() ? holds : ir::logic_and(test, holds);
  }
  return test;
}

// The statements of the loop, each under its test. What does not move with the loop is tested before it, once for all.
void take_apart(ir::Kernel& k, KStmt& s, const Facts& facts, const analysis::VarRange& threads) {
  KFor& loop = s.get<KFor>();
  Facts inner = facts;
  runs(inner, loop);
  struct Part {
    std::size_t at = 0;
    std::vector<KStmt> inside;
    std::vector<Expr> moving;
  };
  std::vector<Part> parts;
  std::vector<Expr> still;
  for (std::size_t n = 0; n < loop.body.size(); ++n) {
    Inside one(k, inner, threads);
    if (loop.body[n].is<ir::KSync>() || copies_elements(k, loop.body[n]) || loads_by_text(k, {loop.body[n]}) ||
        !one.find(loop.body[n]))
      continue;
    Part& part = parts.emplace_back(Part{n, std::move(one.inside), {}});
    for (const Expr& slack : one.slacks) {
      if (ir::uses_var(slack, loop.var))
        part.moving.push_back(slack);
      else if (std::none_of(still.begin(), still.end(), [&](const Expr& e) { return ir::same(e, slack); }))
        still.push_back(slack);
    }
  }
  if (parts.empty()) return;
  const Id id = k.fresh();
  const Expr block = still.empty() ? Expr() : ir::var(id, "block_inside", bool_);
  for (Part& part : parts) {
    KStmt& one = loop.body[part.at];
    KIf both{all_of(part.moving, inner, block), std::move(part.inside)};
    const Where where = one.where;
    both.otherwise.push_back(std::move(one));
    one = {where, std::move(both)};
  }
  if (still.empty()) return;
  const Where where = s.where;
  std::vector<KStmt> body;
  body.push_back(std::move(s));
  s = let_stmt(id, "block_inside", all_of(still, facts), std::move(body), where);
}

void visit(ir::Kernel& k, std::vector<KStmt>& list, const Facts& facts, const analysis::VarRange& threads) {
  for (KStmt& s : list) {
    auto* loop = s.as<KFor>();
    std::int64_t n = 0;
    if (!loop || loop->kind != ir::LoopKind::serial || (ir::is_int(loop->extent, &n) && n <= few_iterations)) {
      for (auto* inside : s.bodies()) visit(k, *inside, facts, threads);
    } else if (has_collective_call(k, loop->body)) {
      take_apart(k, s, facts, threads);
    }
  }
}

}  // namespace

void specialize_whole_tiles(ir::Kernel& k) {
  each_launch(k, [&](KStmt& s, const Facts& facts) {
    auto& launch = s.get<ir::KLaunch>();
    if (launch.thread) visit(k, launch.body, facts, {launch.thread, {ir::index(0), ir::index(launch.threads - 1)}});
  });
}

}  // namespace ashlar::lowering
