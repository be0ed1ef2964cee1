// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers: two accesses to one element by different threads of a block conflict if at least one of them writes. A barrier of
// the block separates any two accesses that may conflict.
//
//   shared[thread] = x[thread]             shared[thread] = x[thread]
//   y[thread] = shared[255 - thread]   ->  barrier of the block
//                                          y[thread] = shared[255 - thread]
//
// A barrier stands in the outermost list of statements where it can, so that what is written before a loop costs one barrier,
// not one an iteration. Two accesses that no two different threads make to one element (the proof cascade decides: what it
// cannot prove counts as a conflict) need none: a thread that goes on with its own elements waits for nobody.
//
// Where only threads of one warp can conflict, a barrier of the warp is enough, and no warp waits for another:
//
//   shared[thread] = x[thread]
//   barrier of the warp
//   y[thread] = shared[thread / 32 * 32 + 31 - thread % 32]
//
// That takes a device whose warps are known: lanes thread / warp * warp to thread / warp * warp + warp - 1, all there.
#include <algorithm>
#include <cstdint>
#include <map>

#include <ashlar/analysis/cascade.h>
#include <ashlar/analysis/digits.h>
#include <ashlar/analysis/evaluate.h>
#include <ashlar/ir/refusal.h>

#include "lower/passes.h"

namespace ashlar::lowering {
namespace {

struct EnclosingLoop {  // a loop around an access, inside the launch
  Id var = 0;
  std::string name;
  Expr begin, extent;
};

struct Access {
  Id buffer = 0;
  bool write = false;
  bool atomic = false;  // an update, which needs no order with other updates
  Expr address;
  Expr slot;                         // of a ring: the copy that the address lies in
  Id group = 0;                      // of a store
  std::vector<Expr> when;            // conditions around
  bool picked = false;               // and one that reads memory picks among the threads
  std::vector<EnclosingLoop> loops;  // outermost first
  std::size_t common = 0;            // so many of them stand at the iteration where the current statement stands
  bool earlier = false;              // and the next one at an earlier iteration of the same loop
  bool warp_synchronized = false;    // a barrier of the warp came after it
};

// What must separate two accesses.
enum class Barrier { none, warp, block };

class Synchronizer {
 public:
  Synchronizer(ir::Kernel& kernel, const ir::Launch& launch, Facts facts)
      : kernel_(kernel), launch_(launch), facts_(std::move(facts)) {}

  void run(std::vector<KStmt>& body) {
    std::vector<Access> since;
    list(body, since, true);
  }

 private:
  static EnclosingLoop enclosing(const KFor& loop) { return {loop.var, loop.name, loop.begin, loop.extent}; }

  // The accesses of a statement to memory that the threads of a block share.
  void accesses(const KStmt& s, std::vector<Access>& out) {
    for_each_expr(s, [&](const Expr& e) { loads(e, out); });
    if (const auto* store = s.as<KStore>())
      access(store->buffer, true, store->address, out, store->group, {}, store->atomic.has_value());
    if (const auto* call = s.as<ir::KCall>()) called(*call, out);
    const auto all = [&](const std::vector<KStmt>& list) {
      for (const KStmt& k : list) accesses(k, out);
    };
    if (const auto* branch = s.as<KIf>()) {
      assuming(branch->condition, [&] { all(branch->body); });
      assuming(ir::logic_not(branch->condition), [&] { all(branch->otherwise); });
      return;
    }
    const auto* loop = s.as<KFor>();
    if (loop) loops_.push_back(enclosing(*loop));
    for (const auto* part : s.bodies()) all(*part);
    if (loop) loops_.pop_back();
  }

  // What `inside` adds stands under the condition. Memory that it reads may change, so that such a condition proves nothing.
  template <class F>
  void assuming(const Expr& condition, const F& inside) {
    const std::size_t known = when_.size();
    const bool picked = picked_;
    std::vector<Expr> pending{condition};
    while (!pending.empty()) {
      const Expr e = pending.back();
      pending.pop_back();
      if (!has_load(e))
        when_.push_back(e);
      else if (ir::is(e, ir::Op::logic_and))
        for (const Expr& part : ir::args_of(e)) pending.push_back(part);
      else
        picked_ = picked_ || ir::uses_var(e, launch_.thread);
    }
    inside();
    when_.resize(known);
    picked_ = picked;
  }

  // A load whose mask is false reads nothing.
  void loads(const Expr& e, std::vector<Access>& out) {
    ir::walk(e, [&](const Expr& x) {
      if (!ir::is(x, ir::Op::load)) return true;
      const auto args = ir::args_of(x);
      const auto read = [&] { access(x.node()->id, false, args[0], out); };
      if (args.size() > 1 && args[1].type().lanes == 1)
        assuming(args[1], read);
      else
        read();
      return true;
    });
  }

  // What a call reads and writes of such memory. A ring's copies in flight are told apart from what is read by their place.
  void called(const ir::Call& call, std::vector<Access>& out) {
    const ir::Intrinsic& f = kernel_.intrinsics.at(call.intrinsic);
    for (std::size_t k = 0; k < f.operands.size(); ++k) {
      const ir::IntrinsicOperand& o = f.operands[k];
      if (o.kind != ir::IntrinsicOperand::Kind::tile || o.place == ir::IntrinsicOperand::Place::registers) continue;
      const bool write = o.access != ir::IntrinsicOperand::Access::read;
      std::int64_t last = o.shape.empty() ? 0 : o.shape[0] - 1;
      if (o.map.size() == 2) {  // behind the address of each lane
        Facts box;
        for (std::size_t d = 0; d < o.vars.size(); ++d) box.bound(o.vars[d], 0, o.shape[d] - 1);
        const auto most = analysis::constant_max(o.map[1], box);
        if (!most) throw InternalError("runs without a length: " + o.name + " of " + f.name);
        last = *most;
      }
      const Id distance = distance_of(k);
      loops_.push_back({distance, "distance", ir::index(0), ir::index(last + 1)});
      access(call.actuals[k].buffer, write, call.actuals[k].address, out, 0, ir::var(distance, "distance"));
      loops_.pop_back();
    }
  }

  // The variable of the distance behind the address of operand k: one for all calls.
  Id distance_of(std::size_t k) {
    while (distances_.size() <= k) distances_.push_back(kernel_.fresh());
    return distances_[k];
  }

  // The element `behind` an address: in the copy of a ring that the address lies in.
  void access(Id buffer, bool write, const Expr& address, std::vector<Access>& out, Id group = 0, const Expr& behind = {},
              bool atomic = false) {
    const ir::KBuffer& b = kernel_.buffers.at(buffer);
    const bool common = b.storage == ir::Storage::shared || b.storage == ir::Storage::workspace ||
                        (b.storage == ir::Storage::argument && b.written);
    if (!common) return;
    out.push_back({buffer, write, atomic, behind.empty() ? address : ir::add(address, behind), slot(buffer, address), group,
                   when_, picked_, loops_, open_, false});
  }

  Barrier between(const Access& a, const Access& b) {  // `a` came before `b`
    if (a.buffer != b.buffer || (!a.write && !b.write) || (a.atomic && b.atomic) || launch_.threads == 1) return Barrier::none;
    const bool warps = launch_.warp > 1 && launch_.threads > launch_.warp;
    if (warps && conflict(a, b, Barrier::block)) return Barrier::block;
    if (a.warp_synchronized || !conflict(a, b, Barrier::warp)) return Barrier::none;
    return launch_.warp == 1 ? Barrier::block : Barrier::warp;
  }

  // May two different threads (`who` == warp), or two threads of different warps (block), make these accesses to one element?
  // Loops are walked twice, those inside of loops four times: a question that comes up again is answered once.
  bool conflict(const Access& a, const Access& b, Barrier who) {
    std::vector<std::uintptr_t> key{a.buffer, b.buffer, a.write,   b.write,        a.group,
                                    b.group,  a.common, a.earlier, a.loops.size(), static_cast<std::uintptr_t>(who)};
    const auto add = [&](const Expr& e) { key.push_back(reinterpret_cast<std::uintptr_t>(e.node())); };
    for (const Access* t : {&a, &b}) {
      add(t->address);
      add(t->slot);
      key.push_back(t->picked);
      for (const EnclosingLoop& l : t->loops) {
        key.push_back(l.var);
        add(l.begin);
        add(l.extent);
      }
      key.push_back(0);
      for (const Expr& e : t->when) add(e);
    }
    const auto [known, fresh] = conflicts_.try_emplace(std::move(key), false);
    if (!fresh) return known->second;
    for (const Access* t : {&a, &b}) {
      asked_.push_back(t->address);
      asked_.push_back(t->slot);
      asked_.insert(asked_.end(), t->when.begin(), t->when.end());
      for (const EnclosingLoop& l : t->loops) asked_.insert(asked_.end(), {l.begin, l.extent});
    }
    return known->second = may_conflict(a, b, who);
  }
  // Variables of a question about two threads: the same ones in each question.
  Id name_of(std::size_t n) {
    while (names_.size() <= n) names_.push_back(kernel_.fresh());
    return names_[n];
  }
  bool may_conflict(const Access& a, const Access& b, Barrier who) {
    if (a.address.type().lanes != 1 || b.address.type().lanes != 1) return true;
    if (own_points(a, b)) return false;
    Facts facts = facts_;
    std::size_t names = 0;
    const auto number = [&](const char* name, std::int64_t n) {
      const Id id = name_of(names++);
      facts.range(id, ir::index(0), ir::index(n - 1));
      return ir::var(id, name);
    };
    std::vector<Expr> conditions;
    ir::Substitution own, renamed;  // the earlier access is the other thread's
    if (who == Barrier::warp) {
      const Expr other = number("other_thread", launch_.threads);
      conditions.push_back(ir::ne(ir::var(launch_.thread, "thread"), other));
      renamed.emplace_back(launch_.thread, other);
    } else {
      const Expr warp = number("warp", launch_.threads / launch_.warp), lane = number("lane", launch_.warp);
      const Expr other_warp = number("other_warp", launch_.threads / launch_.warp),
                 other_lane = number("other_lane", launch_.warp);
      conditions.push_back(ir::ne(warp, other_warp));
      own.emplace_back(launch_.thread, ir::add(ir::mul(warp, ir::index(launch_.warp)), lane));
      renamed.emplace_back(launch_.thread, ir::add(ir::mul(other_warp, ir::index(launch_.warp)), other_lane));
    }
    for (const EnclosingLoop& loop : b.loops)
      range(facts, loop.var, ir::substitute(loop.begin, own), ir::substitute(loop.extent, own));
    for (std::size_t k = 0; k < a.loops.size(); ++k) {
      const EnclosingLoop& loop = a.loops[k];
      if (k < a.common) {
        // a loop that stands alike for all threads; bounds that differ between threads are no part of what is proved
        continue;
      }
      const Id id = name_of(names++);
      range(facts, id, ir::substitute(loop.begin, renamed), ir::substitute(loop.extent, renamed));
      renamed.emplace_back(loop.var, ir::var(id, loop.name));
      if (k == a.common && a.earlier) conditions.push_back(ir::lt(ir::var(id, loop.name), ir::var(loop.var, loop.name)));
    }
    if (!a.slot.empty() && !b.slot.empty()) {  // copies of a ring share no element
      std::vector<Expr> same = conditions;
      same.push_back(ir::eq(ir::substitute(a.slot, renamed), ir::substitute(b.slot, own)));
      if (analysis::no_solution(same, facts).answer == analysis::Answer::proved) return false;
    }
    std::vector<Expr> around = conditions;
    for (const Expr& e : a.when) around.push_back(ir::substitute(e, renamed));
    for (const Expr& e : b.when) around.push_back(ir::substitute(e, own));
    std::vector<Id> strides;
    for (const ir::StrideArg& s : kernel_.strides)
      if (s.buffer == a.buffer) strides.push_back(s.id);
    const auto equal = analysis::digits_of_equal(ir::substitute(a.address, renamed), ir::substitute(b.address, own), strides);
    if (equal.size() == 1 && analysis::drawn_equal(equal[0].first, equal[0].second, around, facts)) return true;
    const auto first_around = around.begin() + static_cast<std::ptrdiff_t>(conditions.size());
    for (const auto& [x, y] : equal) conditions.push_back(ir::eq(x, y));
    conditions.insert(conditions.end(), first_around, around.end());
    return analysis::no_solution(conditions, facts).answer != analysis::Answer::proved;
  }

  Expr slot(Id buffer, const Expr& address) const {
    const auto& slots = kernel_.buffers.at(buffer).facts().slots;
    const auto at = slots.find(address);
    return at == slots.end() ? Expr() : at->second;
  }

  // Both are accesses of one stage to its own points, and bound loops give different threads different points (DISJOINT, proved
  // at bind). Points have places of their own while the storage is the same: not in a ring, nor past the loops around it.
  bool own_points(const Access& a, const Access& b) const {
    const bool one_group = a.group != 0 && a.group == b.group, alike = ir::same(a.address, b.address);
    if ((!one_group && !alike) || kernel_.buffers.at(a.buffer).facts().shares_places) return false;
    if (!same_loops(a, b) && !(alike && same_points(a, b))) return false;
    if (!same_threads(a, b)) return false;
    const ir::KBuffer& buffer = kernel_.buffers.at(a.buffer);
    for (const Access* t : {&a, &b})
      for (std::size_t k = a.common; k < t->loops.size(); ++k)
        if (std::find(buffer.inside.begin(), buffer.inside.end(), t->loops[k].var) != buffer.inside.end()) return false;
    return true;
  }
  // What one thread computes for others (thread == 0) is not among its own points for them: who reads it stands under the
  // conditions on the thread that its writer stands under. Of two stores each does its own points and no others, whatever
  // conditions leave some out: those of the registers of a fragment (... + 8 < M, ... + 24 < M) differ.
  bool same_threads(const Access& a, const Access& b) const {
    const auto of_thread = [&](const Access& t) {
      std::vector<Expr> found, pending = t.when;
      while (!pending.empty()) {
        const Expr e = pending.back();
        pending.pop_back();
        if (ir::is(e, ir::Op::logic_and))
          for (const Expr& part : ir::args_of(e)) pending.push_back(part);
        else if (ir::uses_var(e, launch_.thread))
          found.push_back(e);
      }
      return found;
    };
    const auto within = [&](const Access& writer, const Access& other) {
      const std::vector<Expr> some = of_thread(writer), all = of_thread(other);
      return std::all_of(some.begin(), some.end(), [&](const Expr& e) {
        return std::any_of(all.begin(), all.end(), [&](const Expr& o) { return ir::same(e, o); });
      });
    };
    if (a.write && b.write) return true;
    if (a.write ? a.picked : b.picked) return false;
    return (!a.write || within(a, b)) && (!b.write || within(b, a));
  }
  // The start of a reduction and its steps, or two pieces of its steps: a loop around one of them alone does not move the
  // address. (A loop of virtual threads stands inside of the steps as it does inside of the start.)
  static bool same_points(const Access& a, const Access& b) {
    const auto moved_alone = [](const Access& t, const Access& other) {
      return std::any_of(t.loops.begin(), t.loops.end(), [&](const EnclosingLoop& l) {
        return ir::uses_var(t.address, l.var) &&
               std::none_of(other.loops.begin(), other.loops.end(), [&](const EnclosingLoop& o) { return o.var == l.var; });
      });
    };
    return !moved_alone(a, b) && !moved_alone(b, a);
  }
  static bool same_loops(const Access& a, const Access& b) {
    return std::equal(a.loops.begin(), a.loops.end(), b.loops.begin(), b.loops.end(),
                      [](const EnclosingLoop& x, const EnclosingLoop& y) { return x.var == y.var; });
  }
  // The pieces of a partitioned loop have one variable, and each its own iterations.
  static bool same_iterations(const Access& a, const Access& b) {
    return std::equal(a.loops.begin(), a.loops.end(), b.loops.begin(), b.loops.end(),
                      [](const EnclosingLoop& x, const EnclosingLoop& y) {
                        return x.var == y.var && ir::same(x.begin, y.begin) && ir::same(x.extent, y.extent);
                      });
  }
  static void range(Facts& facts, Id var, const Expr& begin, const Expr& extent) {
    facts.range(var, begin, ir::sub(ir::add(begin, extent), ir::index(1)));
  }

  Barrier between(const std::vector<Access>& a, const std::vector<Access>& b) {
    Barrier most = Barrier::none;
    for (const bool both : {false, true})  // what is written and read is the likelier conflict
      for (const Access& x : a)
        for (const Access& y : b)
          if ((x.write && y.write) == both && (most = std::max(most, between(x, y))) == Barrier::block) return most;
    return most;
  }

  // `since`: accesses since the last barrier of the block. `uniform`: all threads reach this list.
  void list(std::vector<KStmt>& body, std::vector<Access>& since, bool uniform) {
    for (std::size_t k = 0; k < body.size(); ++k) {
      if (body[k].is<ir::KSync>()) {
        after_barrier(since, barrier_at(body[k]));
        continue;
      }
      std::vector<Access> here;
      accesses(body[k], here);
      Barrier needed = Barrier::none;
      if (const auto* loop = body[k].as<KFor>(); loop && loop->ring) {
        if (narrowed(body[k], since, here, uniform)) continue;
        needed = launch_.warp == 1 ? Barrier::none : between(since, here);
        if (needed <= begins_with(body[k].get<KFor>())) needed = Barrier::none;
      } else {
        needed = between(since, here);
      }
      if (needed != Barrier::none) {
        if (!uniform) throw InternalError("a barrier that only some of the threads of " + launch_.name + " would reach");
        if (k > 0 && barrier_at(body[k - 1]) == Barrier::warp) {  // that of an earlier round becomes the block's
          body[k - 1] = barrier(body[k - 1].where, needed);
        } else {
          body.insert(body.begin() + static_cast<std::ptrdiff_t>(k), barrier(body[k].where, needed));
          ++k;
        }
        after_barrier(since, needed);
      }
      inside(body[k], since, here, uniform);
    }
  }

  static Barrier barrier_at(const KStmt& s) {
    const auto* sync = s.as<ir::KSync>();
    if (!sync) return Barrier::none;
    if (sync->kind == ir::Sync::Kind::block) return Barrier::block;
    return sync->kind == ir::Sync::Kind::warp ? Barrier::warp : Barrier::none;
  }
  static void after_barrier(std::vector<Access>& since, Barrier who) {
    if (who == Barrier::block) since.clear();
    if (who == Barrier::warp)
      for (Access& t : since) t.warp_synchronized = true;
  }

  // A pipelined loop begins every iteration with a barrier, which serves what comes before the loop as well.
  static Barrier begins_with(const KFor& ring) {
    for (const KStmt& s : ring.body)
      if (const Barrier m = barrier_at(s); m != Barrier::none) return m;
    throw InternalError("a pipelined loop without a barrier");
  }
  // That one is of the warp where then no other is of the block: tried, and taken back if it is not so.
  bool narrowed(KStmt& ring, std::vector<Access>& since, const std::vector<Access>& here, bool uniform) {
    if (launch_.warp == 1 || between(since, here) == Barrier::block) return false;
    KStmt loop = ring;
    for (KStmt& s : loop.get<KFor>().body)
      if (barrier_at(s) == Barrier::block) s = barrier(s.where, Barrier::warp);
    std::vector<Access> within = since;
    inside(loop, within, here, uniform);
    if (has_block_barrier(loop)) return false;
    ring = std::move(loop);
    since = std::move(within);
    return true;
  }
  static bool has_block_barrier(const KStmt& s) {
    if (barrier_at(s) == Barrier::block) return true;
    for (const auto* part : s.bodies())
      if (std::any_of(part->begin(), part->end(), has_block_barrier)) return true;
    return false;
  }

  // A statement that needs no barrier before it.
  void inside(KStmt& s, std::vector<Access>& since, const std::vector<Access>& here, bool uniform) {
    if (here.empty()) return;
    const bool alike = uniform && same_for_all(s);
    if (auto* loop = s.as<KFor>()) {
      const bool runs = analysis::can_prove(ir::gt(loop->extent, ir::index(0)), facts_);
      const bool steps = loop->kind == ir::LoopKind::serial || loop->kind == ir::LoopKind::unrolled;
      const Facts outside = facts_;
      lowering::range(facts_, *loop);
      loops_.push_back(enclosing(*loop));
      const std::size_t open = open_;
      if (alike) open_ = loops_.size();
      std::vector<Access> within = since;
      list(loop->body, within, alike && steps);
      // accesses of one iteration may conflict with those of the next
      for (Access& t : within) leave(t, loops_.size() - 1, alike);
      list(loop->body, within, alike && steps);
      loops_.pop_back();
      open_ = open;
      facts_ = outside;
      for (Access& t : within) leave(t, std::min(open, loops_.size()), false);
      if (runs) since.clear();
      merge(since, within);
    } else if (auto* branch = s.as<KIf>()) {
      std::vector<Access> then = since, otherwise = since;
      assuming(branch->condition, [&] { list(branch->body, then, alike); });
      assuming(ir::logic_not(branch->condition), [&] { list(branch->otherwise, otherwise, alike); });
      merge(then, otherwise);
      since = std::move(then);
    } else {
      merge(since, here);
    }
  }

  // Loop number `depth` goes on to its next iteration (`again`), or ends.
  static void leave(Access& t, std::size_t depth, bool again) {
    if (t.loops.size() <= depth || t.common <= depth) {
      if (t.common == depth && !again) t.earlier = false;
      return;
    }
    t.common = depth;
    t.earlier = again;
  }

  static void merge(std::vector<Access>& since, const std::vector<Access>& more) {
    for (const Access& t : more) {
      const auto known = std::find_if(since.begin(), since.end(), [&](const Access& o) {
        return o.buffer == t.buffer && o.write == t.write && o.atomic == t.atomic && o.group == t.group &&
               o.picked == t.picked && o.common == t.common && o.earlier == t.earlier && ir::same(o.address, t.address) &&
               same_iterations(o, t) && std::equal(o.when.begin(), o.when.end(), t.when.begin(), t.when.end(), ir::same);
      });
      if (known == since.end())
        since.push_back(t);
      else
        known->warp_synchronized = known->warp_synchronized && t.warp_synchronized;
    }
  }

  // What is read of constants, and of arguments that nothing writes, is the same for all threads that read it at one place.
  bool same_for_all(const KStmt& s) const {
    bool same = true;
    for_each_expr(s, [&](const Expr& e) {
      ir::walk(e, [&](const Expr& x) {
        if (ir::is(x, ir::Op::load)) {
          const ir::KBuffer& b = kernel_.buffers.at(x.node()->id);
          same = same && (b.storage == ir::Storage::constant || (b.storage == ir::Storage::argument && !b.written));
        }
        return same;
      });
      same = same && !ir::uses_var(e, launch_.thread);
    });
    return same;
  }

  static KStmt barrier(Where where, Barrier who) {
    ir::KSync sync;
    sync.kind = who == Barrier::warp ? ir::Sync::Kind::warp : ir::Sync::Kind::block;
    return {where, std::move(sync)};
  }

  ir::Kernel& kernel_;  // gives ids
  const ir::Launch& launch_;
  Facts facts_;
  std::vector<Id> names_, distances_;
  std::map<std::vector<std::uintptr_t>, bool> conflicts_;  // by what a question is about
  std::vector<Expr> asked_;                                // so that no node in it is another one
  std::vector<EnclosingLoop> loops_;
  std::vector<Expr> when_;
  bool picked_ = false;
  std::size_t open_ = 0;  // so many of the loops around stand at one iteration for all threads between two barriers
};

}  // namespace

void synchronize(ir::Kernel& kernel) {
  each_launch(kernel, [&](KStmt& s, const Facts& facts) {
    auto& launch = s.get<ir::KLaunch>();
    Synchronizer(kernel, launch, facts).run(launch.body);
  });
}

}  // namespace ashlar::lowering
