// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums over rows of different lengths with a few results for each row: the components of a force, a block of 3. There are too
// few terms to fill lanes, and rows in lanes would have different lengths. But the results of a row share what they read and
// compute.
//
//   for i (pool)
//     sums[0 .. 3) = 0                      in registers
//     for e in row i
//       for c in 3, for r in 3  (unrolled)  sums[r] += block[e, r, c] * x[col[e], c]
//     for r in 3 (unrolled): y[i, r] = sums[r]
//
// Where each result takes a division or a function of its own, r is in lanes: the divider takes as long for one as for four.
//
// Every result adds its terms in order, so no bit differs. Where sums may be regrouped, each c has sums of its own, which are
// added behind the row: an addition then waits for that of the e before, not for those of three c.
#include <algorithm>

#include <ashlar/schedules/lanes.h>

#include "schedules/src/costs.h"
#include "schedules/src/draft.h"

namespace ashlar::schedules {
namespace {

using namespace costs::few;
using costs::most_nodes;

bool uses(const Index& x, Id variable) { return std::find(x.uses.begin(), x.uses.end(), variable) != x.uses.end(); }

struct Few {
  std::vector<Id> rows, results;  // spatial variables: the others, and those of few values
  std::vector<Id> terms, blocks;  // terms of a number that rows have of their own, then those of a few in every row
};

std::optional<Few> few_of(const Draft& d, const ir::Stage& s) {
  if (!s.is_reduction() || s.scatters() || s.is_recurrence() || d.s.target().is_gpu()) return {};
  const Sizes sizes = d.sizes();
  Few f;
  std::int64_t results = 1, statements = 1;
  for (const ir::IterVar& v : spatial_of(s)) {
    const std::int64_t n = sizes.constant_extent(s, v.id).value_or(INT64_MAX);
    const bool few = n >= 2 && n <= most_of_one && results * n <= most_results && !bounds_terms(s, v.id);
    (few ? f.results : f.rows).push_back(v.id);
    if (few) results *= n;
  }
  bool differ = false;
  for (const ir::IterVar& k : reduce_of(s)) {
    const std::int64_t n = sizes.constant_extent(s, k.id).value_or(INT64_MAX);
    const bool few = n <= most_of_one && results * statements * n <= most_statements;
    (few ? f.blocks : f.terms).push_back(k.id);
    if (few) statements *= n;
    differ = differ || sizes.from_data(s, k.id);
  }
  if (f.rows.empty() || f.results.empty() || f.terms.empty() || !differ) return {};
  // Results share something: a read that has none of their variables, but one of the terms.
  const auto readings = readings_of(d.program(), s);
  const auto reads = [](const Reading& r, const std::vector<Id>& variables) {
    return std::any_of(r.at.begin(), r.at.end(), [&](const Index& x) {
      return std::any_of(variables.begin(), variables.end(), [&](Id v) { return uses(x, v); });
    });
  };
  const bool share = std::any_of(readings.begin(), readings.end(),
                                 [&](const Reading& r) { return !r.of_init && reads(r, f.terms) && !reads(r, f.results); });
  return share ? std::optional(f) : std::nullopt;
}

const std::string& name_of_term(const ir::Stage& s, Id variable) {
  return std::find_if(s.iters.begin(), s.iters.end(), [&](const ir::IterVar& v) { return v.id == variable; })->name;
}

// Whether the term divides, or calls a function, for each value of the variable.
bool costs_each(const ir::Stage& s, Id variable) {
  bool found = false;
  for (const Expr& value : s.values)
    ir::walk(value, [&](const Expr& e) {
      if (found || ir::is(e, ir::Op::load) || e.type().is_index()) return false;
      found = e.type().is_float() && e.node()->count > 0 && cost_of(ir::op_of(e)) >= cost_of(ir::Op::div) &&
              ir::uses_var(e, variable);
      return !found;
    });
  return found;
}

}  // namespace

bool few_results_together(Draft& d, Id id, bool parallel) {
  const ir::Stage s = d.stage(id);
  const auto few = few_of(d, s);
  if (!few) return false;
  const auto steps = [&](bool lanes, bool apart = false) {
    const Stage stage = d.handle(id);
    const Stage sums = d.s.cache_write(stage, Scope::stack, d.where);
    d.made(sums.id(), id);
    const auto of = [&](const Stage& nest, const std::vector<Id>& variables) {
      std::vector<Loop> loops;
      for (const Id v : variables) loops.push_back(loop_over(d, nest, v));
      return loops;
    };
    // The stage that copies has its own variables, in the same order.
    const auto copied = [&](const std::vector<Id>& variables) {
      std::vector<Id> own;
      for (const Id v : variables)
        for (std::size_t k = 0; k < spatial_of(s).size(); ++k)
          if (s.iters[k].id == v) own.push_back(d.stage(id).iters[k].id);
      return own;
    };
    const auto in_order = [&](const Stage& nest, std::vector<std::vector<Loop>> parts) {
      std::vector<Loop> order;
      for (const auto& part : parts) order.insert(order.end(), part.begin(), part.end());
      reorder(d, nest, order);
    };
    const std::vector<Loop> rows = of(stage, copied(few->rows)), results = of(stage, copied(few->results));
    in_order(stage, {rows, results});
    sums.compute_at(rows.back(), d.where);
    const auto own = [&](const std::vector<Id>& variables) {
      std::vector<Id> r;
      for (const Id v : variables)
        for (std::size_t k = 0; k < s.iters.size(); ++k)
          if (s.iters[k].id == v) r.push_back(d.stage(sums.id()).iters[k].id);
      return r;
    };
    std::vector<Loop> blocks = of(sums, own(few->blocks)), inner = of(sums, own(few->results));
    in_order(sums, {of(sums, own(few->rows)), of(sums, own(few->terms)), blocks, inner});
    if (apart) {
      const Stage each = sums.rfactor(blocks.front(), d.where);
      d.made(each.id(), id);
      each.compute_at(rows.back(), d.where);
      each.store_in(Scope::stack, d.where);
      std::vector<Loop> order = whole_loops(d, each, true), points = whole_loops(d, each, false);
      points.erase(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(few->rows.size()));
      order.push_back(points.back());  // the terms of a block, each with a sum of its own
      order.insert(order.end(), points.begin(), points.end() - 1);
      reorder(d, each, order);
      for (const Loop& l : points) each.unroll(l, d.where);
    }
    for (const Loop& l : blocks) sums.unroll(l, d.where);
    for (const Loop& l : inner) lanes ? sums.vectorize(l, d.where) : sums.unroll(l, d.where);
    for (const Loop& l : results) stage.unroll(l, d.where);
    if (parallel) stage.parallel(rows.front(), d.where);
    schedule::finish(d.s.scheduled(), d.s.target());
  };
  const bool lanes = few->results.size() == 1 && costs_each(s, few->results.front()) && lanes_of(d, s) >= most_of_one;
  if (lanes && d.attempt(id, "the results of a row in lanes, its terms one after the other", [&] { steps(true); })) return true;
  // Additions of integers wait for one cycle.
  const bool floats = d.program().buffer(s.buffers.front()).type.is_float();
  const bool apart = floats && few->blocks.size() == 1 && regroups(d, s) && !lanes && few->results.size() == 1;
  if (apart && d.attempt(id, "the results of a row at once, a sum for each " + name_of_term(s, few->blocks.front()),
                         [&] { steps(false, true); }))
    return true;
  return d.attempt(id, "the results of a row at once, its terms one after the other", [&] { steps(false); });
}

// For a reduction without lanes, such as a 3 x 3 matrix times a vector: each result adds its terms in order.
void unroll_few(Draft& d, Id id) {
  if (d.s.target().is_gpu()) return;
  const Stage stage = d.handle(id);
  std::size_t nodes = 0;
  for (const Expr& e : d.stage(id).values) nodes += ir::node_count(e);
  std::vector<Loop> loops = stage.nest(d.where);
  std::int64_t all = 1;
  for (; !loops.empty(); loops.pop_back()) {
    const std::int64_t n = detail::number_or(loops.back().extent(d.where), INT64_MAX);
    if (n > most_iterations || n * all > most_statements || static_cast<std::size_t>(n * all) * nodes > most_nodes) break;
    if (n > 1 && !d.attempt(id, "", [&] {
          stage.unroll(loops.back(), d.where);
          schedule::finish(d.s.scheduled(), d.s.target());
        }))
      break;
    all *= n;
  }
  if (all > 1) d.done(id, count(static_cast<double>(all)) + " terms unrolled");
}

}  // namespace ashlar::schedules
