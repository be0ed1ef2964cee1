// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which index arithmetic of a kernel's launches is exact in few bits, and under which condition (narrow_indices.h).
//
// A variable means one range wherever it is bound: of loops that copies of a body have in common, the hull of their ranges. So
// whether an expression fits depends on the expression alone, and back ends find it by its structure.
#include <ashlar/analysis/narrow_indices.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>

#include <ashlar/analysis/cascade.h>
#include <ashlar/analysis/evaluate.h>
#include <ashlar/analysis/interval.h>
#include <ashlar/ir/numeric.h>

#include "analysis/nodes.h"
#include "analysis/proofs/narrow_ops.h"

namespace ashlar::analysis {

namespace {

using IndexRange = NarrowIndices::Range;

std::int64_t power(int exponent) { return std::int64_t{1} << std::max(exponent, 0); }

// Of vectors: the expression of one lane; empty where data are in it.
Expr lane_of(const Expr& e, int lane) {
  if (e.type().lanes == 1) return e;
  const auto args = ir::args_of(e);
  switch (ir::op_of(e)) {
    case Op::broadcast:
      return args[0].type().lanes == 1 ? args[0] : Expr{};
    case Op::ramp:
      return args[0].type().lanes == 1 ? ir::add(args[0], ir::mul(args[1], ir::index(lane))) : Expr{};
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::div:
    case Op::mod:
    case Op::min:
    case Op::max: {
      const Expr x = lane_of(args[0], lane), y = lane_of(args[1], lane);
      return x.empty() || y.empty() ? Expr{} : ir::binary(ir::op_of(e), x, y);
    }
    default:
      return {};
  }
}

class Narrow {
 public:
  Narrow(const ir::Kernel& k, int bits, Reach counted)
      : k_(k),
        bits_(bits),
        counted_(counted),
        low_(-power(bits - 1)),
        high_(power(bits - 1) - 1),
        most_(power(bits - 1) - power(bits / 2)) {
    for (const auto& [id, s] : k.symbols) {
      const std::int64_t least = std::max<std::int64_t>(s.min, 0);
      if (least > most_) never();
      arguments_.bound(id, least, std::max(least, std::min(s.max, most_)));
      arguments_.multiple(id, s.multiple_of);
      given_.insert(id);
      if (s.max > most_) require(ir::le(ir::var(id, s.name), ir::index(most_)), Facts{}, About::extent, id, most_);
    }
    for (const ir::StrideArg& s : k.strides) given_.insert(s.id);
    for (const Expr& a : k.assumptions) arguments_.assume(a);
    facts_ = arguments_;
  }

  NarrowIndices run() {
    bindings(k_.body);
    for (const Bound& b : bound_) {
      if (!b.range.bounded()) continue;
      facts_.range(b.id, b.range.lo, b.range.hi);
      eliminate_.push_back({b.id, b.range});
    }
    std::reverse(eliminate_.begin(), eliminate_.end());
    launches(k_.body);
    NarrowIndices result;
    result.condition = ir::boolean(true);
    for (const NarrowIndices::Condition& c : conditions_) result.condition = ir::logic_and(result.condition, c.holds);
    if (!ir::is_int(result.condition)) result.conditions = std::move(conditions_);
    for (auto& [e, range] : known_)
      if (range) result.exact.emplace(e, *range);
    for (const auto& [id, little] : reach_)
      if (!little) result.far.insert(id);
    result.whole = whole_;
    return result;
  }

 private:
  // ---- what variables are
  struct Bound {
    Id id = 0;
    Interval range;
  };
  void bind(Id id, const Interval& range) {
    if (!id) return;
    const auto [at, first] = place_.emplace(id, bound_.size());
    if (first) return bound_.push_back({id, range});
    Interval& known = bound_[at->second].range;
    if (!known.bounded()) return;
    const auto earlier = [&](const Expr& end) {
      for (const Id v : ir::free_vars(end))
        if (const auto b = place_.find(v); b != place_.end() && b->second >= at->second) return false;
      return true;
    };
    if (!range.bounded() || !earlier(range.lo) || !earlier(range.hi))
      known = {};
    else
      known = {ir::min(known.lo, range.lo), ir::max(known.hi, range.hi)};
  }
  void bindings(const std::vector<ir::KStmt>& list) {
    for (const ir::KStmt& s : list) {
      if (const auto* loop = s.as<ir::KFor>())
        bind(loop->var, {loop->begin, ir::sub(ir::add(loop->begin, loop->extent), ir::index(1))});
      if (const auto* let = s.as<ir::KLet>(); let && let->value.type().is_index() && let->value.type().lanes == 1)
        bind(let->var, {let->value, let->value});
      if (const auto* launch = s.as<ir::KLaunch>()) {
        for (std::size_t d = 0; d < 3; ++d)
          if (launch->block[d]) bind(launch->block[d], {ir::index(0), ir::sub(launch->grid[d], ir::index(1))});
        bind(launch->thread, {ir::index(0), ir::index(launch->threads - 1)});
      }
      for (const auto* inside : s.bodies()) bindings(*inside);
    }
  }

  // ---- conditions
  using About = NarrowIndices::Condition::About;
  // False where it never holds.
  bool require(const Expr& wanted, const Facts& facts, About about = About::values, Id id = 0, std::int64_t most = 0) {
    const Expr c = simplify(wanted, facts);
    if (ir::is_int(c, std::int64_t{0})) return false;
    if (ir::is_int(c, 1)) return true;
    if (ir::is(c, Op::logic_and)) {
      for (const Expr& part : ir::args_of(c))
        if (!require(part, facts, about, id, most)) return false;
      return true;
    }
    if (of_factors(c)) return true;
    if (std::none_of(conditions_.begin(), conditions_.end(), [&](const auto& known) { return ir::same(known.holds, c); }))
      conditions_.push_back({about, id, most, c});
    return true;
  }
  // Does a comparison of a product with a number hold by what its factors are? (K + 15) % 16 * min((M + 3) / 4 - (M + 31) / 32
  // * 8 + 15, 8) < 2^31: that the second is not negative is shown by integer sets.
  bool of_factors(const Expr& c) {
    if (ir::args_of(c).size() != 2 || !ir::is_int(ir::args_of(c)[1]) || !ir::is(ir::args_of(c)[0], Op::mul)) return false;
    const auto factors = ir::args_of(ir::args_of(c)[0]);
    std::int64_t ends[4], low[2], high[2];
    for (const std::size_t k : {std::size_t{0}, std::size_t{1}}) {
      auto lo = constant_min(factors[k], arguments_);
      const auto hi = constant_max(factors[k], arguments_);
      if (!hi) return false;
      if (!lo && never_negative(factors[k])) lo = 0;
      if (!lo) return false;
      low[k] = *lo, high[k] = *hi;
    }
    for (int k = 0; k < 4; ++k)
      if (__builtin_mul_overflow(k & 1 ? high[0] : low[0], k & 2 ? high[1] : low[1], &ends[k])) return false;
    const Id stands_for = k_.next_id;
    Facts facts;
    facts.range(stands_for, ir::index(*std::min_element(ends, ends + 4)), ir::index(*std::max_element(ends, ends + 4)));
    return can_prove(ir::binary(ir::op_of(c), ir::var(stands_for, "product"), ir::args_of(c)[1]), facts);
  }
  bool never_negative(const Expr& e) {
    const auto [known, fresh] = never_negative_.try_emplace(e, false);
    if (fresh) known->second = no_solution(std::array{ir::lt(e, ir::index(0))}, arguments_).answer == Answer::proved;
    return known->second;
  }
  bool of_arguments(const Expr& e) const {
    if (ir::has_load(e) || ir::node_count(e) > 200) return false;
    const std::vector<Id> vars = ir::free_vars(e);
    return std::all_of(vars.begin(), vars.end(), [&](Id id) { return given_.count(id) != 0; });
  }
  // Arguments all of whose extents are some thousands, or as many as a quarter of 2^bits elements have.
  Assignment usual_arguments(std::int64_t extent) const {
    Assignment at;
    for (const Id id : given_) {
      std::int64_t value = extent;
      if (const auto s = k_.symbols.find(id); s != k_.symbols.end()) {
        value = std::clamp(value, std::max<std::int64_t>(s->second.min, 0), s->second.max);
        value = value / s->second.multiple_of * s->second.multiple_of;
      }
      at.push_back({id, "", value});
    }
    return at;
  }
  Assignment usual_arguments() const {
    for (std::int64_t extent = power(13 * bits_ / 32);; extent /= 2) {
      Assignment at = usual_arguments(extent);
      const bool fit = std::all_of(k_.argument_buffers.begin(), k_.argument_buffers.end(), [&](const auto& b) {
        double elements = 1;
        for (const Expr& e : b.second.extents) elements *= static_cast<double>(evaluate(e, at).value_or(extent));
        return elements <= static_cast<double>(power(bits_ - 2));
      });
      if (fit || extent <= 1) return at;
    }
  }
  // A condition that they break would cost more than one operand in 64 bits.
  bool usual(const Expr& condition) {
    if (usual_.empty()) usual_ = usual_arguments();
    const auto holds = evaluate(condition, usual_);
    return holds && *holds != 0;
  }

  // ---- what fits
  std::optional<IndexRange> fits(const Expr& e) {
    if (const auto it = known_.find(e); it != known_.end()) return it->second;
    const auto found = e.type().scalable ? std::nullopt : e.type().lanes > 1 ? lanes(e) : shown(e);
    if (!found) whole_ = false;
    return known_[e] = found;
  }
  std::optional<IndexRange> lanes(const Expr& e) {
    const int n = e.type().lanes;
    if (n > 32) return std::nullopt;
    std::optional<IndexRange> all;
    for (int k = 0; k < n; k += ir::is(e, Op::ramp) ? n - 1 : 1) {
      const Expr one = lane_of(e, k);
      const auto r = one.empty() ? std::nullopt : fits(one);
      if (!r) return std::nullopt;
      all = all ? IndexRange{std::min(all->low, r->low), std::max(all->high, r->high)} : *r;
    }
    return all;
  }

  std::optional<IndexRange> shown(const Expr& e) {
    const bool data = ir::has_load(e);
    auto lo = constant_min(e, facts_), hi = constant_max(e, facts_);
    const auto inside = [&] { return lo && hi && *lo >= low_ && *hi <= high_; };
    Interval ends;
    if (!inside() && !data) {
      ends = symbolic(e);
      tighten(ends, lo, hi);
    }
    if (!inside())
      if (const auto r = of_fitting(e)) return r;
    if (!inside() && (data || !(by_condition(ends, lo, hi) || by_condition(of_operands(e), lo, hi)))) return of_terms(e);
    return IndexRange{std::max(lo.value_or(low_), low_), std::min(hi.value_or(high_), high_)};
  }
  // Of operands that fit, where the result then does, too.
  std::optional<IndexRange> of_fitting(const Expr& e) {
    const auto args = ir::args_of(e);
    const Op op = ir::op_of(e);
    const auto of = [&](std::size_t n) { return fits(args[n]); };
    if (op == Op::in_range) return of(0);
    if (op == Op::select) {
      const auto x = of(1), y = x ? of(2) : std::nullopt;
      if (!y) return std::nullopt;
      return IndexRange{std::min(x->low, y->low), std::max(x->high, y->high)};
    }
    if (op == Op::cast && args[0].type().is_data_integer() && args[0].type().bits < bits_ + args[0].type().is_signed())
      return IndexRange{ir::lowest_of(args[0].type().element()), ir::highest_of(args[0].type().element())};
    if (const Expr* whole = multiple_below(e)) {
      const auto most = fits(*whole);
      return most ? std::optional(IndexRange{0, std::max<std::int64_t>(most->high, 0)}) : std::nullopt;
    }
    if (!divides(op) && op != Op::min && op != Op::max) return std::nullopt;
    const auto x = of(0), y = x ? of(1) : std::nullopt;
    if (!y || (divides(op) && y->low < 0)) return std::nullopt;
    IndexRange r;
    if (op == Op::min)
      r = {std::min(x->low, y->low), std::min(x->high, y->high)};
    else if (op == Op::max)
      r = {std::max(x->low, y->low), std::max(x->high, y->high)};
    else if (op == Op::mod)
      r = {0, x->low >= 0 ? std::min(x->high, std::max<std::int64_t>(y->high - 1, 0)) : std::max<std::int64_t>(y->high - 1, 0)};
    else  // a quotient lies between its dividend and 0, or is -1; so does a remainder that is truncated
      r = {std::min<std::int64_t>(x->low, 0), std::max<std::int64_t>(x->high, 0)};
    return r.low >= low_ && r.high <= high_ ? std::optional(r) : std::nullopt;
  }
  // Of y * (x / y), which is at most x where that is not negative: x.
  const Expr* multiple_below(const Expr& e) const {
    if (!ir::is(e, Op::mul)) return nullptr;
    const auto args = ir::args_of(e);
    for (const std::size_t k : {std::size_t{0}, std::size_t{1}}) {
      const Expr &q = args[k], &by = args[1 - k];
      if (!ir::is(q, Op::div) || !ir::same(ir::args_of(q)[1], by)) continue;
      const auto least = constant_min(ir::args_of(q)[0], facts_), least_divisor = constant_min(by, facts_);
      if (least && *least >= 0 && least_divisor && *least_divisor >= 0) return &ir::args_of(q)[0];
    }
    return nullptr;
  }
  // Of a sum whose terms fit, each for itself.
  std::optional<IndexRange> of_terms(const Expr& e) {
    if (!ir::is(e, Op::add) && !ir::is(e, Op::sub)) return std::nullopt;
    IndexRange r;
    const std::function<bool(const Expr&, bool)> add = [&](const Expr& x, bool plus) {
      const auto args = ir::args_of(x);
      if (ir::is(x, Op::add) || ir::is(x, Op::sub)) return add(args[0], plus) && add(args[1], plus == ir::is(x, Op::add));
      const auto term = fits(x);
      if (!term) return false;
      r.low += plus ? term->low : -term->high;
      r.high += plus ? term->high : -term->low;
      return true;
    };
    return add(e, true) && r.low >= low_ && r.high <= high_ ? std::optional(r) : std::nullopt;
  }
  void tighten(const Interval& ends, std::optional<std::int64_t>& lo, std::optional<std::int64_t>& hi) const {
    if (!ends.lo.empty())
      if (const auto least = constant_min(ends.lo, arguments_); least && (!lo || *least > *lo)) lo = least;
    if (!ends.hi.empty())
      if (const auto most = constant_max(ends.hi, arguments_); most && (!hi || *most < *hi)) hi = most;
  }
  bool by_condition(const Interval& ends, const std::optional<std::int64_t>& lo, const std::optional<std::int64_t>& hi) {
    std::vector<Expr> wanted;
    if (!lo || *lo < low_) {
      if (ends.lo.empty()) return false;
      wanted.push_back(ir::ge(ends.lo, ir::index(low_)));
    }
    if (!hi || *hi > high_) {
      if (ends.hi.empty()) return false;
      wanted.push_back(ir::le(ends.hi, ir::index(high_)));
    }
    for (const Expr& c : wanted)
      if (!of_arguments(c) || !usual(c)) return false;
    const Id stride = stride_of(ends.hi);
    return std::all_of(wanted.begin(), wanted.end(),
                       [&](const Expr& c) { return require(c, arguments_, stride ? About::stride : About::values, stride); });
  }

  // The buffer of which an expression is a stride; 0: it is none.
  Id stride_of(const Expr& e) const {
    if (e.empty() || !ir::is(e, Op::var)) return 0;
    const auto s = std::find_if(k_.strides.begin(), k_.strides.end(), [&](const auto& one) { return one.id == e.node()->id; });
    return s == k_.strides.end() ? 0 : s->buffer;
  }

  // The ends of an expression over the arguments alone; where its whole has none, those of its operands together.
  Interval symbolic(const Expr& e) {
    if (const auto it = ends_.find(e); it != ends_.end()) return it->second;
    Interval r;
    if (ir::args_of(e).empty() || !ir::has_load(e)) r = bounds_over(e, eliminate_, facts_);
    if (!r.lo.empty() && !of_arguments(r.lo)) r.lo = {};
    if (!r.hi.empty() && !of_arguments(r.hi)) r.hi = {};
    if (multiple_below(e)) r = of_operands(e);
    if (!r.bounded()) {
      const Interval parts = of_operands(e);
      if (r.lo.empty()) r.lo = parts.lo;
      if (r.hi.empty()) r.hi = parts.hi;
    }
    return ends_[e] = r;
  }
  Interval numbers(const Expr& e) const {  // in numbers, where there are some
    Interval r;
    if (const auto lo = constant_min(e, facts_)) r.lo = ir::index(*lo);
    if (const auto hi = constant_max(e, facts_)) r.hi = ir::index(*hi);
    return r;
  }
  Interval of_operands(const Expr& e) {
    const auto args = ir::args_of(e);
    if (args.size() != 2) return {};
    const auto ends = [&](const Expr& x) {
      Interval r = symbolic(x);
      const Interval n = numbers(x);
      if (r.lo.empty()) r.lo = n.lo;
      if (r.hi.empty()) r.hi = n.hi;
      return r;
    };
    const Interval x = ends(args[0]), y = ends(args[1]);
    const auto both = [](Op op, const Expr& a, const Expr& b) {
      return a.empty() || b.empty() ? Expr{} : ir::binary(op, a, b);
    };
    const auto least = [&](const Expr& a) { return constant_min(a, facts_).value_or(INT64_MIN); };
    switch (ir::op_of(e)) {
      case Op::add:
        return {both(Op::add, x.lo, y.lo), both(Op::add, x.hi, y.hi)};
      case Op::sub:
        return {both(Op::sub, x.lo, y.hi), both(Op::sub, x.hi, y.lo)};
      case Op::mul:
        if (const Expr* all = multiple_below(e)) return {ir::index(0), ends(*all).hi};
        if (least(args[0]) < 0 || least(args[1]) < 0) return {};
        return {ir::index(0), both(Op::mul, x.hi, y.hi)};
      case Op::min:
      case Op::max:
        return {both(ir::op_of(e), x.lo, y.lo), both(ir::op_of(e), x.hi, y.hi)};
      case Op::div:
        if (least(args[0]) < 0 || least(args[1]) < 1) return {};
        return {ir::index(0), x.hi};
      default:
        return {};
    }
  }

  // ---- what is asked for
  // Addresses count modulo 2^bits where what they lie in reaches less far; the others are exact.
  bool reaches_little(Id buffer) {
    const auto known = reach_.find(buffer);
    if (known != reach_.end()) return known->second;
    bool little = false;
    if (const auto b = k_.buffers.find(buffer); b != k_.buffers.end() && !b->second.type.is_packed()) {
      const Expr reach = b->second.storage == ir::Storage::argument ? reach_of_argument(buffer) : b->second.elements;
      const std::int64_t most = power(bits_ - 1) - slack_of_addresses(bits_) - 1;
      const std::int64_t each = counted_ == Reach::bytes ? b->second.type.bytes() : 1;
      if (!reach.empty() && of_arguments(reach))
        little = require(ir::le(reach, ir::index(most / each)), arguments_, About::reach, buffer, most / each) || never();
    }
    return reach_[buffer] = little;
  }
  bool never() {  // no call has narrow indices
    conditions_.assign(1, {About::values, 0, 0, ir::boolean(false)});
    return true;
  }
  // How far an element may lie from the first one, in elements.
  Expr reach_of_argument(Id id) const {
    const auto it = k_.argument_buffers.find(id);
    if (it == k_.argument_buffers.end()) return {};
    const ir::Buffer& b = it->second;
    if (!b.layout.map.empty() || b.packed_by_caller) return {};
    Expr reach = ir::index(0), dense = ir::index(1);
    for (std::size_t d = b.extents.size(); d-- > 0;) {
      const auto given = std::find_if(k_.strides.begin(), k_.strides.end(),
                                      [&](const ir::StrideArg& s) { return s.buffer == id && s.dim == static_cast<int>(d); });
      Expr stride = dense;
      if (given != k_.strides.end()) {
        stride = ir::var(given->id, b.name + "_stride" + std::to_string(d));
        stride = ir::max(stride, ir::sub(ir::index(0), stride));
      } else if (d + 1 < b.extents.size() && b.order != ir::Buffer::Order::dense) {
        if (const auto known = stride_of_layout(b, d)) stride = *known;
      }
      reach = ir::add(reach, ir::mul(ir::max(ir::sub(b.extents[d], ir::index(1)), ir::index(0)), stride));
      dense = ir::mul(dense, b.extents[d]);
    }
    return reach;
  }
  static std::optional<Expr> stride_of_layout(const ir::Buffer& b, std::size_t d) {
    if (d >= b.layout.strides.size()) return std::nullopt;
    return ir::max(b.layout.strides[d], ir::sub(ir::index(0), b.layout.strides[d]));
  }

  void launches(const std::vector<ir::KStmt>& list) {
    for (const ir::KStmt& s : list) {
      if (const auto* launch = s.as<ir::KLaunch>())
        statements(launch->body);
      else
        for (const auto* inside : s.bodies()) launches(*inside);
    }
  }
  void statements(const std::vector<ir::KStmt>& list) {
    for (const ir::KStmt& s : list) {
      visited_.clear();  // nodes of one statement live
      if (const auto* loop = s.as<ir::KFor>()) {
        exact(loop->begin), exact(ir::add(loop->begin, loop->extent)), modular(loop->extent);
      } else if (const auto* store = s.as<ir::KStore>()) {
        data(store->value), address(store->buffer, store->address);
        if (!store->mask.empty()) data(store->mask);
      } else if (const auto* let = s.as<ir::KLet>()) {
        let->value.type().is_index() ? exact(let->value) : data(let->value);
      } else if (const auto* fetch = s.as<ir::KPrefetch>()) {
        address(fetch->buffer, fetch->address);
      } else if (const auto* call = s.as<ir::KCall>()) {
        for (const ir::Call::Actual& a : call->actuals) {
          if (!a.address.empty()) k_.buffers.count(a.buffer) ? address(a.buffer, a.address) : any(a.address);
          for (const auto* each : {&a.positions, &a.strides, &a.extents})
            for (const Expr& e : *each) any(e);
        }
      } else {
        for_each_expr(s, [&](const Expr& e) { any(e); });
      }
      for (const auto* inside : s.bodies()) statements(*inside);
    }
  }
  void any(const Expr& e) { e.type().is_index() ? exact(e) : data(e); }
  void address(Id buffer, const Expr& e) { reaches_little(buffer) ? modular(e) : exact(e); }

  bool first_visit(const Expr& e, int how) { return ir::args_of(e).empty() || visited_.emplace(e.node(), how).second; }
  void operands(const Expr& e, void (Narrow::*how)(const Expr&)) {
    for (const Expr& a : ir::args_of(e)) a.type().is_index() ? (this->*how)(a) : data(a);
  }

  // Its value is asked for.
  void exact(const Expr& e) {
    if (!e.type().is_index()) return data(e);
    if (!first_visit(e, 1)) return;
    if (ir::args_of(e).empty()) {
      fits(e);
      return;
    }
    fits(e) ? modular(e) : wide(e);
  }
  // Computed in 64 bits, from operands that are exact if they can be.
  void wide(const Expr& e) { ir::is(e, Op::load) ? data(e) : operands(e, &Narrow::exact); }
  // Asked for modulo 2^bits.
  void modular(const Expr& e) {
    if (!first_visit(e, 2)) return;
    const Op op = ir::op_of(e);
    const auto args = ir::args_of(e);
    if (op == Op::int_const || op == Op::var) return;
    if (counts_modulo(op)) return operands(e, &Narrow::modular);
    if (passes_on(op)) return modular(args[0]);
    if (compares_values(op)) {
      bool all = true;
      for (const Expr& a : args) {
        const auto r = fits(a);
        all = all && r && (!divides(op) || a.node() == args[0].node() || r->low >= 0);
      }
      whole_ = whole_ && all;
      return all ? operands(e, &Narrow::modular) : wide(e);
    }
    if (op == Op::cast && args[0].type().is_data_integer()) return data(args[0]);
    fits(e);
    wide(e);
  }
  // Data and conditions: what is in them of indices.
  void data(const Expr& e) {
    if (e.type().is_index()) return exact(e);
    if (!first_visit(e, 3)) return;
    if (ir::is(e, Op::load)) {
      address(e.node()->id, ir::args_of(e)[0]);
      if (ir::args_of(e).size() > 1) data(ir::args_of(e)[1]);
      return;
    }
    const bool lower = ir::is(e, Op::cast) && e.type().is_data_integer() && e.type().bits <= bits_;
    operands(e, lower ? &Narrow::modular : &Narrow::exact);
  }

  const ir::Kernel& k_;
  const int bits_;
  const Reach counted_;
  const std::int64_t low_, high_, most_;
  Facts arguments_, facts_;
  std::set<Id> given_;
  std::vector<Bound> bound_;  // in the order in which they are bound first
  std::map<Id, std::size_t> place_;
  std::vector<VarRange> eliminate_;  // the inner ones first
  std::vector<NarrowIndices::Condition> conditions_;
  std::unordered_map<Expr, bool, ir::ExprHash, ir::ExprSame> never_negative_;
  Assignment usual_;
  std::unordered_map<Expr, std::optional<IndexRange>, ir::ExprHash, ir::ExprSame> known_;
  std::unordered_map<Expr, Interval, ir::ExprHash, ir::ExprSame> ends_;
  std::map<Id, bool> reach_;
  std::set<std::pair<const ir::Node*, int>> visited_;
  bool whole_ = true;
};

}  // namespace

std::optional<NarrowIndices::Range> NarrowIndices::range(const Expr& e) const {
  const auto it = exact.find(e);
  return it == exact.end() ? std::nullopt : std::optional(it->second);
}

std::int64_t slack_of_addresses(int bits) { return power(bits * 3 / 4); }

bool stays_outside(const Expr& address, std::int64_t* distance, int bits) {
  if (!ir::is(address, Op::add) && !ir::is(address, Op::sub)) return false;
  const std::int64_t most = slack_of_addresses(bits) / 2;
  if (!ir::is_int(ir::args_of(address)[1], distance) || *distance > most || *distance < -most) return false;
  if (ir::is(address, Op::sub)) *distance = -*distance;
  return true;
}

NarrowIndices narrow_indices(const ir::Kernel& k, int bits, Reach reach) { return Narrow(k, bits, reach).run(); }

}  // namespace ashlar::analysis
