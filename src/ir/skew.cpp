// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ir/skew.h>

#include <algorithm>

namespace ashlar::ir {
namespace {

// factor = |f|, and whether f is negative.
struct Slope {
  Expr size;
  bool down;
};
Slope slope_of(const Axis& skewed) {
  std::int64_t f = 0;
  is_int(skewed.factor, &f);
  return {index(f < 0 ? -f : f), f < 0};
}

// The offset for a value t of the axis along which.
Expr offset_at(const Program& p, const Axis& skewed, const Expr& t) {
  const Slope f = slope_of(skewed);
  return mul(f.down ? sub(sub(p.axis(skewed.outer).extent, index(1)), t) : t, f.size);
}

bool is_split(const Axis& a) { return a.origin == Axis::Origin::split_outer || a.origin == Axis::Origin::split_inner; }

// An axis of a pair, and the pair's skewed axis: the same, or the axis is the one along which.
struct Member {
  Id axis, skewed;
};

std::vector<Member> members(const Program& p, Id leaf) {
  std::vector<Member> found;
  for (Id at = leaf;;) {
    const Axis& a = p.axis(at);
    if (a.origin == Axis::Origin::skewed) found.push_back({at, at});
    for (const auto& [id, y] : p.axes)
      if (y.origin == Axis::Origin::skewed && y.outer == at) found.push_back({at, id});
    if (!is_split(a) || a.tail == Tail::shift) return found;
    at = a.parent;
  }
}

struct Span {
  Expr begin, end;
};
Span only(const Expr& value) { return {value, add(value, index(1))}; }
Expr last_of(const Span& s) {
  return is(s.end, Op::add) && is_int(args_of(s.end)[1], 1) ? args_of(s.end)[0] : sub(s.end, index(1));
}

// The values of axes while the loops around stand where they do, and those inside run.
struct Reach {
  const Program& p;
  std::vector<Id> around;  // axes of the loops around
  Id hole;                 // counts as 0

  bool fixed(Id axis) const {
    const std::vector<Id> leaves = leaves_of(p, axis);
    return std::all_of(leaves.begin(), leaves.end(),
                       [&](Id l) { return std::find(around.begin(), around.end(), l) != around.end(); });
  }
  bool held(Id axis) const {
    const std::vector<Id> leaves = leaves_of(p, axis);
    return std::any_of(leaves.begin(), leaves.end(),
                       [&](Id l) { return std::find(around.begin(), around.end(), l) != around.end(); });
  }

  Span of(Id axis) const {
    if (axis == hole) return only(index(0));
    const Axis& a = p.axis(axis);
    if (fixed(axis)) return only(axis_value(p, axis));
    if (a.became.size() == 2 && p.axis(a.became[0]).tail != Tail::shift) {
      const Span o = of(a.became[0]), i = of(a.became[1]);
      const Expr& f = p.axis(a.became[0]).factor;
      return {add(mul(o.begin, f), i.begin), add(mul(last_of(o), f), i.end)};
    }
    return {index(0), a.extent};
  }

  // By how much `axis` grows with the hole, which is a part of it.
  Expr unit(Id axis) const {
    Expr u = index(1);
    for (Id at = hole; at != axis; at = p.axis(at).parent)
      if (p.axis(at).origin == Axis::Origin::split_outer) u = mul(u, p.axis(at).factor);
    return u;
  }
};

}  // namespace

Expr skew_offset(const Program& p, const Axis& skewed) { return offset_at(p, skewed, axis_value(p, skewed.outer)); }

Expr skewed_extent(const Program& p, const Axis& skewed) {
  const Expr steps = max(index(0), sub(p.axis(skewed.outer).extent, index(1)));
  return add(p.axis(skewed.parent).extent, mul(steps, slope_of(skewed).size));
}

std::vector<Expr> skew_conditions(const Program& p, Id axis) {
  const Axis& a = p.axis(axis);
  if (a.became.size() != 1 || p.axis(a.became.front()).origin != Axis::Origin::skewed) return {};
  const Expr value = axis_value(p, axis);
  return {ge(value, index(0)), lt(value, a.extent)};
}

bool skewed_below(const Program& p, Id axis) {
  const std::vector<Id>& next = p.axis(axis).became;
  return std::any_of(next.begin(), next.end(),
                     [&](Id n) { return p.axis(n).origin == Axis::Origin::skewed || skewed_below(p, n); });
}

std::vector<Id> skews_of(const Program& p, Id axis) {
  std::vector<Id> found;
  for (const Member& m : members(p, axis)) found.push_back(m.skewed);
  return found;
}

LoopRange skewed_range(const Program& p, const Stmt& statement) {
  const LoopStmt& loop = statement.get<LoopStmt>();
  const Axis& own = p.axis(loop.axis);
  Reach reach{p, {}, 0};
  for (const Stmt* s : path_to(p, statement.id))
    if (const LoopStmt* around = s->as<LoopStmt>(); around && s->id != statement.id) reach.around.push_back(around->axis);
  LoopRange range{index(0), own.extent};
  if (own.origin == Axis::Origin::split_inner && own.tail != Tail::shift && own.tail != Tail::pad) {
    const Axis& parent = p.axis(own.parent);
    if (reach.fixed(parent.became.front()))
      range.end = min(range.end, sub(parent.extent, mul(axis_value(p, parent.became.front()), own.factor)));
  }
  for (const Member& m : members(p, loop.axis)) {
    const Axis& skewed = p.axis(m.skewed);
    const Expr& extent = p.axis(skewed.parent).extent;
    const bool moves = m.axis == m.skewed;  // the loop runs over the skewed axis; else over the one along which
    const Id other = moves ? skewed.outer : m.skewed;
    if (!reach.held(other)) continue;
    const Span there = reach.of(other);
    Span wanted;  // of the pair's axis that the loop runs over
    const Slope f = slope_of(skewed);
    if (moves) {
      const Expr first = offset_at(p, skewed, there.begin), last = offset_at(p, skewed, last_of(there));
      wanted = {f.down ? last : first, add(f.down ? first : last, extent)};
    } else {  // 0 <= s - offset(t) < extent
      wanted = {ceil_div(sub(there.begin, sub(extent, index(1))), f.size), ceil_div(there.end, f.size)};
      const Expr& all = p.axis(m.axis).extent;
      if (f.down) wanted = {sub(all, wanted.end), sub(all, wanted.begin)};
    }
    Reach rest = reach;
    rest.hole = loop.axis;
    const Span beside = rest.of(m.axis);
    const Expr unit = rest.unit(m.axis);
    const bool whole_steps = same(sub(beside.end, beside.begin), unit);  // beside it runs all that a step passes over
    const Expr begin =
        whole_steps ? div(sub(wanted.begin, beside.begin), unit) : ceil_div(sub(wanted.begin, last_of(beside)), unit);
    const bool not_negative = moves && !f.down && m.axis == loop.axis;  // as offsets are
    range.begin = not_negative && is_int(range.begin, std::int64_t{0}) ? begin : max(range.begin, begin);
    range.end = min(range.end, ceil_div(sub(wanted.end, beside.begin), unit));
  }
  return range;
}

}  // namespace ashlar::ir
