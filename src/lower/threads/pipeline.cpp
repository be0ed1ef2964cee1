// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pipelines: a loop whose loads run stages - 1 iterations ahead of what reads them, in a ring of `stages` buffers.
//
//   for k in [0, +K)                    load 0 into A[0]                                      the first stages - 1 loads
//     load k into A            ->       for k in [0, +K)
//     use A                               barrier of the block
//                                         if k + 1 < K: load k + 1 into A[(k + 1) % 2]
//                                         use A[k % 2]
//
// The one barrier of an iteration has two effects: all threads see the data that were loaded for it, and the data that the
// previous iteration read may be overwritten. `synchronize` distinguishes the buffers of a ring by their slots. Asynchronous
// copies are committed load by load; before iteration k each thread waits until at most stages - 2 of its loads are pending.
//
// A copy stores what it loads from global memory, or 0 where a mask or a select excludes the element.
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <ashlar/analysis/interval.h>
#include <ashlar/analysis/cascade.h>
#include <ashlar/ir/intrinsics.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

#include "lower/passes.h"

namespace ashlar::lowering {
namespace {

using ir::Ring;

class Pipeliner {
 public:
  Pipeliner(ir::Kernel& kernel, const LowerOptions& options) : kernel_(kernel), options_(options) {}

  void run() { visit(kernel_.body, facts_of(kernel_)); }

 private:
  void visit(std::vector<KStmt>& list, const Facts& facts) {
    for (std::size_t k = 0; k < list.size(); ++k) {
      Facts inner = facts;
      KStmt& s = list[k];
      KFor* const loop = s.as<KFor>();
      if (loop) range(inner, *loop);
      if (const auto* launch = s.as<ir::KLaunch>()) numbers(inner, *launch);
      for (auto* part : s.bodies()) visit(*part, inner);
      if (!loop || !loop->ring) continue;
      std::vector<KStmt> first = pipelined(*loop, *loop->ring, facts);
      const std::size_t count = first.size();
      list.insert(list.begin() + static_cast<std::ptrdiff_t>(k), std::make_move_iterator(first.begin()),
                  std::make_move_iterator(first.end()));
      k += count;
    }
  }

  // Rewrites the loop; returns what comes before it.
  std::vector<KStmt> pipelined(KFor& loop, const Ring& ring, const Facts& facts) {
    const bool async = ring.async_copy && options_.async_copies;
    const Expr k = ir::var(loop.var, loop.name);
    const std::int64_t ahead = ring.stages - 1;
    std::vector<KStmt> loads, uses;
    const std::vector<bool> load = loads_of(loop.body, ring);
    for (std::size_t n = 0; n < load.size(); ++n) (load[n] ? loads : uses).push_back(std::move(loop.body[n]));
    const Facts inner = inside(facts, loop);
    if (async) loads = asynchronous(std::move(loads), ring, inner);
    std::vector<KStmt> before;
    for (std::int64_t n = 0; n < ahead; ++n) {
      guarded(before, ir::lt(ir::index(n), loop.extent), moved(loads, ring, loop, ir::add(loop.begin, ir::index(n)), facts),
              facts);
      if (async) before.push_back(sync(ir::Sync::Kind::commit, ring.where));
    }
    std::vector<KStmt> body;
    if (async) body.push_back(sync(ir::Sync::Kind::wait, ring.where, ring.stages - 2));
    body.push_back(sync(ir::Sync::Kind::block, ring.where));
    const Expr later = ir::add(k, ir::index(ahead));
    guarded(body, ir::lt(ir::sub(later, loop.begin), loop.extent), moved(loads, ring, loop, later, inner), inner);
    if (async) body.push_back(sync(ir::Sync::Kind::commit, ring.where));
    for (KStmt& s : moved(uses, ring, loop, k, inner)) body.push_back(std::move(s));
    loop.body = std::move(body);
    return before;
  }

  static void guarded(std::vector<KStmt>& out, const Expr& condition, std::vector<KStmt> body, const Facts& facts) {
    if (body.empty()) return;
    const Expr c = analysis::simplify(condition, facts);
    if (analysis::can_prove(c, facts)) {
      for (KStmt& s : body) out.push_back(std::move(s));
      return;
    }
    const Where where = body.front().where;
    out.push_back(if_stmt(c, std::move(body), where));
  }

  // Which statements are loads: those that store to the ring, and those that compute what these read. (What the other
  // statements compute, loads do not read: that is proved of the schedule.)
  std::vector<bool> loads_of(const std::vector<KStmt>& body, const Ring& ring) const {
    std::vector<Effects> effects(body.size());
    for (std::size_t n = 0; n < body.size(); ++n) collect(body[n], effects[n]);
    std::set<Id> wanted;
    for (const auto& [id, elements] : ring.buffers) wanted.insert(id);
    std::vector<bool> load(body.size());
    for (bool more = true; std::exchange(more, false);)
      for (std::size_t n = 0; n < body.size(); ++n) {
        const auto& writes = effects[n].writes;
        if (load[n] || std::none_of(writes.begin(), writes.end(), [&](Id b) { return wanted.count(b); })) continue;
        wanted.insert(effects[n].reads.begin(), effects[n].reads.end());
        load[n] = more = true;
      }
    return load;
  }

  struct Effects {
    std::set<Id> reads, writes;
  };
  void collect(const KStmt& s, Effects& e) const {
    for_each_expr(s, [&](const Expr& expr) {
      ir::walk(expr, [&](const Expr& x) {
        if (ir::is(x, ir::Op::load)) e.reads.insert(x.node()->id);
        return true;
      });
    });
    if (const auto* store = s.as<KStore>()) e.writes.insert(store->buffer);
    if (const auto* call = s.as<ir::KCall>()) {
      const ir::Intrinsic& f = kernel_.intrinsics.at(call->intrinsic);
      for (std::size_t k = 0; k < f.operands.size(); ++k) {
        const Id buffer = call->actuals[k].buffer;
        if (buffer == 0) continue;
        if (f.operands[k].access != ir::IntrinsicOperand::Access::read) e.writes.insert(buffer);
        if (f.operands[k].access != ir::IntrinsicOperand::Access::write) e.reads.insert(buffer);
      }
    }
    for (const auto* part : s.bodies())
      for (const KStmt& k : *part) collect(k, e);
  }

  // The statements with the loop's variable at `at`, in the copy of the ring that belongs to it.
  std::vector<KStmt> moved(const std::vector<KStmt>& list, const Ring& ring, const KFor& loop, const Expr& at,
                           const Facts& facts) {
    const Expr slot = analysis::simplify(ir::mod(ir::sub(at, loop.begin), ir::index(ring.stages)), facts);
    const ir::Substitution to{{loop.var, at}};
    const auto place = [&](Id buffer, const Expr& address) {
      const Expr moved = ir::add(ir::mul(slot, ir::index(ring.buffers.at(buffer))), address);
      lowering_of(kernel_, buffer).slots[moved] = slot;
      return moved;
    };
    const auto change = [&](const Expr& e) {
      return ir::transform(ir::substitute(e, to), [&](const Expr& x) {
        if (!ir::is(x, ir::Op::load) || !ring.buffers.count(x.node()->id)) return x;
        std::vector<Expr> args(ir::args_of(x).begin(), ir::args_of(x).end());
        args[0] = place(x.node()->id, args[0]);
        return ir::rebuild(x, args);
      });
    };
    const auto visit = [&](auto&& self, const std::vector<KStmt>& from) -> std::vector<KStmt> {
      std::vector<KStmt> out;
      for (const KStmt& s : from) {
        KStmt copy = s;
        for_each_expr(copy, [&](Expr& e) { e = change(e); });
        if (auto* store = copy.as<KStore>(); store && ring.buffers.count(store->buffer))
          store->address = place(store->buffer, store->address);
        if (auto* call = copy.as<ir::KCall>())
          for (ir::Call::Actual& a : call->actuals)
            if (a.buffer && ring.buffers.count(a.buffer)) a.address = place(a.buffer, a.address);
        for (auto* part : copy.bodies()) *part = self(self, *part);
        out.push_back(std::move(copy));
      }
      return out;
    };
    return visit(visit, list);
  }

  static KStmt sync(ir::Sync::Kind kind, Where where, std::int64_t pending = 0) {
    ir::KSync sync;
    sync.kind = kind;
    if (kind == ir::Sync::Kind::wait) sync.count = ir::index(pending);
    sync.group = ir::Completion::copy_group;
    return {where, std::move(sync)};
  }

  // ---- asynchronous copies --------------------------------------------------------------------------------------------------
  std::vector<KStmt> asynchronous(std::vector<KStmt> list, const Ring& ring, const Facts& facts) {
    for (KStmt& s : list) {
      if (const auto* store = s.as<KStore>(); store && ring.buffers.count(store->buffer)) {
        if (ring.any_alignment) {
          if (auto made = attempted([&] { return copy(*store, s.where, 1, ring, facts); })) s = std::move(*made);
        } else {
          s = copy(*store, s.where, 1, ring, facts);
        }
      } else if (auto* lanes = ir::as_loop(s, ir::LoopKind::vectorized)) {
        if (ring.any_alignment) {
          auto made = attempted([&] { return vector_copy(*lanes, s.where, ring, facts); });
          if (!made) made = attempted([&] { return lane_copies(*lanes, s.where, ring, facts); });
          if (made) s = std::move(*made);
        } else {
          s = vector_copy(std::move(*lanes), s.where, ring, facts);
        }
      } else {
        const auto* loop = s.as<KFor>();
        const Facts inner = loop ? inside(facts, *loop) : facts;
        for (auto* part : s.bodies()) *part = asynchronous(std::move(*part), ring, inner);
        unroll_copies(s);
      }
    }
    return list;
  }

  // The few copies of a thread that have conditions: what these have in common in all iterations of the pipelined loop leaves
  // it. Without conditions a loop is better, whose address moves by one addition.
  static void unroll_copies(KStmt& s) {
    constexpr std::int64_t few = 16;
    KFor* const loop = ir::as_loop(s, ir::LoopKind::serial);
    std::int64_t count = 0;
    const auto copies = [](const auto& self, const std::vector<KStmt>& list) -> bool {
      return std::all_of(list.begin(), list.end(), [&](const KStmt& k) {
        const auto* branch = k.as<ir::KIf>();
        const auto* call = k.as<ir::KCall>();
        return (call && !ir::is_int(call->actuals.back().address)) ||
               (branch && branch->otherwise.empty() && self(self, branch->body));
      });
    };
    if (loop && ir::is_int(loop->extent, &count) && ir::is_int(loop->begin) && count <= few && copies(copies, loop->body))
      loop->kind = ir::LoopKind::unrolled;
  }

  // What may be ordinary copies stay so where asynchronous ones cannot be.
  template <class F>
  static std::optional<KStmt> attempted(F&& make) {
    try {
      return make();
    } catch (const RefusalError&) { return std::nullopt; }
  }

  [[noreturn]] static void refuse(const Ring& ring, const std::string& found) {
    ashlar::refuse("pipeline", "copies of 4, 8 or 16 bytes from neighbors to neighbors, where async_copy is asked for", found,
                   ring.where);
  }

  // What is copied, and when: a load, or select(condition, load, 0).
  struct Source {
    Expr load, when;
  };
  Source source(const Expr& value, const Ring& ring) const {
    Source s{value, {}};
    if (ir::is(value, ir::Op::select)) {
      const auto args = ir::args_of(value);
      const bool zero =
          ir::is_int(args[2], std::int64_t{0}) || (ir::is(args[2], ir::Op::float_const) && args[2].node()->f == 0);
      if (zero) s = {args[1], args[0]};
    }
    if (!ir::is(s.load, ir::Op::load)) refuse(ring, ir::text(value));
    const auto args = ir::args_of(s.load);
    if (args.size() > 1) s.when = s.when.empty() || ir::same(s.when, args[1]) ? args[1] : ir::logic_and(s.when, args[1]);
    if (!s.when.empty() && has_load(s.when)) refuse(ring, ir::text(value));
    return s;
  }

  KStmt copy(const KStore& store, Where where, std::int64_t elements, const Ring& ring, const Facts& facts) {
    const ir::KBuffer& to = kernel_.buffers.at(store.buffer);
    const Source from = source(store.value, ring);
    const std::int64_t bytes = elements * to.type.bytes();
    const ir::KBuffer& source = kernel_.buffers.at(from.load.node()->id);
    if (!(source.type == to.type) || (bytes != 4 && bytes != 8 && bytes != 16))
      refuse(ring, std::to_string(bytes) + " bytes of " + source.name + " at a time");
    if (source.storage != ir::Storage::argument && source.storage != ir::Storage::workspace) refuse(ring, source.name);
    const Expr from_address = ir::args_of(from.load)[0];
    if (elements > 1) {
      for (const Expr& e : {store.address, from_address})
        if (!analysis::can_prove(ir::eq(ir::mod(e, ir::index(elements)), ir::index(0)), facts))
          refuse(ring, "an address that may be no multiple of " + std::to_string(elements) + " elements: " + ir::text(e));
      if (source.align % bytes != 0) refuse(ring, source.name + ", aligned to " + std::to_string(source.align) + " bytes");
    }
    const ir::Intrinsic f = ir::copy_async(to.type, static_cast<int>(elements));
    kernel_.intrinsics.emplace(f.id, f);
    ir::KCall call;
    call.intrinsic = f.id;
    call.actuals.resize(3);
    call.actuals[0] = {store.buffer, store.address, {}, {}, {}};
    call.actuals[1] = {from.load.node()->id, from_address, {}, {}, {}};
    const Expr all = ir::index(elements);
    call.actuals[2] = {0, from.when.empty() ? all : ir::select(from.when, all, ir::index(0)), {}, {}, {}};
    return {where, std::move(call)};
  }

  // The lanes of a vector one by one: a copy each, where an element has 4 bytes or more.
  KStmt lane_copies(KFor lanes, Where where, const Ring& ring, const Facts& facts) {
    lanes.kind = ir::LoopKind::unrolled;
    const Facts inner = inside(facts, lanes);
    const auto visit = [&](auto&& self, std::vector<KStmt>& list) -> void {
      for (KStmt& s : list) {
        const auto* store = s.as<KStore>();
        if (store && !ring.buffers.count(store->buffer)) refuse(ring, "a store to something else");
        if (store) s = copy(*store, s.where, 1, ring, inner);
        for (auto* part : s.bodies()) self(self, *part);
      }
    };
    visit(visit, lanes.body);
    return for_stmt(std::move(lanes), where);
  }

  // The lanes of a vector that copies neighbors to neighbors: one copy.
  KStmt vector_copy(KFor loop, Where where, const Ring& ring, const Facts& facts) {
    std::int64_t lanes = 0;
    if (!ir::is_int(loop.extent, &lanes) || loop.body.size() != 1) refuse(ring, "several statements in a vector");
    KStmt& statement = loop.body.front();
    const Expr v = ir::var(loop.var, loop.name);
    if (auto* guard = statement.as<ir::KIf>(); guard && guard->otherwise.empty() && !ir::uses_var(guard->condition, loop.var)) {
      KStmt held = std::move(statement);
      ir::KIf& outer = held.get<ir::KIf>();
      loop.body = std::exchange(outer.body, {});
      outer.body.push_back(vector_copy(std::move(loop), where, ring, facts));
      return held;
    }
    if (!statement.is<KStore>()) refuse(ring, "a vector some of whose lanes do not copy");
    KStore& only = statement.get<KStore>();
    const Source from = source(only.value, ring);
    Facts but_last = facts;
    but_last.range(loop.var, loop.begin, ir::add(loop.begin, ir::index(lanes - 2)));
    const auto follows = [&](const Expr& e) {
      const Expr step = ir::sub(ir::substitute(e, {{loop.var, ir::add(v, ir::index(1))}}), e);
      return ir::is_int(analysis::simplify(step, but_last), 1);
    };
    if (!follows(only.address) || !follows(ir::args_of(from.load)[0])) refuse(ring, "lanes that are not neighbors");
    if (!from.when.empty() && ir::uses_var(from.when, loop.var)) {
      // each condition holds for all lanes if it does for the first
      const auto all_or_none = [&](const auto& self, const Expr& e) -> bool {
        if (!ir::uses_var(e, loop.var)) return true;
        if (ir::is(e, ir::Op::logic_and)) {
          const auto args = ir::args_of(e);
          return std::all_of(args.begin(), args.end(), [&](const Expr& a) { return self(self, a); });
        }
        const Expr first = analysis::simplify(ir::substitute(e, {{loop.var, ir::index(0)}}), facts);
        const Expr last = analysis::simplify(ir::substitute(e, {{loop.var, ir::index(lanes - 1)}}), facts);
        const Expr some[] = {first, ir::logic_not(last)};
        return analysis::no_solution(some, facts).answer == analysis::Answer::proved;
      };
      if (!all_or_none(all_or_none, from.when))
        refuse(ring, "a vector some of whose lanes do not copy, where " + ir::text(from.when));
    }
    KStmt store = statement;
    for_each_expr(store, [&](Expr& e) { e = analysis::simplify(ir::substitute(e, {{loop.var, loop.begin}}), facts); });
    const KStore& one = store.get<KStore>();
    auto& slots = lowering_of(kernel_, one.buffer).slots;
    if (const auto slot = slots.find(only.address); slot != slots.end()) slots.emplace(one.address, Expr(slot->second));
    return copy(one, statement.where, lanes, ring, facts);
  }

  ir::Kernel& kernel_;
  const LowerOptions& options_;
};

bool has_rings(const std::vector<KStmt>& list) {
  return std::any_of(list.begin(), list.end(), [](const KStmt& s) {
    const auto* loop = s.as<KFor>();
    const auto parts = s.bodies();
    return (loop && loop->ring) || std::any_of(parts.begin(), parts.end(), [](const auto* part) { return has_rings(*part); });
  });
}

}  // namespace

void pipeline(ir::Kernel& kernel, const LowerOptions& options) {
  if (has_rings(kernel.body)) Pipeliner(kernel, options).run();
}

}  // namespace ashlar::lowering
