// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/analysis/domains.h>

#include <algorithm>
#include <set>

#include <ashlar/analysis/puts.h>
#include <ashlar/analysis/wraps.h>
#include <ashlar/ir/function.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

#include <ashlar/analysis/reads.h>
#include "analysis/regions/cover.h"
#include "analysis/nodes.h"

namespace ashlar::analysis {

namespace {

bool inferred(const ir::Stage& stage) { return !stage.iters.empty() && stage.iters.front().begin.empty(); }

// What the split of `outer` rounds the extent of its root up to, in elements: the factors from it to the root.
Expr rounding_unit(const Program& p, const ir::Axis& outer, const ir::Axis** root) {
  const ir::Axis* a = &outer;
  Expr unit = a->factor;
  while (a->origin == ir::Axis::Origin::split_outer) {
    a = &p.axis(a->parent);
    if (a->origin == ir::Axis::Origin::split_outer) unit = ir::mul(unit, a->factor);
  }
  *root = a;
  return unit;
}

bool pads(const ir::Axis& a) { return a.origin == ir::Axis::Origin::split_outer && a.tail == ir::Tail::pad; }
bool covers(const ir::Axis& a) { return a.origin == ir::Axis::Origin::split_outer && a.tail == ir::Tail::cover; }

using Past = std::map<Id, std::optional<std::int64_t>>;

// How far past its box each iteration variable runs: a padded split rounds its extent up to a multiple of its factor. No value
// if the factor is not a constant. `by` selects the splits.
Past overshoots(const Program& p, const Facts& facts, bool (*by)(const ir::Axis&)) {
  Past result;
  for (const auto& [id, a] : p.axes) {
    if (!by(a)) continue;
    const ir::Axis* root = nullptr;
    const Expr unit = rounding_unit(p, a, &root);
    auto& most = result.emplace(root->iter, 0).first->second;
    std::int64_t f = 1;
    if (!ir::is_int(unit, &f))
      most.reset();
    else if (most && !can_prove(ir::eq(ir::mod(root->extent, ir::index(f)), ir::index(0)), facts))
      most = std::max(*most, f - 1);
  }
  return result;
}

void keep_common(std::vector<Expr>& conditions, const std::vector<Expr>& with) {
  const auto missing = [&](const Expr& c) {
    return std::none_of(with.begin(), with.end(), [&](const Expr& w) { return ir::same(c, w); });
  };
  conditions.erase(std::remove_if(conditions.begin(), conditions.end(), missing), conditions.end());
}

// Of a copy without a fill: the box of what it copies, where that is stated; else nothing.
std::vector<Interval> source_box(const Program& p, const ir::Stage& copy) {
  const ir::Stage* stage = &copy;
  while (stage->origin == ir::Stage::Origin::cache_read && !stage->has_fill && inferred(*stage)) {
    Expr source = stage->values.front();
    if (ir::is(source, ir::Op::cast)) source = ir::args_of(source).front();  // stored wider (widen)
    if (!ir::is(source, ir::Op::load)) return {};
    // a stage that was inlined into the copy may read fewer or more dimensions than it has
    if (ir::args_of(source).size() != stage->iters.size()) return {};
    const ir::Buffer& b = p.buffer(source.node()->id);
    std::vector<Interval> box;
    if (b.stage == 0) {
      for (const Expr& extent : b.extents) box.push_back({ir::index(0), ir::sub(extent, ir::index(1))});
      return box;
    }
    stage = &p.stage(b.stage);
    if (inferred(*stage)) continue;
    for (const ir::IterVar& v : stage->iters)
      if (v.kind != ir::IterKind::reduce) box.push_back({v.begin, ir::sub(v.end, ir::index(1))});
    return box;
  }
  return {};
}

// What is known where a read happens.
Facts facts_of_read(const ir::Stage& reader, const Domain& theirs, const Read& r, Facts facts) {
  std::vector<Id> terms;
  for (std::size_t k = 0; k < reader.iters.size(); ++k) {
    const ir::IterVar& v = reader.iters[k];
    if (v.kind == ir::IterKind::reduce && r.of_start)
      terms.push_back(v.id);
    else
      facts.range(v.id, theirs.computed[k].lo, theirs.computed[k].hi);
  }
  for (const Expr& atom : reader.domain)
    if (std::none_of(terms.begin(), terms.end(), [&](Id v) { return ir::uses_var(atom, v); })) facts.assume(atom);
  for (const Expr& e : theirs.inhabited) facts.assume(e);
  for (const Expr& condition : r.conditions) assume_of_data(facts, decided(condition, r.conditions));
  return facts;
}

// An index is in the box of what is copied wherever it is read, by the conditions of the read: then so is what the copy holds.
Interval inside_source(const Interval& i, const Interval& source, const Expr& index, const Facts& arguments,
                       const Facts& read) {
  Interval r = i;
  if (!can_prove(ir::ge(i.lo, source.lo), arguments) && can_prove(ir::ge(index, source.lo), read))
    r = intersect(r, {source.lo, {}}, arguments);
  if (!can_prove(ir::le(i.hi, source.hi), arguments) && can_prove(ir::le(index, source.hi), read))
    r = intersect(r, {{}, source.hi}, arguments);
  return r;
}

// A range of at most one value, and perhaps of none, ends where it says, and not at the value that it has if it has one: its
// last value is a variable of its own until the hulls are known.
ir::Substitution open_ends(std::vector<VarRange>& ranges, const Facts& facts) {
  constexpr Id first_end_id = Id{1} << 61;
  ir::Substitution ends;
  for (VarRange& v : ranges) {
    if (!v.range.bounded()) continue;
    const bool of_another =
        std::any_of(ranges.begin(), ranges.end(), [&](const VarRange& w) { return ir::uses_var(v.range.hi, w.id); });
    if (of_another || !can_prove(ir::le(v.range.hi, v.range.lo), facts) || can_prove(ir::le(v.range.lo, v.range.hi), facts))
      continue;
    const Expr end = ir::var(first_end_id + ends.size(), "end");
    ends.emplace_back(end.node()->id, v.range.hi);
    v.range.hi = end;
  }
  return ends;
}

// An index from data may be anything within its bounds, and all of what it may reach is computed before it is known: more
// elements than this, of one dimension or of several together, are not stored. What has the bounds of a 32-bit type alone lies
// beyond.
constexpr std::int64_t most_reached = std::int64_t{1} << 30;

// `reached`: the product of what the dimensions before reach by data.
void require_finite(const ir::Stage& stage, const Read& r, std::size_t d, const Interval& i, const Facts& facts,
                    std::int64_t& reached) {
  const Expr& index = ir::args_of(r.load)[d];
  if (!depends_on_data(index)) return;
  const auto least = constant_min(ir::sub(i.hi, i.lo), facts);
  if (!least || *least < 0) return;
  const bool before = reached > 1;
  if (__builtin_mul_overflow(reached, *least + 1, &reached)) reached = INT64_MAX;
  if (reached <= most_reached) return;
  const Expr lo = simplify(i.lo, facts), hi = simplify(i.hi, facts);
  refuse("region",
         "an index of " + stage.name + " that reaches at most 2^30 elements, all of which are computed (bound it: " +
             "clamp(e, low, high), or promise in_range(e, low, end))",
         ir::text(index) + " in dimension " + std::to_string(d) + ", which is from " + ir::text(lo) + " to " + ir::text(hi) +
             (before ? ", together with the dimensions before it" : "") + wraps_where(index, facts),
         r.load.node()->where);
}

// Widens `hulls` by what one reader reads of a stage; false if it does not read it.
bool add_reader(const Program& p, const ir::Stage& stage, const ir::Stage& reader, const Domain& theirs, const Facts& facts,
                std::vector<Interval>& hulls, bool first) {
  const std::vector<Interval> source = source_box(p, stage);
  std::vector<VarRange> ranges, spatial;  // the start of a reduction is read at spatial points, also where there are no terms
  std::vector<VarRange> data;             // what tables say of bounds; nobody knows when a domain is laid out
  for (std::size_t k = reader.iters.size(); k-- > 0;) {
    Interval i = theirs.covered[k];
    for (Expr* end : {&i.lo, &i.hi})
      if (!end->empty()) *end = without_data(*end, data, facts);
    ranges.push_back({reader.iters[k].id, i});
    if (reader.iters[k].kind != ir::IterKind::reduce) spatial.push_back(ranges.back());
  }
  ranges.insert(ranges.end(), data.begin(), data.end());
  const ir::Substitution ends = open_ends(ranges, facts);
  for (VarRange& v : spatial)
    for (const VarRange& w : ranges)
      if (v.id == w.id) v = w;
  bool any = false;
  for (const Read& r : reads_of(reader)) {
    if (p.buffer(r.load.node()->id).stage != stage.id) continue;
    const auto indices = ir::args_of(r.load);
    std::int64_t reached = 1;
    for (std::size_t d = 0; d < indices.size(); ++d) {
      Interval i = index_interval(indices[d], r.of_start ? spatial : ranges, facts);
      if (!i.bounded())
        refuse("region", "an index of " + stage.name + " with a bound (clamp it, or promise one with in_range)",
               ir::text(indices[d]) + wraps_where(indices[d], facts), r.load.node()->where);
      if (!ends.empty()) i = {ir::substitute(i.lo, ends), ir::substitute(i.hi, ends)};
      if (!source.empty() && r.bounds == 0)
        i = inside_source(i, source[d], indices[d], facts, facts_of_read(reader, theirs, r, facts));
      if (source.empty()) require_finite(stage, r, d, i, facts, reached);
      hulls[d] = first ? i : hull(hulls[d], i, facts);
    }
    first = false;
    any = true;
  }
  return any;
}

// Adds what says that a function, which computes the reader, needs any element of the stage: those of its conditions that are
// over symbols alone.
void add_needed(const Program& p, const ir::Stage& stage, const ir::Stage& reader, std::vector<Expr>& conditions) {
  if (!ir::computed_by(reader.values)) return;
  std::optional<std::vector<Expr>> common;
  for (const ir::Needed& n : ir::needed_by(reader.values.front())) {
    if (p.buffer(n.first.node()->id).stage != stage.id) continue;
    std::vector<Expr> own, pending;
    if (!n.condition.empty()) pending.push_back(n.condition);
    while (!pending.empty()) {
      const Expr c = pending.back();
      pending.pop_back();
      if (ir::is(c, ir::Op::logic_and)) {
        pending.insert(pending.end(), ir::args_of(c).begin(), ir::args_of(c).end());
        continue;
      }
      const std::vector<Id> vars = ir::free_vars(c);
      if (std::all_of(vars.begin(), vars.end(), [&](Id v) { return p.symbols.count(v) > 0; })) own.push_back(c);
    }
    if (common)
      keep_common(*common, own);
    else
      common = std::move(own);
  }
  if (common) conditions.insert(conditions.end(), common->begin(), common->end());
}

}  // namespace

Expr symbolic_pad(const Program& p) {
  for (const auto& [id, a] : p.axes) {
    const ir::Axis* root = nullptr;
    std::int64_t constant = 1;
    if (!pads(a)) continue;
    if (const Expr unit = rounding_unit(p, a, &root); !ir::is_int(unit, &constant)) return unit;
  }
  return {};
}

const Domain& Domains::at(Id stage) const {
  const auto it = of.find(stage);
  if (it == of.end()) throw InternalError("no domain of stage " + std::to_string(stage));
  return it->second;
}

namespace {

using Readers = std::map<Id, std::set<Id>>;
struct Overshoots {
  Past padded, covered;
  friend bool operator==(const Overshoots&, const Overshoots&) = default;
};

// Domains follow from definitions and padded splits, which few steps of a schedule touch: the last answers are kept, with what
// they were the answers for.
struct Remembered {
  Program definitions;
  Overshoots past;
  Readers readers;
  Domains domains;

  bool is_of(const Program& p, const Overshoots& o) const { return past == o && same_definitions(p, definitions); }
};

Remembered remember(const Program& p, const Overshoots& past, Readers readers, const Domains& domains) {
  Remembered r{{}, past, std::move(readers), domains};
  r.definitions.symbols = p.symbols, r.definitions.scalars = p.scalars, r.definitions.arguments = p.arguments;
  r.definitions.assumptions = p.assumptions, r.definitions.stages = p.stages, r.definitions.buffers = p.buffers;
  return r;
}

Readers readers_of(const Program& p) {
  Readers readers;
  for (const auto& [id, reader] : p.stages)
    for (Id buffer : buffers_read(reader)) readers[p.buffer(buffer).stage].insert(id);
  return readers;
}

bool same_domain(const Domain& a, const Domain& b) {
  const auto same = [](const Expr& x, const Expr& y) { return x.empty() == y.empty() && (x.empty() || ir::same(x, y)); };
  const auto same_interval = [&](const Interval& x, const Interval& y) { return same(x.lo, y.lo) && same(x.hi, y.hi); };
  return std::equal(a.box.begin(), a.box.end(), b.box.begin(), b.box.end(), same_interval) &&
         std::equal(a.computed.begin(), a.computed.end(), b.computed.begin(), b.computed.end(), same_interval) &&
         std::equal(a.covered.begin(), a.covered.end(), b.covered.begin(), b.covered.end(), same_interval) &&
         std::equal(a.inhabited.begin(), a.inhabited.end(), b.inhabited.begin(), b.inhabited.end(), same);
}

std::uint64_t next_revision() {
  thread_local std::uint64_t revisions = 0;
  return ++revisions;
}

// One answer, with what stays of an earlier one.
class Follow {
 public:
  Follow(const Program& p, const Facts& facts, const Overshoots& past, const Readers& readers, const Remembered* before)
      : p_(p), facts_(facts), past_(past), readers_(readers), before_(before) {}

  Domains find() {
    for (Id id : consumers_first(p_)) {
      const Domain* earlier = earlier_of(id);
      const bool defined = earlier && same_here(id);
      if (defined && follows_from_the_same(p_.stage(id))) {
        domains_.of.emplace(id, *earlier), same_.insert(id), defined_.insert(id);
        continue;
      }
      Domain domain = found(p_.stage(id));
      if (defined) defined_.insert(id);
      if (earlier && same_domain(domain, *earlier)) same_.insert(id);
      domain.revision = defined && same_.count(id) ? earlier->revision : next_revision();
      domains_.of.emplace(id, std::move(domain));
    }
    domains_.revision = next_revision();
    return std::move(domains_);
  }

 private:
  const Domain* earlier_of(Id id) const {
    if (!before_) return nullptr;
    const auto at = before_->domains.of.find(id);
    return at == before_->domains.of.end() ? nullptr : &at->second;
  }

  bool same_buffer(Id id) const {
    const auto at = before_->definitions.buffers.find(id);
    return at != before_->definitions.buffers.end() && same_definition(p_.buffer(id), at->second);
  }

  // Is its definition what it was, and are the buffers?
  bool same_here(Id id) const {
    const ir::Stage& stage = p_.stage(id);
    const Buffers read = buffers_read(stage);
    const auto same = [&](Id b) { return same_buffer(b); };
    return same_definition(stage, before_->definitions.stages.at(id)) &&
           std::all_of(stage.buffers.begin(), stage.buffers.end(), same) && std::all_of(read.begin(), read.end(), same);
  }

  // Of a stage that is defined as it was: is all that its domain follows from the same?
  bool follows_from_the_same(const ir::Stage& stage) const {
    if (!inferred(stage)) return past_.covered.empty();                                  // what its readers cover past its end
    if (stage.origin == ir::Stage::Origin::cache_read && !stage.has_fill) return false;  // what it copies has a say
    const auto now = readers_.find(stage.id), then = before_->readers.find(stage.id);
    if ((now == readers_.end()) != (then == before_->readers.end())) return false;
    if (now == readers_.end()) return true;
    return now->second == then->second && std::all_of(now->second.begin(), now->second.end(),
                                                      [&](Id reader) { return same_.count(reader) && defined_.count(reader); });
  }

  Domain found(const ir::Stage& stage) const {
    Domain domain;
    std::vector<Interval> hulls(stage.iters.size());
    const auto readers = readers_.find(stage.id);
    if (inferred(stage) && readers != readers_.end()) {
      bool first = true;
      for (Id reader : readers->second) {
        const auto it = domains_.of.find(reader);
        if (it == domains_.of.end() || !add_reader(p_, stage, p_.stage(reader), it->second, facts_, hulls, first)) continue;
        std::vector<Expr> inhabited = it->second.inhabited;
        add_needed(p_, stage, p_.stage(reader), inhabited);
        if (first)
          domain.inhabited = std::move(inhabited);
        else
          keep_common(domain.inhabited, inhabited);
        first = false;
      }
    }
    for (std::size_t k = 0; k < stage.iters.size(); ++k) {
      const ir::IterVar& v = stage.iters[k];
      const bool spatial = v.kind != ir::IterKind::reduce;
      Interval i = inferred(stage) && spatial ? hulls[k] : Interval{v.begin, ir::sub(v.end, ir::index(1))};
      domain.box.push_back(i);
      if (!inferred(stage) && spatial && !past_.covered.empty())
        if (const std::int64_t n = covered_past(p_, stage, k)) i.hi = ir::add(i.hi, ir::index(n));
      const auto past = [&](const Past& splits) {
        if (const auto it = splits.find(v.id); it != splits.end() && !i.hi.empty())
          i.hi = it->second ? ir::add(i.hi, ir::index(*it->second)) : Expr{};
        return i;
      };
      domain.computed.push_back(past(past_.padded));
      domain.covered.push_back(past(past_.covered));
      if (!inferred(stage) && spatial) domain.inhabited.push_back(ir::ge(ir::sub(v.end, v.begin), ir::index(1)));
    }
    return domain;
  }

  const Program& p_;
  const Facts& facts_;
  const Overshoots& past_;
  const Readers& readers_;
  const Remembered* const before_;
  Domains domains_;
  std::set<Id> same_, defined_;  // stages whose domains, and whose definitions, are those of before
};

}  // namespace

Domains domains_of(const Program& p) {
  thread_local std::vector<Remembered> last;  // the newest first: of a program before a step, and of the one after it
  const Facts facts = facts_of_arguments(p);
  const Overshoots past{overshoots(p, facts, pads), overshoots(p, facts, covers)};
  for (std::size_t k = 0; k < last.size(); ++k)
    if (last[k].is_of(p, past)) {
      if (k) std::swap(last[0], last[k]);
      return last[0].domains;
    }
  Readers readers = readers_of(p);
  const bool starts_from = !last.empty() && last[0].past == past && same_arguments(p, last[0].definitions);
  Domains domains = Follow(p, facts, past, readers, starts_from ? &last[0] : nullptr).find();
  if (last.size() > 1) last.pop_back();
  last.insert(last.begin(), remember(p, past, std::move(readers), domains));
  return domains;
}

bool holds_in_calls(const Program& p, const Expr& condition) {
  for (const ir::Argument& a : p.arguments) {
    if (a.kind != ir::ArgumentKind::output) continue;
    Facts facts = facts_of_arguments(p);
    for (const Expr& extent : p.buffer(a.id).extents) facts.assume(ir::ge(extent, ir::index(1)));
    if (!can_prove(condition, facts)) return false;
  }
  return true;
}

}  // namespace ashlar::analysis
