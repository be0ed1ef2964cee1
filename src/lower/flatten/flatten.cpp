// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The walk of flatten.h: order, storage and its life.
#include "lower/inits.h"
#include <ashlar/ir/function.h>

#include "lower/flatten/flatten.h"
#include "lower/nodes.h"

namespace ashlar::lowering {

Flattener::Flattener(ir::Program& p, const LowerOptions& options, bool launches)
    : p_(p), options_(options), launches_(launches), facts_(analysis::facts_of_arguments(p)) {}

ir::Kernel Flattener::run() {
  ir::Kernel& k = kernel_;
  k.name = p_.name;
  k.arguments = p_.arguments;
  k.symbols = p_.symbols;
  k.scalars = p_.scalars;
  k.assumptions = p_.assumptions;
  const auto place = [&](const ir::Buffer& b) {
    current_[b.id] = places_.size();
    places_.push_back(place_argument(k, p_, b));
    last_use_.push_back(0);
    if (b.stage && p_.stage(b.stage).is_recurrence()) lowering_of(k, places_.back().kbuffer).recurrent = true;
  };
  for (const ir::Argument& a : p_.arguments) {
    if (a.kind == ir::ArgumentKind::scalar) continue;
    const ir::Buffer& b = p_.buffer(a.id);
    k.argument_buffers.emplace(b.id, b);
    place(b);
  }
  for (const auto& [id, b] : p_.buffers)
    if (b.role == ir::Role::constant) place(b);
  find_fragments();
  k.body = body(p_.body);
  plan_workspace(k, p_, lives_);
  k.next_id = p_.next_id;
  return std::move(kernel_);
}

std::vector<KStmt> Flattener::body(const std::vector<Stmt>& list) {
  Statements out;
  std::vector<std::pair<std::size_t, std::size_t>> allocs;  // place, life
  const auto outside = current_;
  for (const Stmt& s : list) {
    const std::size_t before = position_;
    if (const Stmt* begin = begin_of(s)) begin_parts(s, *begin);
    path_.push_back(&s);
    if (s.is<ir::AllocStmt>()) {
      allocs.emplace_back(places_.size(), lives_.size());
      alloc(s);
      if (kernel_.buffers.at(places_.back().kbuffer).storage == ir::Storage::workspace)
        lives_.push_back({places_.back().kbuffer, position_, position_});
      else
        allocs.pop_back();
    } else {
      Statements made = statement(s);
      for (ir::KStmt& k : made) {
        if (launches_ && path_.size() == 1) k.nest = s.id;
        out.push_back(std::move(k));
      }
      for (const auto& [place, life] : allocs)
        if (last_use_[place] > before) lives_[life].to = position_;
    }
    path_.pop_back();
  }
  if (!allocs.empty() || current_.size() != outside.size()) current_ = outside;
  return out;
}

std::vector<KStmt> Flattener::statement(const Stmt& s) {
  return ir::match(
      s,
      [&](const ir::NestStmt& nest) -> Statements {
        if (ir::computed_by(p_.stage(nest.stage).values)) return external(s);
        return body(nest.body);
      },
      [&](const ir::LoopStmt&) { return loop(s); },
      [&](const ir::BlockStmt&) {
        ++position_;
        if (const auto d = sites_.distributed.find(s.id); d != sites_.distributed.end()) return distributed(s, d->second);
        return block(s);
      },
      [&](const ir::PrefetchStmt& node) { return prefetch(s, node); }, [](const ir::AllocStmt&) { return Statements(); });
}

namespace {
// Two indices of the box may have one place: an index that no coordinate has, or one alone as v % n in a box of more than n.
// All else was proved injective.
bool is_ring(const ir::Layout& l, const std::vector<Expr>& box, const analysis::Facts& facts) {
  if (l.map.empty()) return false;
  for (std::size_t d = 0; d < l.vars.size(); ++d) {
    const Expr* only = nullptr;
    std::size_t uses = 0;
    for (const Expr& e : l.map)
      if (ir::uses_var(e, l.vars[d])) only = &e, ++uses;
    if (uses == 0) return true;
    if (uses == 1 && ir::is(*only, ir::Op::mod) && ir::is(ir::args_of(*only)[0], ir::Op::var) &&
        !analysis::can_prove(ir::le(box[d], ir::args_of(*only)[1]), facts))
      return true;
  }
  return false;
}
}  // namespace

void Flattener::alloc(const Stmt& s) {
  ++position_;
  std::vector<Lane> lanes;
  bool per_worker = false;
  for (const Around& a : around_) {
    per_worker |= a.kind == LoopKind::parallel;
    if (a.kind == LoopKind::vectorized) lanes.push_back({ir::sub(ir::axis_var(p_, a.axis), lane_begin_), lane_count_});
  }
  const ir::Buffer& buffer = p_.buffer(s.get<ir::AllocStmt>().buffer);
  const Id id = kernel_.buffers.count(buffer.id) ? s.id : buffer.id;
  const bool fragment = buffer.scope == Scope::fragment;
  Place place = fragment ? place_fragment(kernel_, p_, s, id, sites_.held.at(buffer.id))
                         : place_alloc(kernel_, p_, s, id, std::move(lanes), per_worker, options_);
  for (auto* list : {&place.lo, &place.logical_lo, &place.logical_extent})
    for (Expr& e : *list) e = known(e);
  for (const Around& a : around_) kernel_.buffers.at(id).inside.push_back(a.axis);
  ir::BufferFacts& facts = lowering_of(kernel_, id);
  facts.placed = buffer.where;
  facts.fragment = fragment;
  facts.recurrent = p_.stage(buffer.stage).is_recurrence();
  facts.shares_places = is_ring(buffer.layout, place.logical_extent, facts_);
  kbuffer_of_[s.id] = id;
  current_[buffer.id] = places_.size();
  places_.push_back(std::move(place));
  last_use_.push_back(0);
}

const Place& Flattener::place_of(Id buffer) {
  const auto it = current_.find(buffer);
  if (it == current_.end())
    throw InternalError("an access to " + p_.buffer(buffer).name + " outside of the life of its storage");
  last_use_[it->second] = position_;
  return places_[it->second];
}

const ir::Stmt& Flattener::nest() const {
  for (std::size_t k = path_.size(); k-- > 0;)
    if (path_[k]->is<ir::NestStmt>()) return *path_[k];
  throw InternalError("a block outside of any nest");
}

ir::Kernel flatten(ir::Program p, const LowerOptions& options, bool launches) { return Flattener(p, options, launches).run(); }

}  // namespace ashlar::lowering
