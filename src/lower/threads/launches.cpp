// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A nest with loops bound to blocks and threads becomes a launch: one body that every thread runs.
//
//   block_x for io in [0, +(N + 255) / 256)        launch y grid ((N + 255) / 256, 1, 1), 256 threads
//     thread_x for ii in [0, +256)           ->      if block_x * 256 + thread < N
//       if io * 256 + ii < N                           y[block_x * 256 + thread] = ...
//         y[io * 256 + ii] = ...
//
// Loops over threads vanish, since every thread is one of their iterations; the others stay and run in every thread alike. What
// an iteration must not do in a thread that has none of it is guarded where it stands, statement by statement:
//
//   - a thread past the end of a bound loop does nothing that depends on the loop's variable, and runs no loop whose bounds do;
//   - a store to memory that threads share, at an address that some thread axis does not move, is done by that axis's thread 0;
//   - a store to a thread's own memory is done by every thread.
//
// Virtual threads are iterations of one thread: their loop goes around each statement that moves with it, and what each has of
// its own is told apart in its address. Where a reduction over threads hands each the parts of all, the tree of
// analysis/thread_tree.h is put in.
//
// So loops keep a body that all threads reach, and `synchronise` can put barriers into it.
#include <algorithm>
#include <utility>

#include <ashlar/analysis/interval.h>
#include <ashlar/ir/refusal.h>

#include "lower/passes.h"
#include "lower/threads/thread_axes.h"

namespace ashlar::lower_impl {
namespace {

using analysis::Facts;
using ir::Id;
using ir::KStmt;
using ir::LoopKind;

bool is_bound(const KStmt& s) { return s.kind == KStmt::Kind::for_ && s.loop_kind == LoopKind::bound; }

template <class F>
bool any_in(const KStmt& s, const F& is) {  // the statement or one inside
  const auto below = [&](const KStmt& k) { return any_in(k, is); };
  return is(s) || std::any_of(s.body.begin(), s.body.end(), below) ||
         std::any_of(s.otherwise.begin(), s.otherwise.end(), below);
}
bool has_bound(const KStmt& s) { return any_in(s, is_bound); }
bool has_blocks(const KStmt& s) {
  return any_in(s, [](const KStmt& k) { return is_bound(k) && ir::is_block(k.bound_to); });
}
bool has_virtual(const KStmt& s) {
  return any_in(s, [](const KStmt& k) { return k.kind == KStmt::Kind::for_ && k.loop_kind == LoopKind::vthread; });
}

Facts inside(Facts facts, const KStmt& loop) {
  facts.range(loop.var, loop.begin, ir::sub(ir::add(loop.begin, loop.extent), ir::index(1)));
  return facts;
}

class Launcher {
 public:
  Launcher(Draft& draft, const LowerOptions& options) : draft_(draft), options_(options), next_(unused_id(draft.kernel)) {}

  void run() {
    const Facts facts = facts_of(draft_.kernel);
    std::vector<KStmt> all = std::move(draft_.kernel.body), out;
    std::size_t at = 0;
    for (const std::size_t count : draft_.roots) {
      std::vector<KStmt> root;
      for (const std::size_t end = at + count; at < end; ++at) root.push_back(std::move(all[at]));
      // several: what the threads of a block do before and after a loop over threads, and the loop
      if (root.size() > 1 && std::none_of(root.begin(), root.end(), has_blocks)) {
        out.push_back(launch(std::move(root), facts));
        continue;
      }
      host(root, facts);
      for (KStmt& s : root) out.push_back(std::move(s));
    }
    if (at != all.size()) throw InternalError("statements of no nest");
    draft_.kernel.body = std::move(out);
    // What lies in shared memory got its place with its launch; where a launch was empty there is none.
    std::erase_if(draft_.kernel.buffers,
                  [](const auto& b) { return b.second.storage == ir::Storage::shared && b.second.offset.empty(); });
  }

 private:
  // ---- the host's side ---------------------------------------------------------------------------------------------------
  void host(std::vector<KStmt>& list, const Facts& facts) {
    for (KStmt& s : list) {
      // One block, where no loop is bound to blocks. One thread, where none is bound at all: a nest without loops, a loop over
      // threads that has turned out to be empty, a piece that peeling has left without.
      if (s.kind == KStmt::Kind::for_ || !has_bound(s)) {
        std::vector<KStmt> one;
        one.push_back(std::move(s));
        s = launch(std::move(one), facts);
        continue;
      }
      if (s.kind != KStmt::Kind::if_ && s.kind != KStmt::Kind::let)
        throw InternalError("a launch inside a statement of the host");
      host(s.body, facts);
      host(s.otherwise, facts);
    }
  }

  KStmt launch(std::vector<KStmt> body, const Facts& outside) {
    launch_ = {};
    launch_.warp = options_.warp;
    axes_ = {};
    guards_.clear();
    virtuals_.clear();
    KStmt result;
    result.kind = KStmt::Kind::launch;
    result.where = body.front().where;
    Facts facts = outside;
    // blocks
    ir::Substitution values;
    while (body.size() == 1 && is_bound(body.front()) && ir::is_block(body.front().bound_to)) {
      KStmt loop = std::move(body.front());
      const auto d = static_cast<std::size_t>(loop.bound_to.dim);
      if (loop.bound_to.level != gpu::block_x.level) throw InternalError("clusters are not lowered");
      if (launch_.block[d] != 0) throw InternalError("two loops over one axis of the grid");
      const Id id = launch_.block[d] = next_++;
      static constexpr const char* names[] = {"block_x", "block_y", "block_z"};
      const Expr block = ir::var(id, names[d]);
      launch_.grid[d] = ir::substitute(loop.extent, values);
      facts = inside(std::move(facts), loop);
      facts.range(id, ir::index(0), ir::sub(launch_.grid[d], ir::index(1)));
      values.emplace_back(loop.var, analysis::simplify(ir::add(ir::substitute(loop.begin, values), block), facts));
      body = std::move(loop.body);
    }
    for (Expr& e : launch_.grid)
      if (e.empty()) e = ir::index(1);
    for (Expr& e : launch_.cluster) e = ir::index(1);
    for (const auto& [id, v] : values)
      for (const Expr& e : launch_.grid)
        if (ir::uses_var(e, id)) throw InternalError("the grid of a launch depends on its blocks");
    // threads
    measure(body, facts);
    launch_.thread = next_++;
    axes_.name(launch_);
    facts.range(launch_.thread, ir::index(0), ir::index(launch_.threads - 1));
    result.body = threads(std::move(body), values, facts);
    shared_memory(result.body);
    launch_.name = draft_.kernel.name + (launches_++ == 0 ? "" : "_" + std::to_string(launches_));
    result.launch = std::make_shared<const ir::Launch>(launch_);
    return result;
  }

  // ---- the shape of a block ----------------------------------------------------------------------------------------------
  void measure(const std::vector<KStmt>& list, const Facts& facts) {
    for (const KStmt& s : list) {
      if (is_bound(s) && !(s.bound_to == gpu::threads)) {
        const auto most = analysis::constant_max(s.extent, facts);
        if (!most) throw InternalError("a loop over threads without a constant extent");
        std::int64_t& extent = axes_.at(s.bound_to).extent;
        extent = std::max(extent, *most);
      }
      if (s.kind == KStmt::Kind::for_) {
        measure(s.body, inside(facts, s));
      } else {
        measure(s.body, facts);
        measure(s.otherwise, facts);
      }
    }
  }

  // ---- one thread's side --------------------------------------------------------------------------------------------------
  struct Guard {  // of a loop over threads, no longer there
    Id loop = 0;
    Expr condition;  // must hold wherever the loop's variable is used
    Expr some;       // and this, that the loop has iterations, where it is not: a variable of one value is; empty: always true
  };

  // Is it memory that a prefetch brings nearer?
  bool far(Id buffer) const {
    const ir::Storage storage = draft_.kernel.buffers.at(buffer).storage;
    return storage == ir::Storage::argument || storage == ir::Storage::workspace;
  }

  // `values`: what variables of loops that vanished stand for. Loops over threads keep their variable until a statement is
  // reached, so that it can be seen which of them the statement depends on.
  std::vector<KStmt> threads(std::vector<KStmt> list, const ir::Substitution& values, const Facts& facts) {
    std::vector<KStmt> out;
    for (KStmt& s : list) {
      if (s.kind == KStmt::Kind::prefetch && !far(s.buffer)) continue;
      if (is_bound(s)) {
        for (KStmt& k : thread_loop(std::move(s), values, facts)) out.push_back(std::move(k));
      } else if (s.kind == KStmt::Kind::for_ && s.loop_kind == LoopKind::vthread) {
        for (KStmt& k : virtual_loop(std::move(s), values, facts)) out.push_back(std::move(k));
      } else if (s.kind == KStmt::Kind::for_ || has_bound(s) || has_virtual(s)) {
        if (KStmt k = compound(std::move(s), values, facts); !k.body.empty() || !k.otherwise.empty())
          out.push_back(std::move(k));
      } else if (s.kind == KStmt::Kind::store && draft_.combining.count(s.buffer)) {
        rewrite(s, values);
        for (KStmt& k : within(virtuals_of(s), combine_parts(draft_, next_, launch_, axes_, s, facts)))
          out.push_back(std::move(k));
      } else {
        out.push_back(for_virtual(leaf(std::move(s), values, facts)));
      }
    }
    return out;
  }

  // A loop or condition that stays, around statements that are guarded one by one. If it moves with loops over threads itself,
  // it stands in threads that have an iteration of theirs: it is not known to mean anything in others (a loop of v + 1
  // iterations, over memory for as many as the last v has). No barrier is inside, since threads do not run it alike.
  KStmt compound(KStmt s, const ir::Substitution& values, const Facts& facts) {
    std::vector<Id> used;
    for_each_expr(s, [&](const Expr& e) { use(e, used); });
    const Expr condition = guard_of(used, [](const Guard&) { return Expr(); });
    for_each_expr(s, [&](Expr& e) { e = placed(e, values); });
    const Where where = s.where;
    KStmt header;  // what decides whether the whole moves with virtual threads
    header.begin = s.begin, header.extent = s.extent, header.value = s.value, header.mask = condition;
    const bool is_loop = s.kind == KStmt::Kind::for_;
    if (!is_loop && s.kind != KStmt::Kind::if_) throw InternalError("a loop over threads inside a statement that is no loop");
    const bool whole = (is_loop && s.loop_kind == LoopKind::vectorized) || moves_with_virtual(header);
    const auto around = whole ? std::exchange(virtuals_, {}) : virtuals_;
    s.body = threads(std::move(s.body), values, is_loop ? inside(facts, s) : facts);
    s.otherwise = threads(std::move(s.otherwise), values, facts);
    virtuals_ = around;
    if (s.body.empty() && s.otherwise.empty()) return s;
    KStmt guarded = under(condition, std::move(s), values, facts, where);
    return whole ? for_virtual(std::move(guarded)) : guarded;
  }

  // ---- virtual threads ----------------------------------------------------------------------------------------------------
  std::vector<KStmt> virtual_loop(KStmt s, const ir::Substitution& values, const Facts& facts) {
    std::int64_t count = 0;
    s.begin = placed(s.begin, values);
    if (!ir::is_int(s.extent, &count)) throw InternalError("virtual threads without a constant number");
    // what lives inside the loop, each virtual thread has of its own
    std::vector<Id> own;
    for (auto& [id, b] : draft_.kernel.buffers) {
      const auto at = std::find(b.inside.begin(), b.inside.end(), s.var);
      if (at == b.inside.end()) continue;
      b.inside.erase(at);
      if (b.storage != ir::Storage::registers && b.storage != ir::Storage::stack) continue;
      own.push_back(id);
      b.elements = ir::mul(b.elements, ir::index(count));
    }
    const Expr which = ir::sub(ir::var(s.var, s.name), s.begin);
    tell_apart(s.body, own, count, which);
    KStmt header = s;
    header.body.clear();
    header.loop_kind = LoopKind::unrolled;
    virtuals_.push_back(std::move(header));
    std::vector<KStmt> out = threads(std::move(s.body), values, inside(facts, s));
    virtuals_.pop_back();
    return out;
  }

  // Elements of virtual threads lie beside each other; of fragments, whose registers an instruction wants in a row, all of one
  // before all of the next.
  void tell_apart(std::vector<KStmt>& list, const std::vector<Id>& own, std::int64_t count, const Expr& which) const {
    const auto is_own = [&](Id b) { return std::find(own.begin(), own.end(), b) != own.end(); };
    const auto apart = [&](Id b, const Expr& address) {
      if (!draft_.fragments.count(b)) return ir::add(ir::mul(address, ir::index(count)), which);
      const Expr each = analysis::simplify(ir::div(draft_.kernel.buffers.at(b).elements, ir::index(count)));
      return ir::add(address, ir::mul(which, each));
    };
    for (KStmt& s : list) {
      for_each_expr(s, [&](Expr& e) {
        e = ir::transform(e, [&](const Expr& part) {
          if (!ir::is(part, ir::Op::load) || !is_own(part.node()->id)) return part;
          std::vector<Expr> args(ir::args_of(part).begin(), ir::args_of(part).end());
          args[0] = apart(part.node()->id, args[0]);
          return ir::rebuild(part, args);
        });
      });
      if ((s.kind == KStmt::Kind::store || s.kind == KStmt::Kind::prefetch) && is_own(s.buffer))
        s.address = apart(s.buffer, s.address);
      if (s.kind == KStmt::Kind::call) {
        ir::Call call = *s.call;
        for (ir::Call::Actual& a : call.actuals)
          if (a.buffer && is_own(a.buffer)) a.address = apart(a.buffer, a.address);
        s.call = std::make_shared<const ir::Call>(std::move(call));
      }
      tell_apart(s.body, own, count, which);
      tell_apart(s.otherwise, own, count, which);
    }
  }

  // Does a loop or condition itself move with a virtual thread?
  bool moves_with_virtual(const KStmt& s) const {
    bool any = false;
    for_each_expr(s, [&](const Expr& e) {
      for (const KStmt& v : virtuals_) any = any || ir::uses_var(e, v.var);
    });
    return any;
  }
  static bool uses(const KStmt& s, Id var) {
    bool any = false;
    for_each_expr(s, [&](const Expr& e) { any = any || ir::uses_var(e, var); });
    const auto below = [&](const KStmt& k) { return uses(k, var); };
    return any || std::any_of(s.body.begin(), s.body.end(), below) ||
           std::any_of(s.otherwise.begin(), s.otherwise.end(), below);
  }

  // The loops of virtual threads that a statement moves with, innermost first.
  std::vector<const KStmt*> virtuals_of(const KStmt& s) const {
    std::vector<const KStmt*> loops;
    for (std::size_t k = virtuals_.size(); k-- > 0;)
      if (uses(s, virtuals_[k].var)) loops.push_back(&virtuals_[k]);
    return loops;
  }
  static std::vector<KStmt> within(const std::vector<const KStmt*>& loops, std::vector<KStmt> list) {
    for (const KStmt* around : loops) {
      KStmt loop = *around;
      loop.body = std::exchange(list, {});
      list.push_back(std::move(loop));
    }
    return list;
  }
  // The statement for every virtual thread that it moves with.
  KStmt for_virtual(KStmt s) const {
    const std::vector<const KStmt*> loops = virtuals_of(s);
    std::vector<KStmt> list;
    list.push_back(std::move(s));
    return std::move(within(loops, std::move(list)).front());
  }

  std::vector<KStmt> thread_loop(KStmt s, const ir::Substitution& values, const Facts& facts) {
    const Expr begin = placed(s.begin, values), extent = placed(s.extent, values);
    Expr number;
    std::vector<KStmt> out;
    KStmt strides;
    const auto guards = guards_.size();
    Facts known = facts;
    if (s.bound_to == gpu::threads) {
      const std::int64_t count = launch_.threads;
      number = axes_.thread;
      if (!analysis::can_prove(ir::le(extent, ir::index(count)), facts)) {
        strides.kind = KStmt::Kind::for_;
        strides.where = s.where;
        strides.var = next_++;
        strides.name = s.name + "_stride";
        strides.begin = ir::index(0);
        strides.extent = analysis::simplify(ir::ceil_div(extent, ir::index(count)), facts);
        known = inside(facts, strides);
        number = ir::add(ir::mul(ir::var(strides.var, strides.name), ir::index(count)), axes_.thread);
      }
    } else {
      const ThreadAxes::Place& a = axes_.at(s.bound_to);
      number = a.number;
    }
    known.range(s.var, begin, ir::sub(ir::add(begin, extent), ir::index(1)));
    const Expr some = analysis::simplify(ir::gt(extent, ir::index(0)), facts);
    const Expr condition =
        analysis::simplify(ir::lt(number, extent), strides.kind == KStmt::Kind::for_ ? inside(facts, strides) : facts);
    if (!analysis::can_prove(condition, strides.kind == KStmt::Kind::for_ ? inside(facts, strides) : facts))
      guards_.push_back({s.var, condition, analysis::can_prove(some, facts) ? Expr() : some});
    numbers_.push_back({s.var, ir::add(begin, number)});
    out = threads(std::move(s.body), values, known);
    numbers_.pop_back();
    guards_.resize(guards);
    if (strides.kind == KStmt::Kind::for_ && !out.empty()) {
      strides.body = std::move(out);
      out.clear();
      out.push_back(std::move(strides));
    }
    return out;
  }

  // A statement without loops over threads inside: the guards that it needs, then thread numbers for variables.
  KStmt leaf(KStmt s, const ir::Substitution& values, const Facts& facts) {
    std::vector<Id> used;
    std::vector<const KStmt*> common;  // stores to memory that threads share
    collect(s, used, common);
    // Every thread starts a part; a term counts only for the iteration that it is of, whether it uses its variable or not, as
    // does a step of a scatter. The other loops around may belong to a stage that all threads of the block compute this one
    // for.
    for (const Guard& g : guards_) {
      const bool term = any_in(s, [&](const KStmt& k) {
        if (k.kind == KStmt::Kind::store && is_step(k, g.loop)) return true;
        const auto part = k.kind == KStmt::Kind::store ? draft_.parts.find(k.buffer) : draft_.parts.end();
        return part != draft_.parts.end() && !ir::same(k.value, part->second) &&
               draft_.reducing.at(k.buffer).count(g.loop) != 0;
      });
      if (term) used.push_back(g.loop);
    }
    Expr condition = guard_of(used, [](const Guard& g) { return g.some; });
    if (!common.empty()) {
      // which axes move every one of the stores
      for (const ThreadAxes::Place& a : axes_.places) {
        if (a.extent == 1) continue;
        const bool moved = std::all_of(common.begin(), common.end(), [&](const KStmt* k) { return moves(*k, a); });
        const Expr first = ir::eq(a.number, ir::index(0));
        if (!moved) condition = condition.empty() ? first : ir::logic_and(condition, first);
      }
    }
    rewrite(s, values);
    const Where where = s.where;
    return under(condition, std::move(s), values, facts, where);
  }

  // What must hold for a statement that uses these variables; `otherwise`: of a loop whose variable it does not use.
  template <class F>
  Expr guard_of(const std::vector<Id>& used, const F& otherwise) const {
    Expr condition;
    for (const Guard& g : guards_) {
      const Expr c = std::find(used.begin(), used.end(), g.loop) != used.end() ? g.condition : otherwise(g);
      if (!c.empty()) condition = condition.empty() ? c : ir::logic_and(condition, c);
    }
    return condition;
  }
  static void use(const Expr& e, std::vector<Id>& used) {
    for (Id v : ir::free_vars(e)) used.push_back(v);
  }
  static KStmt under(const Expr& condition, KStmt s, const ir::Substitution& values, const Facts& facts, Where where) {
    if (condition.empty()) return s;
    std::vector<KStmt> body;
    body.push_back(std::move(s));
    return if_stmt(analysis::simplify(ir::substitute(condition, values), facts), std::move(body), where);
  }

  // Is the store a step of a scatter that this loop goes over the points of?
  bool is_step(const KStmt& store, Id loop) const {
    const auto known = draft_.points.find(store.buffer);
    return known != draft_.points.end() && known->second.count(loop) != 0;
  }
  // Does a loop over this axis, or over all threads, take part in where a store goes, or choose the points of a scatter?
  bool moves(const KStmt& store, const ThreadAxes::Place& a) const {
    return std::any_of(numbers_.begin(), numbers_.end(), [&](const auto& n) {
      if (!ir::uses_var(store.address, n.first) && !is_step(store, n.first)) return false;
      if (a.extent == launch_.threads) return ir::uses_var(n.second, launch_.thread);
      return contains(n.second, a.number) || contains_all_threads(n.second);
    });
  }
  static bool contains(const Expr& e, const Expr& part) {
    bool found = false;
    ir::walk(e, [&](const Expr& x) {
      found = found || ir::same(x, part);
      return !found;
    });
    return found;
  }
  // thread itself, not some div or mod of it
  bool contains_all_threads(const Expr& e) const {
    bool found = false;
    ir::walk(e, [&](const Expr& node) {
      if (ir::is(node, ir::Op::div) || ir::is(node, ir::Op::mod)) return false;
      found = found || (ir::is(node, ir::Op::var) && node.node()->id == launch_.thread);
      return !found;
    });
    return found;
  }

  void collect(const KStmt& s, std::vector<Id>& used, std::vector<const KStmt*>& common) const {
    for_each_expr(s, [&](const Expr& e) { use(e, used); });
    if (s.kind == KStmt::Kind::store) {
      const ir::Storage storage = draft_.kernel.buffers.at(s.buffer).storage;
      if (storage != ir::Storage::registers && storage != ir::Storage::stack) common.push_back(&s);
    }
    for (const KStmt& k : s.body) collect(k, used, common);
    for (const KStmt& k : s.otherwise) collect(k, used, common);
  }

  void rewrite(KStmt& s, const ir::Substitution& values) {
    for_each_expr(s, [&](Expr& e) { e = placed(e, values); });
    for (KStmt& k : s.body) rewrite(k, values);
    for (KStmt& k : s.otherwise) rewrite(k, values);
  }

  // With thread numbers for the loops over threads, and block numbers for those over blocks.
  Expr placed(Expr e, const ir::Substitution& values) const {
    for (std::size_t k = numbers_.size(); k-- > 0;) e = ir::substitute(e, {numbers_[k]});
    return ir::substitute(e, values);
  }

  // ---- memory ------------------------------------------------------------------------------------------------------------
  void shared_memory(const std::vector<KStmt>& body) {
    std::vector<Id> used;
    auto use = [&](Id id) {
      if (draft_.kernel.buffers.at(id).storage == ir::Storage::shared && std::find(used.begin(), used.end(), id) == used.end())
        used.push_back(id);
    };
    auto visit = [&](auto&& self, const std::vector<KStmt>& list) -> void {
      for (const KStmt& s : list) {
        if (s.kind == KStmt::Kind::store) use(s.buffer);
        for_each_expr(s, [&](const Expr& e) {
          ir::walk(e, [&](const Expr& q) {
            if (ir::is(q, ir::Op::load)) use(q.node()->id);
            return true;
          });
        });
        self(self, s.body);
        self(self, s.otherwise);
      }
    };
    visit(visit, body);
    for (Id id : used) {
      ir::KBuffer& b = draft_.kernel.buffers.at(id);
      std::int64_t elements = 0;
      if (!ir::is_int(b.elements, &elements)) throw InternalError("shared memory without a constant size");
      launch_.shared_bytes = (launch_.shared_bytes + 127) / 128 * 128;
      b.offset = ir::index(launch_.shared_bytes);
      launch_.shared_bytes += elements * b.type.bytes();
    }
  }

  Draft& draft_;
  const LowerOptions& options_;
  Id next_;
  int launches_ = 0;
  ir::Launch launch_;
  ThreadAxes axes_;
  std::vector<Guard> guards_;
  std::vector<KStmt> virtuals_;               // loops of virtual threads around, without their bodies
  std::vector<std::pair<Id, Expr>> numbers_;  // loops over threads around: variable, and this thread's iteration
};

}  // namespace

void make_launches(Draft& draft, const LowerOptions& options) { Launcher(draft, options).run(); }

}  // namespace ashlar::lower_impl
