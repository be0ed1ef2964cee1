// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/stage_figures.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>

#include <ashlar/ir/function.h>
#include <ashlar/analysis/regions.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/operation.h>

namespace ashlar::report {
namespace {

using ir::AllocStmt;
using ir::BlockStmt;
using ir::Id;
using ir::LoopStmt;
using ir::NestStmt;
using ir::Op;
using ir::Program;
using ir::Stmt;

constexpr double most_visits = 1e5;  // of the iterations of one dimension, one by one; of longer loops both ends and the middle

std::optional<std::int64_t> number(const Expr& e, const Known& known) {
  const auto v = e.empty() ? std::nullopt : values_of(e, known);
  return v && v->single() ? std::optional(v->low) : std::nullopt;
}

double bytes_of(Type t) { return t.is_packed() ? t.bits / 8.0 : t.bytes(); }

// ---- operations of a point -------------------------------------------------------------------------------------------------

struct PerPoint {
  double fma = 0, add = 0, mul = 0, other = 0;
};

bool computes(ir::Kind k) {
  return k != ir::Kind::leaf && k != ir::Kind::conversion && k != ir::Kind::choice && k != ir::Kind::promise;
}

void count(const Expr& e, PerPoint& n) {
  ir::walk(e, [&](const Expr& x) {
    if (ir::is(x, Op::load)) return false;  // what computes an index is not an operation on data
    if (x.type().is_index() || x.type().is_bool()) return true;
    switch (ir::op_of(x)) {
      case Op::fma:
        ++n.fma;
        break;
      case Op::add:
      case Op::sub:
        ++n.add;
        break;
      case Op::mul:
        ++n.mul;
        break;
      default:
        n.other += computes(ir::operation(ir::op_of(x)).kind);
    }
    return true;
  });
}

PerPoint per_point(const ir::Stage& stage) {
  PerPoint n;
  for (const Expr& v : stage.values) count(v, n);
  const double values = static_cast<double>(stage.values.size());
  switch (stage.reducer.kind) {
    case ir::ReducerKind::none:
      break;
    case ir::ReducerKind::sum:
    case ir::ReducerKind::strict_sum:
      if (stage.reducer.fused)
        n.fma += values, n.mul -= values;  // the product of the term and its sum
      else
        n.add += values;
      break;
    case ir::ReducerKind::product:
      n.mul += values;
      break;
    case ir::ReducerKind::minimum:
    case ir::ReducerKind::maximum:
      n.other += values;
      break;
    case ir::ReducerKind::custom:
      for (const Expr& c : stage.reducer.combine) count(c, n);
  }
  n.mul = std::max(0.0, n.mul);
  return n;
}

// ---- what is touched -------------------------------------------------------------------------------------------------------

struct Touched {  // of one buffer
  std::vector<Values> box;
  double elements = 0, bytes = 0;  // of the accesses, one by one: the joined box holds no more
  bool loaded = false, stored = false, guessed = false;
};

Values joined(const Values& a, const Values& b) {
  if (a.count == 0) return b;
  if (b.count == 0) return a;
  Values r;
  r.low = std::min(a.low, b.low), r.high = std::max(a.high, b.high);
  r.step = std::gcd(std::gcd(a.step, b.step), std::abs(a.low - b.low));
  r.count = r.single() ? 1 : std::min(a.count + b.count, static_cast<double>((r.high - r.low) / r.step + 1));
  return r;
}

class Figures {
 public:
  Figures(const Program& p, const Target& target, const std::map<Id, std::int64_t>& symbols) : p_(p), target_(target) {
    for (const auto& [id, n] : symbols) symbols_[id] = Values::one(n);
  }

  std::optional<StageFigures> of(const ir::Stage& stage);

 private:
  struct Loops {  // of the iterations of some loops, and of the points among them
    double slots = 0, active = 0, full = 0;
  };
  // The iterations that a loop has where the variables around it are known; those that data decides count as one.
  Values range(const Stmt& loop, const Known& known) const {
    const ir::LoopRange r = ir::range_of(p_, loop);
    const auto begin = values_of(r.begin, known), end = values_of(r.end, known);
    if (!begin || !end) return data_decides_ = true, Values::one(0);
    return Values::range(begin->low, end->high - 1);
  }
  double trips(const Stmt& loop, const Known& known) const {
    const ir::LoopRange r = ir::range_of(p_, loop);
    const auto begin = number(r.begin, known), end = number(r.end, known);
    if (!begin || !end) return data_decides_ = true, 1;
    return std::max(0.0, static_cast<double>(*end - *begin));
  }
  // In their middle iterations, the loops of a path up to (without) `until`.
  Known middle(const std::vector<const Stmt*>& path, std::size_t until) const {
    Known known = symbols_;
    for (std::size_t k = 0; k < until; ++k)
      if (const LoopStmt* l = path[k]->as<LoopStmt>()) {
        const Values v = range(*path[k], known);
        known[l->axis] = Values::one(v.low + (v.high - v.low) / 2);
      }
    return known;
  }
  std::optional<Values> slid_over(const Stmt& nest, Id iter, const Known& known) const;
  void iterations(const Stmt& nest, Known& known) const;  // adds the nest's iteration variables
  void touch(const Stmt& s, const Stmt* nest, Known& known, bool partial, std::map<Id, Touched>& all,
             std::set<Id>& inside) const;
  void access(Id buffer, const std::vector<Expr>& at, const Known& known, bool store, std::map<Id, Touched>& all) const;
  double lines(const ir::Buffer& b, const std::vector<Values>& box, const Known& known) const;
  LoopFigures loop(const std::vector<const Stmt*>& path, std::size_t at, double runs) const;
  Loops points(std::vector<const Stmt*> loops, const Stmt& nest, const Stmt* vector, const Known& around) const;
  void block(StageFigures& f, const std::vector<const Stmt*>& path, const PerPoint& n);
  double storage(const ir::Buffer&) const;  // elements that it has room for
  std::int64_t registers(const ir::Stage& stage, const StageFigures& f) const;
  double distinct(const ir::Stage& stage) const;

  const Program& p_;
  const Target& target_;
  Known symbols_;
  mutable std::map<Id, std::vector<analysis::Interval>> required_;  // by nest, of those that slide
  mutable std::set<Id> made_;                                       // stages computed inside of the loop that is looked at
  mutable bool data_decides_ = false;                               // a bound that was asked for
};

// Of a dimension that slides along a loop that runs: what all its iterations compute together is what they need together.
std::optional<Values> Figures::slid_over(const Stmt& nest, Id iter, const Known& known) const {
  const NestStmt& node = nest.get<NestStmt>();
  for (const ir::Slide& s : node.slides) {
    if (s.iter != iter) continue;
    const auto at = known.find(ir::find(p_, s.loop)->get<LoopStmt>().axis);
    if (at == known.end() || at->second.single()) continue;
    auto [found, made] = required_.try_emplace(nest.id);
    if (made) found->second = analysis::required_region(p_, nest.id);
    std::size_t d = 0;
    for (const ir::IterVar& v : p_.stage(node.stage).iters) {
      if (v.id == iter) break;
      d += v.kind != ir::IterKind::reduce;
    }
    if (d >= found->second.size() || !found->second[d].bounded()) continue;
    const auto low = values_of(found->second[d].lo, known), high = values_of(found->second[d].hi, known);
    if (low && high) return Values::range(low->low, high->high);
  }
  return std::nullopt;
}

void Figures::iterations(const Stmt& nest, Known& known) const {
  std::vector<std::pair<Id, Values>> found;
  for (const ir::Root& r : nest.get<NestStmt>().roots) {
    const auto begin = values_of(r.begin, known), extent = values_of(r.extent, known);
    auto v = values_of(ir::iter_value(p_, nest.get<NestStmt>(), r.iter), known);
    const auto window = slid_over(nest, r.iter, known);
    if (window) {
      v = window;
    } else if (begin && extent) {  // what a guard leaves out is not touched
      const std::int64_t low = begin->low, high = begin->high + extent->high - 1;
      if (!v) v = Values::range(low, high);
      if (v->low < low || v->high > high) {
        const Values cut = Values::range(std::max(low, v->low), std::min(high, v->high));
        v->count = std::min(v->count, cut.count), v->low = cut.low, v->high = cut.high;
        if (v->single()) v->step = 0;
      }
    }
    if (v) found.emplace_back(r.iter, *v);
  }
  for (auto& [id, v] : found) known[id] = v;
}

double Figures::lines(const ir::Buffer& b, const std::vector<Values>& box, const Known& known) const {
  const double element = bytes_of(b.type);
  std::vector<std::optional<std::int64_t>> extents;
  if (b.role != ir::Role::temporary && b.layout.map.empty()) {
    for (const Expr& e : b.extents) extents.push_back(number(e, known));
  } else if (ir::alloc_of(p_, b.id)) {
    for (const Expr& e : analysis::physical_box(p_, b.id).extent) extents.push_back(number(e, known));
  }
  extents.resize(box.size());
  double elements = 1, run = 1, apart = 1;
  bool together = true;
  for (std::size_t d = box.size(); d-- > 0;) {
    const Values& v = box[d];
    elements *= v.count;
    const double span = static_cast<double>(v.high - v.low + 1);
    if (together && v.step <= 1) {
      run *= span;
      together = extents[d] && static_cast<double>(*extents[d]) <= span;  // whole rows follow each other
    } else if (together && run == 1 && d + 1 == box.size() && static_cast<double>(v.step) * element < line_bytes) {
      run = span, together = false;
    } else {
      apart *= v.count, together = false;
    }
  }
  if (elements == 0) return 0;
  return std::min(apart * std::ceil(run * element / line_bytes), elements) * line_bytes;
}

void Figures::access(Id id, const std::vector<Expr>& at, const Known& known, bool store, std::map<Id, Touched>& all) const {
  const ir::Buffer& b = p_.buffer(id);
  if (b.scope == Scope::registers || b.scope == Scope::fragment) return;
  Touched& t = all[id];
  (store ? t.stored : t.loaded) = true;
  std::vector<Expr> index = at;
  if (!b.layout.map.empty()) {
    ir::Substitution logical;
    for (std::size_t d = 0; d < at.size() && d < b.layout.vars.size(); ++d) logical.emplace_back(b.layout.vars[d], at[d]);
    index.clear();
    for (const Expr& e : b.layout.map) index.push_back(ir::substitute(e, logical));
  }
  double iterations = 1;  // no more elements than iterations
  std::set<Id> used;
  for (const Expr& e : index)
    for (Id v : ir::free_vars(e))
      if (const auto it = known.find(v); it != known.end() && used.insert(v).second) iterations *= it->second.count;
  std::vector<Values> box;
  double elements = 1;
  bool guessed = false;
  for (std::size_t d = 0; d < index.size(); ++d) {
    auto v = values_of(index[d], known);
    const auto extent = d < b.extents.size() && b.layout.map.empty() ? number(b.extents[d], known) : std::nullopt;
    if (!v) {  // any element of the dimension
      guessed = true;
      v = Values::range(0, extent ? *extent - 1 : 0);
    } else if (extent && (v->low < 0 || v->high >= *extent)) {  // what lies outside is not read
      const double count = v->count;
      const std::int64_t step = v->step;
      *v = Values::range(std::max<std::int64_t>(0, v->low), std::min(*extent - 1, v->high));
      v->step = v->single() ? 0 : std::max<std::int64_t>(1, step), v->count = std::min(v->count, count);
    }
    elements *= v->count;
    box.push_back(*v);
  }
  t.guessed = t.guessed || guessed;
  double bytes = lines(b, box, known);
  if (guessed) bytes = std::min(bytes, iterations * line_bytes), elements = std::min(elements, iterations);
  t.elements += std::min(elements, iterations), t.bytes += bytes;
  if (t.box.empty()) {
    t.box = std::move(box);
  } else {
    for (std::size_t d = 0; d < box.size(); ++d) t.box[d] = joined(t.box[d], box[d]);
  }
}

// Everything below a statement, `known` holding the variables around it. `partial`: a reduction goes on from what is stored.
void Figures::touch(const Stmt& s, const Stmt* nest, Known& known, bool partial, std::map<Id, Touched>& all,
                    std::set<Id>& inside) const {
  if (const AllocStmt* alloc = s.as<AllocStmt>()) inside.insert(alloc->buffer);
  if (const NestStmt* n = s.as<NestStmt>()) {
    nest = &s, partial = false;
    // what is read of it is computed here, unless a window slides from one run to the next
    const bool whole = std::none_of(n->slides.begin(), n->slides.end(), [&](const ir::Slide& w) {
      const auto at = known.find(ir::find(p_, w.loop)->get<LoopStmt>().axis);
      return at != known.end() && at->second.single();
    });
    if (whole) made_.insert(n->stage);
  }
  if (const LoopStmt* loop = s.as<LoopStmt>()) known[loop->axis] = range(s, known);
  if (const BlockStmt* block = s.as<BlockStmt>()) {
    const ir::Stage& stage = p_.stage(block->stage);
    Known here = known;
    iterations(*nest, here);
    for (const analysis::Read& r : analysis::reads_of(stage))
      if (analysis::happens_in(r, s))
        access(r.load.node()->id, {ir::args_of(r.load).begin(), ir::args_of(r.load).end()}, here, false, all);
    for (Id b : stage.buffers) {
      const std::vector<Expr> at = ir::stored_at(stage, block->piece);
      access(b, at, here, true, all);
      if (partial && stage.is_reduction() && block->piece != ir::Piece::init) access(b, at, here, false, all);
    }
  }
  for (const Stmt& below : s.body()) touch(below, nest, known, partial, all, inside);
}

// One run of the loop, or of the nest, at place `at` of a path.
LoopFigures Figures::loop(const std::vector<const Stmt*>& path, std::size_t at, double runs) const {
  const Stmt& s = *path[at];
  LoopFigures f;
  f.runs = runs;
  Known known = middle(path, at);
  const Stmt* nest = nullptr;
  bool partial = false;
  for (std::size_t k = 0; k <= at; ++k) {
    if (path[k]->is<NestStmt>()) nest = path[k], partial = false;
    if (const LoopStmt* around_it = path[k]->as<LoopStmt>(); around_it && k < at && p_.axis(around_it->axis).reduce) {
      const Known around = middle(path, k);
      partial = partial || trips(*path[k], around) > 1;
    }
  }
  if (const LoopStmt* l = s.as<LoopStmt>()) f.name = p_.axis(l->axis).name, f.kind = l->kind, f.trips = trips(s, known);
  std::map<Id, Touched> all;
  std::set<Id> inside;
  Known within = known;
  made_.clear();
  touch(s, nest, within, partial, all, inside);
  for (const auto& [id, t] : all) {
    const ir::Buffer& b = p_.buffer(id);
    BufferFigures one;
    one.buffer = id, one.loaded = t.loaded && !made_.count(b.stage), one.stored = t.stored, one.guessed = t.guessed;
    one.inside = inside.count(id) != 0;
    double elements = 1;
    for (const Values& v : t.box) elements *= v.count;
    one.elements = std::min(elements, t.elements);
    one.bytes = std::min(lines(b, t.box, within), t.bytes);
    if (one.inside) {  // its storage is used again and again, whatever its coordinates
      const double stored = storage(b);
      one.elements = std::min(one.elements, stored);
      one.bytes = std::min(one.bytes, std::ceil(stored * bytes_of(b.type) / line_bytes) * line_bytes);
    }
    f.buffers.push_back(one);
  }
  return f;
}

// The loops of the roots that `vector` (or the first loop) shares iterations with, taken out of the list by the caller; visited
// one by one, the vector's lanes last.
Figures::Loops Figures::points(std::vector<const Stmt*> loops, const Stmt& nest, const Stmt* vector,
                               const Known& around) const {
  if (const auto lanes = std::find(loops.begin(), loops.end(), vector); lanes != loops.end())
    std::rotate(lanes, lanes + 1, loops.end());
  std::set<Id> roots;
  for (const Stmt* l : loops)
    for (Id r : ir::roots_of(p_, l->get<LoopStmt>().axis)) roots.insert(r);
  struct Root {
    Expr value;
    std::int64_t extent;
  };
  std::vector<Root> inside;
  for (const ir::Root& r : nest.get<NestStmt>().roots)
    if (roots.count(r.axis))
      if (const auto extent = number(r.extent, around)) inside.push_back({ir::axis_value(p_, r.axis), *extent});
  // how many iterations of each loop are visited: all, or of the longest both ends
  std::vector<double> visits;
  Known first = around;
  for (const Stmt* l : loops) {
    const Values v = range(*l, first);
    visits.push_back(std::max(1.0, static_cast<double>(v.high - v.low + 1)));
    first[l->get<LoopStmt>().axis] = Values::one(v.low);
  }
  constexpr std::int64_t ends = 32;
  std::vector<bool> short_of(loops.size());
  const auto product = [&] { return std::accumulate(visits.begin(), visits.end(), 1.0, std::multiplies<>()); };
  while (product() > most_visits) {
    const auto longest = std::max_element(visits.begin(), visits.end());
    if (*longest <= 2 * ends + 1) break;
    short_of[static_cast<std::size_t>(longest - visits.begin())] = true;
    *longest = 2 * ends + 1;
  }
  Known known = around;
  const std::function<Loops(std::size_t, double)> visit = [&](std::size_t k, double weight) -> Loops {
    if (k == loops.size()) {
      bool active = true;
      for (const Root& r : inside) {
        const auto v = number(r.value, known);
        active = active && (!v || (*v >= 0 && *v < r.extent));
      }
      return {weight, active ? weight : 0, 0};
    }
    const Stmt& l = *loops[k];
    const Values v = range(l, known);
    const std::int64_t n = v.count == 0 ? 0 : v.high - v.low + 1;
    Loops sum;
    const auto one = [&](std::int64_t at, double times) {
      known[l.get<LoopStmt>().axis] = Values::one(v.low + at);
      const Loops below = visit(k + 1, weight * times);
      sum.slots += below.slots, sum.active += below.active, sum.full += below.full;
    };
    if (short_of[k] && n > 2 * ends + 1) {
      for (std::int64_t at = 0; at < ends; ++at) one(at, 1);
      one(n / 2, static_cast<double>(n - 2 * ends));
      for (std::int64_t at = n - ends; at < n; ++at) one(at, 1);
    } else {
      for (std::int64_t at = 0; at < n; ++at) one(at, 1);
    }
    if (&l == vector) sum.full = sum.active == sum.slots ? sum.active : 0;
    return sum;
  };
  return visit(0, 1);
}

void Figures::block(StageFigures& f, const std::vector<const Stmt*>& path, const PerPoint& n) {
  std::size_t at = path.size();
  while (!path[at - 1]->is<NestStmt>()) --at;
  const Stmt& nest = *path[at - 1];
  double runs = 1;
  for (std::size_t k = 0; k < at; ++k)
    if (path[k]->is<LoopStmt>()) runs *= trips(*path[k], middle(path, k));
  const Known around = middle(path, at);
  std::vector<const Stmt*> left(path.begin() + static_cast<std::ptrdiff_t>(at), path.end() - 1);
  double points = runs;
  const double before = f.points;
  std::vector<VectorFigures> vectors;
  while (!left.empty()) {  // loops that share no root have nothing to do with each other
    std::vector<const Stmt*> group{left.front()};
    std::set<Id> roots;
    for (bool more = true; more;) {
      more = false;
      for (const Stmt* l : group)
        for (Id r : ir::roots_of(p_, l->get<LoopStmt>().axis)) more = roots.insert(r).second || more;
      for (const Stmt* l : left) {
        const auto of = ir::roots_of(p_, l->get<LoopStmt>().axis);
        const bool shares = std::any_of(of.begin(), of.end(), [&](Id r) { return roots.count(r) != 0; });
        if (shares && std::find(group.begin(), group.end(), l) == group.end()) group.push_back(l), more = true;
      }
    }
    std::vector<const Stmt*> ordered;
    for (const Stmt* l : left)
      if (std::find(group.begin(), group.end(), l) != group.end()) ordered.push_back(l);
    std::erase_if(left, [&](const Stmt* l) { return std::find(group.begin(), group.end(), l) != group.end(); });
    const auto vector =
        std::find_if(ordered.begin(), ordered.end(), [](const Stmt* l) { return ir::is_loop(*l, ir::LoopKind::vectorized); });
    const Stmt* lanes = vector == ordered.end() ? nullptr : *vector;
    const Loops c = this->points(ordered, nest, lanes, around);
    points *= c.active;
    if (!lanes) continue;
    VectorFigures v;
    const ir::Axis& axis = p_.axis(lanes->get<LoopStmt>().axis);
    v.loop = axis.name;
    v.lanes = static_cast<std::int64_t>(trips(*lanes, around));
    if (const auto extent = number(axis.extent, around)) v.lanes = *extent;
    v.used = c.slots > 0 ? c.active / c.slots : 1, v.full = c.active > 0 ? c.full / c.active : 1;
    vectors.push_back(v);
  }
  f.points += points;
  f.fma += points * n.fma, f.add += points * n.add, f.mul += points * n.mul, f.other += points * n.other;
  // of several blocks (peeled loops): lanes by the points that they compute, loops of the largest
  for (const VectorFigures& v : vectors) {
    const auto same = std::find_if(f.vectors.begin(), f.vectors.end(), [&](const auto& o) { return o.loop == v.loop; });
    if (same == f.vectors.end()) {
      f.vectors.push_back(v);
      f.vectors.back().full *= f.points > 0 ? points / f.points : 1;
    } else if (f.points > 0) {
      const double slots = (before > 0 ? before / same->used : 0) + (v.used > 0 ? points / v.used : 0);
      same->full = (same->full * before + v.full * points) / f.points;
      same->used = slots > 0 ? f.points / slots : 1;
    }
  }
  for (VectorFigures& v : f.vectors)  // a block without this vector computes one element at a time
    if (std::none_of(vectors.begin(), vectors.end(), [&](const auto& o) { return o.loop == v.loop; }) && f.points > 0)
      v.full *= before / f.points;
  std::vector<LoopFigures> loops;
  double around_runs = 1;
  for (std::size_t k = 0; k + 1 < path.size(); ++k) {
    if (k + 1 >= at) loops.push_back(loop(path, k, around_runs));
    if (path[k]->is<LoopStmt>()) around_runs *= trips(*path[k], middle(path, k));
  }
  if (!f.loops.empty() && points <= before) return;
  f.loops = std::move(loops);
  f.at_once = 1;
  for (std::size_t k = path.size() - 1; k-- > at;) {
    const Stmt& l = *path[k];
    const LoopStmt& l_loop = l.get<LoopStmt>();
    if (l_loop.kind != ir::LoopKind::vectorized && l_loop.kind != ir::LoopKind::unrolled) break;
    const ir::Axis& axis = p_.axis(l_loop.axis);
    if (axis.reduce) continue;
    const double extent = static_cast<double>(number(axis.extent, around).value_or(1));
    f.at_once *= l_loop.kind == ir::LoopKind::unrolled ? extent : std::ceil(extent / target_.lanes(f.type));
  }
}

double Figures::storage(const ir::Buffer& b) const {
  const Stmt& alloc = *ir::alloc_of(p_, b.id);
  const auto path = ir::path_to(p_, alloc.id);
  const Known known = middle(path, path.size());
  double elements = 1;
  for (const Expr& e : analysis::physical_box(p_, alloc.id).extent)
    elements *=
        static_cast<double>(std::max<std::int64_t>(0, number(e, known).value_or(1)));  // an empty box may end before it begins
  return elements;
}

std::int64_t Figures::registers(const ir::Stage& stage, const StageFigures& f) const {
  std::int64_t all = 0;
  for (Id b : stage.buffers) {
    if (!(p_.buffer(b).scope == Scope::registers) || !ir::alloc_of(p_, b)) continue;
    const std::int64_t lanes =
        f.vectors.empty() ? 1 : std::max<std::int64_t>(f.vectors.back().lanes, 1);  // of a loop that never runs
    const double vector = static_cast<double>(std::min<std::int64_t>(lanes, target_.lanes(p_.buffer(b).type)));
    all += static_cast<std::int64_t>(std::ceil(storage(p_.buffer(b)) / vector));
  }
  return all;
}

// The points of the box that all nests of the stage cover together.
double Figures::distinct(const ir::Stage& stage) const {
  std::map<Id, Values> covered;
  for (const Stmt* nest : ir::nests_of(p_, stage.id)) {
    Known known = symbols_;
    for (const Stmt* s : ir::path_to(p_, nest->id))
      if (const LoopStmt* loop = s->as<LoopStmt>()) known[loop->axis] = range(*s, known);
    iterations(*nest, known);
    for (const ir::IterVar& v : stage.iters)
      if (const auto found = known.find(v.id); found != known.end()) {
        const auto [at, first] = covered.try_emplace(v.id, found->second);
        if (!first) at->second = joined(at->second, found->second);
      }
  }
  double points = 1;
  for (const auto& [id, v] : covered) points *= v.count;
  return points;
}

std::optional<StageFigures> Figures::of(const ir::Stage& stage) {
  StageFigures f;
  f.stage = stage.id, f.name = stage.name;
  f.type = p_.buffer(stage.buffers.front()).type;
  data_decides_ = false;
  f.at_most = !stage.domain.empty() || !stage.keep.empty();
  const PerPoint n = per_point(stage);
  for (const Stmt* b : ir::blocks_of(p_, stage.id)) {
    if (b->get<BlockStmt>().piece == ir::Piece::init) continue;
    block(f, ir::path_to(p_, b->id), n);
  }
  if (f.loops.empty()) return std::nullopt;
  const auto path = ir::path_to(p_, ir::nests_of(p_, stage.id).front()->id);
  for (std::size_t k = 0; k < path.size(); ++k)
    if (const LoopStmt* loop = path[k]->as<LoopStmt>()) {
      Id of = 0;
      for (std::size_t j = 0; j < k; ++j)
        if (const NestStmt* nest = path[j]->as<NestStmt>()) of = nest->stage;
      f.inside = p_.axis(loop->axis).name + " of " + p_.stage(of).name;
    }
  f.vector_registers = registers(stage, f);
  f.distinct = distinct(stage);
  f.data_decides = data_decides_;
  return f;
}

}  // namespace

double LoopFigures::footprint() const {
  double bytes = 0;
  for (const BufferFigures& b : buffers) bytes += b.bytes;
  return bytes;
}
double LoopFigures::loaded() const {
  double bytes = 0;
  for (const BufferFigures& b : buffers) bytes += b.loaded && !b.inside ? b.bytes * runs : 0;
  return bytes;
}
double LoopFigures::stored() const {
  double bytes = 0;
  for (const BufferFigures& b : buffers) bytes += b.stored && !b.inside ? b.bytes * runs : 0;
  return bytes;
}

std::vector<StageFigures> stage_figures(const Program& p, const Target& target, const std::map<Id, std::int64_t>& symbols) {
  Figures figures(p, target, symbols);
  std::vector<StageFigures> all;
  for (const auto& [id, stage] : p.stages) {
    if (ir::computed_by(stage.values)) continue;
    if (auto f = figures.of(stage)) all.push_back(std::move(*f));
  }
  return all;
}

}  // namespace ashlar::report
