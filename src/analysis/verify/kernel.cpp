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

namespace ashlar::analysis {

using ir::Id;
using ir::KBuffer;
using ir::Kernel;
using ir::KStmt;
using ir::Op;
using ir::Storage;
using Kind = KStmt::Kind;

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
    for (const auto& [id, b] : k_.buffers) buffer(b);
    for (const Expr& e : k_.assumptions) expr(e);
    for (const Expr* e : {&k_.workspace_shared, &k_.workspace_per_worker})
      if (!e->empty()) expr(*e);
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

  void statement(const KStmt& s, bool parallel) {
    switch (s.kind) {
      case Kind::store: {
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
        break;
      }
      case Kind::prefetch:
        known(s.buffer, "a prefetch");
        expr(s.address);
        require(s.address.type() == ir::index_type, prefetch_shape, [&] { return ir::text(s.address); });
        break;
      case Kind::let:
        expr(s.value);
        scoped(s, s.value.type(), parallel);
        break;
      case Kind::for_: {
        expr(s.begin);
        expr(s.extent);
        require(s.begin.type() == ir::index_type && s.extent.type() == ir::index_type, loop_bounds, [&] { return s.name; });
        const bool spread = s.loop_kind == ir::LoopKind::parallel;
        require(!finished_ || spread || s.loop_kind == ir::LoopKind::serial, loop_kinds, [&] { return s.name; });
        require(!(spread && parallel), loop_parallel, [&] { return s.name; });
        scoped(s, ir::index_type, parallel || spread);
        break;
      }
      case Kind::if_:
        expr(s.value);
        require(s.value.type() == bool_, branch_scalar, [&] { return ir::text(s.value); });
        body(s.body, parallel);
        body(s.otherwise, parallel);
        break;
      case Kind::launch:
        launch(s);
        break;
      case Kind::sync:
        if (s.sync->buffer != 0) known(s.sync->buffer, "a sync");
        for (const Expr* e : {&s.sync->index, &s.sync->count, &s.sync->bytes, &s.sync->parity, &s.sync->rank})
          if (!e->empty()) expr(*e);
        break;
      case Kind::call:
        for (const ir::Call::Actual& a : s.call->actuals) {
          if (!a.address.empty()) expr(a.address);
          for (const Expr& e : a.positions) expr(e);
          for (const Expr& e : a.strides) expr(e);
          for (const Expr& e : a.extents) expr(e);
        }
        break;
    }
  }

  void launch(const KStmt& s) {
    const ir::Launch& l = *s.launch;
    for (int d = 0; d < 3; ++d)
      for (const Expr* e : {&l.grid[d], &l.cluster[d]})
        if (!e->empty()) expr(*e);
    std::vector<Id> numbers;
    for (Id id : {l.block[0], l.block[1], l.block[2], l.thread})
      if (id != 0) {
        require(types_.emplace(id, ir::index_type).second, vars_unique, [&] { return l.name; });
        numbers.push_back(id);
      }
    body(s.body, false);
    for (Id id : numbers) types_.erase(id);
    seen_.clear();
    keep_.clear();
  }

  void scoped(const KStmt& s, Type type, bool parallel) {
    require(types_.emplace(s.var, type).second, vars_unique, [&] { return s.name; });
    body(s.body, parallel);
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
