#include "analysis/reads.h"

#include <algorithm>
#include <set>

#include "analysis/engine.h"

namespace ashlar::analysis {

using ir::Id;
using ir::Program;

namespace {

constexpr Id first_data_id = Id{1} << 62;

bool depends_on_data(const Expr& e) {
  bool found = false;
  ir::walk(e, [&](const Expr& x) {
    found |= ir::is(x, ir::Op::load) || (ir::is(x, ir::Op::var) && !x.type().is_index());
    return !found;
  });
  return found;
}

// The index with every part that is read from data, or chosen by it, as a variable that runs over the values it may have:
// nobody knows more when storage is laid out. The variables are put before those in `ranges`.
Expr without_data(const Expr& index, std::vector<VarRange>& ranges, const Facts& facts) {
  if (!depends_on_data(index)) return index;
  Interval values;
  if (ir::is(index, ir::Op::select) && depends_on_data(ir::args_of(index)[0])) {
    const Expr a = without_data(ir::args_of(index)[1], ranges, facts), b = without_data(ir::args_of(index)[2], ranges, facts);
    values = {ir::min(a, b), ir::max(a, b)};
  } else if (ir::is(index, ir::Op::load) || ir::is(index, ir::Op::cast) || !index.type().is_index()) {
    Engine engine(facts);
    const Range r = engine.range(engine.simplify(index));
    if (r.has_lo()) values.lo = ir::index(r.lo);
    if (r.has_hi()) values.hi = ir::index(r.hi);
  } else {
    std::vector<Expr> args;
    for (const Expr& a : ir::args_of(index)) args.push_back(without_data(a, ranges, facts));
    return ir::rebuild(index, args);
  }
  // The k-th such variable of an index; apart from the ids of a Program.
  const auto before = std::count_if(ranges.begin(), ranges.end(), [](const VarRange& v) { return v.id >= first_data_id; });
  const Id id = first_data_id + static_cast<Id>(before);
  ranges.insert(ranges.begin(), {id, values});
  return ir::var(id, "data");
}

}  // namespace

bool reads(const ir::Stage& stage, Id buffer) {
  for (const auto* list : {&stage.values, &stage.inits})
    for (const Expr& e : *list) {
      bool found = false;
      ir::walk(e, [&](const Expr& x) {
        found |= ir::is(x, ir::Op::load) && x.node()->id == buffer;
        return !found;
      });
      if (found) return true;
    }
  return false;
}

Interval index_interval(const Expr& index, std::vector<VarRange> ranges, const Facts& facts) {
  const Expr known = without_data(index, ranges, facts);
  return bounds_over(known, ranges, facts);
}

std::vector<Read> reads_of(const ir::Stage& stage) {
  std::vector<Read> result;
  struct Visitor {
    std::vector<Read>& result;
    std::vector<Expr> conditions;
    bool of_start;
    void visit(const Expr& e) {
      if (ir::is(e, ir::Op::select)) {
        const auto args = ir::args_of(e);
        visit(args[0]);
        conditions.push_back(args[0]);
        visit(args[1]);
        conditions.back() = ir::logic_not(args[0]);
        visit(args[2]);
        conditions.pop_back();
        return;
      }
      for (const Expr& a : ir::args_of(e)) visit(a);
      if (!ir::is(e, ir::Op::load)) return;
      for (const Read& r : result)
        if (ir::same(r.load, e) && r.of_start == of_start && r.conditions.size() == conditions.size() &&
            std::equal(conditions.begin(), conditions.end(), r.conditions.begin(), ir::ExprSame{}))
          return;
      result.push_back({e, conditions, of_start});
    }
  } visitor{result, {}, false};
  for (const Expr& e : stage.values) visitor.visit(e);
  visitor.of_start = true;
  for (const Expr& e : stage.inits) visitor.visit(e);
  return result;
}

std::vector<Id> consumers_first(const Program& p) {
  std::map<Id, std::vector<Id>> producers;  // stage -> stages it reads
  for (const auto& [id, stage] : p.stages) {
    auto& list = producers[id];
    for (const Read& r : reads_of(stage))
      if (Id s = p.buffer(r.load.node()->id).stage; s && s != id) list.push_back(s);
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

}  // namespace ashlar::analysis
