// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/analysis/verify.h>

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include <ashlar/ir/build.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/ir/vscale.h>

#include "analysis/verify/device.h"
#include "analysis/verify/expr.h"
#include <ashlar/ir/work.h>

#include "analysis/nodes.h"

namespace ashlar::analysis {

using ir::KBuffer;
using ir::Kernel;
using ir::KFor;
using ir::KStmt;
using ir::KStore;
using ir::Storage;

namespace {

// One violation of one rule: the walk below checks all rules at once and says which one broke.
enum RuleIndex {
  vars_defined,
  vars_unique,
  types_operands,
  types_vars,
  buffers_exist,
  load_shape,
  load_mask,
  store_type,
  store_mask,
  store_output,
  store_atomic,
  loop_bounds,
  loop_kinds,
  loop_parallel,
  branch_scalar,
  prefetch_shape,
  storage_elements,
  storage_offset,
  storage_constant,
  ids_given,
  facts_left,
  facts_nest,
  facts_ring,
  facts_group,
  facts_places,
  facts_fragment,
  facts_parts,
  facts_combination,
  facts_slots,
  rule_count
};

// clang-format off
constexpr std::array<VerifierRule, rule_count> rules{{
    {"vars.defined", "a variable is a symbol, a scalar, a stride, or a loop or let around its use"},
    {"vars.unique", "no loop or let defines a variable that is already defined around it"},
    {"types.operands", "operands have the types that their operator takes"},
    {"types.vars", "a variable has the type of its definition"},
    {"buffers.exist", "loads, stores and prefetches name a buffer of the kernel"},
    {"load.shape", "a load has one index address, its buffer's element type and a lane for each lane of the address"},
    {"load.mask", "the mask of a load is bool, with its lanes"},
    {"store.type", "a store has its buffer's element type and a lane for each lane of the address"},
    {"store.mask", "the mask of a store is bool, with its lanes"},
    {"store.output", "no store goes to an input"},
    {"store.atomic", "an atomic store adds, takes the minimum or maximum, or combines bits, in memory that threads share"},
    {"loop.bounds", "bounds of loops are scalar indices"},
    {"loop.kinds", "a finished kernel has only serial and parallel loops"},
    {"loop.parallel", "no parallel loop is inside another"},
    {"branch.scalar", "the condition of an if is one bool"},
    {"prefetch.shape", "a prefetch has one address"},
    {"storage.elements", "buffers on the stack and in registers have a constant number of elements, those in the workspace one over symbols"},
    {"storage.offset", "a buffer in the workspace has an offset over symbols, arguments have none"},
    {"storage.constant", "registers of a finished kernel are addressed by constants"},
    {"ids.given", "buffers, variables and tensor maps have ids that the kernel has given"},
    {"facts.left", "a finished kernel has nothing left of what lowering knew"},
    {"facts.nest", "statements of one nest stand together at the root, and nowhere else"},
    {"facts.ring", "a ring has two copies or more of every buffer that its loads write, each a buffer of the kernel with room for them"},
    {"facts.group", "the group of a store is an id that the kernel has given"},
    {"facts.places", "a buffer whose points are chosen shares places"},
    {"facts.fragment", "a fragment lies in registers"},
    {"facts.parts", "a part lies in registers or on the stack, and starts from a value of its type"},
    {"facts.combination", "a combination has a part and a result for each component, this buffer the first, and axes of threads"},
    {"facts.slots", "slots are those of a buffer in shared memory: an index for each index"},
}};
// clang-format on

struct Violation {
  RuleIndex rule;
  std::string found;
};

class Checker {
 public:
  Checker(const Kernel& k, KernelForm form) : k_(k), finished_(form == KernelForm::finished) {}

  void run() {
    for (const auto& [id, s] : k_.symbols) define(id, ir::index_type);
    define(ir::vscale_id, ir::index_type);
    for (const auto& [id, s] : k_.scalars) define(id, s.type);
    for (const auto& s : k_.strides) define(s.id, ir::index_type);
    for (const auto& a : k_.alignments) define(a.id, ir::index_type);
    for (const auto& [id, type] : types_) given(id, "a variable");
    for (const auto& [id, m] : k_.tensor_maps) given(id, m.name.c_str());
    for (const auto& [id, b] : k_.buffers) {
      given(id, b.name.c_str());
      buffer(b);
      if (b.lowering) lowering(b);
    }
    for (const Expr& e : k_.assumptions) expr(e);
    for (const Expr* e : {&k_.workspace_shared, &k_.workspace_per_worker})
      if (!e->empty()) expr(*e);
    nests();
    body(k_.body, false);
  }

 private:
  [[noreturn]] static void fail(RuleIndex rule, std::string found) { throw Violation{rule, std::move(found)}; }
  // The words are only made when they are needed.
  template <class Found>
  static void require(bool holds, RuleIndex rule, Found&& found) {
    if (!holds) fail(rule, found());
  }

  void define(Id id, Type type) { types_.emplace(id, type); }

  void buffer(const KBuffer& b) {
    switch (b.storage) {
      case Storage::argument:
        require(b.offset.empty(), storage_offset, [&] { return b.name; });
        break;
      case Storage::stack:
      case Storage::registers:
        require(ir::is_int(b.elements), storage_elements, [&] { return b.name; });
        break;
      case Storage::constant: {
        std::int64_t elements = 0;
        require(ir::is_int(b.elements, &elements) && b.data && !b.written &&
                    static_cast<std::int64_t>(b.data->size()) == elements * b.type.bytes(),
                storage_elements, [&] { return b.name; });
        break;
      }
      case Storage::shared:
      case Storage::barrier:
        require(ir::is_int(b.elements), storage_elements, [&] { return b.name; });
        require(!finished_ || ir::is_int(b.offset), storage_offset, [&] { return b.name; });
        break;
      case Storage::workspace:
        require(!b.elements.empty(), storage_elements, [&] { return b.name; });
        expr(b.elements);
        if (finished_) {
          require(!b.offset.empty(), storage_offset, [&] { return b.name; });
          expr(b.offset);
        }
    }
  }

  void given(Id id, const char* what) const {
    require(id < k_.next_id || id == ir::vscale_id, ids_given, [&] {
      return std::string(what) + " of " + std::to_string(id) + ", where the next id is " + std::to_string(k_.next_id);
    });
  }

  // ---- what lowering knows
  void nests() const {
    std::unordered_set<Id> seen;
    Id last = 0;
    for (const KStmt& s : k_.body) {
      require(!finished_ || s.nest == 0, facts_left, [&] { return "nest " + std::to_string(s.nest); });
      require(s.nest == last || s.nest == 0 || seen.insert(s.nest).second, facts_nest,
              [&] { return "nest " + std::to_string(s.nest) + " in two places"; });
      last = s.nest;
    }
  }

  void lowering(const KBuffer& b) const {
    const auto name = [&] { return b.name; };
    require(!finished_, facts_left, name);
    const ir::BufferFacts& f = *b.lowering;
    require(f.points.empty() || f.shares_places, facts_places, name);
    require(!f.fragment || b.storage == Storage::registers, facts_fragment, name);
    const bool own = b.storage == Storage::registers || b.storage == Storage::stack;
    require(!f.part || (own && !f.part->start.empty() && f.part->start.type() == b.type), facts_parts, name);
    if (f.combination) {
      const ir::Combination& c = *f.combination;
      bool good = !c.all.empty() && c.all.front() == b.id && c.part.size() == c.all.size() && !c.axes.empty();
      for (std::size_t k = 0; good && k < c.all.size(); ++k) {
        const auto part = k_.buffers.find(c.part[k]);
        good = k_.buffers.count(c.all[k]) && part != k_.buffers.end() && part->second.facts().part;
      }
      require(good, facts_combination, name);
    }
    for (const auto& [address, slot] : f.slots)
      require(b.storage == Storage::shared && address.type() == ir::index_type && slot.type() == ir::index_type, facts_slots,
              name);
  }

  void ring(const KFor& loop) const {
    require(!finished_, facts_left, [&] { return "the ring of loop " + loop.name; });
    bool good = loop.ring->stages >= 2;
    for (const auto& [id, elements] : loop.ring->buffers) {
      const auto b = k_.buffers.find(id);
      std::int64_t room = 0;
      good = good && b != k_.buffers.end() && ir::is_int(b->second.elements, &room) && room >= elements * loop.ring->stages;
    }
    require(good, facts_ring, [&] { return "loop " + loop.name; });
  }

  const KBuffer& known(Id id, const char* use) const {
    const auto it = k_.buffers.find(id);
    if (it == k_.buffers.end()) fail(buffers_exist, use);
    return it->second;
  }

  // Nodes that were checked stay good while the variables they use are defined; each statement checks its own free variables.
  void expr(const Expr& root) {
    std::vector<const Expr*> pending{&root};
    while (!pending.empty()) {
      const Expr& e = *pending.back();
      pending.pop_back();
      const ir::Node* n = e.node();
      if (n->op == Op::var) {
        const auto it = types_.find(n->id);
        if (it == types_.end()) fail(vars_defined, ir::text(e));
        if (!(it->second == n->type))
          fail(types_vars, ir::text(e) + " as " + ir::text(n->type) + ", defined as " + ir::text(it->second));
        continue;
      }
      if (n->count == 0 && n->op != Op::load) continue;
      if (!seen_.insert(n).second) continue;
      keep_.push_back(e);
      if (std::string wrong = wrong_types(e); !wrong.empty()) fail(types_operands, wrong);
      if (n->op == Op::load) load(e);
      for (const Expr& a : ir::args_of(e)) pending.push_back(&a);
    }
  }

  void load(const Expr& e) {
    const auto args = ir::args_of(e);
    const KBuffer& b = known(e.node()->id, "a load");
    const Type t = e.node()->type;
    require((args.size() == 1 || args.size() == 2) && args[0].type().is_index() && args[0].type().lanes == t.lanes &&
                b.type.element() == t.element(),
            load_shape, [&] { return ir::text(e) + " of " + b.name; });
    if (args.size() == 2)
      require(args[1].type().is_bool() && args[1].type().lanes == t.lanes, load_mask, [&] { return ir::text(e); });
    constant_address(b, args[0]);
  }

  void constant_address(const KBuffer& b, const Expr& address) const {
    if (!finished_ || b.storage != Storage::registers) return;
    Expr base = address;
    if (ir::is(base, Op::ramp)) {
      require(ir::is_int(ir::args_of(base)[1]), storage_constant, [&] { return b.name + " at " + ir::text(address); });
      base = ir::args_of(base)[0];
    }
    require(ir::is_int(base), storage_constant, [&] { return b.name + " at " + ir::text(address); });
  }

  void body(const std::vector<KStmt>& list, bool parallel) {
    for (const KStmt& s : list) statement(s, parallel);
  }

  void inside(const std::vector<KStmt>& list, bool parallel) {
    for (const KStmt& s : list) require(s.nest == 0, facts_nest, [&] { return "nest " + std::to_string(s.nest) + " inside"; });
    body(list, parallel);
  }

  void statement(const KStmt& s, bool parallel) {
    s.visit([&](const KStore& n) { store(n); },
            [&](const ir::KPrefetch& n) {
              known(n.buffer, "a prefetch");
              expr(n.address);
              require(n.address.type() == ir::index_type, prefetch_shape, [&] { return ir::text(n.address); });
            },
            [&](const ir::KLet& n) {
              expr(n.value);
              scoped(n, n.value.type(), parallel);
            },
            [&](const KFor& n) { loop(n, parallel); },
            [&](const ir::KIf& n) {
              expr(n.condition);
              require(n.condition.type() == bool_, branch_scalar, [&] { return ir::text(n.condition); });
              inside(n.body, parallel);
              inside(n.otherwise, parallel);
            },
            [&](const ir::KLaunch& n) {
              operands(s);
              launch(n);
            },
            [&](const ir::KSync& n) {
              if (n.buffer != 0) known(n.buffer, "a sync");
              operands(s);
            },
            [&](const ir::KCall&) { operands(s); });
  }
  void operands(const KStmt& s) {
    for_each_expr(s, [&](const Expr& e) { expr(e); });
  }

  void store(const KStore& s) {
    const KBuffer& b = known(s.buffer, "a store");
    expr(s.address);
    expr(s.value);
    require(s.address.type().is_index() && s.value.type().element() == b.type.element() &&
                s.value.type().lanes == s.address.type().lanes,
            store_type, [&] {
              return ir::text(s.value.type()) + " to " + b.name + " of " + ir::text(b.type) + " at " +
                     ir::text(s.address.type());
            });
    require(b.written || (b.storage != Storage::argument && b.storage != Storage::constant), store_output,
            [&] { return b.name; });
    if (!s.mask.empty()) {
      expr(s.mask);
      require(s.mask.type().is_bool() && s.mask.type().lanes == s.value.type().lanes, store_mask,
              [&] { return b.name + " under " + ir::text(s.mask.type()); });
    }
    constant_address(b, s.address);
    if (s.atomic) {
      static constexpr Op known_to_memory[] = {Op::add, Op::min, Op::max, Op::bit_and, Op::bit_or, Op::bit_xor};
      require(std::find(std::begin(known_to_memory), std::end(known_to_memory), *s.atomic) != std::end(known_to_memory) &&
                  b.storage != Storage::registers && b.storage != Storage::stack && b.storage != Storage::barrier,
              store_atomic, [&] { return b.name; });
    }
    require(!finished_ || s.group == 0, facts_left, [&] { return "the group of a store to " + b.name; });
    require(s.group < k_.next_id, facts_group, [&] { return std::to_string(s.group) + " of a store to " + b.name; });
  }

  void loop(const KFor& s, bool parallel) {
    expr(s.begin);
    expr(s.extent);
    require(s.begin.type() == ir::index_type && s.extent.type() == ir::index_type, loop_bounds, [&] { return s.name; });
    const bool spread = s.kind == ir::LoopKind::parallel;
    require(!finished_ || spread || s.kind == ir::LoopKind::serial, loop_kinds, [&] { return s.name; });
    require(!(spread && parallel), loop_parallel, [&] { return s.name; });
    if (s.ring) ring(s);
    scoped(s, ir::index_type, parallel || spread);
  }

  void launch(const ir::KLaunch& l) {
    std::vector<Id> numbers;
    for (Id id : {l.block[0], l.block[1], l.block[2], l.thread})
      if (id != 0) {
        given(id, l.name.c_str());
        require(types_.emplace(id, ir::index_type).second, vars_unique, [&] { return l.name; });
        numbers.push_back(id);
      }
    inside(l.body, false);
    for (Id id : numbers) types_.erase(id);
    seen_.clear();
    keep_.clear();
  }

  template <class Node>
  void scoped(const Node& s, Type type, bool parallel) {
    given(s.var, s.name.c_str());
    require(types_.emplace(s.var, type).second, vars_unique, [&] { return s.name; });
    inside(s.body, parallel);
    types_.erase(s.var);
    // What was seen inside may use the variable that is gone now.
    seen_.clear();
    keep_.clear();
  }

  const Kernel& k_;
  bool finished_;
  std::unordered_map<Id, Type> types_;
  std::unordered_set<const ir::Node*> seen_;
  std::vector<Expr> keep_;
};

}  // namespace

std::span<const VerifierRule> kernel_rules() { return rules; }

void verify(const Kernel& kernel, KernelForm form, std::string_view after) {
  ++ir::work.verified;
  try {
    Checker(kernel, form).run();
  } catch (const Violation& v) {
    const VerifierRule& r = rules[v.rule];
    throw InternalError((after.empty() ? std::string() : "after " + std::string(after) + ": ") + r.name + ": " + r.sentence +
                        "; found: " + v.found);
  }
  if (form == KernelForm::finished) verify_launches(kernel, after);  // launches are made, and unrolled, on the way
}

}  // namespace ashlar::analysis
