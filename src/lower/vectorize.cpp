// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A vectorized loop becomes its body over vectors, one lane an iteration.
//
//   for j in [0, +16) vectorized                 acc[ramp(0, 1, 16)] = fma(broadcast(A[k]), B[ramp(k * 16, 1, 16)], ...)
//     acc[j] = fma(A[k], B[k * 16 + j], ...)
//
// The loop variable is a ramp; what does not depend on it stays scalar until it meets something that does (broadcast as late as
// possible); sums and constant multiples of ramps are ramps again, so that contiguous accesses are seen as such. A condition on
// lanes becomes the mask of the stores below it (loads were given theirs when the block was flattened). Loops inside stay
// loops.
//
// Invariant: a store writes each element from at most one lane; a store of one element for all lanes is made once and only of
// a value that is the same for all.
#include "lower/passes.h"

#include <set>
#include <unordered_map>

#include <ashlar/ir/build.h>
#include <ashlar/ir/function.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/ir/vscale.h>

namespace ashlar::lowering {
namespace {

using ir::KPrefetch;

class Lanes {
 public:
  // `extent`: as many lanes, a constant or a multiple of vscale
  Lanes(Id var, Expr begin, Expr extent, int lanes, bool scalable)
      : var_(var), begin_(std::move(begin)), extent_(std::move(extent)), lanes_(lanes), scalable_(scalable) {}

  std::vector<KStmt> body(std::vector<KStmt> list, const Expr& mask) {
    std::vector<KStmt> out;
    for (KStmt& s : list) statement(out, std::move(s), mask);
    return out;
  }

 private:
  static bool is_vector(const Expr& e) { return e.type().lanes > 1; }
  Type wide(Type t) const { return {t.code, t.bits, static_cast<std::uint16_t>(lanes_), scalable_}; }
  Expr ramp(const Expr& base, const Expr& stride) const {
    return ir::make(Op::ramp, wide(base.type()), std::vector<Expr>{base, stride}, base.node()->where);
  }
  Expr widened(const Expr& e) const {
    if (is_vector(e) || lanes_ == 1) return e;
    return ir::make(Op::broadcast, wide(e.type()), std::span(&e, 1), e.node()->where);
  }

  void statement(std::vector<KStmt>& out, KStmt s, const Expr& mask) {
    const auto collective = [](const auto&) -> bool {
      throw InternalError("a statement of parallel hardware inside a vectorized loop");
    };
    const bool stays = s.visit(
        [&](KStore& n) {
          store(n, mask);
          return true;
        },
        [&](KLet& n) {
          n.value = visit(n.value);
          if (is_vector(n.value)) varying_.insert(n.var);
          n.body = body(std::move(n.body), mask);
          return true;
        },
        [&](KFor& n) {
          n.begin = visit(n.begin);
          n.extent = visit(n.extent);
          if (is_vector(n.begin) || is_vector(n.extent))
            throw InternalError("a loop inside a vectorized one has bounds of its own in each lane");
          n.body = body(std::move(n.body), mask);
          return true;
        },
        [&](KPrefetch& n) {  // of the first lane's line
          n.address = ir::substitute(n.address, {{var_, begin_}});
          return true;
        },
        [&](KIf& n) { return branch(out, n, mask); }, [&](ir::KLaunch& n) { return collective(n); },
        [&](ir::KSync& n) { return collective(n); }, [&](ir::KCall& n) { return collective(n); });
    if (stays) out.push_back(std::move(s));
  }

  // A condition on lanes is the mask of what stands under it, which goes to `out` itself.
  bool branch(std::vector<KStmt>& out, KIf& n, const Expr& mask) {
    n.condition = visit(n.condition);
    if (!is_vector(n.condition)) {
      n.body = body(std::move(n.body), mask);
      n.otherwise = body(std::move(n.otherwise), mask);
      return true;
    }
    const auto under = [&](const Expr& c) { return mask.empty() ? c : ir::logic_and(mask, c); };
    for (KStmt& k : body(std::move(n.body), under(n.condition))) out.push_back(std::move(k));
    if (!n.otherwise.empty())
      for (KStmt& k : body(std::move(n.otherwise), under(ir::logic_not(n.condition)))) out.push_back(std::move(k));
    return false;
  }

  void store(KStore& s, const Expr& mask) {
    s.address = visit(s.address);
    s.value = visit(s.value);
    Expr own = s.mask.empty() ? Expr() : visit(s.mask);
    if (!mask.empty()) own = own.empty() ? mask : ir::logic_and(mask, widened(own));
    if (!is_vector(s.address)) {
      if (is_vector(s.value)) throw InternalError("all lanes of a vectorized loop store to one element");
      bool reads_itself = false;
      ir::walk(s.value, [&](const Expr& x) {
        reads_itself |= ir::is(x, Op::load) && x.node()->id == s.buffer && ir::same(ir::args_of(x)[0], s.address);
        return true;
      });
      if (reads_itself) throw InternalError("all lanes of a vectorized loop update one element");
      if (!own.empty() && is_vector(own)) own = any_lane(own);
    } else {
      s.value = widened(s.value);
      if (!own.empty()) own = widened(own);
    }
    s.mask = own;
  }

  Expr visit(const Expr& e) {
    if (auto it = done_.find(e.node()); it != done_.end()) return it->second;
    Expr result = widen(e);
    keep_.push_back(e);
    done_.emplace(e.node(), result);
    return result;
  }

  Expr widen(const Expr& e) {
    if (ir::is(e, Op::var)) {
      if (e.node()->id == var_) return ramp(begin_, ir::index(1));
      return varying_.count(e.node()->id) ? ir::var(e.node()->id, e.node()->name, wide(e.type()), e.node()->where) : e;
    }
    const auto args = ir::args_of(e);
    if (args.empty()) return e;
    std::vector<Expr> fresh;
    bool vector = false;
    for (const Expr& a : args) {
      fresh.push_back(visit(a));
      vector |= is_vector(fresh.back());
    }
    if (!vector) return ir::rebuild(e, fresh);
    const Type type = wide(e.type());
    if (ir::is(e, Op::load)) return load(e, fresh);
    if (Expr folded = fold_ramp(ir::op_of(e), fresh); !folded.empty()) return folded;
    for (Expr& a : fresh) a = widened(a);
    if (ir::is(e, Op::call)) return ir::call(e.node()->id, fresh, e.node()->where);
    return ir::make(ir::op_of(e), type, fresh, e.node()->where);
  }

  Expr load(const Expr& e, std::vector<Expr>& args) {
    if (!is_vector(args[0])) {
      // one element for all lanes, read if any lane asks
      if (const Expr any = any_lane(args[1]); !any.empty()) {
        args[1] = any;
        return ir::load(e.node()->id, e.node()->name, e.type(), args, e.node()->where);
      }
      args[0] = widened(args[0]);
    }
    if (args.size() > 1) args[1] = widened(args[1]);
    return ir::load(e.node()->id, e.node()->name, wide(e.type()), args, e.node()->where);
  }

  // ramp(b, s) + x = ramp(b + x, s) and its like; what turns out to have stride 0 is a scalar again.
  Expr fold_ramp(Op op, const std::vector<Expr>& args) const {
    if (args.size() != 2 || !args[0].type().is_index()) return {};
    auto part = [](const Expr& e, int which) {
      if (ir::is(e, Op::ramp)) return ir::args_of(e)[static_cast<std::size_t>(which)];
      return is_vector(e) ? Expr() : which == 0 ? e : ir::index(0);
    };
    const Expr b0 = part(args[0], 0), s0 = part(args[0], 1), b1 = part(args[1], 0), s1 = part(args[1], 1);
    if (b0.empty() || b1.empty()) return {};
    Expr base, stride;
    switch (op) {
      case Op::add:
        base = ir::add(b0, b1), stride = ir::add(s0, s1);
        break;
      case Op::sub:
        base = ir::sub(b0, b1), stride = ir::sub(s0, s1);
        break;
      case Op::mul:
        if (is_vector(args[0]) && is_vector(args[1])) return {};
        base = ir::mul(b0, b1);
        stride = is_vector(args[0]) ? ir::mul(s0, b1) : ir::mul(s1, b0);
        break;
      default:
        return {};
    }
    return ir::is_int(stride, std::int64_t{0}) ? base : ramp(base, stride);
  }

  // A scalar condition that holds exactly when some lane of the mask does; empty if none can be given. A comparison that goes
  // on for the first lanes, or for the last ones, is decided by one of them.
  Expr any_lane(const Expr& mask) const {
    if (!is_vector(mask)) return mask;
    if (ir::is(mask, Op::broadcast)) return ir::args_of(mask)[0];
    if (ir::is(mask, Op::logic_and)) {
      const Expr &a = ir::args_of(mask)[0], &b = ir::args_of(mask)[1];
      if (ir::is(a, Op::broadcast) || ir::is(b, Op::broadcast)) {
        const Expr x = any_lane(a), y = any_lane(b);
        return x.empty() || y.empty() ? Expr() : ir::logic_and(x, y);
      }
      return {};
    }
    if (!ir::is_comparison(ir::op_of(mask))) return {};
    const Expr &a = ir::args_of(mask)[0], &b = ir::args_of(mask)[1];
    std::int64_t stride = 0;
    auto at = [&](const Expr& e, bool last) {
      if (ir::is(e, Op::broadcast)) return ir::args_of(e)[0];
      const Expr &base = ir::args_of(e)[0], &step = ir::args_of(e)[1];
      return last ? ir::add(base, ir::mul(step, ir::sub(extent_, ir::index(1)))) : base;
    };
    const bool left = ir::is(a, Op::ramp) && ir::is(b, Op::broadcast) && ir::is_int(ir::args_of(a)[1], &stride);
    const bool right = ir::is(b, Op::ramp) && ir::is(a, Op::broadcast) && ir::is_int(ir::args_of(b)[1], &stride);
    if (!left && !right) return {};
    const Op op = ir::op_of(mask);
    if (op == Op::eq || op == Op::ne) return {};
    const bool wants_small = (op == Op::lt || op == Op::le) == left;  // of the ramp
    const bool last = wants_small != (stride >= 0);
    return ir::binary(op, at(a, last), at(b, last));
  }

  Id var_;
  Expr begin_, extent_;
  int lanes_;
  bool scalable_;
  std::set<Id> varying_;  // lets with a value of their own in each lane
  std::unordered_map<const ir::Node*, Expr> done_;
  std::vector<Expr> keep_;  // keeps the keys alive
};

void vectorize_in(std::vector<KStmt>& list) {
  std::vector<KStmt> out;
  for (KStmt& s : list) {
    for (auto* inside : s.bodies()) vectorize_in(*inside);
    KFor* loop = ir::as_loop(s, ir::LoopKind::vectorized);
    if (!loop) {
      out.push_back(std::move(s));
      continue;
    }
    std::int64_t lanes = 0;
    const auto scalable = ir::scalable_lanes(loop->extent);
    if (scalable) lanes = *scalable;
    if ((!scalable && !ir::is_int(loop->extent, &lanes)) || lanes > UINT16_MAX)
      throw InternalError("a vectorized loop of " + ir::text(loop->extent) + " lanes");
    Lanes all(loop->var, loop->begin, loop->extent, static_cast<int>(lanes), scalable.has_value());
    for (KStmt& k : all.body(std::move(loop->body), Expr())) out.push_back(std::move(k));
  }
  list = std::move(out);
}

}  // namespace

void vectorize(ir::Kernel& kernel) { vectorize_in(kernel.body); }

}  // namespace ashlar::lowering
