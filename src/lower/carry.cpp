// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a step of a recurrence stores and later steps read stays in registers.
//
//   for t in [0, +T)                                        c = [0]
//     y[t] = select(t < 1, x[t], f(x[t], y[t - 1]))   ->    for t in [0, +min(T, 1))
//                                                             c[1] = c[0]
//                                                             c[0] = x[t]
//                                                             y[t] = c[0]
//                                                           for t in [1, +T - 1)
//                                                             c[1] = c[0]
//                                                             c[0] = f(x[t], c[1])
//                                                             y[t] = c[0]
//
// Of an innermost serial loop, after everything in it has been unrolled and vectorized. c[k] holds what the store wrote k
// iterations ago; what lies before the first iteration is loaded in front of the loop, if the first iterations read it. Where a
// condition is decided after the first steps (what a recurrence begins with), these get a loop of their own.
//
// Why it is right: a point of a recurrence has one value, so a load from the address that the same statement had k iterations
// ago reads what it stored there. In a ring, points share addresses: there all stores since must have other ones. Storage that
// lives inside the loop is another one in each iteration, and is left alone.
#include "lower/interior/lanes.h"
#include "lower/passes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include <ashlar/analysis/simplify.h>
#include <ashlar/ir/build.h>

namespace ashlar::lowering {
namespace {

constexpr std::int64_t farthest = 4;  // iterations back

struct Address {
  Expr base;
  int lanes = 1;
  Expr stride;  // from lane to lane; empty: one lane
  bool same_lanes(const Address& a) const { return lanes == a.lanes && (stride.empty() || ir::same(stride, a.stride)); }
};
std::optional<Address> address_of(const Expr& e) {
  if (e.type().scalable) return {};
  if (e.type().lanes == 1) return Address{e, 1, {}};
  if (!ir::is(e, Op::ramp) || has_load(ir::args_of(e)[1])) return {};
  return Address{ir::args_of(e)[0], e.type().lanes, ir::args_of(e)[1]};
}

Expr at(const Expr& e, Id var, const Expr& value) { return ir::substitute(e, {{var, value}}); }

// A store of the loop; several, to the same address, where it depends on a condition which of them runs.
struct Stored {
  std::vector<const KStmt*> statements;
  Id buffer = 0;
  Address address;
  Type type;
  std::int64_t most = 0;          // iterations back of the farthest load
  Id registers = 0;               // c
  std::vector<Expr> needed = {};  // by j: when is the value of iteration begin - 1 - j read? Empty: never
  Expr slot(std::int64_t back) const {
    const Expr first = ir::index(back * address.lanes);
    return address.lanes == 1 ? first : ir::ramp(first, ir::index(1), address.lanes);
  }
  Expr load(std::int64_t back) const { return ir::load(registers, "carried", type, std::vector<Expr>{slot(back)}); }
};

struct Read {
  std::size_t store = 0;
  std::int64_t back = 0;
};

class Carry {
 public:
  Carry(ir::Kernel& kernel, const LowerOptions& options, const KFor& loop, Where where, const Facts& outer,
        std::vector<Id> around)
      : kernel_(kernel),
        options_(options),
        loop_(loop),
        where_(where),
        facts_(inside(outer, loop)),
        outer_(outer),
        around_(std::move(around)) {}

  // The statements that replace the loop; nothing where it stays.
  std::optional<std::vector<KStmt>> run() {
    if (!gather_stores(loop_.body) || stores_.empty()) return {};
    gather_reads(loop_.body, ir::boolean(true));
    if (failed_ || reads_.empty() || !fits()) return {};
    std::vector<KStmt> out;
    for (Stored& s : stores_)
      if (s.most > 0) begin(s, out);
    loops(out);
    return out;
  }

 private:
  // False: the loop holds something that this pass does not look into.
  bool gather_stores(const std::vector<KStmt>& list, const KIf* branch = nullptr, bool otherwise = false) {
    for (const KStmt& s : list) {
      if (s.is<KFor>() || s.is<ir::KLaunch>() || s.is<ir::KSync>() || s.is<ir::KCall>()) return false;
      if (const auto* store = s.as<KStore>(); store && !gather_store(s, *store, {branch, otherwise})) return false;
      if (const auto* decides = s.as<KIf>()) {
        if (!gather_stores(decides->body, decides) || !gather_stores(decides->otherwise, decides, true)) return false;
      } else if (const auto* let = s.as<KLet>()) {
        if (!gather_let(*let) || !gather_stores(let->body, branch, otherwise)) return false;
      }
    }
    return true;
  }
  bool gather_let(const KLet& let) {
    if (let.value.type() != ir::index_type) {
      data_.push_back(let.var);
      return true;
    }
    const Expr value = ir::substitute(let.value, lets_);
    for (const auto& [id, known] : lets_)
      if (id == let.var && !ir::same(known, value)) return false;  // a name of two values
    lets_.emplace_back(let.var, value);
    return true;
  }
  // Stores to one buffer under different conditions have one address: else it is not known which of them wrote an element.
  bool gather_store(const KStmt& statement, const KStore& s, const std::pair<const KIf*, bool>& branch) {
    const auto a = carried_by(s);
    if (!a) return !kernel_.buffers.at(s.buffer).facts().recurrent;
    bool added = false;
    for (Stored& other : stores_) {
      if (other.buffer != s.buffer) continue;
      if (other.address.same_lanes(*a) && ir::same(other.address.base, a->base)) {
        other.statements.push_back(&statement);
        added = true;
      } else if (branches_.at(other.buffer) != branch) {
        return false;
      }
    }
    branches_.emplace(s.buffer, branch);
    if (!added) stores_.push_back({{&statement}, s.buffer, *a, s.value.type()});
    return true;
  }

  // Of a store to a recurrence that outlives an iteration, at an address that moves with the loop.
  std::optional<Address> carried_by(const KStore& s) const {
    const ir::KBuffer& b = kernel_.buffers.at(s.buffer);
    if (!b.facts().recurrent || s.atomic) return {};
    if (b.storage == ir::Storage::registers || std::find(b.inside.begin(), b.inside.end(), loop_.var) != b.inside.end())
      return {};
    auto a = address_of(s.address);
    if (!a) return {};
    a->base = ir::substitute(a->base, lets_);
    if (!ir::uses_var(a->base, loop_.var) || has_load(a->base)) return {};
    return a;
  }

  Expr back(const Expr& e, std::int64_t k) const {
    return at(e, loop_.var, ir::sub(ir::var(loop_.var, loop_.name), ir::index(k)));
  }
  bool equal(const Expr& a, const Expr& b) const {
    return ir::is_int(analysis::simplify(ir::sub(a, b), facts_), std::int64_t{0});
  }

  const std::optional<Read>& read_of(const Expr& load) {
    const auto [it, fresh] = matched_.try_emplace(load.node());
    if (!fresh) return it->second;
    const Id buffer = load.node()->id;
    if (std::none_of(stores_.begin(), stores_.end(), [&](const Stored& s) { return s.buffer == buffer; })) return it->second;
    auto a = address_of(ir::args_of(load)[0]);
    if (!a) return it->second;
    a->base = ir::substitute(a->base, lets_);
    if (has_load(a->base)) return it->second;
    for (std::int64_t k = 0; k <= farthest; ++k)
      for (std::size_t s = 0; s < stores_.size(); ++s) {
        const Stored& from = stores_[s];
        if (from.buffer != buffer || !from.address.same_lanes(*a)) continue;
        if (!equal(back(from.address.base, k), a->base)) continue;
        if (k > 0 && !equal(back(from.address.base, k), from.address.base) &&
            (!kernel_.buffers.at(buffer).facts().shares_places || last(*a, s, k)))
          it->second = Read{s, k};
        return it->second;
      }
    return it->second;
  }
  // Of a ring: no other store since has an element of the load.
  bool last(const Address& load, std::size_t store, std::int64_t k) const {
    for (std::size_t s = 0; s < stores_.size(); ++s)
      for (std::int64_t j = 0; j <= k && stores_[s].buffer == stores_[store].buffer; ++j) {
        if (s == store && j == k) continue;
        const Address& other = stores_[s].address;
        if (!other.same_lanes(load) || (load.lanes > 1 && !ir::is_int(load.stride, 1))) return false;
        const Expr apart = ir::sub(back(other.base, j), load.base), lanes = ir::index(load.lanes);
        if (!analysis::can_prove(ir::ge(apart, lanes), facts_) && !analysis::can_prove(ir::le(apart, ir::neg(lanes)), facts_) &&
            !(load.lanes == 1 && analysis::can_prove(ir::ne(apart, ir::index(0)), facts_)))
          return false;
      }
    return true;
  }

  // May a condition be asked before the loop?
  bool known_before(const Expr& c) const {
    return !has_load(c) && std::none_of(data_.begin(), data_.end(), [&](Id v) { return ir::uses_var(c, v); });
  }

  void gather_reads(const std::vector<KStmt>& list, const Expr& condition) {
    for (const KStmt& s : list) {
      for_each_expr(s, [&](const Expr& e) { gather_reads(e, condition); });
      if (const auto* branch = s.as<KIf>()) {
        gather_reads(branch->body, ir::logic_and(condition, branch->condition));
        gather_reads(branch->otherwise, ir::logic_and(condition, ir::logic_not(branch->condition)));
      } else {
        for (const auto* inner : s.bodies()) gather_reads(*inner, condition);
      }
    }
  }

  // Operands come after what they are operands of, each once, with the condition under which one of these needs it.
  void gather_reads(const Expr& root, const Expr& condition) {
    std::vector<Expr> order;
    std::unordered_map<const ir::Node*, bool> leads;  // to a load that is carried
    const auto find = [&](const auto& self, const Expr& e) -> bool {
      if (const auto it = leads.find(e.node()); it != leads.end()) return it->second;
      bool found = ir::is(e, Op::load) && read_of(e);
      if (!ir::is(e, Op::load))
        for (const Expr& a : ir::args_of(e)) found |= self(self, a);
      leads.emplace(e.node(), found);
      if (found) order.push_back(e);
      return found;
    };
    if (!find(find, root)) return;
    std::unordered_map<const ir::Node*, Expr> when{{root.node(), condition}};
    const auto also = [&](const Expr& e, const Expr& c) {
      const auto it = leads.find(e.node());
      if (it == leads.end() || !it->second) return;
      const auto [known, fresh] = when.try_emplace(e.node(), c);
      if (!fresh) known->second = either(known->second, c);
    };
    std::reverse(order.begin(), order.end());
    for (const Expr& e : order) {
      const Expr c = when.at(e.node());
      const auto args = ir::args_of(e);
      if (ir::is(e, Op::load)) {
        Expr asked = c;
        if (args.size() == 2) asked = both(asked, args[1]);
        reads_.push_back(e);
        need(*read_of(e), ir::substitute(asked, lets_));
      } else if (ir::is(e, Op::select)) {
        also(args[0], c);
        also(args[1], both(c, args[0]));
        also(args[2], both(c, ir::logic_not(args[0])));
      } else {
        for (const Expr& a : args) also(a, c);
      }
    }
  }
  // Conditions of one lane, or of several.
  static Expr both(const Expr& a, const Expr& b) {
    const int lanes = std::max(a.type().lanes, b.type().lanes);
    return ir::logic_and(lanes_of(a, lanes), lanes_of(b, lanes));
  }
  static Expr either(const Expr& a, const Expr& b) {
    const int lanes = std::max(a.type().lanes, b.type().lanes);
    return ir::logic_or(lanes_of(a, lanes), lanes_of(b, lanes));
  }

  // The load reads before the first iteration in the iterations i < back, where its condition holds.
  void need(const Read& r, const Expr& condition) {
    Stored& s = stores_[r.store];
    s.most = std::max(s.most, r.back);
    s.needed.resize(static_cast<std::size_t>(s.most));
    for (std::int64_t i = 0; i < r.back; ++i) {
      const Expr there = ir::add(loop_.begin, ir::index(i));
      const Expr reads = both(ir::gt(loop_.extent, ir::index(i)), at(condition, loop_.var, there));
      const Expr asked = ir::transform(analysis::simplify(reads, outer_), decided_lanes);
      if (is_false(asked)) continue;
      if (!known_before(asked)) failed_ = true;
      Expr& known = s.needed[static_cast<std::size_t>(r.back - 1 - i)];
      known = known.empty() ? asked : either(known, asked);
    }
  }

  // Half of the registers at most: the steps need some of their own.
  bool fits() const {
    std::int64_t count = 0;
    for (const Stored& s : stores_) {
      const std::int64_t register_bits = std::max<std::int64_t>(options_.vector_bits, s.type.element().bits);  // or of scalars
      count +=
          s.most * std::max<std::int64_t>(1, (s.address.lanes * s.type.element().bits + register_bits - 1) / register_bits);
    }
    return count <= options_.vector_registers / 2;
  }

  // ---- what is made ------------------------------------------------------------------------------------------------------
  void begin(Stored& s, std::vector<KStmt>& out) {
    ir::KBuffer c;
    c.id = s.registers = kernel_.fresh();
    c.name = kernel_.buffers.at(s.buffer).name + "_carried";
    c.type = s.type.element();
    c.storage = ir::Storage::registers;
    c.elements = ir::index((s.most + 1) * s.address.lanes);
    c.written = true;
    c.inside = around_;
    kernel_.buffers.emplace(c.id, c);
    for (std::int64_t j = 0; j < s.most; ++j) {
      const Expr asked = s.needed[static_cast<std::size_t>(j)];
      Expr value = zero(s.type);
      if (!asked.empty()) {
        const int lanes = s.address.lanes;
        Expr from = at(s.address.base, loop_.var, ir::sub(loop_.begin, ir::index(j + 1)));
        from = analysis::simplify(from, outer_);
        if (lanes > 1) from = ir::ramp(from, s.address.stride, lanes);
        std::vector<Expr> operands{from};
        if (!is_true(asked)) operands.push_back(lanes_of(asked, lanes));
        value = ir::load(s.buffer, kernel_.buffers.at(s.buffer).name, s.type, operands, s.statements.front()->where);
      }
      out.push_back(store_stmt(s.registers, s.slot(j), value, s.statements.front()->where));
    }
  }

  // Conditions that move with the loop, and can be decided.
  void gather_conditions(const std::vector<KStmt>& list, std::vector<Expr>& found) const {
    for (const KStmt& s : list) {
      for_each_expr(s, [&](const Expr& root) {
        ir::walk(root, [&](const Expr& e) {
          if (e.type().is_bool() && e.type().lanes == 1 && ir::is_comparison(ir::op_of(e)) && ir::uses_var(e, loop_.var) &&
              !has_load(e) && std::none_of(found.begin(), found.end(), [&](const Expr& f) { return ir::same(e, f); }))
            found.push_back(e);
          return true;
        });
      });
      for (const auto* inner : s.bodies()) gather_conditions(*inner, found);
    }
  }
  // From iteration `from` on, and before `to` where there is one.
  Facts facts_of(std::int64_t from, std::int64_t to) const {
    Facts f = outer_;
    Expr last = ir::sub(ir::add(loop_.begin, loop_.extent), ir::index(1));
    if (to >= 0) last = ir::min(last, ir::add(loop_.begin, ir::index(to - 1)));
    f.range(loop_.var, ir::add(loop_.begin, ir::index(from)), last);
    return f;
  }
  Decided decidable(const std::vector<Expr>& conditions, const Facts& facts) const {
    Decided d;
    for (const Expr& c : conditions) {
      const Expr known = ir::substitute(c, lets_);
      if (analysis::can_prove(known, facts))
        d.emplace_back(c, true);
      else if (analysis::can_prove(ir::logic_not(known), facts))
        d.emplace_back(c, false);
    }
    return d;
  }

  void loops(std::vector<KStmt>& out) const {
    std::vector<Expr> conditions;
    gather_conditions(loop_.body, conditions);
    std::int64_t most = 0;
    for (const Stored& s : stores_) most = std::max(most, s.most);
    const std::size_t all = conditions.empty() ? 0 : decidable(conditions, facts_of(most, -1)).size();
    std::int64_t first = 0;
    while (first < most && decidable(conditions, facts_of(first, -1)).size() < all) ++first;
    if (first > 0)
      out.push_back(part(loop_.begin, analysis::simplify(ir::min(loop_.extent, ir::index(first)), outer_),
                         decidable(conditions, facts_of(0, first))));
    const Expr n = ir::index(first);
    out.push_back(part(ir::add(loop_.begin, n), analysis::simplify(ir::sub(loop_.extent, n), outer_),
                       decidable(conditions, facts_of(first, -1))));
  }

  KStmt part(const Expr& begin, const Expr& extent, const Decided& known) const {
    KFor s{loop_.var, loop_.name, begin, extent, loop_.kind};
    for (const Stored& c : stores_)
      for (std::int64_t k = c.most; k > 0; --k)
        s.body.push_back(store_stmt(c.registers, c.slot(k), c.load(k - 1), c.statements.front()->where));
    rewrite(loop_.body, s.body, known);
    return for_stmt(std::move(s), where_);
  }

  void rewrite(const std::vector<KStmt>& list, std::vector<KStmt>& out, const Decided& known) const {
    for (const KStmt& s : list) {
      KStmt copy = s;
      for (auto* inner : copy.bodies()) inner->clear();
      for_each_expr(copy, [&](Expr& e) { e = replaced(e, known); });
      KStore* const store = copy.as<KStore>();
      if (store && !store->mask.empty() && is_true(store->mask)) store->mask = Expr();
      const auto to = copy.bodies();
      auto to_list = to.begin();
      for (const auto* from_list : s.bodies()) rewrite(*from_list, **to_list++, known);
      const auto from = std::find_if(stores_.begin(), stores_.end(), [&](const Stored& c) {
        return c.most > 0 && std::find(c.statements.begin(), c.statements.end(), &s) != c.statements.end();
      });
      if (from == stores_.end()) {
        out.push_back(std::move(copy));
        continue;
      }
      out.push_back({s.where, KStore{from->registers, from->slot(0), store->value, store->mask}});
      store->value = from->load(0);
      out.push_back(std::move(copy));
    }
  }

  Expr replaced(const Expr& e, const Decided& known) const {
    return ir::transform(e, [&](const Expr& x) {
      if (ir::is(x, Op::load))
        if (const Read* r = carried(x)) return stores_[r->store].load(r->back);
      if (x.type().is_bool() && ir::is_comparison(ir::op_of(x)))
        for (const auto& [c, value] : known)
          if (ir::same(c, x)) return ir::boolean(value);
      return decided_lanes(x);
    });
  }
  // Found by its operands: the conditions among them may have been decided meanwhile.
  const Read* carried(const Expr& load) const {
    for (const Expr& r : reads_)
      if (r.node()->id == load.node()->id && r.type() == load.type() && ir::same(ir::args_of(r)[0], ir::args_of(load)[0]))
        return &*matched_.at(r.node());
    return nullptr;
  }

  ir::Kernel& kernel_;
  const LowerOptions& options_;
  const KFor& loop_;
  const Where where_;
  Facts facts_;  // inside of the loop
  const Facts& outer_;
  std::vector<Id> around_;
  std::vector<Stored> stores_;
  std::map<Id, std::pair<const KIf*, bool>> branches_;  // by a buffer: the branch in which the first store to it stands
  ir::Substitution lets_;                               // of indices, over what the loop begins with
  std::vector<Id> data_;                                // names of other values
  std::unordered_map<const ir::Node*, std::optional<Read>> matched_;
  std::vector<Expr> reads_;  // loads that are carried
  bool failed_ = false;
};

class CarryPass {
 public:
  CarryPass(ir::Kernel& kernel, const LowerOptions& options) : kernel_(kernel), options_(options) {}
  void run() { visit(kernel_.body, facts_of(kernel_)); }

 private:
  void visit(std::vector<KStmt>& list, const Facts& facts) {
    for (std::size_t k = 0; k < list.size(); ++k) {
      KStmt& s = list[k];
      if (s.is<ir::KLaunch>()) continue;
      KFor* const loop = s.as<KFor>();
      if (!loop) {
        for (auto* inner : s.bodies()) visit(*inner, facts);
        continue;
      }
      around_.push_back(loop->var);
      visit(loop->body, inside(facts, *loop));
      around_.pop_back();
      if (loop->kind != ir::LoopKind::serial) continue;
      auto instead = Carry(kernel_, options_, *loop, s.where, facts, around_).run();
      if (!instead) continue;
      changed_ = true;
      const std::size_t n = instead->size();
      const auto from = list.begin() + static_cast<std::ptrdiff_t>(k);
      list.insert(list.erase(from), std::make_move_iterator(instead->begin()), std::make_move_iterator(instead->end()));
      k += n - 1;
    }
  }

 public:
  bool changed_ = false;

 private:
  ir::Kernel& kernel_;
  const LowerOptions& options_;
  std::vector<Id> around_;
};

}  // namespace

void carry(ir::Kernel& kernel, const LowerOptions& options) {
  if (!has_recurrences(kernel)) return;
  CarryPass pass(kernel, options);
  pass.run();
  if (pass.changed_) tidy(kernel);
}

}  // namespace ashlar::lowering
