// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vectors of a temporary that end in its padding are stored whole, lanes that the program does not have among them.
//
//   acc[ramp16(16, 1)] = x16(0.0)  where lane < 8              acc[ramp16(16, 1)] = x16(0.0)
//   for k                                                 ->   for k
//     acc[ramp16(16, 1)] = fma(x16(a[k]), b[.., lane < 8],       acc[ramp16(16, 1)] = fma(x16(a[k]), b[.., lane < 8],
//                              acc[.., lane < 8])                                         acc[ramp16(16, 1)])
//                          where lane < 8                      y[..] = acc[.., lane < 8]  where lane < 8
//   y[..] = acc[.., lane < 8]  where lane < 8
//
// So an accumulator is a register from its init to its last use: a masked store to memory cannot be promoted, and a load behind
// one waits until it is done.
//
// Why it is right: an element that a mask leaves out is left out by every store of the buffer's life, so that nobody reads it.
// Of one life all stores with one mask begin at places that are the same or lie apart by whole vectors, and those of different
// masks have no element in common; the masks are those of variables that stand still meanwhile. A life ends with an iteration
// of the loops that the buffer is allocated in.
#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_map>

#include <ashlar/analysis/simplify.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/operation.h>

#include "lower/passes.h"

namespace ashlar::lowering {
namespace {

constexpr std::size_t most_places = 64;  // of one buffer, by address and mask: each is compared with each

Facts inside_statement(Facts facts, const KStmt& s) {
  if (const auto* loop = s.as<KFor>()) range(facts, *loop);
  if (const auto* let = s.as<KLet>(); let && let->value.type() == ir::index_type && !has_load(let->value))
    facts.range(let->var, let->value, let->value);
  return facts;
}

bool masks_lanes(const KStore& s) {
  return !s.mask.empty() && s.mask.type().lanes > 1 && s.mask.type().lanes == s.value.type().lanes;
}

// Operators that any operands suit, lane by lane.
bool takes_anything(const Expr& e) {
  switch (ir::op_of(e)) {
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::min:
    case Op::max:
    case Op::fma:
    case Op::neg:
    case Op::bit_and:
    case Op::bit_or:
    case Op::bit_xor:
      return true;
    default:
      return false;
  }
}

// An operand that not every value suits: in a lane that is not there it may be anything.
bool may_object(const Expr& value) {
  bool found = false;
  ir::walk(value, [&](const Expr& e) {
    found = found || (ir::operation(ir::op_of(e)).laws.may_trap && e.type().element().is_integer());
    return !found;
  });
  return found;
}

// Stores of one address and mask.
struct Place {
  Expr address, mask;  // empty: all lanes
  int lanes = 1;
  analysis::Congruence base;
};

// The vectors have no element in common, wherever their variables stand.
bool apart(const Place& a, const Place& b) {
  const std::int64_t period = std::gcd(a.base.modulus, b.base.modulus);
  std::int64_t ahead = b.base.remainder - a.base.remainder;
  if (period == 0) return ahead >= a.lanes || -ahead >= b.lanes;
  ahead = (ahead % period + period) % period;
  return ahead >= a.lanes && period - ahead >= b.lanes;
}
// They are one vector, or have no element in common.
bool same_or_apart(const Place& a, const Place& b) {
  if (a.lanes != b.lanes) return apart(a, b);
  const std::int64_t period = std::gcd(a.base.modulus, b.base.modulus), ahead = b.base.remainder - a.base.remainder;
  if (period == 0 ? ahead == 0 : ahead % period == 0 && period >= a.lanes) return true;
  return apart(a, b);
}
bool same_mask(const Place& a, const Place& b) {
  return a.mask.empty() == b.mask.empty() && (a.mask.empty() || ir::same(a.mask, b.mask));
}

// The stores of one life of a buffer.
class StoresOfLife {
 public:
  explicit StoresOfLife(ir::KBuffer& b) : buffer_(b) {}

  void look(KStmt& s, const Facts& facts) {
    if (const auto* loop = s.as<KFor>()) bound_.insert(loop->var);
    if (const auto* let = s.as<KLet>()) bound_.insert(let->var);
    if (const auto* call = s.as<ir::KCall>())
      for (const ir::Call::Actual& a : call->actuals) suits_ = suits_ && a.buffer != buffer_.id;
    if (auto* one = s.as<KStore>(); one && one->buffer == buffer_.id) store(*one, facts);
    if (!suits_ || s.bodies().count == 0) return;
    const Facts inner = inside_statement(facts, s);
    for (auto* list : s.bodies())
      for (KStmt& k : *list) look(k, inner);
  }

  void store_whole() {
    if (!suits_ || masked_.empty() || !stands_still()) return;
    for (std::size_t k = 0; k < places_.size(); ++k)
      for (std::size_t j = 0; j <= k; ++j)
        if (!(same_mask(places_[j], places_[k]) ? same_or_apart(places_[j], places_[k]) : apart(places_[j], places_[k])))
          return;
    if (std::int64_t elements = 0; ir::is_int(buffer_.elements, &elements) && elements < elements_)
      buffer_.elements = ir::index(elements_);
    for (KStore* s : masked_) {
      std::unordered_map<const ir::Node*, Expr> done;
      s->value = whole(s->value, s->mask, done);
      s->mask = Expr();
    }
  }

 private:
  void store(KStore& s, const Facts& facts) {
    Place p{s.address, s.mask, s.address.type().lanes, {}};
    const bool vector = p.lanes > 1;
    const Expr base = vector && ir::is(s.address, Op::ramp) ? ir::args_of(s.address)[0] : s.address;
    suits_ = suits_ && !s.atomic && !s.address.type().scalable && !has_load(s.address) &&
             (s.mask.empty() || !has_load(s.mask)) &&
             (!vector || (ir::is(s.address, Op::ramp) && ir::is_int(ir::args_of(s.address)[1], 1)));
    if (!suits_) return;
    const bool known = std::any_of(places_.begin(), places_.end(), [&](const Place& other) {
      return same_mask(p, other) && ir::same(p.address, other.address);
    });
    if (masks_lanes(s)) {
      masked_.push_back(&s);
      suits_ = !may_object(s.value) && has_room(base, p.lanes, facts);
    }
    if (known || !suits_) return;
    p.base = analysis::congruence(base, facts);
    places_.push_back(std::move(p));
    suits_ = places_.size() <= most_places;
  }
  // In the buffer as it is, or with less than a vector behind it.
  bool has_room(const Expr& base, int lanes, const Facts& facts) {
    std::int64_t elements = 0;
    const auto last = analysis::constant_max(base, facts);
    if (!last || !ir::is_int(buffer_.elements, &elements) || !analysis::can_prove(ir::ge(base, ir::index(0)), facts))
      return false;
    elements_ = std::max(elements_, *last + lanes);
    return elements_ < elements + lanes;
  }
  bool stands_still() const {
    return std::none_of(places_.begin(), places_.end(), [&](const Place& p) {
      if (p.mask.empty()) return false;
      const std::vector<Id> vars = ir::free_vars(p.mask);
      return std::any_of(vars.begin(), vars.end(), [&](Id v) { return bound_.count(v) > 0; });
    });
  }

  // What a store under the mask combines with its elements reads them whole: a lane that is not there is nobody's.
  Expr whole(const Expr& e, const Expr& mask, std::unordered_map<const ir::Node*, Expr>& done) const {
    const auto args = ir::args_of(e);
    if (ir::is(e, Op::load)) {
      const bool ours =
          e.node()->id == buffer_.id && args.size() == 2 && ir::same(args[1], mask) &&
          std::any_of(masked_.begin(), masked_.end(), [&](const KStore* s) { return ir::same(s->address, args[0]); });
      return ours ? ir::load(buffer_.id, e.node()->name, e.type(), std::vector<Expr>{args[0]}, e.node()->where) : e;
    }
    if (!takes_anything(e)) return e;
    if (const auto it = done.find(e.node()); it != done.end()) return it->second;
    std::vector<Expr> fresh;
    for (const Expr& a : args) fresh.push_back(whole(a, mask, done));
    return done.emplace(e.node(), ir::rebuild(e, fresh)).first->second;
  }

  ir::KBuffer& buffer_;
  std::int64_t elements_ = 0;  // that the vectors reach
  std::set<Id> bound_;         // by its statements: loops and lets
  std::vector<Place> places_;
  std::vector<KStore*> masked_;
  bool suits_ = true;
};

bool stores_to(const KStmt& s, Id buffer) {
  if (s.is<ir::KLaunch>()) return false;
  if (const auto* store = s.as<KStore>()) return store->buffer == buffer;
  if (const auto* call = s.as<ir::KCall>())
    return std::any_of(call->actuals.begin(), call->actuals.end(), [&](const auto& a) { return a.buffer == buffer; });
  for (const auto* list : s.bodies())
    if (std::any_of(list->begin(), list->end(), [&](const KStmt& k) { return stores_to(k, buffer); })) return true;
  return false;
}

// Each loop that the buffer is allocated in has lives of its own; of one that stands in a branch all is in that branch.
void visit(std::vector<KStmt>& list, ir::KBuffer& b, const Facts& facts) {
  std::vector<KStmt*> one;
  for (KStmt& s : list) {
    if (!stores_to(s, b.id)) continue;
    auto* const loop = s.as<KFor>();
    if (loop && std::find(b.inside.begin(), b.inside.end(), loop->var) != b.inside.end())
      visit(loop->body, b, inside_statement(facts, s));
    else
      one.push_back(&s);
  }
  if (one.size() == 1 && (one[0]->is<KLet>() || one[0]->is<ir::KIf>())) {
    const Facts inner = inside_statement(facts, *one[0]);
    for (auto* part : one[0]->bodies()) visit(*part, b, inner);
    return;
  }
  StoresOfLife life(b);
  for (KStmt* s : one) life.look(*s, facts);
  life.store_whole();
}

void gather_masked(const std::vector<KStmt>& list, std::set<Id>& buffers) {
  for (const KStmt& s : list) {
    if (const auto* store = s.as<KStore>(); store && masks_lanes(*store)) buffers.insert(store->buffer);
    if (s.is<ir::KLaunch>()) continue;
    for (const auto* part : s.bodies()) gather_masked(*part, buffers);
  }
}

}  // namespace

void store_spare_lanes(ir::Kernel& kernel) {
  std::set<Id> masked;
  gather_masked(kernel.body, masked);
  const Facts facts = facts_of(kernel);
  for (const Id id : masked) {
    ir::KBuffer& b = kernel.buffers.at(id);
    if (b.storage == ir::Storage::stack || b.storage == ir::Storage::registers) visit(kernel.body, b, facts);
  }
}

}  // namespace ashlar::lowering
