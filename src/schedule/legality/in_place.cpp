// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Outputs that a call may put where an input lies (alias_inputs): what is read of the input was not written yet.
//
//   y[i] = 2 x[i]                      each point reads its own element, before it stores it
//   y[i] = x[i] + x[i - 1]             refused: x[i - 1] may be y[i - 1], which is stored by then
//   y[i] = 2 x[i];  z[i] = x[i] + 1    refused: z reads x when y is complete
//   for i: s[i .. i + 1] of x; y[i]    refused where s[i] reads x[i - 1]: an earlier iteration of i has stored y[i - 1]
//   for i: m[i] over k of x[i, k]; y[i, ..]                              each row is read before it is stored
#include <algorithm>
#include <optional>

#include <ashlar/analysis/regions.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/print.h>

#include "schedule/legality/legality.h"

namespace ashlar::schedule {
namespace {

// May one tensor be given for both? Elements of another size, and extents that are other numbers, tell them apart.
bool may_be(const ir::Buffer& y, const ir::Buffer& x) {
  if (x.role != ir::Role::input || x.type.bytes() != y.type.bytes() || x.rank != y.rank) return false;
  for (std::size_t d = 0; d < x.extents.size(); ++d) {
    std::int64_t a = 0, b = 0;
    if (ir::is_int(x.extents[d], &a) && ir::is_int(y.extents[d], &b) && a != b) return false;
  }
  return true;
}

// A read of x that may come too late, and what is wrong with it.
struct Late {
  std::string expected, found;
  Where where;
};
Late late(const ir::Buffer& y, const ir::Buffer& x, const std::string& found, Where where) {
  return {y.name + " to store no element of " + x.name + " that is read afterwards, since it may be " + x.name +
              " (without .alias_inputs it may not)",
          found, where};
}

// The stage of y reads the element of x that it is about to store, and no other.
std::optional<Late> beyond_own_points(const ir::Stage& stage, const ir::Buffer& y, const ir::Buffer& x) {
  for (const analysis::Read& r : analysis::reads_of(stage)) {
    if (r.load.node()->id != x.id) continue;
    if (stage.is_reduction())
      return late(y, x, stage.name + ", a reduction, which stores its element before it has read all terms",
                  r.load.node()->where);
    const auto at = ir::args_of(r.load);
    for (std::size_t d = 0; d < at.size(); ++d)
      if (!ir::is(at[d], ir::Op::var) || at[d].node()->id != stage.iters[d].id)
        return late(y, x, stage.name + " reads " + ir::text(r.load), r.load.node()->where);
  }
  return std::nullopt;
}

std::optional<Expr> read_of(const ir::Stage& stage, const ir::Buffer& x) {
  for (const analysis::Read& r : analysis::reads_of(stage))
    if (r.load.node()->id == x.id) return r.load;
  return std::nullopt;
}

using Path = std::vector<const Stmt*>;

// The nest of a block, and the loops around it, outermost first.
const Stmt& nest_in(const Path& path) {
  return **std::find_if(path.rbegin(), path.rend(), [](const Stmt* s) { return s->is<NestStmt>(); });
}
Path loops_in(const Path& path) {
  Path loops;
  std::copy_if(path.begin(), path.end(), std::back_inserter(loops), [](const Stmt* s) { return s->is<LoopStmt>(); });
  return loops;
}

// The axes that a loop goes over in lexicographic order: those that it was fused from.
std::vector<Id> in_order_of(const Program& p, Id axis) {
  const ir::Axis& a = p.axis(axis);
  if (a.origin != ir::Axis::Origin::fused) return {axis};
  std::vector<Id> all = in_order_of(p, a.outer);
  for (const Id inner : in_order_of(p, a.inner)) all.push_back(inner);
  return all;
}

// The elements that a block stores in other iterations of a loop around it: those in which the first `same` axes of
// in_order_of() have the value they have here and the next one has another, `other`. `value` is of each dimension, over
// variables of their own for what is behind that, which `inner` has, innermost first.
struct Stored {
  std::vector<Expr> value;
  std::vector<analysis::VarRange> inner;
  Id other = 0;
  Expr here, begin, end;  // of that axis: its value in this iteration, and all of its values
};

Stored stored_in(const Program& p, const Path& writer, const Path& loops, std::size_t k, const std::vector<Id>& axes,
                 std::size_t same) {
  Stored r;
  std::vector<std::pair<Expr, Expr>> to;
  const auto replaced = [&](const Expr& e) {
    return ir::transform(e, [&](const Expr& x) {
      const auto at = std::find_if(to.begin(), to.end(), [&](const auto& pair) { return ir::same(pair.first, x); });
      return at == to.end() ? x : at->second;
    });
  };
  const auto free = [&](Id axis, const Expr& value, const Expr& begin, const Expr& end) {
    const Id own = ir::fresh_id();
    if (r.other == 0)
      r.other = own, r.here = value, r.begin = begin, r.end = end;
    else
      r.inner.insert(r.inner.begin(), {own, {begin, ir::sub(end, ir::index(1))}});
    to.emplace_back(value, ir::var(own, p.axis(axis).name));
  };
  for (std::size_t n = k; n < loops.size(); ++n) {
    const ir::LoopRange range = ir::range_of(p, *loops[n]);
    if (n > k || axes.size() == 1) {
      const Id axis = loops[n]->get<LoopStmt>().axis;
      free(axis, ir::axis_var(p, axis), replaced(range.begin), replaced(range.end));
      continue;
    }
    for (std::size_t m = same; m < axes.size(); ++m)
      free(axes[m], ir::axis_value(p, axes[m]), ir::index(0), p.axis(axes[m]).extent);
  }
  const Stmt& nest = nest_in(writer);
  const NestStmt& node = nest.get<NestStmt>();
  const ir::Stage& stage = p.stage(node.stage);
  for (std::size_t d = 0; d < static_cast<std::size_t>(stage.spatial_rank()); ++d) {
    const ir::Root& root = node.roots[d];
    const Expr at = ir::axis_value(p, root.axis);
    const Expr value = stage.iters[d].descending ? ir::sub(ir::sub(ir::add(root.begin, root.extent), ir::index(1)), at)
                                                 : ir::add(root.begin, at);
    r.value.push_back(replaced(value));
  }
  return r;
}

// Are the elements of the read others than those, in every iteration that `facts` allows?
bool apart(const Stored& stored, const Expr& load, const std::vector<analysis::VarRange>& points, analysis::Facts facts) {
  for (auto v = stored.inner.rbegin(); v != stored.inner.rend(); ++v) facts.range(v->id, v->range.lo, v->range.hi);
  const auto less = [&](const Expr& a, const Expr& b) {
    return !a.empty() && !b.empty() && analysis::can_prove(ir::lt(a, b), facts);
  };
  for (std::size_t d = 0; d < stored.value.size(); ++d) {
    if (analysis::depends_on_data(ir::args_of(load)[d])) continue;
    const analysis::Interval read = analysis::bounds_over(ir::args_of(load)[d], points, facts),
                             written = analysis::bounds_over(stored.value[d], stored.inner, facts);
    if (less(written.hi, read.lo) || less(read.hi, written.lo)) return true;
  }
  return false;
}

// What a block reads of x in an iteration of the loops that it shares with the one that stores y, no earlier one has stored.
std::optional<Late> of_other_iterations(const Program& p, const Path& reader, const Path& writer, const ir::Buffer& y,
                                        const ir::Buffer& x) {
  const Path loops = loops_in(writer), around = loops_in(reader);
  const Stmt& nest = nest_in(reader);
  const NestStmt& n = nest.get<NestStmt>();
  const ir::Stage& stage = p.stage(n.stage);
  const analysis::Facts at_reader = analysis::facts_at(p, reader);
  std::vector<analysis::VarRange> points;  // innermost first
  for (const ir::Root& r : n.roots)
    if (!p.axis(r.axis).reduce)
      points.insert(points.begin(), {r.iter, {r.begin, ir::sub(ir::add(r.begin, r.extent), ir::index(1))}});
  for (const ir::IterVar& v : stage.iters)
    if (v.kind == ir::IterKind::reduce) points.insert(points.begin(), {v.id, {v.begin, ir::sub(v.end, ir::index(1))}});
  for (std::size_t k = 0; k < loops.size() && k < around.size() && loops[k] == around[k]; ++k) {
    const LoopStmt& loop = loops[k]->get<LoopStmt>();
    const bool in_order = loop.kind == ir::LoopKind::serial || loop.kind == ir::LoopKind::unrolled;
    const std::vector<Id> axes = loop.part == ir::Part::all ? in_order_of(p, loop.axis) : std::vector<Id>{loop.axis};
    for (std::size_t same = 0; same < axes.size(); ++same) {
      const Stored stored = stored_in(p, writer, loops, k, axes, same);
      const Expr one = ir::index(1);
      analysis::Facts before = at_reader, after = at_reader;
      before.range(stored.other, stored.begin, ir::sub(stored.here, one));
      after.range(stored.other, ir::add(stored.here, one), ir::sub(stored.end, one));
      for (const analysis::Read& r : analysis::reads_of(stage))
        if (r.load.node()->id == x.id &&
            (!apart(stored, r.load, points, before) || (!in_order && !apart(stored, r.load, points, after))))
          return late(y, x,
                      stage.name + ", which reads " + ir::text(r.load) + " where " +
                          (in_order ? "an earlier iteration" : "another iteration") + " of " + p.axis(loop.axis).name +
                          " may have stored it",
                      r.load.node()->where);
    }
  }
  return std::nullopt;
}

// Every other block that reads x stands ahead of those that store y, and reads what no other iteration around both stores.
std::optional<Late> behind(const Program& p, const ir::Stage& writer, const ir::Buffer& y, const ir::Buffer& x) {
  std::vector<Path> readers;  // so far
  bool stored = false;
  std::optional<Late> found;
  ir::walk(p.body, [&](const Stmt& s) {
    const BlockStmt* block = s.as<BlockStmt>();
    if (!block || found) return;
    if (block->stage == writer.id) {
      stored = true;
      for (const Path& reader : readers)
        if (!found) found = of_other_iterations(p, reader, ir::path_to(p, s.id), y, x);
      return;
    }
    const ir::Stage& reader = p.stage(block->stage);
    const auto load = read_of(reader, x);
    if (!load) return;
    if (stored) found = late(y, x, reader.name + ", which reads " + ir::text(*load) + " behind it", load->node()->where);
    readers.push_back(ir::path_to(p, s.id));
  });
  return found;
}

std::optional<Late> late_read(const Program& p) {
  for (const auto& [of_y, y] : p.buffers) {
    if (!y.may_alias_inputs || y.stage == 0) continue;
    const ir::Stage& writer = p.stage(y.stage);
    for (const auto& [of_x, x] : p.buffers) {
      if (!may_be(y, x)) continue;
      if (auto found = beyond_own_points(writer, y, x)) return found;
      if (auto found = behind(p, writer, y, x)) return found;
    }
  }
  return std::nullopt;
}

}  // namespace

void prove_in_place(const Program& p) {
  if (const auto found = late_read(p)) ashlar::refuse("alias_inputs", found->expected, found->found, found->where);
}

void prove_still_in_place(Context& c, const Program& before) {
  const auto found = late_read(c.p);
  if (found && !late_read(before)) c.refuse(found->expected, found->found);
}

}  // namespace ashlar::schedule
