// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks (flatten.h): the conditions around them and their stores.
#include <algorithm>

#include <ashlar/analysis/atomic.h>
#include <ashlar/analysis/dropped.h>
#include "lower/inits.h"
#include <ashlar/analysis/thread_tree.h>

#include "lower/flatten/flatten.h"
#include "lower/nodes.h"

namespace ashlar::lowering {

// The number of loops around that decide a condition: 0 for none.
std::size_t Flattener::depth_of(const Expr& condition) const {
  if (has_load(condition)) return around_.size() + 1;
  std::size_t depth = 0;
  for (Id v : ir::free_vars(condition))
    for (std::size_t k = 0; k < around_.size(); ++k)
      if (around_[k].axis == v) depth = std::max(depth, k + 1);
  return depth;
}

// The conditions at the end of a path of statements, with `values` for variables of loops; nothing where one is known to be
// false.
std::optional<Flattener::Conditions> Flattener::conditions_at(const std::vector<const Stmt*>& path, bool init,
                                                              const ir::Substitution& values) const {
  Conditions found{{}, Expr(), facts_};
  std::vector<Expr> all = analysis::conditions_of(p_, path, init);
  all.insert(all.end(), conditions_.begin(), conditions_.end());
  for (const Expr& c : all) {
    const Expr condition = values.empty() ? c : analysis::simplify(ir::substitute(c, values), facts_);
    if (ir::is_int(condition, 1)) continue;
    if (ir::is_int(condition, std::int64_t{0})) return std::nullopt;
    if (lane_varying(condition)) {
      found.lanes = found.lanes.empty() ? condition : ir::logic_and(found.lanes, condition);
    } else {
      if (!has_load(condition)) found.facts.assume(condition);
      found.uniform.emplace_back(depth_of(condition), condition);
    }
  }
  std::stable_sort(found.uniform.begin(), found.uniform.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return found;
}

namespace {
void terms_of(const Expr& c, std::vector<Expr>& terms) {
  if (!ir::is(c, ir::Op::logic_and)) return terms.push_back(c);
  for (const Expr& a : ir::args_of(c)) terms_of(a, terms);
}

// The guards that differ between lanes, lowered: one that reads memory reads it in the lanes where those before it hold, those
// that read none before all others.
Expr lowered_lanes(const Expr& lanes, const analysis::Facts& facts, const std::function<const Place&(ir::Id)>& find) {
  if (lanes.empty() || !has_load(lanes)) return lanes;
  std::vector<Expr> terms;
  terms_of(lanes, terms);
  std::stable_partition(terms.begin(), terms.end(), [](const Expr& t) { return !has_load(t); });
  Expr mask;
  for (const Expr& t : terms) {
    const Expr term = has_load(t) ? Body(ir::Substitution{}, facts, mask, find).lower(t) : t;
    mask = mask.empty() ? term : ir::logic_and(mask, term);
  }
  return mask;
}
}  // namespace

// The statements under the conditions; `lower` rewrites these except for those of the lanes, which stand as they are.
std::vector<KStmt> Flattener::guarded(const Conditions& conditions, Body& lower, Statements out, Where where) {
  const auto under = [&](const Expr& condition) {
    KStmt guard = if_stmt(lower.lower(condition), std::move(out), where);
    out.clear();
    out.push_back(std::move(guard));
  };
  if (!conditions.lanes.empty()) {
    KStmt guard = if_stmt(conditions.lanes, std::move(out), where);
    out.clear();
    out.push_back(std::move(guard));
  }
  for (std::size_t k = conditions.uniform.size(); k-- > 0;) under(conditions.uniform[k].second);
  return out;
}

std::vector<KStmt> Flattener::block(const Stmt& s) {
  const ir::NestStmt& in = nest().get<ir::NestStmt>();
  const ir::BlockStmt& own = s.get<ir::BlockStmt>();
  const ir::Stage& stage = p_.stage(own.stage);
  const Parts* parts = parts_here(s);
  Statements first;  // what threads do together stands under no condition
  if (parts && own.piece == ir::Piece::begin) {
    const Expr at = place_of_part(*parts);
    for (Id part : parts->part) first.push_back(store_stmt(part, at, kernel_.buffers.at(part).facts().part->start, s.where));
    return first;
  }
  if (parts && own.piece == ir::Piece::combine) {
    const Expr at = place_of_part(*parts);
    first.push_back(store_stmt(parts->all.front(), at, load_parts(parts->part, at, s.where).front(), s.where));
  }
  std::optional<Conditions> conditions =
      conditions_at(path_, own.piece != ir::Piece::whole && own.piece != ir::Piece::update, single_);
  if (!conditions) return first;

  auto find = [this](Id buffer) -> const Place& { return place_of(buffer); };
  conditions->lanes = lowered_lanes(conditions->lanes, conditions->facts, find);
  ir::Substitution values = ir::iter_values(p_, in);
  for (auto& [id, value] : values) value = known(value);
  Body expressions(std::move(values), conditions->facts, conditions->lanes, find, lane_);
  Body guards(ir::Substitution{}, conditions->facts, Expr(), find);
  Statements out = guarded(*conditions, guards, stores(s, in, stage, parts, expressions, conditions->facts), s.where);
  for (KStmt& k : out) first.push_back(std::move(k));
  return first;
}

std::vector<KStmt> Flattener::stores(const Stmt& s, const ir::NestStmt& in, const ir::Stage& stage, const Parts* parts,
                                     Body& expressions, const Facts& facts) {
  const ir::BlockStmt& own = s.get<ir::BlockStmt>();
  const std::vector<Expr> index = ir::stored_at(stage, own.piece);
  if (stage.scatters() || stage.atomic)  // steps of several threads may choose one place
    for (Id buffer : stage.buffers) {
      ir::BufferFacts& stored = lowering_of(kernel_, place_of(buffer).kbuffer);
      stored.shares_places = true;
      for (const ir::Root& r : in.roots)
        if (p_.axis(r.axis).reduce)
          for (Id leaf : ir::leaves_of(p_, r.axis)) stored.points.insert(leaf);
    }
  auto lowered_all = [&](const std::vector<Expr>& list) {
    std::vector<Expr> result;
    for (const Expr& e : list) result.push_back(expressions.lower(e));
    return result;
  };
  auto accumulators = [&] {
    std::vector<Expr> loads;
    for (Id b : stage.buffers) loads.push_back(ir::load(b, p_.buffer(b).name, p_.buffer(b).type, index, stage.where));
    return lowered_all(loads);
  };
  if (!stage.is_reduction()) return store_all(s, stage, index, lowered_all(stage.values), expressions);
  if (own.piece == ir::Piece::init) return store_all(s, stage, index, lowered_all(stage.inits), expressions);
  if (parts && own.piece == ir::Piece::combine) {
    const ir::Combination& all = *kernel_.buffers.at(parts->all.front()).facts().combination;
    return store_all(s, stage, index,
                     ir::combine(all.reducer, own.first_stores ? lowered_all(stage.inits) : accumulators(),
                                 load_parts(parts->all, place_of_part(*parts), s.where)),
                     expressions);
  }
  const std::vector<Expr> terms = lowered_all(stage.values);
  if (parts) {
    const Expr at = place_of_part(*parts);
    std::vector<Target> targets;
    for (Id part : parts->part) targets.push_back({part, at});
    return store_together(ir::combine(stage.reducer, load_parts(parts->part, at, s.where), terms), stage.name, s.where,
                          targets);
  }
  if (stage.atomic && steps_at_once(stage)) {
    Statements out = store_all(s, stage, index, terms, expressions);
    for (KStmt& k : out) k.get<ir::KStore>().atomic = analysis::atomic_operator(stage);
    return out;
  }
  if (!own.first_stores) return store_all(s, stage, index, ir::combine(stage.reducer, accumulators(), terms), expressions);
  Expr first = ir::boolean(true);
  for (const ir::Root& r : in.roots) {
    if (!p_.axis(r.axis).reduce) continue;
    for (Id leaf : ir::leaves_of(p_, r.axis)) {
      const auto later = begins_.find(leaf);
      const Expr begin = later == begins_.end() ? ir::index(0) : known(later->second);
      first = ir::logic_and(first, analysis::simplify(ir::eq(known(ir::axis_var(p_, leaf)), begin), facts));
    }
  }
  std::int64_t decided = 0;
  const bool is_decided = ir::is_int(first, &decided);
  Statements start, go_on;
  if (!is_decided || decided)
    start = store_all(s, stage, index, ir::combine(stage.reducer, lowered_all(stage.inits), terms), expressions);
  if (is_decided && decided) return start;
  go_on = store_all(s, stage, index, ir::combine(stage.reducer, accumulators(), terms), expressions);
  if (is_decided) return go_on;
  return {{s.where, ir::KIf{first, std::move(start), std::move(go_on)}}};
}

// Do several iterations of a reduction loop around run at once? Elsewhere an element is one iteration's own at a time.
bool Flattener::steps_at_once(const ir::Stage& stage) const {
  for (std::size_t k = path_.size(); k-- > 0;) {
    const Stmt& s = *path_[k];
    if (ir::is_nest_of(s, stage.id)) break;
    if (const ir::LoopStmt* loop = s.as<ir::LoopStmt>();
        loop && p_.axis(loop->axis).reduce && (loop->kind == ir::LoopKind::parallel || loop->kind == ir::LoopKind::bound))
      return true;
  }
  return false;
}

std::vector<KStmt> Flattener::store_together(std::vector<Expr> values, const std::string& name, Where where,
                                             const std::vector<Target>& targets) {
  std::vector<std::pair<Id, Expr>> lets;
  if (values.size() > 1)
    for (Expr& v : values) {
      lets.emplace_back(p_.fresh(), v);
      v = ir::var(lets.back().first, name + "_new", v.type(), v.node()->where);
    }
  Statements out;
  for (std::size_t c = 0; c < values.size(); ++c)
    out.push_back(store_stmt(targets[c].kbuffer, targets[c].address, values[c], where));
  for (std::size_t c = lets.size(); c-- > 0;) {
    KStmt let = let_stmt(lets[c].first, name + "_new", lets[c].second, std::move(out), where);
    out.clear();
    out.push_back(std::move(let));
  }
  return out;
}

// Stores one value for each component that the block stores.
std::vector<KStmt> Flattener::store_all(const Stmt& s, const ir::Stage& stage, const std::vector<Expr>& index,
                                        const std::vector<Expr>& values, Body& expressions) {
  const ir::Stores which = s.get<ir::BlockStmt>().stores;
  std::vector<Target> targets;
  std::vector<Expr> stored;
  for (std::size_t c = 0; c < stage.buffers.size(); ++c) {
    if (which != ir::Stores::all && (which == ir::Stores::dropped) != analysis::drops(p_, stage, c)) continue;
    targets.push_back({place_of(stage.buffers[c]).kbuffer, expressions.address(stage.buffers[c], index)});
    stored.push_back(values[c]);
  }
  return store_together(std::move(stored), stage.name, s.where, targets);
}

}  // namespace ashlar::lowering
