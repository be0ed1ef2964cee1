// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decides where stages that are not inlined (inlining.cpp) are computed: which of them inside the loops of a stage that reads
// them.
//
// Each group has a leader, whose loops all members share. A stage joins the group of its readers if they are all in the same
// group and its dimensions follow loops of the leader, so that consecutive iterations need different elements (for a stencil,
// mostly different ones).
#include <algorithm>
#include <cmath>
#include <set>

#include <ashlar/analysis/regions.h>

#include "schedules/src/draft.h"

namespace ashlar::schedules {
bool is_untouched(const ir::Program& p, const ir::Stage& s) {
  const auto nests = ir::nests_of(p, s.id);
  if (nests.size() != 1 || ir::path_to(p, nests.front()->id).size() != 1) return false;
  bool fresh = true;
  ir::walk(nests.front()->body(), [&](const ir::Stmt& x) {
    if (x.is<ir::NestStmt>()) fresh = false;
    if (const ir::LoopStmt* loop = x.as<ir::LoopStmt>())
      fresh = fresh && loop->kind == ir::LoopKind::serial && p.axis(loop->axis).origin == ir::Axis::Origin::root;
  });
  return fresh;
}

namespace {

Follow joined(const Follow& a, const Follow& b) {
  if (a.dim != b.dim || a.scale != b.scale) return {};
  return {a.dim, a.scale, std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

// For an index of a reader in the group: which of the leader's dimensions it follows.
Follow through(const Draft& d, const Group& g, const ir::Stage& reader, const Index& x) {
  if (x.symbolic || x.from_data) return {};
  const Sizes sizes = d.sizes();
  Follow f;
  f.lo = f.hi = static_cast<double>(x.constant);
  const auto spatial = spatial_of(reader);
  for (const auto& [v, times] : x.coefficients) {
    if (times == 0) continue;
    const auto dim = std::find_if(spatial.begin(), spatial.end(), [&](const auto& i) { return i.id == v; });
    if (dim == spatial.end()) {  // a term of a reduction: a window, where it is small
      const auto extent = sizes.constant_extent(reader, v);
      if (!extent || *extent > 64) return {};
      const double reach = static_cast<double>(times * (*extent - 1));
      (reach < 0 ? f.lo : f.hi) += reach;
      continue;
    }
    if (f.dim >= 0 || times < 0) return {};
    const int k = static_cast<int>(dim - spatial.begin());
    if (reader.id == g.leader) {
      f.dim = k, f.scale = times;
      continue;
    }
    const Follow& own = g.follows.at(reader.id)[static_cast<std::size_t>(k)];
    if (own.dim < 0) return {};
    f.dim = own.dim, f.scale = times * own.scale;
    f.lo += static_cast<double>(times) * own.lo, f.hi += static_cast<double>(times) * own.hi;
  }
  for (const Id v : x.uses)
    if (!x.coefficients.count(v)) return {};
  return f;
}

}  // namespace

std::vector<Follow> follows_of(Draft& d, const Group& g, Id id) {
  const ir::Program& p = d.program();
  const ir::Stage& s = p.stage(id);
  std::vector<std::optional<Follow>> all(spatial_of(s).size());
  for (const Id r : readers_of(p, s))
    for (const Reading& read : readings_of(p, p.stage(r))) {
      if (read.producer != id) continue;
      for (std::size_t k = 0; k < all.size(); ++k) {
        const Follow f = through(d, g, p.stage(r), read.at[k]);
        all[k] = all[k] ? joined(*all[k], f) : f;
      }
    }
  std::vector<Follow> result;
  for (const auto& f : all) result.push_back(f.value_or(Follow{}));
  return result;
}

namespace {

// Whether the columns of a product are read out of order, y(w) = z(w % 2, w / 2), so that no loop of the reader covers a tile
// of it.
bool is_rearranged(Draft& d, const ir::Stage& s) {
  const Classified& c = d.family(s.id);
  if (c.family != Family::matmul || c.columns == 0) return false;
  const auto dims = spatial_of(s);
  const auto columns = std::find_if(dims.begin(), dims.end(), [&](const auto& v) { return v.id == c.columns; }) - dims.begin();
  for (const Id r : readers_of(d.program(), s))
    for (const Reading& read : readings_of(d.program(), d.stage(r)))
      if (read.producer == s.id && read.at[static_cast<std::size_t>(columns)].bent) return true;
  return false;
}

// `at_root`: stages that lead their own group, because they fit no loop of their readers.
std::vector<Group> grouped(Draft& d, const std::set<Id>& at_root) {
  const ir::Program& p = d.program();
  const Sizes sizes = d.sizes();
  std::vector<Group> groups;
  std::map<Id, std::size_t> group;
  for (const Id id : analysis::consumers_first(p)) {
    const ir::Stage& s = p.stage(id);
    if (!is_untouched(p, s)) continue;
    const Classified& c = d.family(id);
    const std::vector<Id> readers = readers_of(p, s);
    const bool alone = at_root.count(id) || is_output(p, s) || c.family == Family::external || c.family == Family::recurrence ||
                       c.family == Family::scatter || c.family == Family::full_reduction || is_rearranged(d, s);
    std::optional<std::size_t> joins;
    for (const Id r : readers) {
      const auto at = group.find(r);
      if (alone || at == group.end() || (joins && *joins != at->second)) {
        joins.reset();
        break;
      }
      joins = at->second;
    }
    if (joins) {
      Group& g = groups[*joins];
      const Family leading = d.family(g.leader).family;
      const std::vector<Follow> follows = follows_of(d, g, id);
      const auto dims = spatial_of(p.stage(g.leader));
      // The iterations of the leader that each compute something else of the stage.
      double apart = 1;
      for (const Follow& f : follows)
        if (f.dim >= 0) apart *= sizes.extent(p.stage(g.leader), dims[static_cast<std::size_t>(f.dim)].id);
      // Points of short rows are lanes of their own, not of a chunk of the leader's.
      const bool lanes = !follows.empty() && follows.back().dim + 1 == static_cast<int>(dims.size()) && takes_points(d, s);
      if (lanes || apart < 2 || leading == Family::external || leading == Family::recurrence || leading == Family::scatter ||
          leading == Family::full_reduction)
        joins.reset();
      else
        g.members.push_back(id), g.follows[id] = follows;
    }
    if (!joins) {
      group[id] = groups.size();
      groups.push_back({id, {}, {}});
    } else
      group[id] = *joins;
  }
  return groups;
}

}  // namespace

std::vector<Group> groups_of(Draft& d) {
  std::set<Id> at_root;
  while (true) {
    std::vector<Group> groups = grouped(d, at_root);
    const std::size_t before = at_root.size();
    for (const Group& g : groups)
      for (const Id id : plan_of(d, g).outside) at_root.insert(id);
    if (at_root.size() == before) return groups;
  }
}

}  // namespace ashlar::schedules
