// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// BIJECT on a box. The box is moved to the origin first, so that a tile that starts at jo * 32 is the tile at 0 and its swizzle
// bit-linear; what the digits and the rank of the core do not decide goes to the proof cascade.
#include <algorithm>
#include <map>

#include <ashlar/analysis/layout.h>
#include <ashlar/ir/print.h>

#include "analysis/simplify/engine.h"
#include <ashlar/analysis/evaluate.h>

#include "analysis/nodes.h"

namespace ashlar::analysis {

namespace {

const char* name_of(std::span<const Expr> where, Id id) {
  const char* name = "_";
  for (const Expr& e : where)
    ir::walk(e, [&](const Expr& x) {
      if (ir::is(x, Op::var) && x.node()->id == id && x.node()->name) name = x.node()->name;
      return true;
    });
  return name;
}

constexpr std::int64_t most_enumerated = 4096;  // elements of a box

bool has_bits(const Expr& e) {
  bool found = false;
  ir::walk(e, [&](const Expr& x) {
    const Op op = ir::op_of(x);
    found = found || op == Op::bit_xor || op == Op::bit_and || op == Op::bit_or;
    return !found;
  });
  return found;
}

struct MapQuestion {
  std::vector<Id> vars;
  std::vector<const char*> names;
  std::vector<Expr> map;   // over indices that count from 0
  std::vector<Expr> lo;    // where they count from
  std::vector<Expr> last;  // the largest index, extent - 1
  Facts facts;
};

// "(r = 0, c = 8) and (r = 0, c = 0) both map to (0, 8), where N = 32"
Verdict refuted(const MapQuestion& q, Step step, const Assignment& first, const Assignment& second) {
  Verdict v{Answer::refuted, step, {}, {}, {}, {}};
  const auto pick = [&](const Assignment& at) {
    Assignment own;
    for (std::size_t d = 0; d < q.vars.size(); ++d) {
      std::int64_t value = evaluate(q.lo[d], at).value_or(0);  // an index that does not matter stays where it begins
      for (const Binding& b : at)
        if (b.id == q.vars[d]) value += b.value;
      own.push_back({q.vars[d], q.names[d], value});
    }
    return own;
  };
  Assignment shared;
  for (const Binding& b : first)
    if (std::find(q.vars.begin(), q.vars.end(), b.id) == q.vars.end()) shared.push_back(b);
  for (const Expr& e : q.map) {
    const auto value = evaluate(e, first);
    if (!value) {
      v.element.clear();
      break;
    }
    v.element.push_back(*value);
  }
  v.first = pick(first);
  v.second = pick(second);
  std::string place;
  for (std::int64_t x : v.element) place += (place.empty() ? "" : ", ") + std::to_string(x);
  v.why = "(" + text(v.first) + ") and (" + text(v.second) + ") both map to (" + place + ")";
  if (!shared.empty()) v.why += ", where " + text(shared);
  for (const Binding& b : shared) {
    v.first.push_back(b);
    v.second.push_back(b);
  }
  return v;
}

// The digits of each index, with the bits of the core, are all of it; those of each output do not overlap.
class Decoding {
 public:
  Decoding(const MapQuestion& q, const IndexMap& m) : q_(q), m_(m) {}

  bool unique() const {
    if (!kernel(m_.core).empty()) return false;
    for (std::size_t d = 0; d < m_.vars.size(); ++d)
      if (unheld(d)) return false;
    for (std::size_t o = 0; o < m_.outputs(); ++o)
      if (!apart(o)) return false;
    return true;
  }

  // The smallest step of an index that no digit and no bit of the core sees; 0 if there is none within its extent.
  std::int64_t unheld(std::size_t d) const {
    std::int64_t reached = std::int64_t{1} << m_.core.in[d];
    std::vector<const Digit*> own;
    for (const Digit& x : m_.digits)
      if (x.dim == d) own.push_back(&x);
    std::sort(own.begin(), own.end(), [](const Digit* a, const Digit* b) { return a->divisor < b->divisor; });
    for (const Digit* x : own) {
      if (x->divisor != reached) return reached;
      if (x->modulus == 0) return 0;
      if (__builtin_mul_overflow(reached, x->modulus, &reached)) return 0;
    }
    return can_prove(ir::lt(q_.last[d], ir::index(reached)), q_.facts) ? 0 : reached;
  }

 private:
  // Of a digit: its largest value.
  Expr largest(const Digit& x) const {
    const Expr above = ir::div(q_.last[x.dim], ir::index(x.divisor));
    return x.modulus ? ir::min(above, ir::index(x.modulus - 1)) : above;
  }

  bool apart(std::size_t o) const {
    std::vector<const Digit*> left;
    for (const Digit& x : m_.digits)
      if (x.output == o) left.push_back(&x);
    return stack(ir::index(std::int64_t{1} << m_.core.out[o]), left);
  }

  // Some order in which each stride is at least the span of all digits below it.
  bool stack(const Expr& span, const std::vector<const Digit*>& left) const {
    if (left.empty()) return true;
    if (left.size() > 6) return false;
    for (std::size_t k = 0; k < left.size(); ++k) {
      const Expr& stride = left[k]->stride;
      if (!can_prove(ir::lt(ir::index(0), stride), q_.facts) || !can_prove(ir::le(span, stride), q_.facts)) continue;
      std::vector<const Digit*> rest = left;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(k));
      if (stack(simplify(ir::add(span, ir::mul(stride, largest(*left[k]))), q_.facts), rest)) return true;
    }
    return false;
  }

  const MapQuestion& q_;
  const IndexMap& m_;
};

// Two elements with one image: 0 and what the kernel of the core holds, or the step of an index that nothing sees. The box may
// be no power of two, and its extents symbolic: the facts must allow both.
std::optional<Verdict> collision(const MapQuestion& q, const IndexMap& m) {
  const std::vector<std::int64_t> zero(m.vars.size(), 0);
  std::vector<std::vector<std::int64_t>> candidates;
  for (std::uint64_t k : kernel(m.core)) {
    auto& other = candidates.emplace_back();
    for (const int bits : m.core.in) {
      other.push_back(bits ? static_cast<std::int64_t>(k & (~std::uint64_t{0} >> (64 - bits))) : 0);
      k = bits >= 64 ? 0 : k >> bits;
    }
  }
  for (std::size_t d = 0; d < m.vars.size(); ++d)
    if (const std::int64_t step = Decoding(q, m).unheld(d)) candidates.emplace_back(zero)[d] = step;
  for (const std::vector<std::int64_t>& other : candidates) {
    std::vector<Expr> fits;
    for (std::size_t d = 0; d < other.size(); ++d) fits.push_back(ir::ge(q.last[d], ir::index(other[d])));
    // Values of the symbols for which the box is that large.
    std::vector<Expr> about = fits;
    about.insert(about.end(), q.map.begin(), q.map.end());
    about.insert(about.end(), q.lo.begin(), q.lo.end());
    for (std::size_t d = 0; d < q.vars.size(); ++d) about.push_back(ir::var(q.vars[d], q.names[d]));
    Sampler sampler(about, q.facts);
    for (std::uint64_t seed = 0; seed < 600; ++seed) {
      if (!sampler.sample(seed)) continue;
      Assignment first = sampler.assignment(), second = first;
      for (std::size_t d = 0; d < q.vars.size(); ++d) {
        for (Binding& b : first)
          if (b.id == q.vars[d]) b.value = zero[d];
        for (Binding& b : second)
          if (b.id == q.vars[d]) b.value = other[d];
      }
      if (!sampler.allows(first) || !sampler.allows(second)) continue;
      bool same = true;
      for (const Expr& e : q.map) {
        const auto a = evaluate(e, first), b = evaluate(e, second);
        same = same && a && b && *a == *b;
      }
      bool inside = true;
      for (const Expr& f : fits) {
        const auto holds = evaluate(f, first);
        inside = inside && holds && *holds;
      }
      if (same && inside) return refuted(q, Step::bits, first, second);
    }
  }
  return std::nullopt;
}

// A small constant box is looked at, element by element, sooner than integer sets are asked.
std::optional<Verdict> by_enumeration(const MapQuestion& q) {
  std::int64_t elements = 1;
  Assignment at;
  std::vector<std::int64_t> last;
  for (std::size_t d = 0; d < q.vars.size(); ++d) {
    std::int64_t n = 0;
    if (!ir::is_int(q.last[d], &n) || n < 0 || n >= most_enumerated) return std::nullopt;
    if ((elements *= n + 1) > most_enumerated) return std::nullopt;
    at.push_back({q.vars[d], q.names[d], 0});
    last.push_back(n);
  }
  std::map<std::vector<std::int64_t>, Assignment> image;
  for (;;) {
    std::vector<std::int64_t> key;
    for (const Expr& e : q.map) {
      const auto v = evaluate(e, at);
      if (!v) return std::nullopt;
      key.push_back(*v);
    }
    if (const auto [it, fresh] = image.emplace(std::move(key), at); !fresh)
      return refuted(q, Step::enumeration, it->second, at);
    std::size_t d = last.size();
    while (d > 0 && at[d - 1].value == last[d - 1]) at[--d].value = 0;
    if (d == 0) return Verdict{Answer::proved, Step::enumeration, {}, {}, {}, {}};
    ++at[d - 1].value;
  }
}

std::optional<Verdict> by_algebra(const MapQuestion& q, std::string* why) {
  const IndexMapRead read = index_map(q.vars, q.map, q.facts);
  if (!read.map) {
    *why = read.why;
    return std::nullopt;
  }
  if (Decoding(q, *read.map).unique())
    return Verdict{Answer::proved, read.map->core.in_bits() ? Step::bits : Step::structure, {}, {}, {}, {}};
  return collision(q, *read.map);
}

}  // namespace

bool injective_by_structure(std::span<const Id> vars, std::span<const Expr> map) {
  const auto part_of = [](const Expr& e, Op op, Id v) {  // the n of v / n or v % n; 0 for anything else
    std::int64_t n = 0;
    const bool of_v = ir::is(e, op) && ir::is(ir::args_of(e)[0], Op::var) && ir::args_of(e)[0].node()->id == v;
    return of_v && ir::is_int(ir::args_of(e)[1], &n) && n > 0 ? n : 0;
  };
  return std::all_of(vars.begin(), vars.end(), [&](Id v) {
    return std::any_of(map.begin(), map.end(), [&](const Expr& e) {
      if (ir::is(e, Op::var)) return e.node()->id == v;
      const std::int64_t n = part_of(e, Op::div, v);
      return n != 0 && std::any_of(map.begin(), map.end(), [&](const Expr& rest) { return part_of(rest, Op::mod, v) == n; });
    });
  });
}

Verdict injective_on(std::span<const Id> vars, std::span<const Expr> map, const IndexBox& box, const Facts& facts) {
  if (injective_by_structure(vars, map)) return {Answer::proved, Step::structure, {}, {}, {}, {}};
  MapQuestion q{{vars.begin(), vars.end()}, {}, {}, box.lo, {}, facts};
  ir::Substitution moved;
  for (std::size_t d = 0; d < vars.size(); ++d) {
    q.last.push_back(simplify(ir::sub(box.extent[d], ir::index(1)), facts));
    q.names.push_back(name_of(map, vars[d]));
    moved.emplace_back(vars[d], ir::add(box.lo[d], ir::var(vars[d], q.names[d])));
    q.facts.bound(vars[d], 0, constant_max(q.last[d], facts));
    q.facts.range(vars[d], ir::index(0), q.last[d]);
    if (!ir::is_int(q.last[d])) q.facts.assume(ir::ge(q.last[d], ir::index(0)));  // of an empty box there is nothing to say
  }
  for (const Expr& e : map) q.map.push_back(simplify(ir::substitute(e, moved), q.facts));
  std::string why;
  if (auto v = by_algebra(q, &why)) return *v;
  if (auto v = by_enumeration(q)) return *v;
  Verdict v = injective(vars, q.map, q.facts);
  if (v.answer == Answer::refuted) return refuted(q, v.step, v.first, v.second);
  if (v.answer == Answer::unknown && !why.empty() && std::any_of(map.begin(), map.end(), has_bits)) v.why = why;
  return v;
}

}  // namespace ashlar::analysis
