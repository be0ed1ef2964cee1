// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decides which stages are inlined: those for which computing a point at every read costs no more than storing and loading it.
// Consumers are decided before the stages that they read, so the readers of a stage are known to stay.
//
// A chain of stages that each read the previous one at their own point is decided link by link but inlined together, so that
// the stage that stays is rewritten only once.
//
//   out <- a <- b <- c      a is read by out; b will be, since a is inlined, and is read as often; then c
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <ashlar/analysis/regions.h>

#include <ashlar/schedule/inline_together.h>
#include "schedules/src/costs.h"
#include "schedules/src/draft.h"

namespace ashlar::schedules {
namespace {

using namespace costs::inlining;
using costs::most_nodes;

// A clamped or divided index costs a few operations.
double bends_of(const ir::Program& p, const ir::Stage& s) {
  double n = 0;
  for (const Reading& r : readings_of(p, s))
    for (const Index& x : r.at) n += x.bent ? 2 : 0;
  return n;
}

// The reads of a stage once the stages in between are inlined.
struct Sites {
  int count = 0;
  double evaluations = 0;
  std::size_t nodes = 0;  // of its formula and its readers', at most
  bool product = false;   // a reader is one
  Id only = 0;            // the reader, where it reads the stage once and unconditionally
  std::size_t after = 0;  // of that reader's formula, at most, when the stage is in it
};

// The nodes that a formula adds to its only reader, which loads it once: the load disappears, and so do the variables, which
// are replaced by the reader's indices.
std::size_t added_nodes(const ir::Stage& s) {
  std::size_t n = 0;
  ir::walk(s.values.front(), [&](const Expr& e) {
    n += !(ir::is(e, ir::Op::var) &&
           std::any_of(s.iters.begin(), s.iters.end(), [&](const ir::IterVar& v) { return v.id == e.node()->id; }));
    return true;
  });
  return n - 1;
}

// A small table with a constant number of elements. With many readers, reading it dominates, so a Symbol of the readers is
// assumed to be large.
//
//   curve(b) for 256 values, y(n) = curve(x(n))      computed 256 times, and not N times, should N be more
bool is_small_table(const Draft& d, const ir::Stage& s) {
  double points = 1;
  for (const ir::IterVar& v : spatial_of(s)) {
    const auto n = d.sizes().constant_extent(s, v.id);
    if (!n) return false;
    points *= static_cast<double>(*n);
  }
  return points <= small_table;
}

// If the first steps of a recurrence and its later steps both read a stage at their own point, that is one read. If the steps
// are neighbors in memory, they wait for one another, and anything that does not wait is better computed apart from them.
bool again_at_own_point(const ir::Stage& reader, const Reading& read, bool& met) {
  if (!reader.is_recurrence() || reader.along.back() + 1 == reader.iters.size() || read.at.size() != reader.iters.size())
    return false;
  for (std::size_t k = 0; k < read.at.size(); ++k)
    if (!read.at[k].plain(reader.iters[k].id)) return false;
  return std::exchange(met, true);
}

Sites sites_of(Draft& d, const ir::Stage& s) {
  const ir::Program& p = d.program();
  const Sizes sizes = is_small_table(d, s) ? d.most() : d.sizes();
  Sites sites;
  bool plain = true;
  for (const Id r : readers_of(p, s)) {
    const ir::Stage& reader = p.stage(r);
    for (const Expr& e : reader.values) sites.nodes += ir::node_count(e);
    sites.product = sites.product || d.family(r).family == Family::matmul;
    bool met = false;
    for (const Reading& read : readings_of(p, reader)) {
      if (read.producer != s.id || again_at_own_point(reader, read, met)) continue;
      ++sites.count;
      sites.evaluations += sizes.points(reader) * (read.of_init ? 1 : sizes.terms(reader));
      plain = plain && !read.of_init && !read.chosen;
      sites.only = r;
    }
  }
  if (sites.count != 1 || !plain) sites.only = 0;
  sites.after = sites.nodes + added_nodes(s);
  sites.nodes += ir::node_count(s.values.front());
  return sites;
}

// Whether computing the stage at each read, as often as it is read, pays off.
bool worth_inlining(Draft& d, const ir::Stage& s, const Sites& sites, std::string& why) {
  if (sites.count == 0 || sites.nodes * static_cast<std::size_t>(sites.count) > most_nodes) return false;
  const double times = sites.evaluations / std::max(1.0, d.sizes().points(s)), cost = cost_of(s) + bends_of(d.program(), s);
  if (times * (cost - 1) > cost + memory_cost) return false;
  if (sites.product && times > 4 && cost > 1) return false;  // it does not belong into the innermost loop of a product
  why = "computed " + count(std::round(times * 10) / 10) + " times a point, " + count(cost) + " operations each";
  return true;
}

// Whether a stage reads another at its own point, once and unconditionally, and both are computed for the same box.
bool reads_own_point(const ir::Program& p, const ir::Stage& reader, const ir::Stage& s) {
  const auto same = [](const Expr& a, const Expr& b) {
    return a.empty() == b.empty() && (a.empty() || (ir::same(a, b) && ir::free_vars(a) == ir::free_vars(b)));
  };
  if (reader.iters.size() != s.iters.size() || !reader.domain.empty() || !s.domain.empty()) return false;
  for (std::size_t k = 0; k < s.iters.size(); ++k) {
    if (!same(reader.iters[k].begin, s.iters[k].begin) || !same(reader.iters[k].end, s.iters[k].end)) return false;
    for (const Expr* bound : {&s.iters[k].begin, &s.iters[k].end})
      if (!bound->empty())
        for (const Id v : ir::free_vars(*bound))
          if (!p.symbols.count(v)) return false;
  }
  const analysis::Read* found = nullptr;
  const auto reads = analysis::reads_of(reader);
  for (const analysis::Read& r : reads) {
    if (p.buffer(r.load.node()->id).stage != s.id) continue;
    if (found || r.of_start || r.bounds || !r.conditions.empty()) return false;
    found = &r;
  }
  if (!found) return false;
  const auto at = ir::args_of(found->load);
  for (std::size_t k = 0; k < at.size(); ++k)
    if (!ir::is(at[k], ir::Op::var) || at[k].node()->id != reader.iters[k].id) return false;
  return true;
}

class Inlining {
 public:
  explicit Inlining(Draft& d) : d_(d) {}

  void run() {
    for (bool again = true; again;) {
      done_ = 0;
      for (const Id id : analysis::consumers_first(d_.program())) consider(id);
      flush();
      again = done_ > 0;
    }
  }

 private:
  struct Decided {
    Id stage;
    std::string why;
  };

  bool may_be(Id id) {
    const auto at = d_.program().stages.find(id);
    if (at == d_.program().stages.end() || refused_.count(id)) return false;
    const ir::Stage& s = at->second;
    const Classified& c = d_.family(id);
    return !(s.is_reduction() || c.family == Family::external || c.family == Family::recurrence || s.buffers.size() != 1 ||
             is_output(d_.program(), s) || !is_untouched(d_.program(), s));
  }

  void consider(Id id) {
    if (!may_be(id)) return;
    std::optional<Sites> sites = through_decided(d_.stage(id));
    if (!sites) {  // its readers are not what they will be
      flush();
      if (!may_be(id)) return;
      sites = sites_of(d_, d_.stage(id));
    }
    std::string why;
    if (!worth_inlining(d_, d_.stage(id), *sites, why)) return;
    decided_.push_back({id, why});
    sites_[id] = *sites;
    for (const Id r : readers_of(d_.program(), d_.stage(id)))
      if (!sites_.count(r)) widened_.insert(r);
  }

  // The reads of a stage once all decisions have been carried out, if they can be predicted.
  std::optional<Sites> through_decided(const ir::Stage& s) {
    const std::vector<Id> readers = readers_of(d_.program(), s);
    const auto stays = [&](Id r) { return !sites_.count(r) && !widened_.count(r); };
    if (std::all_of(readers.begin(), readers.end(), stays)) return sites_of(d_, s);
    const auto link = readers.size() == 1 ? sites_.find(readers.front()) : sites_.end();
    if (link == sites_.end() || !link->second.only || !reads_own_point(d_.program(), d_.stage(link->first), s)) return {};
    Sites sites = link->second;
    sites.nodes = sites.after + ir::node_count(s.values.front()), sites.after += added_nodes(s);
    if (sites.nodes > most_nodes) return {};  // or fewer: some may be shared
    return sites;
  }

  void flush() {
    const std::vector<Decided> decided = std::exchange(decided_, {});
    sites_.clear(), widened_.clear();
    std::vector<Id> stages;
    for (const Decided& x : decided) stages.push_back(x.stage);
    if (stages.size() > 1 && together(stages)) {
      for (const Decided& x : decided) d_.done(x.stage, "inlined"), d_.why(x.stage, x.why), ++done_;
      return;
    }
    bool first = true;
    for (const Decided& x : decided) {
      std::string why = x.why;  // of the first, nothing was done before
      if (!first && (!may_be(x.stage) || !worth_inlining(d_, d_.stage(x.stage), sites_of(d_, d_.stage(x.stage)), why)))
        continue;
      first = false;
      d_.choice(x.stage);
      if (!d_.attempt(x.stage, "inlined", [&] { d_.handle(x.stage).inline_(d_.where); }, "stored"))
        refused_.insert(x.stage);
      else
        d_.why(x.stage, why), ++done_;
    }
  }

  bool together(const std::vector<Id>& stages) {
    Draft::Told before = d_.told();
    for (const Id id : stages) d_.choice(id);
    if (schedule::inline_together(d_.s, stages, d_.where)) return true;
    d_.take_back(std::move(before));
    return false;
  }

  Draft& d_;
  std::set<Id> refused_;
  std::vector<Decided> decided_;  // in order, and not done yet
  std::map<Id, Sites> sites_;     // of these
  std::set<Id> widened_;          // what they are to be computed in
  int done_ = 0;
};

}  // namespace

void inline_stages(Draft& d) { Inlining(d).run(); }

}  // namespace ashlar::schedules
