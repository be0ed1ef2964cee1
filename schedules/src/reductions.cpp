// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions along neighbors in memory: the lanes of a vector have partial sums, which are added at the end. A full sum also
// has a partial sum for each part on the thread pool. Both regroup, which the reducer must allow.
#include <algorithm>

#include <ashlar/schedules/lanes.h>

#include "schedules/src/costs.h"
#include "schedules/src/draft.h"

namespace ashlar::schedules {
namespace {

using namespace costs::reductions;
using costs::cheap_term;
using costs::reduction_worth_parallel;

// Whether the reducer always returns one of its two operands, as argmin does.
bool chooses(const ir::Reducer& r) {
  if (r.kind != ir::ReducerKind::custom || r.order != ir::Reducer::Order::any) return false;
  return std::all_of(r.combine.begin(), r.combine.end(), [](const Expr& e) {
    bool all = true;
    ir::walk(e, [&](const Expr& x) {
      const ir::Op op = ir::op_of(x);
      all = all && (x.type().is_bool() || op == ir::Op::select || op == ir::Op::var || op == ir::Op::min || op == ir::Op::max);
      return all && !x.type().is_bool();
    });
    return all;
  });
}

// Another grouping may give other bits.
bool rounds(const Draft& d, const ir::Stage& s) {
  if (s.reducer.kind == ir::ReducerKind::minimum || s.reducer.kind == ir::ReducerKind::maximum || chooses(s.reducer))
    return false;
  return std::any_of(s.buffers.begin(), s.buffers.end(), [&](Id b) { return d.program().buffer(b).type.is_float(); });
}

bool keeps_order(const ir::Stage& s) {
  return s.reducer.kind == ir::ReducerKind::strict_sum ||
         (s.reducer.kind == ir::ReducerKind::custom && s.reducer.order != ir::Reducer::Order::any);
}

bool may_regroup(Draft& d, Id id) {
  if (regroups(d, d.stage(id))) return true;
  d.done(id, "one term after the other");
  d.why(id, keeps_order(d.stage(id)) ? "its reducer keeps the order of its terms"
                                     : "regroup is off, and lanes of their own would round otherwise");
  return false;
}

std::vector<Loop> loops_of(Draft& d, const Stage& stage, bool reduce) {
  std::vector<Loop> loops;
  for (const Loop& l : stage.nest(d.where))
    if (d.program().axis(ir::find(d.program(), l.id())->get<ir::LoopStmt>().axis).reduce == reduce) loops.push_back(l);
  return loops;
}

}  // namespace

// Few operations on elements at arbitrary places: gathering lanes costs more than such a term.
bool gathers_little(const ir::Program& p, const ir::Stage& s) {
  const auto all = readings_of(p, s);
  return cost_of(s) < cheap_term &&
         std::any_of(
             all.begin(), all.end(),
             [](const Reading& r) {
               return std::any_of(r.at.begin(), r.at.end(), [](const Index& x) { return x.from_data; });
             });
}

bool regroups(const Draft& d, const ir::Stage& s) { return !keeps_order(s) && (d.options.regroup || !rounds(d, s)); }

namespace {

// Like detail::reduce_in_lanes, but with fewer steps, because each step is proved over the whole program: the lanes of the last
// vector are added in quarters, and the last few one by one.
void in_few_steps(Draft& d, const Stage& stage, Loop point, Loop terms, int lanes, int registers) {
  const Split split = stage.split(terms, lanes * registers, Tail::guard, d.where);
  std::vector<Stage> parts{stage.rfactor(split.inner, d.where)};  // readers first
  if (registers > 1) {
    const Loop rest = stage.split(loops_of(d, stage, true).back(), lanes, Tail::exact, d.where).inner;
    parts.insert(parts.begin(), stage.rfactor(rest, d.where));
  }
  if (lanes >= 2 * last_lanes) {
    const Loop rest = stage.split(loops_of(d, stage, true).back(), last_lanes, Tail::exact, d.where).inner;
    parts.insert(parts.begin(), stage.rfactor(rest, d.where));
  }
  int of_one = 0;  // registers of a vector of all values: two of a place, i64 beside f32
  const int bits = std::max(1, d.s.target().vector_bits());
  for (const Id b : d.stage(stage.id()).buffers) of_one += (lanes * d.program().buffer(b).type.bits + bits - 1) / bits;
  const bool kept = d.program().stages.size() <= crowd && 3 * registers * of_one <= d.s.target().vector_registers();
  if (kept) stage.unroll(loops_of(d, stage, true).back(), d.where);
  for (const Stage& part : parts) {
    if (point.id() != 0) part.compute_at(point, d.where);
    std::vector<Loop> order = loops_of(d, part, true);
    const Loop last = loops_of(d, part, false).back();
    const bool several = kept && detail::number_or(last.extent(d.where), 0) > lanes;
    const Split vectors = several ? part.split(last, lanes, Tail::exact, d.where) : Split{};
    if (several) order.push_back(vectors.outer);
    order.push_back(several ? vectors.inner : last);
    reorder(d, part, order);
    if (several) part.unroll(vectors.outer, d.where);
    part.vectorize(order.back(), d.where);
    if (kept && &part != &parts.back()) part.unroll(order.front(), d.where);  // of partial sums, a few
    part.store_in(kept ? Scope::registers : Scope::stack, d.where);
  }
}

}  // namespace

void reduce_in_lanes(Draft& d, Id id, double about) {
  const Sizes sizes = d.sizes();
  const auto terms = reduce_of(d.stage(id));
  if (terms.empty()) return;
  if (!may_regroup(d, id)) return unroll_few(d, id);
  const Id neighbors_of = classify(d.program(), d.stage(id), sizes).contiguous, few = terms_beside_few(d, d.stage(id));
  const Id along = few ? few : neighbors_of ? neighbors_of : terms.back().id;
  const double extent = std::max(about, sizes.extent(d.stage(id), along));
  const bool ragged = sizes.from_data(d.stage(id), along);  // rows may be short
  if (ragged && gathers_little(d.program(), d.stage(id))) {
    d.done(id, "one term after the other");
    return d.why(id, "rows of a table may be short, and its terms lie apart: lanes would gather more than they add");
  }
  const int lanes = lanes_that_fill(sizes.constant_extent(d.stage(id), along).value_or(0), lanes_of(d, d.stage(id)));
  if (lanes < 2 || extent < lanes) {
    d.why(id, "too few terms for lanes");
    return unroll_few(d, id);
  }
  const int registers = ragged ? 1 : extent >= 4096 ? 8 : extent >= 512 ? 4 : extent >= 128 ? 2 : 1;
  const Stage stage = d.handle(id);
  const std::size_t before = d.s.scheduled().trace.size();
  const auto steps = [&] {
    const std::vector<Loop> rows = loops_of(d, stage, false);
    const Loop point = rows.empty() ? Loop() : rows.back();
    std::vector<Loop> order = loops_of(d, stage, true);  // the neighbors innermost
    const Loop neighbors = loop_over(d, stage, along);
    order.erase(std::find(order.begin(), order.end(), neighbors));
    order.push_back(neighbors);
    if (order.size() > 1) reorder(d, stage, order);
    if (d.program().stages.size() > many_stages)
      in_few_steps(d, stage, point, neighbors, lanes, registers);
    else if (!detail::reduce_in_lanes(d.s, stage, point, neighbors, lanes, registers, d.where))
      refuse("reduce_in_lanes", "a reduction whose lanes have sums of their own", d.stage(id).name, d.where);
    if (few) stage.unroll(point, d.where);  // they share what is read of the others' terms
    require_fits(d, before);
  };
  d.attempt(id, "sums in " + count(registers) + (registers == 1 ? " vector of " : " vectors of ") + std::to_string(lanes),
            steps, "one term after the other");
}

void merge_rows_of_strip(Draft& d, Id id, const Tile& tile) {
  const Stage stage = d.handle(id);
  const int rows = static_cast<int>(tile.rows_by), lanes = lanes_of(d, d.stage(id));
  const auto steps = [&] {
    const std::size_t before = d.s.scheduled().trace.size();
    const Split split = stage.split(loop_over(d, stage, spatial_of(d.stage(id)).back().id), rows, Tail::guard, d.where);
    const detail::InterleavedRows together{rows, split.outer, split.inner, static_cast<std::size_t>(tile.rows), true};
    if (!detail::reduce_in_lanes(d.s, stage, split.inner, loops_of(d, stage, true).back(), lanes, 1, d.where, together))
      refuse("reduce_in_lanes", "a reduction whose lanes have sums of their own", d.stage(id).name, d.where);
    schedule::finish(d.s.scheduled(), d.s.target());
    require_fits(d, before);
  };
  if (!d.attempt(id, count(rows) + " rows side by side, each in a vector of " + std::to_string(lanes), steps,
                 "one row after the other"))
    reduce_in_lanes(d, id);
  on_stack(d, id);
}

void reduce_all(Draft& d, Id id) {
  const auto terms = reduce_of(d.stage(id));
  if (terms.empty() || !may_regroup(d, id)) return;
  const double work = d.most().terms(d.stage(id)) * cost_of(d.stage(id));
  const Stage stage = d.handle(id);
  if (d.options.parallel && work >= reduction_worth_parallel) {
    Id part = 0;
    const auto pieces = [&] {
      Loop loop = loop_over(d, stage, terms.front().id);
      if (terms.size() == 1) {
        const Split split = stage.split(loop, piece_terms, Tail::guard, d.where);
        loop = split.outer;
        stage.tighten(split.inner, d.where);  // the last piece, or the only one, may be small
      }
      const Stage partial = stage.rfactor(loop, Place::first, d.where);
      partial.parallel(loops_of(d, partial, false).front(), d.where);
      part = partial.id();
      d.made(part, id);
    };
    const std::string what = terms.size() == 1 ? "pieces of " + std::to_string(piece_terms) + " terms in parallel"
                                               : "a sum for each " + terms.front().name + ", in parallel";
    if (d.attempt(id, what, pieces)) return reduce_in_lanes(d, part);
  }
  reduce_in_lanes(d, id);
}

}  // namespace ashlar::schedules
