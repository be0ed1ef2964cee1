// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A nest with loops bound to blocks and threads becomes a launch: one body that every thread runs.
//
//   block_x for io in [0, +(N + 255) / 256)        launch y grid ((N + 255) / 256, 1, 1), 256 threads
//     thread_x for ii in [0, +256)           ->      if block_x * 256 + thread < N
//       if io * 256 + ii < N                           y[block_x * 256 + thread] = ...
//         y[io * 256 + ii] = ...
//
// Loops over threads vanish, since every thread is one of their iterations; the other loops stay, and every thread runs them.
// Statements that a thread without an iteration must not execute are guarded one by one:
//
//   - a thread past the end of a bound loop does nothing that depends on the loop's variable, and runs no loop whose bounds do;
//   - a store to memory that threads share, at an address that some thread axis does not move, is done by that axis's thread 0;
//   - a store to a thread's own memory is done by every thread.
//
// Virtual threads are iterations of one thread: their loop goes around each statement that depends on it, and the address of
// memory that each has for itself depends on it too. Where a reduction over threads combines the parts of all, the tree of
// analysis/thread_tree.h is inserted.
//
// So loops keep a body that all threads reach, and `synchronize` can put barriers into it.
#include <algorithm>
#include <optional>
#include <utility>

#include <ashlar/analysis/interval.h>
#include <ashlar/ir/refusal.h>

#include "lower/passes.h"
#include "lower/threads/thread_axes.h"

namespace ashlar::lowering {
namespace {

const KFor* bound_loop(const KStmt& s) { return ir::as_loop(s, LoopKind::bound); }

template <class F>
bool any_in(const KStmt& s, const F& is) {  // the statement or one inside
  if (is(s)) return true;
  for (const auto* part : s.bodies())
    if (std::any_of(part->begin(), part->end(), [&](const KStmt& k) { return any_in(k, is); })) return true;
  return false;
}
bool has_bound(const KStmt& s) {
  return any_in(s, [](const KStmt& k) { return bound_loop(k) != nullptr; });
}
bool has_blocks(const KStmt& s) {
  return any_in(s, [](const KStmt& k) { return bound_loop(k) && ir::is_block(bound_loop(k)->bound_to); });
}
bool has_virtual(const KStmt& s) {
  return any_in(s, [](const KStmt& k) { return ir::as_loop(k, LoopKind::vthread) != nullptr; });
}

class Launcher {
 public:
  Launcher(ir::Kernel& kernel, const LowerOptions& options) : kernel_(kernel), options_(options) {}

  void run() {
    const Facts facts = facts_of(kernel_);
    std::vector<KStmt> all = std::move(kernel_.body), out;
    for (std::size_t at = 0; at < all.size();) {
      const Id nest = all[at].nest;
      if (nest == 0) throw InternalError("a statement of no nest");
      std::vector<KStmt> root;
      for (; at < all.size() && all[at].nest == nest; ++at) {
        root.push_back(std::move(all[at]));
        root.back().nest = 0;
      }
      // several: what the threads of a block do before and after a loop over threads, and the loop
      if (root.size() > 1 && std::none_of(root.begin(), root.end(), has_blocks)) {
        out.push_back(launch(std::move(root), facts));
        continue;
      }
      host(root, facts);
      for (KStmt& s : root) out.push_back(std::move(s));
    }
    kernel_.body = std::move(out);
    // What lies in shared memory got its place with its launch; where a launch was empty there is none.
    const auto unused = [](const auto& b) { return b.second.storage == ir::Storage::shared && b.second.offset.empty(); };
    if (std::erase_if(kernel_.buffers, unused) > 0) drop_from_rings(kernel_.body);
  }

 private:
  // A ring names no buffer that is gone.
  void drop_from_rings(std::vector<KStmt>& list) const {
    for (KStmt& s : list) {
      if (auto* loop = s.as<KFor>(); loop && loop->ring)
        std::erase_if(loop->ring->buffers, [&](const auto& b) { return !kernel_.buffers.count(b.first); });
      for (auto* part : s.bodies()) drop_from_rings(*part);
    }
  }

  // ---- the host's side ---------------------------------------------------------------------------------------------------
  void host(std::vector<KStmt>& list, const Facts& facts) {
    for (KStmt& s : list) {
      // One block, where no loop is bound to blocks. One thread, where none is bound at all: a nest without loops, a loop over
      // threads that has turned out to be empty, a piece that peeling has left without.
      if (s.is<KFor>() || !has_bound(s)) {
        std::vector<KStmt> one;
        one.push_back(std::move(s));
        s = launch(std::move(one), facts);
        continue;
      }
      if (!s.is<ir::KIf>() && !s.is<ir::KLet>()) throw InternalError("a launch inside a statement of the host");
      for (auto* part : s.bodies()) host(*part, facts);
    }
  }

  KStmt launch(std::vector<KStmt> body, const Facts& outside) {
    launch_ = {};
    launch_.warp = options_.warp;
    axes_ = {};
    guards_.clear();
    virtuals_.clear();
    const Where where = body.front().where;
    Facts facts = outside;
    // blocks
    ir::Substitution values;
    while (body.size() == 1 && bound_loop(body.front()) && ir::is_block(bound_loop(body.front())->bound_to)) {
      KFor loop = std::move(body.front().get<KFor>());
      const auto d = static_cast<std::size_t>(loop.bound_to.dim);
      if (loop.bound_to.level != gpu::block_x.level) throw InternalError("clusters are not lowered");
      if (launch_.block[d] != 0) throw InternalError("two loops over one axis of the grid");
      const Id id = launch_.block[d] = kernel_.fresh();
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
    launch_.thread = kernel_.fresh();
    axes_.name(launch_);
    facts.range(launch_.thread, ir::index(0), ir::index(launch_.threads - 1));
    body = threads(std::move(body), values, facts);
    shared_memory(body);
    launch_.name = kernel_.name + (launches_++ == 0 ? "" : "_" + std::to_string(launches_));
    return {where, ir::KLaunch{launch_, std::move(body)}};
  }

  // ---- the shape of a block ----------------------------------------------------------------------------------------------
  void measure(const std::vector<KStmt>& list, const Facts& facts) {
    for (const KStmt& s : list) {
      if (const auto* bound = bound_loop(s); bound && !(bound->bound_to == gpu::threads)) {
        const auto most = analysis::constant_max(bound->extent, facts);
        if (!most) throw InternalError("a loop over threads without a constant extent");
        std::int64_t& extent = axes_.at(bound->bound_to).extent;
        extent = std::max(extent, *most);
      }
      const auto* loop = s.as<KFor>();
      const Facts inner = loop ? inside(facts, *loop) : facts;
      for (const auto* part : s.bodies()) measure(*part, inner);
    }
  }

  // ---- one thread's side --------------------------------------------------------------------------------------------------
  struct Guard {  // of a loop over threads, no longer there
    Id loop = 0;
    Expr condition;  // must hold wherever the loop's variable is used
    Expr some;       // and this, that the loop has iterations, where it is not: a variable of one value is; empty: always true
  };

  struct Virtual {  // a loop of virtual threads, without its body
    KFor loop;
    Where where;
  };

  // Is it memory that a prefetch brings nearer?
  bool far(Id buffer) const {
    const ir::Storage storage = kernel_.buffers.at(buffer).storage;
    return storage == ir::Storage::argument || storage == ir::Storage::workspace;
  }

  // `values`: what variables of loops that vanished stand for. Loops over threads keep their variable until a statement is
  // reached, so that it can be seen which of them the statement depends on.
  std::vector<KStmt> threads(std::vector<KStmt> list, const ir::Substitution& values, const Facts& facts) {
    std::vector<KStmt> out;
    for (KStmt& s : list) {
      if (const auto* prefetch = s.as<ir::KPrefetch>(); prefetch && !far(prefetch->buffer)) continue;
      const auto* const store = s.as<KStore>();
      if (bound_loop(s)) {
        for (KStmt& k : thread_loop(std::move(s.get<KFor>()), s.where, values, facts)) out.push_back(std::move(k));
      } else if (auto* all = ir::as_loop(s, LoopKind::vthread)) {
        for (KStmt& k : virtual_loop(std::move(*all), s.where, values, facts)) out.push_back(std::move(k));
      } else if (s.is<KFor>() || has_bound(s) || has_virtual(s) || (s.is<ir::KIf>() && !moves_alike(s))) {
        if (auto k = compound(std::move(s), values, facts)) out.push_back(std::move(*k));
      } else if (store && kernel_.buffers.at(store->buffer).facts().combination) {
        rewrite(s, values);
        for (KStmt& k : within(virtuals_of(s), combine_parts(kernel_, launch_, axes_, *store, s.where, facts)))
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
  std::optional<KStmt> compound(KStmt s, const ir::Substitution& values, const Facts& facts) {
    std::vector<Id> used;
    for_each_expr(s, [&](const Expr& e) { use(e, used); });
    // A loop over at most one thread is not seen in what it moves, since its variable is its begin. Bounds may be read there
    // only if it has that iteration.
    bool reads = false;
    for_each_expr(s, [&](const Expr& e) { reads = reads || has_load(e); });
    const Expr condition = guard_of(used, [&](const Guard& g) { return reads ? g.some : Expr(); });
    for_each_expr(s, [&](Expr& e) { e = placed(e, values); });
    const Where where = s.where;
    const KFor* const loop = s.as<KFor>();
    if (!loop && !s.is<ir::KIf>()) throw InternalError("a loop over threads inside a statement that is not a loop");
    // what decides whether the whole moves with virtual threads
    bool whole = (loop && loop->kind == LoopKind::vectorized) || moves_with_virtual(condition);
    for_each_expr(s, [&](const Expr& e) { whole = whole || moves_with_virtual(e); });
    const auto around = whole ? std::exchange(virtuals_, {}) : virtuals_;
    const Facts inner = loop ? inside(facts, *loop) : facts;
    bool empty = true;
    for (auto* part : s.bodies()) {
      *part = threads(std::move(*part), values, inner);
      empty = empty && part->empty();
    }
    virtuals_ = around;
    if (empty) return std::nullopt;
    KStmt guarded = under(condition, std::move(s), values, facts, where);
    return whole ? for_virtual(std::move(guarded)) : guarded;
  }

  // ---- virtual threads ----------------------------------------------------------------------------------------------------
  std::vector<KStmt> virtual_loop(KFor s, Where where, const ir::Substitution& values, const Facts& facts) {
    std::int64_t count = 0;
    s.begin = placed(s.begin, values);
    if (!ir::is_int(s.extent, &count)) throw InternalError("virtual threads without a constant number");
    // what lives inside the loop, each virtual thread has of its own
    std::vector<Id> own;
    for (auto& [id, b] : kernel_.buffers) {
      const auto at = std::find(b.inside.begin(), b.inside.end(), s.var);
      if (at == b.inside.end()) continue;
      b.inside.erase(at);
      if (b.storage != ir::Storage::registers && b.storage != ir::Storage::stack) continue;
      own.push_back(id);
      b.elements = ir::mul(b.elements, ir::index(count));
    }
    const Expr which = ir::sub(ir::var(s.var, s.name), s.begin);
    tell_apart(s.body, own, count, which);
    virtuals_.push_back({{s.var, s.name, s.begin, s.extent, LoopKind::unrolled}, where});
    std::vector<KStmt> out = threads(std::move(s.body), values, inside(facts, s));
    virtuals_.pop_back();
    return out;
  }

  // Elements of virtual threads lie beside each other; of fragments, whose registers an instruction wants in a row, all of one
  // before all of the next.
  void tell_apart(std::vector<KStmt>& list, const std::vector<Id>& own, std::int64_t count, const Expr& which) const {
    const auto is_own = [&](Id b) { return std::find(own.begin(), own.end(), b) != own.end(); };
    const auto apart = [&](Id b, const Expr& address) {
      const ir::KBuffer& own_buffer = kernel_.buffers.at(b);
      if (!own_buffer.facts().fragment) return ir::add(ir::mul(address, ir::index(count)), which);
      const Expr each = analysis::simplify(ir::div(own_buffer.elements, ir::index(count)));
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
      if (auto* store = s.as<KStore>(); store && is_own(store->buffer)) store->address = apart(store->buffer, store->address);
      if (auto* prefetch = s.as<ir::KPrefetch>(); prefetch && is_own(prefetch->buffer))
        prefetch->address = apart(prefetch->buffer, prefetch->address);
      if (auto* call = s.as<ir::KCall>())
        for (ir::Call::Actual& a : call->actuals)
          if (a.buffer && is_own(a.buffer)) a.address = apart(a.buffer, a.address);
      for (auto* part : s.bodies()) tell_apart(*part, own, count, which);
    }
  }

  bool moves_with_virtual(const Expr& e) const {
    return !e.empty() &&
           std::any_of(virtuals_.begin(), virtuals_.end(), [&](const Virtual& v) { return ir::uses_var(e, v.loop.var); });
  }
  static bool uses(const KStmt& s, Id var) {
    return any_in(s, [&](const KStmt& k) {
      bool any = false;
      for_each_expr(k, [&](const Expr& e) { any = any || ir::uses_var(e, var); });
      return any;
    });
  }

  // The loops of virtual threads that a statement moves with, innermost first.
  std::vector<const Virtual*> virtuals_of(const KStmt& s) const {
    std::vector<const Virtual*> loops;
    for (std::size_t k = virtuals_.size(); k-- > 0;)
      if (uses(s, virtuals_[k].loop.var)) loops.push_back(&virtuals_[k]);
    return loops;
  }
  static std::vector<KStmt> within(const std::vector<const Virtual*>& loops, std::vector<KStmt> list) {
    for (const Virtual* around : loops) {
      KFor loop = around->loop;
      loop.body = std::exchange(list, {});
      list.push_back(for_stmt(std::move(loop), around->where));
    }
    return list;
  }
  // Does it copy from shared memory to registers?
  bool brings_from_shared(const KStmt& s) const {
    if (const auto* loop = s.as<KFor>())
      return loop->kind == LoopKind::vectorized && loop->body.size() == 1 && brings_from_shared(loop->body.front());
    const auto* store = s.as<KStore>();
    return store && kernel_.buffers.at(store->buffer).storage == ir::Storage::registers && ir::is(store->value, ir::Op::load) &&
           kernel_.buffers.at(store->value.node()->id).storage == ir::Storage::shared;
  }

  // The statement for every virtual thread that it moves with. What comes from shared memory comes for the last of them first:
  // loads end in order, so that a device that waits for what the first one uses has waited for all.
  KStmt for_virtual(KStmt s) const {
    const std::vector<const Virtual*> loops = virtuals_of(s);
    if (brings_from_shared(s)) {
      ir::Substitution turned;
      for (const Virtual* v : loops) {
        const Expr last = ir::sub(ir::add(ir::mul(v->loop.begin, ir::index(2)), v->loop.extent), ir::index(1));
        turned.emplace_back(v->loop.var, ir::sub(last, ir::var(v->loop.var, v->loop.name)));
      }
      rewrite(s, turned);
    }
    std::vector<KStmt> list;
    list.push_back(std::move(s));
    return std::move(within(loops, std::move(list)).front());
  }

  std::vector<KStmt> thread_loop(KFor s, Where where, const ir::Substitution& values, const Facts& facts) {
    const Expr begin = placed(s.begin, values), extent = placed(s.extent, values);
    Expr number;
    std::vector<KStmt> out;
    std::optional<KFor> strides;  // where there are more iterations than threads
    const auto guards = guards_.size();
    Facts known = facts;
    if (s.bound_to == gpu::threads) {
      const std::int64_t count = launch_.threads;
      number = axes_.thread;
      if (!analysis::can_prove(ir::le(extent, ir::index(count)), facts)) {
        strides = KFor{kernel_.fresh(), s.name + "_stride", ir::index(0),
                       analysis::simplify(ir::ceil_div(extent, ir::index(count)), facts)};
        range(known, *strides);
        number = ir::add(ir::mul(ir::var(strides->var, strides->name), ir::index(count)), axes_.thread);
      }
    } else {
      const ThreadAxes::Place& a = axes_.at(s.bound_to);
      number = a.number;
    }
    const Facts here = known;
    known.range(s.var, begin, ir::sub(ir::add(begin, extent), ir::index(1)));
    const Expr some = analysis::simplify(ir::gt(extent, ir::index(0)), facts);
    const Expr condition = analysis::simplify(ir::lt(number, extent), here);
    if (!analysis::can_prove(condition, here))
      guards_.push_back({s.var, condition, analysis::can_prove(some, facts) ? Expr() : some});
    numbers_.push_back({s.var, ir::add(begin, number)});
    out = threads(std::move(s.body), values, known);
    numbers_.pop_back();
    guards_.resize(guards);
    if (strides && !out.empty()) {
      strides->body = std::exchange(out, {});
      out.push_back(for_stmt(std::move(*strides), where));
    }
    return out;
  }

  // A statement without loops over threads inside: the guards that it needs, then thread numbers for variables.
  KStmt leaf(KStmt s, const ir::Substitution& values, const Facts& facts) {
    std::vector<Id> used;
    std::vector<const KStore*> common;  // stores to memory that threads share
    collect(s, used, common);
    // Every thread starts a part; a term counts only for the iteration that it is of, whether it uses its variable or not, as
    // does a step of a scatter. The other loops around may belong to a stage that all threads of the block compute this one
    // for.
    for (const Guard& g : guards_) {
      const bool term = any_in(s, [&](const KStmt& k) {
        const auto* store = k.as<KStore>();
        if (!store) return false;
        const auto& part = kernel_.buffers.at(store->buffer).facts().part;
        return is_step(*store, g.loop) || (part && !ir::same(store->value, part->start) && part->over.count(g.loop) != 0);
      });
      if (term) used.push_back(g.loop);
    }
    Expr condition = guard_of(used, [](const Guard& g) { return g.some; });
    if (!common.empty()) {
      // which axes move every one of the stores
      for (const ThreadAxes::Place& a : axes_.places) {
        if (a.extent == 1) continue;
        const bool moved = std::all_of(common.begin(), common.end(), [&](const KStore* k) { return moves(*k, a); });
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
  bool is_step(const KStore& store, Id loop) const { return kernel_.buffers.at(store.buffer).facts().points.count(loop) != 0; }
  // Does a loop over this axis, or over all threads, take part in where a store goes, or choose the points of a scatter?
  bool moves(const KStore& store, const ThreadAxes::Place& a) const {
    return std::any_of(numbers_.begin(), numbers_.end(), [&](const auto& n) {
      if (!ir::uses_var(store.address, n.first) && !is_step(store, n.first)) return false;
      if (a.extent == launch_.threads) return ir::uses_var(n.second, launch_.thread);
      return contains(n.second, a.number) || contains_all_threads(n.second);
    });
  }
  // Are all stores inside to common memory by the same threads? Of a stage in shared memory and its reader, in a condition that
  // a peeled loop left, one thread makes the first and each thread its own points of the other.
  bool moves_alike(const KStmt& s) const {
    std::vector<Id> used;
    std::vector<const KStore*> common;
    collect(s, used, common);
    return std::all_of(axes_.places.begin(), axes_.places.end(), [&](const ThreadAxes::Place& a) {
      return a.extent == 1 || std::all_of(common.begin(), common.end(),
                                          [&](const KStore* k) { return moves(*k, a) == moves(*common.front(), a); });
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

  void collect(const KStmt& s, std::vector<Id>& used, std::vector<const KStore*>& common) const {
    for_each_expr(s, [&](const Expr& e) { use(e, used); });
    if (const auto* store = s.as<KStore>()) {
      const ir::Storage storage = kernel_.buffers.at(store->buffer).storage;
      if (storage != ir::Storage::registers && storage != ir::Storage::stack) common.push_back(store);
    }
    for (const auto* part : s.bodies())
      for (const KStmt& k : *part) collect(k, used, common);
  }

  void rewrite(KStmt& s, const ir::Substitution& values) const {
    for_each_expr(s, [&](Expr& e) { e = placed(e, values); });
    for (auto* part : s.bodies())
      for (KStmt& k : *part) rewrite(k, values);
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
      if (kernel_.buffers.at(id).storage == ir::Storage::shared && std::find(used.begin(), used.end(), id) == used.end())
        used.push_back(id);
    };
    auto visit = [&](auto&& self, const std::vector<KStmt>& list) -> void {
      for (const KStmt& s : list) {
        if (const auto* store = s.as<KStore>()) use(store->buffer);
        for_each_expr(s, [&](const Expr& e) {
          ir::walk(e, [&](const Expr& q) {
            if (ir::is(q, ir::Op::load)) use(q.node()->id);
            return true;
          });
        });
        for (const auto* part : s.bodies()) self(self, *part);
      }
    };
    visit(visit, body);
    for (Id id : used) {
      ir::KBuffer& b = kernel_.buffers.at(id);
      std::int64_t elements = 0;
      if (!ir::is_int(b.elements, &elements)) throw InternalError("shared memory without a constant size");
      launch_.shared_bytes = (launch_.shared_bytes + 127) / 128 * 128;
      b.offset = ir::index(launch_.shared_bytes);
      launch_.shared_bytes += elements * b.type.bytes();
    }
  }

  ir::Kernel& kernel_;
  const LowerOptions& options_;
  int launches_ = 0;
  ir::Launch launch_;
  ThreadAxes axes_;
  std::vector<Guard> guards_;
  std::vector<Virtual> virtuals_;             // around
  std::vector<std::pair<Id, Expr>> numbers_;  // loops over threads around: variable, and this thread's iteration
};

}  // namespace

void make_launches(ir::Kernel& kernel, const LowerOptions& options) { Launcher(kernel, options).run(); }

}  // namespace ashlar::lowering
