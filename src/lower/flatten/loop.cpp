// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops of the flat program (flatten.h): their bounds, those that run once, those below a vectorized one, pipelined ones.
#include <algorithm>

#include <ashlar/ir/vscale.h>

#include <ashlar/analysis/promises.h>

#include "lower/flatten/flatten.h"
#include "lower/flatten/idle.h"
#include "lower/nodes.h"

namespace ashlar::lowering {

using ir::Part;

namespace {
bool contains_vectorized(const std::vector<ir::Stmt>& body) {
  for (const ir::Stmt& s : body)
    if (ir::is_loop(s, LoopKind::vectorized) || contains_vectorized(s.body())) return true;
  return false;
}

// Does the loop hold a part's begin or the combining of parts, and nothing else? Threads do that together.
bool for_all_threads(const ir::Stmt& s) {
  const ir::Stmt* at = &s;
  while (at->is<ir::LoopStmt>() && at->body().size() == 1) at = &at->body().front();
  const ir::BlockStmt* leaf = at->as<ir::BlockStmt>();
  return leaf && (leaf->piece == ir::Piece::begin || leaf->piece == ir::Piece::combine);
}

}  // namespace

std::vector<KStmt> Flattener::loop(const Stmt& s) {
  const ir::LoopStmt& loop = s.get<ir::LoopStmt>();
  if (loop.kind == LoopKind::tensorized) return call(s);
  if (const auto digit = tiles_.find(s.id); digit != tiles_.end()) return over_tiles(s, *digit->second);
  ir::LoopRange range = ir::range_of(p_, s);
  const ir::Axis& axis = p_.axis(loop.axis);
  if (launches_)
    if (const auto busy = busy_iterations(p_, path_, range, single_, facts_)) range = *busy, begins_[loop.axis] = busy->begin;
  const Facts outside = facts_;
  const auto conditions_outside = conditions_.size();
  Expr begin = known(analysis::without_promises(range.begin)), end = known(analysis::without_promises(range.end));
  const bool varies = lane_varying(begin) || lane_varying(end);
  if (varies) {
    const Expr v = ir::axis_var(p_, loop.axis);
    const analysis::VarRange lanes{lane_, {lane_begin_, ir::add(lane_begin_, ir::index(lane_count_ - 1))}};
    if (lane_varying(begin)) {
      conditions_.push_back(ir::ge(v, begin));
      begin = hull(begin, lanes).lo;
    }
    if (lane_varying(end)) {
      conditions_.push_back(ir::lt(v, end));
      end = hull(end, lanes).hi;
    }
  }
  begin = analysis::simplify(begin, facts_);
  Expr extent = analysis::simplify(ir::sub(end, begin), facts_);
  std::int64_t count = 0;
  Statements out;
  if (ir::is_int(extent, &count) && count <= 0) {
    conditions_.resize(conditions_outside);
    return out;
  }
  const bool one = ir::is_int(extent, 1) && loop.kind != LoopKind::bound;  // a launch may have one block, or one thread
  // The last iteration of a tight loop is that of its end, not of its axis; where lanes end apart, it is a loop under
  // conditions.
  if (one || loop.part == Part::first || (loop.part == Part::last && !varies)) {
    if (!one) begin = analysis::simplify(loop.part == Part::first ? ir::index(0) : ir::sub(end, ir::index(1)), facts_);
    const Expr any = one ? ir::boolean(true) : analysis::simplify(ir::gt(extent, ir::index(0)), facts_);
    facts_.range(loop.axis, begin, begin);
    const bool together = for_all_threads(s);
    if (together && !ir::is_int(any, 1)) conditions_.push_back(any);
    if (!together && !ir::is_int(any, 1)) facts_.assume(any);
    single_.emplace_back(loop.axis, begin);
    out = body(s.body());
    single_.pop_back();
    if (!together && !ir::is_int(any, 1) && !out.empty()) {
      KStmt guard = if_stmt(lowered(any), std::move(out), s.where);
      out.clear();
      out.push_back(std::move(guard));
    }
  } else {
    out = many(s, axis, begin, extent);
  }
  facts_ = outside;
  conditions_.resize(conditions_outside);
  return out;
}

std::vector<KStmt> Flattener::many(const Stmt& s, const ir::Axis& axis, const Expr& begin, Expr extent) {
  const ir::LoopStmt& loop = s.get<ir::LoopStmt>();
  LoopKind kind = loop.kind;
  if (kind == LoopKind::serial && sites_.unrolled.count(s.id)) kind = LoopKind::unrolled;  // registers have no index
  if (kind == LoopKind::vectorized && contains_vectorized(s.body())) kind = LoopKind::unrolled;
  // Loops that end where a thread's points end all become as long as the longest; only the stores past the end are left out.
  const bool together = kind == LoopKind::serial && for_all_threads(s);
  if (kind == LoopKind::vectorized || kind == LoopKind::unrolled || kind == LoopKind::vthread || together) {
    std::int64_t count = 0;
    const bool scalable = kind == LoopKind::vectorized && ir::scalable_lanes(extent);
    if (!scalable && !ir::is_int(extent, &count)) {
      const auto most = analysis::constant_max(extent, facts_);
      if (!most) throw InternalError("loop " + axis.name + " has no constant extent to be vectorized or unrolled by");
      conditions_.push_back(ir::lt(ir::axis_var(p_, loop.axis), ir::add(begin, extent)));
      extent = ir::index(*most);
    }
  }
  facts_.range(loop.axis, begin, ir::sub(ir::add(begin, extent), ir::index(1)));
  const Id lane = lane_;
  const Expr lane_begin = lane_begin_;
  const std::int64_t lane_count = lane_count_;
  if (kind == LoopKind::vectorized) {
    lane_ = loop.axis;
    lane_begin_ = begin;
    ir::is_int(extent, &lane_count_);
  }
  around_.push_back({loop.axis, kind});
  KFor k{loop.axis, axis.name, lowered(begin), lowered(extent), kind};
  k.bound_to = loop.bound_to;
  k.body = body(s.body());
  around_.pop_back();
  if (loop.pipeline) k.ring = ring_of(s);
  lane_ = lane;
  lane_begin_ = lane_begin;
  lane_count_ = lane_count;
  Statements out;
  if (!k.body.empty()) out.push_back(for_stmt(std::move(k), s.where));
  return out;
}

Expr Flattener::lowered(const Expr& e) {
  return Body(ir::Substitution{}, facts_, Expr(), [this](Id buffer) -> const Place& { return place_of(buffer); }).lower(e);
}

analysis::Interval Flattener::hull(const Expr& e, const analysis::VarRange& over) const {
  const analysis::Interval i = analysis::bounds_over(e, std::span(&over, 1), facts_);
  if (!i.bounded()) throw InternalError("the bounds of a loop inside a vectorized one have no hull");
  return i;
}

// A pipelined loop: what its loads store to becomes a ring.
ir::Ring Flattener::ring_of(const Stmt& s) {
  const ir::Pipeline& pipeline = *s.get<ir::LoopStmt>().pipeline;
  ir::Ring ring;
  ring.stages = pipeline.stages;
  ring.async_copy = pipeline.async_copy;
  ring.any_alignment = pipeline.any_alignment;
  ring.where = pipeline.where;
  for (const Stmt& a : s.body()) {
    const ir::AllocStmt* alloc = a.as<ir::AllocStmt>();
    if (!alloc) continue;
    const Id stage = p_.buffer(alloc->buffer).stage;
    if (std::find(pipeline.loads.begin(), pipeline.loads.end(), stage) == pipeline.loads.end()) continue;
    ir::KBuffer& b = kernel_.buffers.at(kbuffer_of_.at(a.id));
    std::int64_t elements = 0;
    if (!ir::is_int(b.elements, &elements)) throw InternalError("shared memory without a constant size");
    const std::int64_t unit = std::max<std::int64_t>(1, 128 / b.type.bytes());  // a copy starts where the buffer may start
    elements = (elements + unit - 1) / unit * unit;
    ring.buffers[b.id] = elements;
    b.elements = ir::index(elements * ring.stages);
  }
  return ring;
}

}  // namespace ashlar::lowering
