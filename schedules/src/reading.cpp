// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedules/src/reading.h"

#include <algorithm>
#include <cmath>

#include <ashlar/analysis/evaluate.h>
#include <ashlar/analysis/reads.h>
#include <ashlar/ir/operation.h>

namespace ashlar::schedules {
namespace {

using ir::Op;

bool is_iteration(const ir::Stage& s, Id v) {
  return std::any_of(s.iters.begin(), s.iters.end(), [&](const ir::IterVar& i) { return i.id == v; });
}

void use(Index& x, const Expr& e, const ir::Stage& s) {
  for (const Id v : ir::free_vars(e)) {
    if (!is_iteration(s, v))
      x.symbolic = true;
    else if (std::find(x.uses.begin(), x.uses.end(), v) == x.uses.end())
      x.uses.push_back(v);
  }
}

void add(Index& x, const Expr& e, std::int64_t times, const ir::Stage& s) {
  const auto args = ir::args_of(e);
  std::int64_t n = 0;
  switch (ir::op_of(e)) {
    case Op::int_const:
      x.constant += times * e.node()->i;
      return;
    case Op::var:
      use(x, e, s);
      if (is_iteration(s, e.node()->id)) x.coefficients[e.node()->id] += times;
      return;
    case Op::add:
      add(x, args[0], times, s), add(x, args[1], times, s);
      return;
    case Op::sub:
      add(x, args[0], times, s), add(x, args[1], -times, s);
      return;
    case Op::neg:
      add(x, args[0], -times, s);
      return;
    case Op::mul:
      if (ir::is_int(args[1], &n)) return add(x, args[0], times * n, s);
      if (ir::is_int(args[0], &n)) return add(x, args[1], times * n, s);
      break;
    case Op::in_range:
      add(x, args[0], times, s);
      return;
    case Op::mod:  // of a row of a flat index, x % W: neighbors except where a row ends
      if (ir::is_int(args[1])) break;
      use(x, args[1], s);
      x.bent = true;
      return add(x, args[0], times, s);
    case Op::min:
    case Op::max: {  // of a clamp, what is clamped
      x.bent = true;
      const bool first =
          std::any_of(s.iters.begin(), s.iters.end(), [&](const auto& v) { return ir::uses_var(args[0], v.id); });
      add(x, args[first ? 0 : 1], times, s);
      return;
    }
    default:
      break;
  }
  use(x, e, s);
  x.bent = true;
  ir::walk(e, [&](const Expr& y) { return x.from_data = x.from_data || ir::is(y, Op::load), !x.from_data; });
}

}  // namespace

bool Index::moves_with(Id v) const {
  const auto at = coefficients.find(v);
  return (at != coefficients.end() && at->second != 0) ||
         (bent && at == coefficients.end() && std::find(uses.begin(), uses.end(), v) != uses.end());
}

Index index_of(const Expr& e, const ir::Stage& s) {
  Index x;
  add(x, e, 1, s);
  return x;
}

std::vector<Reading> readings_of(const ir::Program& p, const ir::Stage& s) {
  std::vector<Reading> all;
  for (const analysis::Read& r : analysis::reads_of(s)) {
    Reading reading;
    reading.buffer = r.load.node()->id, reading.producer = p.buffer(reading.buffer).stage;
    reading.chosen = !r.conditions.empty(), reading.of_init = r.of_start;
    for (const Expr& e : ir::args_of(r.load)) reading.at.push_back(index_of(e, s));
    all.push_back(std::move(reading));
  }
  return all;
}

double Sizes::of(const Expr& e) const {
  if (e.empty()) return static_cast<double>(symbol_);
  analysis::Assignment values;
  for (const Id v : ir::free_vars(e)) {
    std::int64_t value = 0;
    if (const auto at = p_.symbols.find(v); at != p_.symbols.end()) {
      const ir::Symbol& symbol = at->second;
      value = std::clamp(symbol_, symbol.min, symbol.max);
      value = std::max(value / symbol.multiple_of * symbol.multiple_of, std::min(symbol.multiple_of, symbol.max));
    }
    values.push_back({v, nullptr, value});
  }
  const auto n = analysis::evaluate(e, values);
  return n ? static_cast<double>(*n) : static_cast<double>(symbol_);
}

double Sizes::extent(const ir::Stage& s, Id variable) const {
  const auto nests = ir::nests_of(p_, s.id);
  if (nests.empty()) return 1;
  // Of a row of a triangle, k in [0, i + 1), about half: what it is in the middle of i.
  for (const ir::IterVar& v : s.iters) {
    if (v.id != variable || v.begin.empty() || v.end.empty()) continue;
    Expr n = ir::sub(v.end, v.begin);
    ir::Substitution middle;
    for (const ir::IterVar& around : s.iters) {
      if (around.id == variable || !ir::uses_var(n, around.id)) continue;
      const double all = around.end.empty() ? extent(s, around.id) : of(ir::sub(around.end, around.begin));
      middle.emplace_back(around.id, ir::index(static_cast<std::int64_t>(all / 2)));
    }
    if (!middle.empty()) return std::max(0.0, of(ir::substitute(n, middle)));
  }
  for (const ir::Root& r : nests.front()->get<ir::NestStmt>().roots)
    if (r.iter == variable) return std::max(0.0, of(r.extent));
  return 1;
}

std::optional<std::int64_t> Sizes::constant_extent(const ir::Stage& s, Id variable) const {
  const auto nests = ir::nests_of(p_, s.id);
  if (nests.empty()) return std::nullopt;
  std::int64_t n = 0;
  for (const ir::Root& r : nests.front()->get<ir::NestStmt>().roots)
    if (r.iter == variable && ir::is_int(r.extent, &n)) return n;
  return std::nullopt;
}

bool Sizes::from_data(const ir::Stage& s, Id variable) const {
  const auto nests = ir::nests_of(p_, s.id);
  bool found = false;
  if (!nests.empty())
    for (const ir::Root& r : nests.front()->get<ir::NestStmt>().roots)
      if (r.iter == variable) ir::walk(r.extent, [&](const Expr& e) { return found = found || ir::is(e, Op::load), !found; });
  return found;
}

double Sizes::points(const ir::Stage& s) const {
  double n = 1;
  for (const auto& v : spatial_of(s)) n *= extent(s, v.id);
  return n;
}

double Sizes::terms(const ir::Stage& s) const {
  double n = 1;
  for (const auto& v : reduce_of(s)) n *= extent(s, v.id);
  return n;
}

double cost_of(Op op) { return ir::operation(op).laws.cost; }

double cost_of(const ir::Stage& s) {
  double cost = 0;
  const auto count = [&](const Expr& e) {
    ir::walk(e, [&](const Expr& x) {
      if (ir::is(x, Op::load)) {
        ++cost;
        return false;  // indices are free
      }
      if (x.type().is_index() || x.node()->count == 0) return true;
      cost += cost_of(ir::op_of(x));
      return true;
    });
  };
  for (const Expr& e : s.values) count(e);
  for (const Expr& e : s.reducer.combine) count(e);
  return cost;
}

std::vector<Id> readers_of(const ir::Program& p, const ir::Stage& s) {
  std::vector<Id> readers;
  for (const auto& [id, other] : p.stages) {
    if (id == s.id) continue;
    const auto read = analysis::buffers_read(other);
    if (std::any_of(s.buffers.begin(), s.buffers.end(), [&](Id b) { return read.count(b) > 0; })) readers.push_back(id);
  }
  return readers;
}

bool is_output(const ir::Program& p, const ir::Stage& s) {
  return std::any_of(s.buffers.begin(), s.buffers.end(), [&](Id b) { return p.buffer(b).role == ir::Role::output; });
}

std::vector<ir::IterVar> spatial_of(const ir::Stage& s) {
  std::vector<ir::IterVar> all;
  for (const ir::IterVar& v : s.iters)
    if (v.kind != ir::IterKind::reduce) all.push_back(v);
  return all;
}

std::vector<ir::IterVar> reduce_of(const ir::Stage& s) {
  std::vector<ir::IterVar> all;
  for (const ir::IterVar& v : s.iters)
    if (v.kind == ir::IterKind::reduce) all.push_back(v);
  return all;
}

bool bounds_terms(const ir::Stage& s, Id variable) {
  const auto terms = reduce_of(s);
  return std::any_of(terms.begin(), terms.end(), [&](const ir::IterVar& k) {
    return (!k.begin.empty() && ir::uses_var(k.begin, variable)) || (!k.end.empty() && ir::uses_var(k.end, variable));
  });
}

}  // namespace ashlar::schedules
