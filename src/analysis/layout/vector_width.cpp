// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vector width: the low bits of one index are the low bits of the address, and nothing else touches those.
#include <bit>

#include <ashlar/analysis/memory_access.h>

#include "analysis/simplify/engine.h"
#include <ashlar/analysis/evaluate.h>

namespace ashlar::analysis {

namespace {

bool by_algebra(const IndexMap& m, std::size_t dim, int bits, Engine& engine) {
  const std::uint64_t low = (std::uint64_t{1} << bits) - 1;
  const std::int64_t w = std::int64_t{1} << bits;
  if (m.core.constant & low) return false;
  bool covered = m.core.in[dim] >= bits;
  std::size_t column = 0;
  for (std::size_t d = 0; d < m.vars.size(); ++d)
    for (int b = 0; b < m.core.in[d]; ++b, ++column) {
      const bool own = d == dim && b < bits && m.core.in[dim] >= bits;
      if (own ? m.core.columns[column] != std::uint64_t{1} << b : (m.core.columns[column] & low) != 0) return false;
    }
  const auto multiple = [&](const Expr& e) {
    const Congruence c = engine.congruence(engine.simplify(e));
    return c.modulus % w == 0 && c.remainder % w == 0;
  };
  for (const Digit& d : m.digits) {
    // An index of any extent: its own digit, of stride 1, runs on.
    if (d.dim == dim && d.divisor == 1 && (d.modulus == 0 || d.modulus % w == 0) && ir::is_int(d.stride, std::int64_t{1}) &&
        !covered && m.core.in[dim] == 0) {
      covered = true;
      continue;
    }
    if (d.dim == dim && d.divisor % w != 0) return false;
    if (!multiple(d.stride)) return false;
  }
  return covered && multiple(m.offset[0]);
}

bool by_enumeration(const Addressing& a, std::size_t dim, std::int64_t w, const Facts& facts) {
  std::vector<Expr> about{a.address};
  for (const ir::Id id : a.vars) about.push_back(ir::var(id, "x"));
  Sampler sampler(about, facts);
  if (!sampler.complete(65'536)) return false;
  while (sampler.next_point()) {
    Assignment at = sampler.assignment();
    Binding* x = nullptr;
    for (Binding& b : at)
      if (b.id == a.vars[dim]) x = &b;
    if (x->value % w != 0) continue;
    const auto first = evaluate(a.address, at);
    if (!first || floor_mod(*first, w) != 0) return false;
    for (std::int64_t e = 1; e < w; ++e) {
      ++x->value;
      if (!sampler.allows(at)) break;  // past the end of the box
      const auto v = evaluate(a.address, at);
      if (!v || *v != *first + e) return false;
    }
  }
  return true;
}

}  // namespace

std::int64_t vector_width(const Addressing& a, std::size_t dim, const Facts& facts, std::int64_t most) {
  try {
    Engine engine(facts);
    const Range r = engine.range(engine.simplify(ir::var(a.vars[dim], "x")));
    const IndexMapRead read = index_map(a.vars, std::span(&a.address, 1), facts);
    std::int64_t width = 1;
    for (int bits = 1; (std::int64_t{1} << bits) <= most; ++bits) {
      const std::int64_t w = std::int64_t{1} << bits;
      if (r.has_hi() && r.hi + 1 < w) break;
      if (!(read.map && by_algebra(*read.map, dim, bits, engine)) && !by_enumeration(a, dim, w, facts)) break;
      width = w;
    }
    return width;
  } catch (const Overflow&) { return 1; }
}

}  // namespace ashlar::analysis
