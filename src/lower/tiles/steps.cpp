// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recurrences (block.h). A serial loop over steps carries the values of the steps before, as a loop over terms carries sums.
//
//   for t                                      before = anything
//     for r   tile                        ->   for t carrying before:
//       y(r, t) = select(t < 1, x(r, t),         y = select(t < 1, x, before * a + x); store y
//                        y(r, t - 1) * a         before = y
//                          + x(r, t))
//
// A scan may run along a dimension of a tile: what each term is where nothing stands before it, scanned, and the result of the
// tile before combined with that.
#include <ashlar/analysis/thread_tree.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/recurrence.h>
#include <ashlar/ir/refusal.h>

#include "lower/nodes.h"
#include "lower/tiles/block.h"

namespace ashlar::lowering {

namespace {

constexpr std::int64_t most_steps = 8;  // whose values a block keeps

}  // namespace

// Checks that a step reads only the steps just before it, each at its own place. A block keeps these as tiles.
void BlockLowering::describe_steps(Current& c) const {
  const ir::Stage& s = *c.stage;
  const std::string expected = "a recurrence along one dimension that reads its own values of at most " +
                               std::to_string(most_steps) + " steps before, at the same place in every other dimension";
  if (s.along.size() != 1)
    refuse("tiles", expected, s.name + ", along " + std::to_string(s.along.size()) + " dimensions", c.where);
  if (const std::vector<Id> inside = ir::stages_inside(p_, s); !inside.empty())
    refuse("tiles", expected, s.name + ", which reads its steps through " + p_.stage(inside.front()).name, c.where);
  for (const ir::SelfRead& read : ir::self_reads(s))
    for (std::size_t d = 0; d < read.back.size(); ++d) {
      const std::optional<std::int64_t>& n = read.back[d];
      const bool steps = d == s.along.front();
      if (!n || (steps ? *n < 1 || *n > most_steps : *n != 0))
        refuse("tiles", expected, ir::text(read.load), read.load.node()->where);
      if (steps) c.back = std::max(c.back, static_cast<std::size_t>(*n));
    }
  for (const Id b : s.buffers)
    if (!p_.buffer(b).layout.dropped.empty())
      refuse("tiles", "a recurrence that is stored along all dimensions", p_.buffer(b).name, c.where);
}

bool BlockLowering::is_step(const Current& c, const ir::Axis& axis) const {
  if (!c.back) return false;
  const std::vector<Id> roots = ir::roots_of(p_, axis.id);
  const Id along = c.nest->roots[c.stage->along.front()].axis;
  return std::find(roots.begin(), roots.end(), along) != roots.end();
}

// Before the first step: any values, since no point uses them; of a scan along a tile, what changes no term.
void BlockLowering::start_steps() {
  Current& c = now();
  std::vector<std::int64_t> extents;
  for (std::size_t d = 0; d < c.spatial.size(); ++d) extents.push_back(c.scanned == d ? 1 : c.spatial[d].width);
  const std::size_t back = c.scanned ? 1 : c.back;
  for (std::size_t n = 0; n < back; ++n)
    for (std::size_t k = 0; k < c.stage->values.size(); ++k) {
      const Type t = c.stage->values[k].type();
      const ir::Value none = t.is_float() ? ir::float_value(t, 0) : ir::int_value(t, 0);
      c.previous.push_back(b_.constant(c.scanned ? identity(k) : none, extents));
    }
}

// The value that a step reads of a step before it.
std::optional<BlockLowering::Id> BlockLowering::step_before(const Expr& e) {
  if (nests_.empty() || !now().back) return std::nullopt;
  const Current& c = now();
  const std::vector<Id>& own = c.stage->buffers;
  const auto component = std::find(own.begin(), own.end(), e.node()->id);
  if (component == own.end()) return std::nullopt;
  const std::size_t d = c.stage->along.front();
  const ir::IterVar& v = c.stage->iters[d];
  // Together, and as they stand: each by itself may become another formula, such as N - i for max(N, 1) - i where N > 0.
  const Expr here = ir::substitute(ir::var(v.id, v.name), c.values), there = ir::args_of(e)[d];
  const Expr distance = known(v.descending ? ir::sub(there, here) : ir::sub(here, there));
  std::int64_t n = 0;
  if (!ir::is_int(distance, &n) || n < 1 || n > static_cast<std::int64_t>(c.back))
    throw InternalError("a read of a step that is not kept: " + ir::text(e));
  const std::size_t at = static_cast<std::size_t>(n - 1) * own.size() + static_cast<std::size_t>(component - own.begin());
  return c.previous[at];
}

// Computes a step, or the steps of a tile, stores them, and keeps what later steps read.
void BlockLowering::step(const std::vector<Expr>& points, const std::vector<Expr>& some_point) {
  Current& c = now();
  const bool alone = c.previous.empty();  // one step, or one tile of them
  if (alone) start_steps();
  const std::size_t components = c.stage->values.size();
  std::vector<Id> otherwise;
  if (!some_point.empty()) {
    for (const Expr& e : c.stage->values) otherwise.push_back(zero(e.type(), c.spatial));
    otherwise.insert(otherwise.end(), c.previous.begin(), c.previous.end());
  }
  std::vector<Id> values = where(some_point, otherwise, [&] {
    std::vector<Id> computed, later;
    if (c.scanned) {
      computed = scan(points, later);
    } else {
      for (const Expr& e : c.stage->values) computed.push_back(full(spelled(ir::substitute(e, c.values)), c.spatial));
      later = computed;
      later.insert(later.end(), c.previous.begin(), c.previous.end() - static_cast<std::ptrdiff_t>(components));
    }
    computed.insert(computed.end(), later.begin(), later.end());
    return computed;
  });
  done_.clear();
  c.previous.assign(values.begin() + static_cast<std::ptrdiff_t>(components), values.end());
  values.resize(components);
  finish(values);
  if (alone) c.previous.clear();
}

// The last element along a dimension, which stays, with extent 1: all others as zeros, and the bits of all combined.
BlockLowering::Id BlockLowering::last_of(Id value, std::size_t along) {
  const ir::tile::TileType type = b_.type(value);
  const Type element = type.element, bits = element.is_bool() ? bool_ : Type{Type::Code::unsigned_, element.bits};
  std::vector<std::int64_t> extents = ones(type.extents.size());
  extents[along] = type.extents[along];
  const Id position = b_.reshape(b_.iota(i32, extents[along]), extents);
  const Id is_last = b_.broadcast(b_.apply(Op::eq, {position, b_.integer(i32, extents[along] - 1, extents)}), type.extents);
  const Id own = bits == element ? value : b_.cast(bits, value, Op::bitcast);
  const Id kept = b_.apply(Op::select, {is_last, own, b_.constant(ir::int_value(bits, 0), type.extents)});
  const Id all = b_.reduce({kept}, static_cast<int>(along), {ir::int_value(bits, 0)},
                           [](ir::tile::Builder& in, const std::vector<Id>& so_far, const std::vector<Id>& next) {
                             return std::vector<Id>{in.apply(Op::bit_or, {so_far[0], next[0]})};
                           })[0];
  extents = type.extents;
  extents[along] = 1;
  const Id one = b_.reshape(all, extents);
  return bits == element ? one : b_.cast(element, one, Op::bitcast);
}

// The scanned terms of a tile behind those before it. `last`: the result of the last one, for the tile behind.
std::vector<BlockLowering::Id> BlockLowering::scan(const std::vector<Expr>& points, std::vector<Id>& last) {
  const Current& c = now();
  const std::size_t along = *c.scanned;
  const int dimension = static_cast<int>(along);
  std::vector<Id> terms;
  std::vector<ir::Value> none;
  for (std::size_t k = 0; k < c.stage->values.size(); ++k) none.push_back(identity(k));
  for (const Expr& value : c.stage->values) {
    const Expr term = ir::transform(value, [&](const Expr& e) {
      for (std::size_t k = 0; k < c.stage->buffers.size(); ++k)
        if (ir::is(e, Op::load) && e.node()->id == c.stage->buffers[k])
          return analysis::identity_of(c.stage->scan, k, e.type());
      return e;
    });
    terms.push_back(full(spelled(ir::substitute(term, c.values)), c.spatial));
  }
  done_.clear();
  // Positions that are not points, where the tile reaches beyond its loop or between two splits, are not terms.
  std::vector<Expr> ends;
  for (const Expr& e : points)
    if (ir::uses_var(e, c.spatial[along].axis)) ends.push_back(e);
  if (!ends.empty()) {
    const Id inside = full(mask(ends, c.spatial), c.spatial);
    for (std::size_t k = 0; k < terms.size(); ++k)
      terms[k] = b_.apply(Op::select, {inside, terms[k], b_.constant(none[k], b_.type(terms[k]).extents)});
  }
  const std::vector<Id> scanned = b_.scan(terms, dimension, false, none,
                                          [&](ir::tile::Builder&, const std::vector<Id>& so_far, const std::vector<Id>& next) {
                                            return combined(so_far, next, {});
                                          });
  std::vector<Id> results = combined(c.previous, scanned, c.spatial);
  for (Id& r : results) r = full(r, c.spatial);
  for (const Id r : results) last.push_back(last_of(r, along));
  return results;
}

}  // namespace ashlar::lowering
