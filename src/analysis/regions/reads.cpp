// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/analysis/reads.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include <ashlar/ir/recurrence.h>

#include "analysis/simplify/engine.h"
#include <ashlar/ir/by_definition.h>
#include <ashlar/ir/ways.h>

#include "analysis/nodes.h"

namespace ashlar::analysis {

namespace {

constexpr Id first_data_id = Id{1} << 62;

}  // namespace

bool depends_on_data(const Expr& e) {
  bool found = false;
  ir::walk(e, [&](const Expr& x) {
    found |= ir::is(x, ir::Op::load) || (ir::is(x, ir::Op::var) && !x.type().is_index());
    return !found;
  });
  return found;
}

namespace {

// An element of an input, as it is or under in_range, at indices that are the same while the variables run: with those; else
// empty.
Expr held(const Program& p, const Expr& e, const std::vector<VarRange>& ranges, const Facts& facts) {
  const auto args = ir::args_of(e);
  if (ir::is(e, ir::Op::cast) || ir::is(e, ir::Op::in_range)) {
    std::vector<Expr> inner(args.begin(), args.end());
    inner[0] = held(p, args[0], ranges, facts);
    return inner[0].empty() ? Expr() : ir::rebuild(e, inner);
  }
  if (!ir::is(e, ir::Op::load)) return {};
  const ir::Buffer& table = p.buffer(e.node()->id);
  if (table.stage) return {};
  std::vector<Expr> at;
  for (std::size_t d = 0; d < args.size(); ++d) {
    if (depends_on_data(args[d])) return {};
    const Interval i = bounds_over(args[d], ranges, facts);
    if (!i.bounded() || !ir::same(simplify(i.lo, facts), simplify(i.hi, facts))) return {};
    at.push_back(simplify(i.lo, facts));
    if (!can_prove(ir::ge(at.back(), ir::index(0)), facts) || !can_prove(ir::lt(at.back(), table.extents[d]), facts)) return {};
  }
  return ir::load(table.id, table.name, table.type, at, e.node()->where);
}

// Data integers as the indices that they are, where they do not wrap: with the parts that bound them in sight.
Expr lifted(const Expr& index, const Facts& facts) {
  if (!depends_on_data(index)) return index;
  try {
    Engine engine(facts);
    engine.lift_data();
    return engine.simplify(index);
  } catch (const Overflow&) { return index; }
}

Expr without(const Program* tables, const Expr& index, std::vector<VarRange>& ranges, const Facts& facts) {
  if (!depends_on_data(index)) return index;
  Interval values;
  if (ir::is(index, ir::Op::select) && depends_on_data(ir::args_of(index)[0])) {
    const Expr a = without(tables, ir::args_of(index)[1], ranges, facts),
               b = without(tables, ir::args_of(index)[2], ranges, facts);
    values = {ir::min(a, b), ir::max(a, b)};
  } else if (const Expr element = tables && index.type().is_index() ? held(*tables, index, ranges, facts) : Expr();
             !element.empty()) {
    values = {element, element};
  } else if (ir::is(index, ir::Op::load) || ir::is(index, ir::Op::cast) || !index.type().is_index()) {
    Engine engine(facts);
    const Range r = engine.range(engine.simplify(index));
    if (r.has_lo()) values.lo = ir::index(r.lo);
    if (r.has_hi()) values.hi = ir::index(r.hi);
  } else {
    std::vector<Expr> args;
    for (const Expr& a : ir::args_of(index)) args.push_back(without(tables, a, ranges, facts));
    return ir::rebuild(index, args);
  }
  // The k-th such variable of an index; apart from the ids of a Program.
  const auto before = std::count_if(ranges.begin(), ranges.end(), [](const VarRange& v) { return v.id >= first_data_id; });
  const Id id = first_data_id + static_cast<Id>(before);
  ranges.insert(ranges.begin(), {id, values});
  return ir::var(id, "data");
}

}  // namespace

Expr without_data(const Expr& index, std::vector<VarRange>& ranges, const Facts& facts) {
  return without(nullptr, lifted(index, facts), ranges, facts);
}

Expr with_held_tables(const Program& p, const Expr& index, std::vector<VarRange>& ranges, const Facts& facts) {
  return without(&p, lifted(index, facts), ranges, facts);
}

Buffers buffers_read(const ir::Stage& stage) {
  thread_local ir::ByDefinition<std::vector<Id>> known;
  return Buffers(known.of(stage, [&] {
    std::vector<Id> found;
    ir::each_formula(stage, [&](const Expr& e) {
      ir::walk(e, [&](const Expr& x) {
        if (ir::is(x, ir::Op::load)) found.push_back(x.node()->id);
        return true;
      });
    });
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }));
}

Interval index_interval(const Expr& index, std::vector<VarRange> ranges, const Facts& facts) {
  const Expr known = without_data(index, ranges, facts);
  return bounds_over(known, ranges, facts);
}

namespace {
std::vector<Read> find_reads(const ir::Stage& stage) {
  std::vector<Read> result;
  std::unordered_multimap<std::uint64_t, std::size_t> known;  // by the hash of the load
  const auto visit = [&](const std::vector<const Expr*>& roots, const ir::Way& base, bool of_start, Id bounds) {
    for (const ir::ReachedLoad& reached : ir::reached_loads(roots, base))
      for (const ir::Way& way : reached.ways) {
        const auto [first, last] = known.equal_range(reached.load->node()->hash);
        if (std::any_of(first, last, [&](const auto& entry) {
              const Read& r = result[entry.second];
              return r.of_start == of_start && r.bounds == bounds && ir::same(r.load, *reached.load) &&
                     std::equal(way.begin(), way.end(), r.conditions.begin(), r.conditions.end(), ir::ExprSame{});
            }))
          continue;
        known.emplace(reached.load->node()->hash, result.size());
        result.push_back({*reached.load, way, of_start, bounds});
      }
  };
  const auto pointers = [](const std::vector<Expr>& list, std::vector<const Expr*> to) {
    for (const Expr& e : list) to.push_back(&e);
    return to;
  };
  ir::Way kept;
  if (!stage.keep.empty()) {
    visit({&stage.keep}, {}, false, 0);
    kept.push_back(stage.keep);
  }
  visit(pointers(stage.targets, pointers(stage.values, {})), kept, false, 0);
  visit(pointers(stage.inits, {}), {}, true, 0);
  for (const ir::IterVar& v : stage.iters)
    for (const Expr* bound : {&v.begin, &v.end})
      if (!bound->empty()) visit({bound}, {}, false, v.id);
  return result;
}
}  // namespace

std::vector<Read> reads_of(const ir::Stage& stage) {
  thread_local ir::ByDefinition<std::vector<Read>> known;
  return *known.of(stage, [&] { return find_reads(stage); });
}

bool happens_in(const Read& r, const ir::Stmt& block) {
  const ir::BlockStmt& leaf = block.get<ir::BlockStmt>();
  using Piece = ir::Piece;
  if (leaf.piece == Piece::init) return r.of_start;
  if (leaf.piece == Piece::begin) return false;
  if (leaf.piece == Piece::combine) return r.of_start && leaf.first_stores;
  return !r.of_start || leaf.piece == ir::Piece::whole || leaf.first_stores;
}

std::vector<Id> consumers_first(const Program& p) {
  const std::map<Id, Id> around = ir::recurrences_around(p);  // what is inside of a recurrence is computed for it
  std::map<Id, std::vector<Id>> producers;                    // stage -> stages it reads
  for (const auto& [id, stage] : p.stages) {
    auto& list = producers[id];
    for (Id buffer : buffers_read(stage))
      if (Id s = p.buffer(buffer).stage; s && s != id)
        if (const auto it = around.find(id); it == around.end() || it->second != s) list.push_back(s);
  }
  std::vector<Id> order;
  std::set<Id> done;
  // producers first, iteratively; then reversed
  for (const auto& entry : producers) {
    std::vector<std::pair<Id, std::size_t>> stack{{entry.first, 0}};
    while (!stack.empty()) {
      auto& [id, next] = stack.back();
      if (next == 0 && done.count(id)) {
        stack.pop_back();
        continue;
      }
      if (next < producers[id].size()) {
        const Id child = producers[id][next++];
        if (!done.count(child)) stack.push_back({child, 0});
      } else {
        if (done.insert(id).second) order.push_back(id);
        stack.pop_back();
      }
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

namespace {
bool same_node(const Expr& x, const Expr& y) { return x.node() == y.node(); }
bool same_list(const std::vector<Expr>& x, const std::vector<Expr>& y) {
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), same_node);
}
}  // namespace

bool same_definition(const ir::Stage& s, const ir::Stage& t) {
  return s.buffers == t.buffers && same_list(s.values, t.values) && same_list(s.inits, t.inits) &&
         same_list(s.domain, t.domain) && same_list(s.targets, t.targets) && same_node(s.keep, t.keep) &&
         s.has_fill == t.has_fill && same_node(s.fill, t.fill) && s.reducer.kind == t.reducer.kind &&
         same_list(s.reducer.combine, t.reducer.combine) &&
         std::equal(s.iters.begin(), s.iters.end(), t.iters.begin(), t.iters.end(),
                    [](const ir::IterVar& i, const ir::IterVar& j) {
                      return i.id == j.id && i.kind == j.kind && same_node(i.begin, j.begin) && same_node(i.end, j.end);
                    });
}

bool same_definition(const ir::Buffer& s, const ir::Buffer& t) {
  return s.stage == t.stage && s.role == t.role && s.type == t.type && s.rank == t.rank && same_list(s.extents, t.extents);
}

bool same_arguments(const ir::Program& a, const ir::Program& b) {
  const auto same_symbol = [](const auto& x, const auto& y) {
    return x.first == y.first && x.second.min == y.second.min && x.second.max == y.second.max &&
           x.second.multiple_of == y.second.multiple_of;
  };
  const auto same_key = [](const auto& x, const auto& y) { return x.first == y.first; };
  const auto same_argument = [](const auto& x, const auto& y) { return x.id == y.id && x.kind == y.kind; };
  return std::equal(a.symbols.begin(), a.symbols.end(), b.symbols.begin(), b.symbols.end(), same_symbol) &&
         std::equal(a.scalars.begin(), a.scalars.end(), b.scalars.begin(), b.scalars.end(), same_key) &&
         std::equal(a.arguments.begin(), a.arguments.end(), b.arguments.begin(), b.arguments.end(), same_argument) &&
         same_list(a.assumptions, b.assumptions);
}

bool same_definitions(const ir::Program& a, const ir::Program& b) {
  const auto same = [](const auto& x, const auto& y) { return x.first == y.first && same_definition(x.second, y.second); };
  return same_arguments(a, b) && std::equal(a.stages.begin(), a.stages.end(), b.stages.begin(), b.stages.end(), same) &&
         std::equal(a.buffers.begin(), a.buffers.end(), b.buffers.begin(), b.buffers.end(), same);
}

}  // namespace ashlar::analysis
