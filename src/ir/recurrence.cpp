// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ir/recurrence.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <ashlar/ir/by_definition.h>
#include "ir/distance.h"
#include <ashlar/ir/ways.h>

namespace ashlar::ir {

std::shared_ptr<const std::vector<Id>> buffers_loaded(const Stage& s) {
  thread_local ByDefinition<std::vector<Id>> known;
  return known.of(s, [&] {
    std::vector<Id> found;
    std::unordered_set<Id> met;
    const auto look = [&](const Expr& e) {
      walk(e, [&](const Expr& x) {
        if (is(x, Op::load) && met.insert(x.node()->id).second) found.push_back(x.node()->id);
        return true;
      });
    };
    for (const auto* list : {&s.values, &s.inits, &s.targets})
      for (const Expr& e : *list) look(e);
    look(s.keep);
    return found;
  });
}

namespace {

// e = constant + sum of coefficient * var, with at most the one variable asked for; false where it is anything else.
bool read_linear(const Expr& e, Id id, std::int64_t factor, std::int64_t& constant, std::int64_t& coefficient) {
  const auto args = args_of(e);
  std::int64_t v = 0;
  switch (op_of(e)) {
    case Op::int_const:
      constant += factor * e.node()->i;
      return true;
    case Op::var:
      coefficient += factor;
      return e.node()->id == id;
    case Op::add:
      return read_linear(args[0], id, factor, constant, coefficient) && read_linear(args[1], id, factor, constant, coefficient);
    case Op::sub:
      return read_linear(args[0], id, factor, constant, coefficient) &&
             read_linear(args[1], id, -factor, constant, coefficient);
    case Op::neg:
      return read_linear(args[0], id, -factor, constant, coefficient);
    case Op::mul:
      for (std::size_t k = 0; k < 2; ++k)
        if (is_int(args[k], &v)) return read_linear(args[1 - k], id, factor * v, constant, coefficient);
      return false;
    default:
      return false;
  }
}

}  // namespace

std::optional<std::int64_t> distance_before(const Expr& index, Id var) {
  std::int64_t constant = 0, coefficient = 0;
  if (!read_linear(index, var, 1, constant, coefficient) || coefficient != 1) return std::nullopt;
  return -constant;
}

namespace {

bool among(const std::vector<Id>& list, Id id) { return std::find(list.begin(), list.end(), id) != list.end(); }

// `computed`: holds at any point for which the load is computed; so do the conditions `known`.
void add_read(const Stage& stage, const Expr& load, const Expr& computed, const std::vector<Expr>& known,
              std::vector<SelfRead>& result) {
  SelfRead r{load, {}, {}, computed, known};
  const Apart apart(known);
  for (std::size_t d = 0; d < args_of(load).size(); ++d) {
    const IterVar& v = stage.iters.at(d);
    const Expr &index = args_of(computed)[d], here = var(v.id, v.name);
    auto back = distance_before(args_of(load)[d], v.id);
    if (back && v.descending) back = -*back;
    r.back.push_back(back);
    r.least.push_back(back ? back : v.descending ? apart.least(index, here) : apart.least(here, index));
  }
  if (std::none_of(result.begin(), result.end(), [&](const SelfRead& o) { return same(o.load, load) && o.least == r.least; }))
    result.push_back(std::move(r));
}

// What holds at the point of a stage that `at` gives, of its terms or of the point alone.
void know_point(const Stage& stage, const Substitution& at, bool terms, std::vector<Expr>& known) {
  const auto add = [&](const Expr& e) { known.push_back(at.empty() ? e : substitute(e, at)); };
  for (const IterVar& v : stage.iters)
    if (!v.begin.empty() && (terms || v.kind != IterKind::reduce)) {
      add(ge(var(v.id, v.name), v.begin));
      add(lt(var(v.id, v.name), v.end));
    }
  if (terms || !stage.is_reduction())
    for (const Expr& atom : stage.domain) add(atom);
}

struct Known {
  std::vector<Expr> of_the_point, on_the_way;  // those of the selects on the way to a load as well
};

// The same at the point that `at` gives, with what is known there on each way to it: f(load, known).
template <class Wanted, class F>
void each_load_known(const Stage& stage, const Substitution& at, const std::vector<Expr>& around, Wanted&& wanted, F&& f) {
  const auto visit = [&](const std::vector<const Expr*>& roots, bool terms) {
    std::vector<Expr> point = around;
    know_point(stage, at, terms, point);
    for (const ReachedLoad& reached : reached_loads(roots, {})) {
      if (!wanted(*reached.load)) continue;
      for (const Way& way : reached.ways) {
        Known known{point, point};
        for (const Expr& c : way) known.on_the_way.push_back(at.empty() ? c : substitute(c, at));
        f(*reached.load, known);
      }
    }
  };
  std::vector<const Expr*> terms, starts;
  for (const auto* list : {&stage.values, &stage.targets})
    for (const Expr& e : *list) terms.push_back(&e);
  if (!stage.keep.empty()) terms.push_back(&stage.keep);
  for (const Expr& e : stage.inits) starts.push_back(&e);
  visit(terms, true);
  visit(starts, false);
}

Id writer_of(const Program& p, Id buffer) {
  const auto it = p.buffers.find(buffer);
  return it == p.buffers.end() ? 0 : it->second.stage;
}
Id stage_of(const Program& p, const Expr& load) { return writer_of(p, load.node()->id); }

// What runs while a step is computed: all variables but symbols, scalars, and those along which the recurrence runs.
struct Running {
  const Program& p;
  const Stage& recurrence;

  bool operator()(Id id) const {
    return !p.symbols.count(id) && !p.scalars.count(id) &&
           std::none_of(recurrence.along.begin(), recurrence.along.end(),
                        [&](std::size_t d) { return recurrence.iters[d].id == id; });
  }
  bool any_in(const Expr& e) const {
    const auto vars = free_vars(e);
    return std::any_of(vars.begin(), vars.end(), *this);
  }
};

// A variable as `e` has it.
Expr variable_in(const Expr& e, Id id) {
  Expr found;
  walk(e, [&](const Expr& x) {
    if (is(x, Op::var) && x.node()->id == id) found = x;
    return found.empty();
  });
  return found;
}

// An index in which what runs has variables of its own, with what is known of them. The points for which a stage inside of a
// recurrence is computed in a step are a box, so its indices run apart from each other.
//
//   s is read at (t, j, j)      along t: s is computed at (t, j', j"), with what is known of j known of both
Expr with_copies(const Expr& index, const Running& runs, const std::vector<Expr>& all, std::vector<Expr>& known) {
  Substitution copies;
  const auto copied = [&](Id id) {
    return std::any_of(copies.begin(), copies.end(), [&](const auto& c) { return c.first == id; });
  };
  const auto note = [&](const Expr& e) {
    const std::size_t before = copies.size();
    for (Id id : free_vars(e))
      if (const Expr v = variable_in(e, id); runs(id) && !copied(id))
        copies.emplace_back(id, var(fresh_id(), v.node()->name, v.type()));
    return copies.size() > before;
  };
  const auto about = [&](const Expr& c) {
    const auto vars = free_vars(c);
    return std::any_of(vars.begin(), vars.end(), copied);
  };
  note(index);
  if (copies.empty()) return index;
  for (bool more = true; more;) {
    more = false;
    for (const Expr& c : all)
      if (about(c)) more = note(c) || more;
  }
  for (const Expr& c : all)
    if (about(c)) known.push_back(substitute(c, copies));
  return substitute(index, copies);
}

// A point of a stage inside: the one that its reader reads, and any one of the box that is computed for the step.
struct At {
  Substitution read, computed;
};

// What `reader`, at the points that `at` gives, reads of the recurrence.
void add_reads_through(const Program& p, const Stage& recurrence, const std::vector<Id>& inside, const Stage& reader,
                       const At& at, const std::vector<Expr>& around, std::vector<SelfRead>& result) {
  const Running runs{p, recurrence};
  const auto wanted = [&](const Expr& load) {
    const Id id = stage_of(p, load);
    return id == recurrence.id || among(inside, id);
  };
  each_load_known(reader, at.computed, around, wanted, [&](const Expr& load, const Known& known) {
    const Expr read = at.read.empty() ? load : substitute(load, at.read),
               computed = at.computed.empty() ? load : substitute(load, at.computed);
    const Id id = stage_of(p, load);
    if (id == recurrence.id) return add_read(recurrence, read, computed, known.on_the_way, result);
    // It is computed whatever the conditions on the way to its reader say.
    const Stage& next = p.stage(id);
    At there;
    std::vector<Expr> of_step;
    for (const Expr& c : known.of_the_point)
      if (!runs.any_in(c)) of_step.push_back(c);
    for (std::size_t d = 0; d < args_of(load).size(); ++d) {
      const Id v = next.iters.at(d).id;
      there.read.emplace_back(v, args_of(read)[d]);
      there.computed.emplace_back(v, with_copies(args_of(computed)[d], runs, known.of_the_point, of_step));
    }
    add_reads_through(p, recurrence, inside, next, there, of_step, result);
  });
}

}  // namespace

std::vector<SelfRead> self_reads(const Stage& stage) {
  std::vector<SelfRead> result;
  if (stage.is_recurrence())
    each_load_known(
        stage, {}, {}, [&](const Expr& e) { return among(stage.buffers, e.node()->id); },
        [&](const Expr& e, const Known& known) { add_read(stage, e, e, known.on_the_way, result); });
  return result;
}

std::vector<SelfRead> self_reads(const Program& p, const Stage& stage) {
  std::vector<SelfRead> result;
  if (stage.is_recurrence()) add_reads_through(p, stage, stages_inside(p, stage), stage, {}, {}, result);
  return result;
}

std::vector<Id> stages_inside(const Program& p, const Stage& recurrence) {
  std::vector<Id> found;
  if (!recurrence.is_recurrence()) return found;
  std::map<Id, bool> reads;  // the stages that it reads: does one read it?
  const auto visit = [&](const auto& self, const Stage& s) -> bool {
    bool any = false;
    std::vector<Id> producers;
    const auto loaded = buffers_loaded(s);
    for (const Id b : *loaded) {
      const Id id = writer_of(p, b);
      if (id == recurrence.id)
        any = any || s.id != recurrence.id;
      else if (id && !among(producers, id))
        producers.push_back(id);
    }
    for (Id id : producers) {
      if (reads.emplace(id, false).second && self(self, p.stage(id))) {
        reads[id] = true;
        found.push_back(id);
      }
      any = any || reads[id];
    }
    return any;
  };
  visit(visit, recurrence);
  return found;
}

namespace {

// The stages that need themselves through others (Tarjan's strongly connected components of more than one).
class Cycles {
 public:
  explicit Cycles(const Program& p) : p_(p) {
    for (const auto& [id, stage] : p.stages)
      if (!met_.count(id)) visit(stage);
  }
  bool has(Id stage) const { return found_.count(stage) > 0; }

 private:
  struct Met {
    int order = 0, lowest = 0;
    bool open = true;
  };

  int visit(const Stage& s) {
    const int order = static_cast<int>(met_.size());
    Met& own = met_.emplace(s.id, Met{order, order, true}).first->second;
    open_.push_back(s.id);
    const auto loaded = buffers_loaded(s);
    for (const Id b : *loaded) {
      const Id id = writer_of(p_, b);
      if (!id || id == s.id) continue;
      const auto at = met_.find(id);
      if (at == met_.end())
        own.lowest = std::min(own.lowest, visit(p_.stage(id)));
      else if (at->second.open)
        own.lowest = std::min(own.lowest, at->second.order);
    }
    if (own.lowest == own.order) {
      const bool alone = open_.back() == s.id;
      for (bool last = false; !last; open_.pop_back()) {
        last = open_.back() == s.id;
        met_.at(open_.back()).open = false;
        if (!alone) found_.insert(open_.back());
      }
    }
    return own.lowest;
  }

  const Program& p_;
  std::unordered_map<Id, Met> met_;
  std::vector<Id> open_;
  std::unordered_set<Id> found_;
};

}  // namespace

std::map<Id, Id> recurrences_around(const Program& p) {
  std::map<Id, Id> around;
  if (std::none_of(p.stages.begin(), p.stages.end(), [](const auto& s) { return s.second.is_recurrence(); })) return around;
  const Cycles cycles(p);
  for (const auto& [id, stage] : p.stages)
    if (stage.is_recurrence() && cycles.has(id))
      for (Id inside : stages_inside(p, stage)) around[inside] = id;
  return around;
}

bool lies_before(const SelfRead& r, std::span<const std::size_t> dimensions) {
  for (std::size_t d : dimensions) {
    if (!r.least.at(d) || *r.least[d] < 0) return false;
    if (*r.least[d] > 0) return true;
  }
  return false;
}

bool is_inside(const Stage& stage, const SelfRead& r, std::size_t d) {
  const Apart apart(r.known);
  const Expr& index = args_of(r.computed)[d];
  const auto above = apart.least(index, stage.iters[d].begin), below = apart.least(stage.iters[d].end, index);
  return above && below && *above >= 0 && *below >= 1;
}

namespace {
std::vector<std::size_t> loop_order(const Stage& stage, const std::vector<SelfRead>& reads) {
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < stage.iters.size(); ++k) order.push_back(k);
  if (std::all_of(reads.begin(), reads.end(), [&](const SelfRead& r) { return lies_before(r, order); })) return order;
  std::stable_partition(order.begin(), order.end(), [&](std::size_t k) {
    return std::find(stage.along.begin(), stage.along.end(), k) != stage.along.end();
  });
  std::copy(stage.along.begin(), stage.along.end(), order.begin());
  return order;
}
}  // namespace

std::vector<std::size_t> loop_order(const Stage& stage) { return loop_order(stage, self_reads(stage)); }
std::vector<std::size_t> loop_order(const Program& p, const Stage& stage) { return loop_order(stage, self_reads(p, stage)); }

}  // namespace ashlar::ir
