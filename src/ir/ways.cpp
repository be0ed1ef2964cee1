// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ir/ways.h>

#include <algorithm>

#include <ashlar/ir/work.h>

namespace ashlar::ir {

namespace {

bool same(const Way& a, const Way& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end(), ExprSame{}); }
bool holds(const Way& way, const Expr& c) {
  return std::any_of(way.begin(), way.end(), [&](const Expr& x) { return ir::same(x, c); });
}
bool opposite(const Expr& a, const Expr& b) {
  return (is(a, Op::logic_not) && ir::same(args_of(a)[0], b)) || (is(b, Op::logic_not) && ir::same(args_of(b)[0], a));
}

}  // namespace

void Ways::add(const Way& way) {
  if (std::any_of(ways_.begin(), ways_.end(), [&](const Way& w) { return same(w, way); })) return;
  ways_.push_back(way);
  if (ways_.size() <= most) return;
  while (join_two()) {}
  if (ways_.size() <= most) return;
  Way common;
  for (const Expr& c : ways_[0])
    if (std::all_of(ways_.begin(), ways_.end(), [&](const Way& w) { return holds(w, c); })) common.push_back(c);
  ways_ = {common};
}

// If one of two ways implies the other, the wider one suffices; (p, c) and (p, !c) together are p.
bool Ways::join_two() {
  for (std::size_t a = 0; a < ways_.size(); ++a)
    for (std::size_t b = 0; b < ways_.size(); ++b) {
      if (a == b || ways_[a].size() > ways_[b].size()) continue;
      std::size_t missing = 0, count = 0;  // conditions of a that b lacks
      for (std::size_t k = 0; k < ways_[a].size() && count < 2; ++k)
        if (!holds(ways_[b], ways_[a][k])) missing = k, ++count;
      if (count > 1) continue;
      if (count == 1) {
        const Expr c = ways_[a][missing];
        if (std::none_of(ways_[b].begin(), ways_[b].end(), [&](const Expr& x) { return opposite(x, c); })) continue;
        if (ways_[a].size() != ways_[b].size()) continue;
        ways_[a].erase(ways_[a].begin() + static_cast<std::ptrdiff_t>(missing));
      }
      ways_.erase(ways_.begin() + static_cast<std::ptrdiff_t>(b));
      return true;
    }
  return false;
}

std::vector<ReachedLoad> reached_loads(std::span<const Expr* const> roots, const Way& base) {
  std::vector<const Expr*> order;  // operands before what uses them
  std::unordered_map<const Node*, std::size_t> at;
  const auto matters = [](const Expr& e) { return !args_of(e).empty() || is(e, Op::load); };
  std::vector<std::pair<const Expr*, bool>> pending;
  for (const Expr* root : roots) {
    if (!matters(*root)) continue;
    pending.emplace_back(root, false);
    while (!pending.empty()) {
      const auto [e, left] = pending.back();
      pending.pop_back();
      ++work.walked;
      if (left) {
        at.at(e->node()) = order.size();
        order.push_back(e);
        continue;
      }
      if (!at.emplace(e->node(), 0).second) continue;
      pending.emplace_back(e, true);
      const auto args = args_of(*e);
      for (std::size_t k = args.size(); k-- > 0;)
        if (matters(args[k])) pending.emplace_back(&args[k], false);
    }
  }
  std::vector<Ways> ways(order.size());
  for (const Expr* root : roots)
    if (matters(*root)) ways[at.at(root->node())].add(base);
  for (std::size_t k = order.size(); k-- > 0;) {
    const auto args = args_of(*order[k]);
    const bool choice = is(*order[k], Op::select);
    for (std::size_t a = 0; a < args.size(); ++a) {
      if (!matters(args[a])) continue;
      Ways& below = ways[at.at(args[a].node())];
      if (!choice || a == 0) {
        for (const Way& w : ways[k].all()) below.add(w);
        continue;
      }
      const Expr c = a == 1 ? args[0] : logic_not(args[0]);
      for (Way w : ways[k].all()) {
        w.push_back(c);
        below.add(w);
      }
    }
  }
  std::vector<ReachedLoad> loads;
  for (std::size_t k = 0; k < order.size(); ++k)
    if (is(*order[k], Op::load)) loads.push_back({order[k], ways[k].all()});
  return loads;
}

}  // namespace ashlar::ir
