// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/schedules/lanes.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ashlar/analysis/facts.h>
#include <ashlar/analysis/simplify.h>
#include <ashlar/ir/at_line.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/program.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

namespace ashlar::schedules {

bool fills_lines(const Target& t) { return t.vector_bits() >= 8 * t.cache_line(); }

}  // namespace ashlar::schedules

namespace ashlar::schedules::detail {

const ir::Stage& definition(const Schedule& s, const Stage& stage) { return s.scheduled().program.stage(stage.id()); }

void expect_processor(const char* family, const Schedule& s, Where where) {
  if (s.target().is_gpu())
    refuse(family, "a processor, whose loops run in lanes and on threads", "the target " + std::string(s.target().text()),
           where);
}

void expect_option(const char* family, const char* name, std::int64_t value, std::int64_t least, Where where) {
  if (value < least) refuse(family, std::string(name) + " of at least " + std::to_string(least), std::to_string(value), where);
}
void expect_power_of_two(const char* family, const char* name, std::int64_t value, Where where) {
  if (value < 1 || (value & (value - 1)) != 0)
    refuse(family, std::string(name) + " that are a power of two", std::to_string(value), where);
}

int lanes_of(const Schedule& s, const Stage& stage) {
  Type widest = u8;
  const auto meet = [&](Type t) {
    if ((t.is_float() || t.is_data_integer()) && t.bits > widest.bits) widest = t;
  };
  for (const Expr& value : definition(s, stage).values) {
    meet(value.type());
    // not below a load: what computes a place is not a number of the stage
    ir::walk(value, [&](const Expr& e) {
      meet(e.type());
      return !ir::is(e, ir::Op::load);
    });
  }
  return s.target().lanes(widest);
}

Loop fused(const Stage& stage, const std::vector<Loop>& loops, Where where) {
  Loop all = loops.front();
  for (std::size_t k = 1; k < loops.size(); ++k) all = stage.fuse(all, loops[k], where);
  return all;
}

Loop innermost_point(const Stage& stage, Where where) {
  const std::vector<Loop> loops = stage.spatial_loops(where);
  return loops.empty() ? Loop() : loops.back();
}

int power_of_two_up_to(std::int64_t n) {
  int p = 1;
  while (p <= n / 2 && p < 1 << 20) p *= 2;
  return p;
}
std::int64_t given_or_chosen(Schedule& s, const Stage& stage, const char* name, std::int64_t given, std::int64_t usual,
                             const std::vector<std::int64_t>& others, Where where) {
  if (given != 0) return given;
  std::vector<std::int64_t> values{usual};
  for (const std::int64_t v : others)
    if (v >= 1 && std::find(values.begin(), values.end(), v) == values.end()) values.push_back(v);
  return s.choose((std::string(stage.name()) + "." + name).c_str(), values, 0, where);
}

std::int64_t number_or(const Expr& extent, std::int64_t otherwise) {
  std::int64_t n = otherwise;
  return ir::is_int(extent, &n) ? n : otherwise;
}

void points_together(const Stage& stage, Loop points, int together, const std::vector<Loop>& terms,
                     const std::vector<Loop>& inside, Where where) {
  const Loop each = stage.split(points, together, Tail::guard, where).inner;
  std::vector<Loop> order = terms;
  order.push_back(each);
  order.insert(order.end(), inside.begin(), inside.end());
  if (order.size() > 1) stage.reorder(order, where);
  stage.unroll(each, where);
}

// As points_together, with the lanes of all of them in one vector.
static void rows_in_one_vector(const Stage& stage, Loop points, int together, std::vector<Loop> terms, Loop lane, Where where) {
  const Loop each = stage.split(points, together, Tail::guard, where).inner;
  terms.push_back(each), terms.push_back(lane);
  stage.reorder(terms, where);
  stage.vectorize(stage.fuse(each, lane, where), where);
}

Expr points_along(const Schedule& s, const Stage& stage, std::size_t dim) {
  const ir::IterVar& v = definition(s, stage).iters[dim];
  return v.end.empty() ? Expr() : ir::sub(v.end, v.begin);
}
std::optional<bool> known(const Schedule& s, const Expr& condition) {
  const analysis::Facts facts = analysis::facts_of_arguments(s.scheduled().program);
  if (analysis::can_prove(condition, facts)) return true;
  if (analysis::can_prove(ir::logic_not(condition), facts)) return false;
  return {};
}

bool reduce_in_lanes(Schedule& s, const Stage& stage, Loop point, Loop terms, int lanes, int accumulators, Where where,
                     const InterleavedRows& rows) {
  const ir::Stage& d = definition(s, stage);
  if (d.reducer.order != ir::Reducer::Order::any || d.reducer.kind == ir::ReducerKind::strict_sum) return false;
  const bool several = rows.together > 1;
  // Half of the registers are left to the terms; of several rows a half of these to the halves of the tree, which live at once.
  // A place beside a value takes two registers, i64 beside f32.
  const int file = s.target().vector_registers(), bits = std::max(s.target().vector_bits(), 1);
  int of_one = 0;
  for (const ir::Id b : d.buffers) of_one += (lanes * s.scheduled().program.buffer(b).type.bits + bits - 1) / bits;
  of_one *= rows.together;
  const auto alive = [&] { return of_one * (accumulators + accumulators / 2 + 1); };  // with two steps of the tree
  while (accumulators > 1 && ((several ? 4 : 2) * of_one * accumulators > file || alive() > file - 2)) accumulators /= 2;
  const bool in_memory =
      several || (file > 0 && alive() > file - 2);  // one vector with its place is more than a small file holds
  const std::int64_t extent = number_or(terms.extent(where), -1);
  int width = lanes * accumulators;
  if (extent >= 0) width = std::min(width, power_of_two_up_to(extent));
  if (width < 2) return false;
  return !s.attempt([&] {
    std::vector<Stage> parts;
    Loop rest = stage.split(terms, width, Tail::guard, where).inner;
    parts.push_back(stage.rfactor(rest, where));
    while (width > 2) {
      width /= 2;
      rest = stage.split(rest, width, Tail::exact, where).inner;
      parts.push_back(stage.rfactor(rest, where));
      parts.back().unroll(parts.back().reduction(where), where);
    }
    stage.unroll(rest, where);
    for (std::size_t k = parts.size(); k-- > 0;) {
      if (several)
        parts[k].compute_at(rows.at, where);
      else if (point.id() != 0)
        parts[k].compute_at(point, where);
      parts[k].store_in(in_memory ? Scope::stack : Scope::registers, where);
      const std::vector<Loop> points = parts[k].spatial_loops(where), of_part = parts[k].reduction_loops(where);
      const Loop last = points.back();
      if (several && rows.packed && rows.together * number_or(last.extent(where), INT32_MAX) <= 2 * lanes) {
        rows_in_one_vector(parts[k], points[rows.dim], rows.together, of_part, last, where);
        continue;
      }
      std::vector<Loop> inside{last};
      if (number_or(last.extent(where), 0) > lanes) {
        const auto [a, lane] = parts[k].split(last, lanes, Tail::exact, where);
        inside = {a, lane};
      }
      if (several)
        points_together(parts[k], points[rows.dim], rows.together, of_part, inside, where);
      else
        for (const Loop& term : of_part) {
          std::vector<Loop> order{term};
          order.insert(order.end(), inside.begin(), inside.end());
          parts[k].reorder(order, where);
        }
      parts[k].vectorize(inside.back(), where);
      if (inside.size() > 1) parts[k].unroll(inside.front(), where);
    }
    if (several && rows.each.id() != 0 && rows.packed) {
      std::vector<Loop> order = stage.reduction_loops(where);
      order.push_back(rows.each);
      stage.reorder(order, where);
      stage.vectorize(rows.each, where);
    } else if (several && rows.each.id() != 0) {
      stage.unroll(rows.each, where);
    } else if (several) {
      points_together(stage, stage.spatial_loops(where)[rows.dim], rows.together, {}, stage.reduction_loops(where), where);
    }
  });
}

}  // namespace ashlar::schedules::detail
