// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops over the same vectors of a row become one, so that what one of them stores, or what both of them read, stays in
// registers.
//
//   for i in [0, +n)                                         for i in [0, +n)
//     b[ramp16(i * 16, 1)] = max(b[..], x[..])                 b[ramp16(i * 16, 1)] = max(b[..], x[..])
//   for j in [0, +n)                                   ->      y[ramp16(i * 16, 1)] = b[ramp16(i * 16, 1)] + a[..]
//     y[ramp16(j * 16, 1)] = b[ramp16(j * 16, 1)] + a[..]
//
// Branches under one condition become one as well. The later statement moves up to the earlier one, past those between.
//
// Invariant: no two accesses to one element change their order, unless both read it. Iteration j of the later loop now runs
// before the iterations i > j of the earlier one, so none of these may touch what it touches: that a(i) = b(j) has no solution
// is proved. Slices of the workspace that share bytes count as one buffer, and outputs that may be inputs conflict with all
// arguments.
//
// Of serial loops around vectors, inside of another loop; loops inside of them are short ones of constant extent.
#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include <ashlar/analysis/cascade.h>
#include <ashlar/analysis/digits.h>
#include <ashlar/analysis/simplify.h>
#include <ashlar/ir/build.h>

#include "lower/interior/lanes.h"
#include "lower/passes.h"

namespace ashlar::lowering {
namespace {

constexpr std::int64_t most_inside = 64;    // iterations of the serial loops inside
constexpr std::size_t most_accesses = 160;  // of a statement
constexpr std::size_t most_proofs = 96;     // for one pair of statements
constexpr std::size_t most_passed = 12;     // statements that one moves past

struct Header {
  Id var = 0;
  std::string name;
  Expr begin, extent;
};
using Headers = std::vector<Header>;  // from the outermost loop inwards

struct Access {
  Id buffer = 0;
  bool write = false;
  Expr address;
  std::shared_ptr<const Headers> loops;  // around it, the statement itself included
};

// What a statement touches.
struct Footprint {
  std::vector<Access> accesses;
  bool opaque = false;   // it holds something that is not looked into
  bool vectors = false;  // it stores vectors
  bool small = true;     // its serial loops are short
};

class Gather {
 public:
  static Footprint of(const KStmt& s, bool outermost) {
    Gather g;
    g.statement(s, outermost ? 0 : 1, 1);
    g.touched_.opaque = g.touched_.opaque || g.touched_.accesses.size() > most_accesses;
    return std::move(g.touched_);
  }

 private:
  void statement(const KStmt& s, int depth, std::int64_t iterations) {
    for_each_expr(s, [&](const Expr& e) { loads(e); });
    if (const auto* loop = s.as<KFor>()) {
      touched_.opaque = touched_.opaque || loop->kind != LoopKind::serial;
      std::int64_t extent = 0;
      if (depth > 0)
        touched_.small = touched_.small && ir::is_int(loop->extent, &extent) && (iterations *= extent) <= most_inside;
      const auto outer = around_;
      Headers inner = *outer;
      inner.push_back({loop->var, loop->name, loop->begin, loop->extent});
      around_ = std::make_shared<const Headers>(std::move(inner));
      for (const KStmt& inside : loop->body) statement(inside, depth + 1, iterations);
      around_ = outer;
      return;
    }
    if (const auto* let = s.as<KLet>()) lets_.emplace_back(let->var, ir::substitute(let->value, lets_));
    if (const auto* store = s.as<KStore>()) {
      touched_.opaque = touched_.opaque || store->atomic.has_value();
      touched_.vectors = touched_.vectors || store->address.type().lanes > 1;
      add(store->buffer, true, store->address);
    }
    touched_.opaque = touched_.opaque || !(s.is<KStore>() || s.is<KIf>() || s.is<KLet>());
    for (const auto* list : s.bodies())
      for (const KStmt& inside : *list) statement(inside, depth, iterations);
  }
  void loads(const Expr& root) {
    ir::walk(root, [&](const Expr& e) {
      if (ir::is(e, Op::load)) add(e.node()->id, false, ir::args_of(e)[0]);
      return true;
    });
  }
  void add(Id buffer, bool write, const Expr& address) {
    const Expr at = ir::substitute(address, lets_);
    for (const Access& a : touched_.accesses)
      if (a.buffer == buffer && a.write == write && a.loops == around_ && ir::same(a.address, at)) return;
    touched_.accesses.push_back({buffer, write, at, around_});
  }

  Footprint touched_;
  std::shared_ptr<const Headers> around_ = std::make_shared<const Headers>();
  ir::Substitution lets_;
};

class Merge {
 public:
  explicit Merge(ir::Kernel& kernel) : kernel_(kernel) {}

  void visit(std::vector<KStmt>& list, const Facts& facts, bool in_loop) {
    if (in_loop && list.size() > 1) combine(list, facts);
    for (KStmt& s : list) {
      if (auto* loop = s.as<KFor>()) {
        if (loop->kind == LoopKind::serial || loop->kind == LoopKind::parallel) {
          Facts inner = facts;
          runs(inner, *loop);
          visit(loop->body, inner, true);
        }
      } else if (auto* branch = s.as<KIf>()) {
        Facts inner = facts;
        inner.assume(branch->condition);
        visit(branch->body, inner, in_loop);
        visit(branch->otherwise, facts, in_loop);
      } else {
        for (auto* inside : s.bodies()) visit(*inside, facts, in_loop);
      }
    }
    keep_values(list);
  }

 private:
  void combine(std::vector<KStmt>& list, const Facts& facts) {
    std::vector<KStmt> out;
    std::vector<Footprint> touched;
    const auto append = [&](KStmt s, Footprint t) { out.push_back(std::move(s)), touched.push_back(std::move(t)); };
    for (KStmt& s : list) {
      Footprint own = Gather::of(s, true);
      const auto to = own.opaque ? std::nullopt : partner(out, touched, s, own, facts);
      if (!to) {
        append(std::move(s), std::move(own));
        continue;
      }
      join(out[*to], std::move(s));
      touched[*to] = Gather::of(out[*to], true);
    }
    list = std::move(out);
  }

  // Where a vector with a mask is stored and loaded again, the load becomes the value, and what only one of several stores to
  // the same place leaves is stored once. (Back ends do that for whole vectors. A processor waits for the store of a masked
  // one.)
  //
  //   b[r] = f(..) where m                  let b_stored = f(..)
  //   y[r] = g(b[r, m]) where m       ->      b[r] = b_stored where m
  //                                           y[r] = g(select(m, b_stored, 0)) where m
  void keep_values(std::vector<KStmt>& list) {
    for (std::size_t k = 0; k + 1 < list.size(); ++k) {
      const auto* store = list[k].as<KStore>();
      if (!store || store->mask.empty() || store->atomic || store->value.type().lanes == 1) continue;
      const std::string name = kernel_.buffers.at(store->buffer).name + "_stored";
      const Expr value = ir::var(kernel_.next_id, name, store->value.type());
      const Later later = replace_loads(list, k, value);
      if (later.overwritten && !later.used) {
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(k--));
      } else if (later.used) {
        kernel_.fresh();
        const Where where = list[k].where;
        KLet let{value.node()->id, name, store->value};
        list[k].get<KStore>().value = value;
        const auto first = list.begin() + static_cast<std::ptrdiff_t>(k);
        let.body.assign(std::make_move_iterator(first + (later.overwritten ? 1 : 0)), std::make_move_iterator(list.end()));
        list.resize(k + 1);
        list[k] = {where, std::move(let)};
        return keep_values(list[k].get<KLet>().body);
      }
    }
  }

  struct Later {
    bool used = false;         // a load has become the value
    bool overwritten = false;  // the next store to the buffer has the same place and mask, and nothing reads the element before
  };
  // In the stores after list[k], up to the next one to its buffer.
  Later replace_loads(std::vector<KStmt>& list, std::size_t k, const Expr& value) const {
    const KStore store = list[k].get<KStore>();
    Later later;
    bool read = false;
    for (std::size_t n = k + 1; n < list.size(); ++n) {
      const auto* next = list[n].as<KStore>();
      if (!next) break;
      for_each_expr(list[n], [&](Expr& root) {
        root = ir::transform(root, [&](const Expr& e) {
          if (!ir::is(e, Op::load)) return e;
          const auto args = ir::args_of(e);
          const bool kept = e.node()->id == store.buffer && args.size() == 2 && ir::same(args[0], store.address) &&
                            ir::same(args[1], store.mask);
          later.used = later.used || kept;
          read = read || (!kept && (e.node()->id == store.buffer || may_share_bytes(e.node()->id, store.buffer)));
          return kept ? ir::select(store.mask, value, zero(value.type())) : e;
        });
      });
      if (next->buffer == store.buffer) {
        later.overwritten = !read && !next->atomic && !next->mask.empty() && ir::same(next->mask, store.mask) &&
                            ir::same(next->address, store.address);
        break;
      }
      if (may_share_bytes(next->buffer, store.buffer)) break;
    }
    return later;
  }

  // The earlier statement that this one joins.
  std::optional<std::size_t> partner(const std::vector<KStmt>& before, const std::vector<Footprint>& touched, const KStmt& s,
                                     const Footprint& own, const Facts& facts) {
    if (!own.vectors || !own.small) return {};
    for (std::size_t k = before.size(); k-- > 0 && before.size() - k <= most_passed;) {
      if (touched[k].opaque) return {};
      if (alike(before[k], s) && touched[k].vectors && touched[k].small && shares(touched[k], own) &&
          own.accesses.size() + touched[k].accesses.size() <= most_accesses &&
          apart(touched[k], own, before[k].as<KFor>(), facts))
        return k;
      if (!apart(touched[k], own, nullptr, facts)) return {};
    }
    return {};
  }

  // Two loops over the same range, or two branches under the same condition.
  bool alike(const KStmt& a, const KStmt& b) const {
    if (const auto *first = a.as<KFor>(), *second = b.as<KFor>(); first && second)
      return first->kind == LoopKind::serial && second->kind == LoopKind::serial && ir::same(first->begin, second->begin) &&
             ir::same(first->extent, second->extent) && !has_load(first->begin) && !has_load(first->extent) &&
             (first->var == second->var || !holds_storage(second->var));
    const auto *first = a.as<KIf>(), *second = b.as<KIf>();
    return first && second && ir::same(first->condition, second->condition) && !has_load(first->condition);
  }

  // Does a buffer know the loop by its variable?
  bool holds_storage(Id var) const {
    return std::any_of(kernel_.buffers.begin(), kernel_.buffers.end(), [&](const auto& b) {
      const std::vector<Id>& inside = b.second.inside;
      return std::find(inside.begin(), inside.end(), var) != inside.end() || b.second.facts().points.count(var) > 0;
    });
  }

  // Does the later one read what the earlier one stores or reads?
  bool shares(const Footprint& a, const Footprint& b) const {
    return std::any_of(b.accesses.begin(), b.accesses.end(), [&](const Access& y) {
      return !y.write &&
             std::any_of(a.accesses.begin(), a.accesses.end(), [&](const Access& x) { return x.buffer == y.buffer; });
    });
  }

  void join(KStmt& to, KStmt from) {
    if (auto* branch = to.as<KIf>()) {
      auto& other = from.get<KIf>();
      for (KStmt& s : other.body) branch->body.push_back(std::move(s));
      for (KStmt& s : other.otherwise) branch->otherwise.push_back(std::move(s));
      return;
    }
    auto& loop = to.get<KFor>();
    auto& other = from.get<KFor>();
    rename(other.body, {{other.var, ir::var(loop.var, loop.name)}});
    for (KStmt& s : other.body) loop.body.push_back(std::move(s));
  }
  static void rename(std::vector<KStmt>& list, const ir::Substitution& by) {
    for (KStmt& s : list) {
      for_each_expr(s, [&](Expr& e) { e = ir::substitute(e, by); });
      for (auto* inside : s.bodies()) rename(*inside, by);
    }
  }

  // May the later statement run first? Where `loop` is given, it is the earlier one, and only its iterations after that of the
  // later one matter.
  bool apart(const Footprint& a, const Footprint& b, const KFor* loop, const Facts& facts) const {
    std::size_t proofs = 0;
    for (const Access& x : a.accesses)
      for (const Access& y : b.accesses) {
        if (!x.write && !y.write) continue;
        if (x.buffer != y.buffer) {
          if (may_share_bytes(x.buffer, y.buffer)) return false;
          continue;
        }
        if (++proofs > most_proofs || may_meet(x, y, loop, facts)) return false;
      }
    return true;
  }

  bool may_share_bytes(Id a, Id b) const {
    const ir::KBuffer &x = kernel_.buffers.at(a), &y = kernel_.buffers.at(b);
    const auto aliases = [&](Id id) {
      const auto at = kernel_.argument_buffers.find(id);
      return at != kernel_.argument_buffers.end() && at->second.may_alias_inputs;
    };
    if (x.storage == ir::Storage::argument && y.storage == ir::Storage::argument) return aliases(a) || aliases(b);
    return x.storage == ir::Storage::workspace && y.storage == ir::Storage::workspace && x.per_worker == y.per_worker &&
           ir::same(x.offset, y.offset);
  }

  bool may_meet(const Access& a, const Access& b, const KFor* loop, const Facts&) const {
    Facts facts;
    std::vector<Expr> conditions;
    ir::Substitution renamed;                      // of the later one
    const auto point = [&](const Expr& address) {  // of the lanes; empty: they are no neighbors
      if (has_load(address) || address.type().scalable) return Expr();
      if (address.type().lanes == 1) return address;
      if (!ir::is(address, Op::ramp) || !ir::is_int(ir::args_of(address)[1])) return Expr();
      const Expr lane = ir::var(ir::fresh_id(), "lane");
      facts.bound(lane.node()->id, 0, address.type().lanes - 1);
      return ir::add(ir::args_of(address)[0], ir::mul(lane, ir::args_of(address)[1]));
    };
    const Expr first = point(a.address), second = point(b.address);
    if (first.empty() || second.empty()) return true;
    for (const Header& l : *a.loops) {
      if (has_load(l.begin) || has_load(l.extent)) return true;
      if (ir::is_int(l.begin) && ir::is_int(l.extent)) range(facts, {l.var, l.name, l.begin, l.extent});
    }
    for (const Header& l : *b.loops) {
      if (has_load(l.begin) || has_load(l.extent)) return true;
      const Expr other = ir::var(ir::fresh_id(), l.name);
      if (ir::is_int(l.begin) && ir::is_int(l.extent)) range(facts, {other.node()->id, l.name, l.begin, l.extent});
      if (loop && renamed.empty()) conditions.push_back(ir::lt(other, ir::var(loop->var, loop->name)));
      renamed.emplace_back(l.var, other);
    }
    std::vector<Id> strides;
    for (const ir::StrideArg& s : kernel_.strides)
      if (s.buffer == a.buffer) strides.push_back(s.id);
    for (const auto& [x, y] : analysis::digits_of_equal(first, ir::substitute(second, renamed), strides))
      conditions.push_back(ir::eq(x, y));
    order(*a.loops, *b.loops, renamed, conditions);
    return analysis::no_solution(conditions, facts).answer != analysis::Answer::proved;
  }

  // Of two loops of which one begins where the other ends, as those that `guards` makes of one.
  static void order(const Headers& a, const Headers& b, const ir::Substitution& renamed, std::vector<Expr>& conditions) {
    if (a.empty() || b.empty()) return;
    const auto follows = [](const Header& first, const Header& second) {
      return ir::is_int(analysis::simplify(ir::sub(ir::add(first.begin, first.extent), second.begin)), std::int64_t{0});
    };
    const Expr x = ir::var(a[0].var, a[0].name), y = ir::substitute(ir::var(b[0].var, b[0].name), renamed);
    if (follows(a[0], b[0])) conditions.push_back(ir::lt(x, y));
    if (follows(b[0], a[0])) conditions.push_back(ir::lt(y, x));
  }

  ir::Kernel& kernel_;
};

}  // namespace

void merge_loops(ir::Kernel& kernel) { Merge(kernel).visit(kernel.body, facts_of(kernel), false); }

}  // namespace ashlar::lowering
