// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks that would store nothing: those past the end, where a split of the loops over blocks is covered by whole tiles.
//
//   launch, grid (8, N / 128, (M + 1023) / 1024)        launch …
//     for k … tiles in shared memory …                    if block_z * 1024 + block_x * 128 < M
//     for i in 64                                 ->        for k …
//       if block_z * 1024 + block_x * 128 + i < M           for i in 64
//         C[…] = …                                            …
//
// Of each store to memory outside of the block, conditions around it and the lengths of loops say what must hold of the block,
// whatever the thread and the iterations are. What must hold for all of them is tested once. It is the same for all threads of
// a block, so they may meet inside. Blocks whose threads never meet have nothing to skip: their stores are under the
// conditions.
#include <algorithm>
#include <utility>

#include <ashlar/analysis/cascade.h>
#include <ashlar/analysis/interval.h>
#include <ashlar/analysis/simplify.h>
#include <ashlar/ir/build.h>

#include "lower/passes.h"

namespace ashlar::lowering {
namespace {

class Idle {
 public:
  Idle(const ir::Kernel& kernel, const ir::KLaunch& launch, const Facts& facts) : kernel_(kernel), facts_(facts) {
    ranges_.push_back({launch.thread, {ir::index(0), ir::index(launch.threads - 1)}});
    for (const Id block : launch.block)
      if (block != 0) known_.push_back(block);
  }

  // That something is stored; empty where nothing is known, or where it is always so.
  Expr condition(const std::vector<KStmt>& body) {
    visit(body, {});
    if (failed_ || stores_.empty()) return {};
    std::vector<Expr> needed;
    for (const std::vector<Expr>& slacks : stores_)
      for (const Expr& c : slacks)
        if (std::ranges::none_of(needed, [&](const Expr& e) { return ir::same(e, c); }) && needed_by_all(c))
          needed.push_back(c);
    Expr all;
    for (const Expr& c : needed) {
      const Expr holds = ir::ge(c, ir::index(0));
      const bool implied = std::ranges::any_of(needed, [&](const Expr& o) { return !ir::same(o, c) && at_most(o, c); });
      if (implied || analysis::can_prove(holds, facts_)) continue;
      all = all.empty() ? holds : ir::logic_and(all, holds);
    }
    return all.empty() ? all : analysis::simplify(all, facts_);
  }

 private:
  static bool at_most(const Expr& a, const Expr& b) {
    std::int64_t more = 0;
    return ir::is_int(analysis::simplify(ir::sub(b, a)), &more) && more >= 0;
  }
  // Every store has a slack that is at most c, so that c >= 0 where it happens.
  bool needed_by_all(const Expr& c) const {
    return std::ranges::all_of(stores_, [&](const std::vector<Expr>& slacks) {
      return std::ranges::any_of(slacks, [&](const Expr& s) { return at_most(s, c); });
    });
  }

  // What is at least 0 for the block where the condition holds for some thread and iteration.
  void require(const Expr& condition, std::vector<Expr>& slacks) const {
    const auto args = ir::args_of(condition);
    if (ir::is(condition, Op::logic_and)) {
      require(args[0], slacks), require(args[1], slacks);
    } else if (args.size() == 2 && args[0].type().is_index() && args[0].type().lanes == 1) {
      const Expr one = ir::index(1);
      if (ir::is(condition, Op::lt)) slack(ir::sub(ir::sub(args[1], args[0]), one), slacks);
      if (ir::is(condition, Op::le)) slack(ir::sub(args[1], args[0]), slacks);
      if (ir::is(condition, Op::gt)) slack(ir::sub(ir::sub(args[0], args[1]), one), slacks);
      if (ir::is(condition, Op::ge)) slack(ir::sub(args[0], args[1]), slacks);
    }
  }
  void slack(const Expr& e, std::vector<Expr>& slacks) const {
    const Expr most = analysis::bounds_over(analysis::simplify(e, facts_), ranges_, facts_).hi;
    if (most.empty() || has_load(most) || ir::is_int(most)) return;
    for (const Id v : ir::free_vars(most))
      if (!kernel_.symbols.contains(v) && std::ranges::find(known_, v) == known_.end()) return;
    slacks.push_back(analysis::simplify(most, facts_));
  }

  void visit(const std::vector<KStmt>& list, const std::vector<Expr>& slacks) {
    for (const KStmt& s : list) {
      if (const auto* store = s.as<ir::KStore>(); store && outside(store->buffer)) {
        std::vector<Expr> own = slacks;
        if (!store->mask.empty()) require(store->mask, own);
        stores_.push_back(std::move(own));
      } else if (const auto* call = s.as<ir::KCall>()) {
        const auto& operands = kernel_.intrinsics.at(call->intrinsic).operands;
        for (std::size_t n = 0; n < operands.size(); ++n) {
          const Id buffer = call->actuals[n].buffer;
          if (buffer != 0 && outside(buffer) && operands[n].access != ir::IntrinsicOperand::Access::read) failed_ = true;
        }
      } else if (const auto* sync = s.as<ir::KSync>()) {
        using enum ir::Sync::Kind;  // those between threads of one block, and of one thread
        if (sync->kind != block && sync->kind != warp && sync->kind != commit && sync->kind != wait) failed_ = true;
      } else if (const auto* branch = s.as<ir::KIf>()) {
        std::vector<Expr> inside = slacks;
        require(branch->condition, inside);
        visit(branch->body, inside);
        visit(branch->otherwise, slacks);
      } else if (const auto* loop = s.as<ir::KFor>()) {
        std::vector<Expr> inside = slacks;
        slack(ir::sub(loop->extent, ir::index(1)), inside);
        ranges_.insert(ranges_.begin(), {loop->var, {loop->begin, ir::sub(ir::add(loop->begin, loop->extent), ir::index(1))}});
        visit(loop->body, inside);
        ranges_.erase(ranges_.begin());
      } else {
        for (const auto* part : s.bodies()) visit(*part, slacks);
      }
    }
  }

  bool outside(Id buffer) const {
    const ir::Storage storage = kernel_.buffers.at(buffer).storage;
    return storage == ir::Storage::argument || storage == ir::Storage::workspace;
  }

  const ir::Kernel& kernel_;
  const Facts& facts_;
  std::vector<analysis::VarRange> ranges_;
  std::vector<Id> known_;
  std::vector<std::vector<Expr>> stores_;  // by store: slacks that are at least 0 where it happens
  bool failed_ = false;
};

// Do threads wait for others? A block without a barrier does nothing but what its stores ask for, under their conditions.
bool waits(const std::vector<KStmt>& list) {
  return std::ranges::any_of(list, [](const KStmt& s) {
    if (s.is<ir::KSync>()) return true;
    return std::ranges::any_of(s.bodies(), [](const auto* part) { return waits(*part); });
  });
}

}  // namespace

void skip_idle_blocks(ir::Kernel& k) {
  each_launch(k, [&](KStmt& s, const Facts& facts) {
    auto& launch = s.get<ir::KLaunch>();
    if (!launch.thread || !waits(launch.body)) return;
    const Expr some = Idle(k, launch, facts).condition(launch.body);
    if (some.empty()) return;
    std::vector<KStmt> body = std::exchange(launch.body, {});
    launch.body.push_back(if_stmt(some, std::move(body), s.where));
  });
}

}  // namespace ashlar::lowering
