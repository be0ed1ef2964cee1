// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slots of rings: a loop's variable modulo a constant is counted, not divided.
//
//   for k in [0, +K)                      slots[0] = 2
//     … tile[(k + 2) % 3 * 4096 + …]      for k in [0, +K)
//     … tile[k % 3 * 4096 + …]              let slot = slots[0], slot_2 = select(slot == 2, 0, slot + 1)
//                                    ->     … tile[slot * 4096 + …]
//                                           … tile[slot_2 * 4096 + …]
//                                           slots[0] = slot_2
//
// Consecutive remainders form a chain, of which the loop keeps one element: the slot that a pipeline writes. The slot that it
// reads comes next, and is written in the next iteration. So a ring costs one addition, comparison and selection in each
// iteration. Applied to every serial loop of a launch, after the other passes. Remainders by powers of two stay: they are one
// instruction.
#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <ashlar/analysis/simplify.h>
#include <ashlar/ir/build.h>

#include "lower/passes.h"

namespace ashlar::lowering {
namespace {

// mod(k + rest, stages)
struct Remainder {
  Expr rest;
  std::int64_t stages = 0;
};

class Counting {
 public:
  explicit Counting(ir::Kernel& kernel) : kernel_(kernel) {}

  void launches() {
    each_launch(kernel_, [&](KStmt& s, const Facts& facts) { visit(s.get<ir::KLaunch>().body, facts); });
  }

 private:
  struct Counter {
    Remainder of;
    Expr value;
    std::optional<std::size_t> next;  // the counter that is one ahead: this one's value in the next iteration
    bool follows = false;             // another one
  };

  void visit(std::vector<KStmt>& list, const Facts& facts) {
    for (std::size_t k = 0; k < list.size(); ++k) {
      KFor* const loop = list[k].as<KFor>();
      const Facts inner = loop ? inside(facts, *loop) : facts;
      if (loop && loop->kind == ir::LoopKind::serial) {
        around_.push_back(loop->var);
        std::vector<Counter> counters = counters_of(*loop, inner);
        for (auto* part : list[k].bodies()) visit(*part, inner);
        around_.pop_back();
        if (counters.empty()) continue;
        const Where where = list[k].where;
        std::vector<KStmt> before = count(*loop, counters, inner, where);
        list.insert(list.begin() + static_cast<std::ptrdiff_t>(k), before.begin(), before.end());
        k += before.size();
        continue;
      }
      for (auto* part : list[k].bodies()) visit(*part, inner);
    }
  }

  std::optional<Remainder> remainder(const Expr& e, const KFor& loop, const Facts& facts) const {
    std::int64_t stages = 0;
    if (!ir::is(e, Op::mod) || !e.type().is_index() || e.type().lanes > 1 || !ir::is_int(ir::args_of(e)[1], &stages)) return {};
    if (stages < 3 || (stages & (stages - 1)) == 0 || !ir::uses_var(e, loop.var)) return {};
    const Expr rest = analysis::simplify(ir::sub(ir::args_of(e)[0], ir::var(loop.var, loop.name)), facts);
    if (has_load(rest) || !std::ranges::all_of(ir::free_vars(rest), [&](Id v) { return v != loop.var && known(v); })) return {};
    return Remainder{rest, stages};
  }
  // Where the loop begins: a symbol, or a variable of the launch or of a loop around.
  bool known(Id v) const {
    return kernel_.symbols.contains(v) || std::find(around_.begin(), around_.end(), v) != around_.end();
  }

  std::vector<Counter> counters_of(const KFor& loop, const Facts& facts) const {
    std::vector<Counter> found;
    const auto collect = [&](const auto& self, const std::vector<KStmt>& list) -> void {
      for (const KStmt& s : list) {
        for_each_expr(s, [&](const Expr& root) {
          ir::walk(root, [&](const Expr& e) {
            const auto one = remainder(e, loop, facts);
            if (one && std::ranges::none_of(found, [&](const Counter& c) { return distance(c.of, *one) == 0; }))
              found.push_back({*one, {}, {}, false});
            return true;
          });
        });
        for (const auto* part : s.bodies()) self(self, *part);
      }
    };
    collect(collect, loop.body);
    for (Counter& c : found)
      for (std::size_t n = 0; n < found.size(); ++n)
        if (distance(c.of, found[n].of) == 1 && !closes(found, n, &c - found.data())) c.next = n, found[n].follows = true;
    return found;
  }
  // Would the chain from `first` come to `last`, which is to stand before it? All slots of a ring may be used.
  static bool closes(const std::vector<Counter>& all, std::size_t first, std::ptrdiff_t last) {
    std::size_t at = first;
    while (all[at].next) at = *all[at].next;
    return static_cast<std::ptrdiff_t>(at) == last;
  }

  // By how much the second is ahead of the first in their ring, if they belong to one.
  static std::optional<std::int64_t> distance(const Remainder& a, const Remainder& b) {
    std::int64_t by = 0;
    if (a.stages != b.stages || !ir::is_int(analysis::simplify(ir::sub(b.rest, a.rest), {}), &by)) return {};
    return (by % a.stages + a.stages) % a.stages;
  }

  // Rewrites the loop; returns what comes before it.
  std::vector<KStmt> count(KFor& loop, std::vector<Counter>& counters, const Facts& facts, Where where) {
    for (std::size_t n = 0; n < counters.size(); ++n)
      counters[n].value = ir::var(kernel_.fresh(), n == 0 ? "slot" : "slot_" + std::to_string(n + 1));
    replace(loop.body, loop, counters, facts);
    ir::KBuffer slots;
    slots.id = kernel_.fresh();
    slots.name = "slots";
    slots.type = i32;
    slots.storage = ir::Storage::stack;
    slots.written = true;
    slots.inside = around_;
    std::vector<KStmt> before;
    std::int64_t place = 0;
    for (const Counter& first : counters) {
      if (first.follows) continue;
      const Expr at = ir::index(place++), stages = ir::index(first.of.stages);
      const Expr begin = analysis::simplify(ir::mod(ir::add(loop.begin, first.of.rest), stages), facts);
      before.push_back(store_stmt(slots.id, at, ir::cast(i32, begin), where));
      std::vector<const Counter*> chain{&first};
      while (chain.back()->next) chain.push_back(&counters[*chain.back()->next]);
      const auto after = [&](const Counter& c) {
        return ir::select(ir::eq(c.value, ir::index(c.of.stages - 1)), ir::index(0), ir::add(c.value, ir::index(1)));
      };
      const Expr next = chain.size() > 1 ? chain[1]->value : after(first);
      loop.body.push_back(store_stmt(slots.id, at, ir::cast(i32, next), where));
      for (std::size_t n = chain.size(); n-- > 1;) scope(loop, chain[n]->value, after(*chain[n - 1]), where);
      const Expr held = ir::cast(ir::index_type, ir::load(slots.id, slots.name, i32, std::span(&at, 1), where));
      const Expr bounded[] = {held, ir::index(0), stages};
      scope(loop, first.value, ir::make(Op::in_range, ir::index_type, bounded, where), where);
    }
    slots.elements = ir::index(place);
    kernel_.buffers.emplace(slots.id, slots);
    return before;
  }

  // The variable is computed where it is first needed: what a pipeline copies comes before what it reads, so that the next slot
  // may take the place of the last one.
  static void scope(KFor& loop, const Expr& variable, const Expr& value, Where where) {
    const ir::Node& v = *variable.node();
    const auto uses = [&](const auto& self, const KStmt& s) -> bool {
      bool found = false;
      for_each_expr(s, [&](const Expr& e) { found = found || ir::uses_var(e, v.id); });
      for (const auto* part : s.bodies())
        found = found || std::any_of(part->begin(), part->end(), [&](const KStmt& k) { return self(self, k); });
      return found;
    };
    const auto first = std::find_if(loop.body.begin(), loop.body.end(), [&](const KStmt& s) { return uses(uses, s); });
    std::vector<KStmt> inside(std::make_move_iterator(first), std::make_move_iterator(loop.body.end()));
    loop.body.erase(first, loop.body.end());
    loop.body.push_back(let_stmt(v.id, v.name, value, std::move(inside), where));
  }

  void replace(std::vector<KStmt>& list, const KFor& loop, const std::vector<Counter>& counters, const Facts& facts) const {
    for (KStmt& s : list) {
      for_each_expr(s, [&](Expr& root) {
        root = ir::transform(root, [&](const Expr& e) {
          const auto one = remainder(e, loop, facts);
          if (!one) return e;
          const auto counter = std::ranges::find_if(counters, [&](const Counter& c) { return distance(c.of, *one) == 0; });
          return counter == counters.end() ? e : counter->value;
        });
      });
      for (auto* part : s.bodies()) replace(*part, loop, counters, facts);
    }
  }

  ir::Kernel& kernel_;
  std::vector<Id> around_;
};

}  // namespace

void count_remainders(ir::Kernel& kernel) { Counting(kernel).launches(); }

}  // namespace ashlar::lowering
