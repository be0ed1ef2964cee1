// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/flatten/body.h"

#include <algorithm>

#include <ashlar/analysis/promises.h>
#include <ashlar/ir/refusal.h>

#include "lower/passes.h"

namespace ashlar::lowering {

namespace {
bool reads_or_promises(const Expr& e) {
  bool found = false;
  ir::walk(e, [&](const Expr& x) { return !(found = found || ir::is(x, Op::load) || ir::is(x, Op::in_range)); });
  return found;
}

bool promises(const Expr& e) {
  bool found = false;
  ir::walk(e, [&](const Expr& x) { return !(found = found || ir::is(x, Op::in_range)); });
  return found;
}

// The number of operations that make an address nonlinear.
int bends(const Expr& e) {
  int n = 0;
  ir::walk(e, [&](const Expr& x) {
    const Op op = ir::op_of(x);
    n += op == Op::min || op == Op::max || op == Op::mod || op == Op::div || op == Op::select;
    return !ir::is(x, Op::load);
  });
  return n;
}

}  // namespace

std::vector<Expr> Body::known(const std::vector<Expr>& index) const {
  std::vector<Expr> result;
  for (const Expr& e : index) result.push_back(ir::substitute(e, values_));
  return result;
}

namespace {

// Adds what a condition that holds, or fails, says of indices. x != 0 of an x that is not below 0 is x > 0.
void know(Facts& facts, const Expr& c, bool holds) {
  const auto args = ir::args_of(c);
  const Op op = ir::op_of(c);
  if (op == Op::logic_not) return know(facts, args[0], !holds);
  if (op == (holds ? Op::logic_and : Op::logic_or)) return know(facts, args[0], holds), know(facts, args[1], holds);
  if (!ir::is_comparison(op) || !args[0].type().is_index() || reads_or_promises(c)) return;
  if (op != (holds ? Op::ne : Op::eq)) return facts.assume(holds ? c : ir::logic_not(c));
  if (analysis::can_prove(ir::ge(args[0], args[1]), facts)) return facts.assume(ir::gt(args[0], args[1]));
  if (analysis::can_prove(ir::le(args[0], args[1]), facts)) facts.assume(ir::lt(args[0], args[1]));
}

}  // namespace

int Body::depth_of(const Expr& mask) const {
  const auto it = depth_.find(mask.node());
  return it == depth_.end() ? 0 : it->second;
}

// What holds in the active lanes under a mask. Of a mask of many conditions only the lanes' guards are used, so that the work
// stays linear in the depth of nested choices.
const Facts& Body::facts_under(const Expr& mask) {
  constexpr int most = 8;
  const ir::Node* key = mask.empty() || mask.node() == own_bounds_.node() || depth_of(mask) > most ? nullptr : mask.node();
  const auto [it, fresh] = under_.try_emplace(key, facts_);
  if (fresh) {
    if (!lanes_.empty()) know(it->second, lanes_, true);
    if (key) know(it->second, mask, true);
  }
  return it->second;
}

// The address of a load, without clamps that no active lane needs: in[min(x + k, W - 1)] at k = 0, in lanes with x < W, is a
// vector of neighbors.
Body::Address Body::address(ir::Id buffer, const std::vector<Expr>& index, const Expr& mask, bool loads) {
  const Expr whole = place_of_(buffer).address(index);
  Address at{analysis::simplify(whole, facts_)};
  if (!lanes_.empty() && loads && bends(at.value) > 0)
    if (const Expr less = analysis::simplify(whole, facts_under(mask)); bends(less) < bends(at.value)) at = {less, true};
  if (!reads_or_promises(at.value)) return at;
  kept_.push_back(at.value);
  at.value = analysis::simplify(visit(at.value, mask), facts_);
  return at;
}

// What an index promises (in_range) holds where the load happens, and nobody made it elsewhere: it proves nothing here.
bool Body::in_bounds(const Place& place, const std::vector<Expr>& index, const Facts& facts) {
  for (std::size_t d = 0; d < index.size(); ++d) {
    const Expr from = ir::sub(analysis::without_promises(index[d]), place.logical_lo[d]);
    if (!analysis::can_prove(ir::ge(from, ir::index(0)), facts) ||
        !analysis::can_prove(ir::lt(from, place.logical_extent[d]), facts))
      return false;
  }
  return true;
}

// The part of the mask and of the lanes' guards that a load needs. If indices alone keep a load of neighbors inside its
// buffer, conditions on what each lane reads are dropped, so that the interior needs no mask.
//
//   select(a(x) > 0 && x > 0, b(x - 1), 0)      b is loaded where x > 0
Expr Body::needed_of(const Expr& mask, bool indices_do) {
  const Expr all = mask.empty() ? lanes_ : lanes_.empty() ? mask : ir::logic_and(lanes_, mask);
  if (!indices_do || lane_ == 0 || !has_load(all)) return all;
  const auto [it, fresh] = of_indices_.try_emplace(mask.node());
  if (!fresh) return it->second;
  bool by_lane = false;
  Expr rest;
  const auto gather = [&](const auto& self, const Expr& term) -> void {
    if (ir::is(term, Op::logic_and)) return self(self, ir::args_of(term)[0]), self(self, ir::args_of(term)[1]);
    if (!has_load(term)) rest = rest.empty() ? term : ir::logic_and(rest, term);
    ir::walk(term, [&](const Expr& e) {
      by_lane = by_lane || (ir::is(e, Op::load) && ir::uses_var(ir::args_of(e)[0], lane_));
      return !by_lane;
    });
  };
  gather(gather, all);
  return it->second = by_lane ? rest : all;
}

// Every load in it reads inside its buffer, whatever the conditions are that it stands under.
bool Body::allowed_anywhere(const Expr& e) {
  if (const auto it = anywhere_.find(e.node()); it != anywhere_.end()) return it->second;
  bool all = true;
  for (const Expr& a : ir::args_of(e)) all = all && allowed_anywhere(a);
  if (ir::is(e, Op::var))
    for (const auto& [id, value] : values_)
      if (id == e.node()->id && reads_or_promises(value)) all = allowed_anywhere(value);
  if (all && ir::is(e, Op::load)) {
    const auto indices = ir::args_of(e);
    const Place& place = place_of_(e.node()->id);
    const std::vector<Expr> index = known({indices.begin(), indices.end()});
    all = in_bounds(place, index, facts_);
  }
  anywhere_.emplace(e.node(), all);
  return all;
}

// `more`: a mask that is `mask` and a condition. Where it folds to one that was there before, that one keeps its place.
Expr Body::adds_to(const Expr& mask, const Expr& more) {
  masks_.insert(mask.node());
  if (masks_.insert(more.node()).second) {
    outer_.emplace(more.node(), mask.node());
    depth_.emplace(more.node(), depth_of(mask) + 1);
  }
  return more;
}

// A load of the same element under this mask, or under one that this one adds conditions to; empty where there is none.
Expr Body::read_before(const Expr& element, const Expr& mask) const {
  const auto it = read_.find(element);
  if (it == read_.end()) return {};
  for (const ir::Node* m = mask.node();;) {
    for (const auto& [of, result] : it->second)
      if (of == m) return result;
    const auto outer = outer_.find(m);
    if (outer == outer_.end()) return {};
    m = outer->second;
  }
}

Expr Body::visit_load(const Expr& e, const Expr& mask_) {
  const auto indices = ir::args_of(e);
  const std::vector<Expr> index = known({indices.begin(), indices.end()});
  const Place& place = place_of_(e.node()->id);
  Expr mask = mask_;
  if (mask.node() == own_bounds_.node()) {
    mask = Expr();
    for (std::size_t d = 0; d < index.size(); ++d) {
      const Expr at = visit(index[d], own_bounds_), from = ir::sub(at, place.logical_lo[d]);
      const Expr inside = ir::logic_and(ir::ge(from, ir::index(0)), ir::lt(from, place.logical_extent[d]));
      mask = mask.empty() ? inside : ir::logic_and(mask, inside);
    }
    if (!mask.empty()) kept_.push_back(mask);
  }
  const Address at = address(e.node()->id, index, mask, true);
  std::vector<Expr> args{at.value};
  const Expr element = ir::load(place.kbuffer, place.buffer->name, e.type(), args, e.node()->where);
  if (const Expr before = read_before(element, mask_); !before.empty()) return before;
  if ((!mask.empty() || !lanes_.empty()) && (at.of_lanes || !in_bounds(place, index, facts_)))
    if (const Expr needed = needed_of(mask, bends(at.value) == 0 && in_bounds(place, index, facts_under(mask)));
        !needed.empty())
      args.push_back(needed);
  const Expr result = ir::load(place.kbuffer, place.buffer->name, e.type(), args, e.node()->where);
  if (mask_.node() != own_bounds_.node()) read_[element].emplace_back(mask_.node(), result);
  return result;
}

Expr Body::visit(const Expr& e, const Expr& mask) {
  constexpr int most = 4;
  if (ir::args_of(e).empty() && !ir::is(e, Op::load) && !ir::is(e, Op::var)) return e;
  if (auto it = done_.find({e.node(), mask.node()}); it != done_.end()) return it->second;
  if (!mask.empty() && allowed_anywhere(e)) return visit_under(e, Expr());
  if (!mask.empty() && mask.node() != own_bounds_.node() && ++conditions_of_[e.node()] > most)
    return visit_under(e, own_bounds_);
  return visit_under(e, mask);
}

Expr Body::visit_under(const Expr& e, const Expr& mask) {
  const auto key = std::make_pair(e.node(), mask.node());
  if (auto it = done_.find(key); it != done_.end()) return it->second;
  const auto args = ir::args_of(e);
  Expr result = e;
  switch (ir::op_of(e)) {
    case Op::var:
      for (const auto& [id, value] : values_)
        if (id == e.node()->id) result = reads_or_promises(value) ? visit(value, mask) : value;
      break;
    case Op::load:
      result = visit_load(e, mask);
      break;
    case Op::in_range:
      result = visit(args[0], mask);
      break;
    case Op::select: {
      // What a variable's value promises holds wherever a condition tests it: the page that a filled copy begins at.
      Expr tested = args[0];
      if (std::any_of(values_.begin(), values_.end(), [](const auto& v) { return promises(v.second); }))
        kept_.push_back(tested = analysis::simplify(ir::substitute(tested, values_), facts_));
      Expr condition = visit(tested, mask);
      if (!has_load(condition)) condition = analysis::simplify(condition, facts_);
      std::int64_t known = 0;
      if (ir::is_int(condition, &known)) {
        result = visit(args[known ? 1 : 2], mask);
        break;
      }
      auto under = [&](const Expr& c) {
        if (mask.node() == own_bounds_.node()) return mask;
        kept_.push_back(mask.empty() ? c : ir::logic_and(mask, c));
        return adds_to(mask, kept_.back());
      };
      const Expr yes = visit(args[1], under(condition)), no = visit(args[2], under(ir::logic_not(condition)));
      result = ir::select(condition, yes, no);
      break;
    }
    default: {
      if (args.empty()) break;
      std::vector<Expr> fresh;
      for (const Expr& a : args) fresh.push_back(visit(a, mask));
      result = ir::rebuild(e, fresh);
    }
  }
  done_.emplace(key, result);
  kept_.push_back(e);  // a caller's may be a temporary, and its node another one's later
  if (!mask.empty()) kept_.push_back(mask);
  return result;
}

}  // namespace ashlar::lowering
