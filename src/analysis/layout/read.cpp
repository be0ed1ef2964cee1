// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From index expressions to digits: each variable is split into its outer part and the low bits that the expressions take
// apart, the simplifier brings every expression to a sum of terms, and each term is a digit, or part of the core.
#include <algorithm>
#include <bit>

#include <ashlar/analysis/layout.h>
#include <ashlar/ir/print.h>

#include "analysis/simplify/bits.h"
#include "analysis/simplify/engine.h"
#include <ashlar/analysis/evaluate.h>

#include "analysis/nodes.h"

namespace ashlar::analysis {

namespace {

constexpr Id first_part_id = 0xffff'fffe'0000'0000ull;  // of the halves that variables are split into

bool power_of_two(std::int64_t v) { return v > 0 && std::has_single_bit(static_cast<std::uint64_t>(v)); }
int width_of(std::int64_t v) { return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(v))); }
int log2_of(std::int64_t v) { return std::countr_zero(static_cast<std::uint64_t>(v)); }

// Thrown inside this file: the term that has no such form.
struct Unreadable {
  std::string why;
};

struct Variable {
  Expr var;
  Range range;
  int wanted = 0;  // low bits that the expressions take apart
  int bits = 0;    // low bits that go to the core
  Id outer = 0, low = 0;
};

class Reader {
 public:
  Reader(std::span<const Id> vars, std::span<const Expr> outputs, const Facts& facts) : facts_(facts) {
    Engine engine(facts);
    for (const Expr& e : outputs) outputs_.push_back(engine.simplify(e));
    for (const Id id : vars) {
      Variable v;
      v.var = ir::var(id, ir::name_of_var(id, outputs));
      v.range = engine.range(engine.simplify(v.var));
      if (v.range.lo < 0) throw Unreadable{std::string(v.var.node()->name) + " may be negative"};
      vars_.push_back(v);
    }
    for (const Expr& e : outputs_) want(e, 0, engine);
  }

  IndexMapRead read() {
    // All bits of indices whose extent is a power of two first; then no more than is taken apart.
    std::string why;
    for (const bool all : {true, false}) {
      for (Variable& v : vars_) {
        const bool whole = v.range.has_hi() && power_of_two(v.range.hi + 1);
        v.bits = all && whole ? log2_of(v.range.hi + 1) : v.wanted;
      }
      try {
        return {attempt(), {}};
      } catch (const Unreadable& u) { why = u.why; }
    }
    return {std::nullopt, why};
  }

 private:
  Variable* variable(const Expr& e) {
    if (!ir::is(e, Op::var)) return nullptr;
    for (Variable& v : vars_)
      if (v.var.node()->id == e.node()->id) return &v;
    return nullptr;
  }

  // The low `bits` of e are taken apart.
  void want(const Expr& e, int bits, Engine& engine) {
    if (Variable* v = variable(e)) {
      const int width = v->range.has_hi() ? width_of(v->range.hi) : 62;
      v->wanted = std::max(v->wanted, std::min(bits, width));
      return;
    }
    const auto args = ir::args_of(e);
    std::int64_t c = 0;
    switch (ir::op_of(e)) {
      case Op::mod:
        return want(args[0], ir::is_int(args[1], &c) && power_of_two(c) ? log2_of(c) : bits, engine);
      case Op::div:
        return want(args[0], ir::is_int(args[1], &c) && power_of_two(c) ? std::min(62, log2_of(c) + bits) : 0, engine);
      case Op::mul:
        if (ir::is_int(args[1], &c) && power_of_two(c)) return want(args[0], std::max(0, bits - log2_of(c)), engine);
        break;
      case Op::bit_and:
      case Op::bit_or:
      case Op::bit_xor:
        for (const Expr& a : args) {
          const Range r = engine.range(a);
          want(a, r.lo >= 0 && r.has_hi() ? width_of(r.hi) : 62, engine);
        }
        return;
      default:
        break;
    }
    for (const Expr& a : args) want(a, bits, engine);
  }

  IndexMap attempt() {
    Facts facts = facts_;
    ir::Substitution split;
    for (std::size_t d = 0; d < vars_.size(); ++d) {
      Variable& v = vars_[d];
      const Id own = v.var.node()->id;
      v.outer = v.low = 0;
      const std::int64_t size = std::int64_t{1} << v.bits;
      if (v.bits == 0) {
        v.outer = own;
      } else if (v.range.has_hi() && v.range.hi < size) {
        v.low = own;
      } else {
        v.outer = first_part_id + 2 * d;
        v.low = v.outer + 1;
        const std::string name = v.var.node()->name ? v.var.node()->name : "";
        facts.bound(v.low, 0, size - 1);
        facts.bound(v.outer, 0, v.range.has_hi() ? std::optional(v.range.hi / size) : std::nullopt);
        const VarFacts* f = facts_.of(own);
        if (f && !f->hi.empty()) facts.range(v.outer, ir::index(0), ir::div(f->hi, ir::index(size)));
        split.emplace_back(own, ir::add(ir::mul(ir::var(v.outer, name + "_outer"), ir::index(size)), ir::var(v.low, name)));
      }
    }
    IndexMap map;
    for (const Variable& v : vars_) {
      map.vars.push_back(v.var.node()->id);
      map.core.in.push_back(v.low ? v.bits : 0);
    }
    if (map.core.in_bits() > 64) throw Unreadable{"more than 64 bits of indices"};
    map.core.columns.assign(static_cast<std::size_t>(map.core.in_bits()), 0);
    Engine engine(facts);
    BitSystem bits(facts);
    int first = 0;
    for (std::size_t o = 0; o < outputs_.size(); ++o) {
      Linear core, offset;
      const Linear all = engine.linear(ir::substitute(outputs_[o], split));
      offset.constant = all.constant;
      for (const Term& t : all.terms) {
        const Uses u = uses(t.atom);
        if (!u.outer && !u.low)
          offset.terms.push_back(t);
        else if (u.low && !u.outer && !u.other)
          core.terms.push_back(t);
        else
          map.digits.push_back(digit(t, o));
      }
      const BitSystem::Word word = core_of(core, o, bits, map);
      const int width = static_cast<int>(word.size());
      if (first + width > 64) throw Unreadable{"more than 64 bits of outputs"};
      for (std::size_t b = 0; b < word.size(); ++b) place(word[b], first + static_cast<int>(b), bits, map.core);
      map.core.out.push_back(width);
      map.offset.push_back(emit(offset));
      first += width;
    }
    drop_unused(map.core);
    return map;
  }

  // Indices whose bits all went to digits have none in the core.
  static void drop_unused(BitLinear& core) {
    auto column = core.columns.begin();
    for (int& bits : core.in) {
      const auto end = column + bits;
      if (std::all_of(column, end, [](std::uint64_t c) { return c == 0; })) {
        column = core.columns.erase(column, end);
        bits = 0;
      } else {
        column = end;
      }
    }
  }

  struct Uses {
    bool outer = false, low = false, other = false;
  };
  Uses uses(const Expr& e) const {
    Uses u;
    ir::walk(e, [&](const Expr& x) {
      if (!ir::is(x, Op::var)) {
        u.other = u.other || ir::is(x, Op::load);
        return true;
      }
      bool ours = false;
      for (const Variable& v : vars_) {
        if (x.node()->id == v.outer) u.outer = ours = true;
        if (x.node()->id == v.low) u.low = ours = true;
      }
      u.other = u.other || !ours;
      return true;
    });
    return u;
  }

  // The bits that the core's terms give; terms that are digits by themselves are taken out where their sum would carry.
  BitSystem::Word core_of(Linear core, std::size_t o, BitSystem& bits, IndexMap& map) {
    for (const bool powers_too : {false, true}) {
      if (core.terms.empty()) return {};
      if (const auto w = bits.word(emit(core))) return *w;
      Linear rest;
      for (const Term& t : core.terms) {
        const auto d = !powers_too && power_of_two(t.coef) ? std::nullopt : as_digit(t.atom);
        if (d)
          map.digits.push_back(digit(t, o));
        else
          rest.terms.push_back(t);
      }
      core = rest;
    }
    if (core.terms.empty()) return {};
    if (const auto w = bits.word(emit(core))) return *w;
    throw Unreadable{"the bits of " + ir::text(emit(core)) + " are not sums modulo 2 of the bits of its variables"};
  }

  void place(const BitSystem::Row& row, int at, const BitSystem& bits, BitLinear& core) const {
    if (row[BitSystem::most_inputs]) core.constant |= std::uint64_t{1} << at;
    std::size_t column = 0;
    for (std::size_t d = 0; d < vars_.size(); ++d) {
      const auto [first, width] = bits.bits_of(vars_[d].low);
      for (std::size_t k = 0; k < static_cast<std::size_t>(core.in[d]); ++k, ++column)
        if (k < width && row[first + k]) core.columns[column] |= std::uint64_t{1} << at;
    }
  }

  // v, v / c, v % m, v / c % m for one of the parts.
  std::optional<Digit> as_digit(const Expr& e) const {
    Digit r;
    Expr v = e;
    if (ir::is(v, Op::mod)) {
      if (!ir::is_int(ir::args_of(v)[1], &r.modulus) || r.modulus <= 0) return std::nullopt;
      v = ir::args_of(v)[0];
    }
    if (ir::is(v, Op::div)) {
      if (!ir::is_int(ir::args_of(v)[1], &r.divisor) || r.divisor <= 0) return std::nullopt;
      v = ir::args_of(v)[0];
    }
    if (!ir::is(v, Op::var)) return std::nullopt;
    for (std::size_t d = 0; d < vars_.size(); ++d) {
      const Variable& x = vars_[d];
      const std::int64_t size = std::int64_t{1} << x.bits;
      r.dim = d;
      if (v.node()->id == x.outer) {
        if (x.bits) r.divisor = checked_mul(r.divisor, size);
        return r;
      }
      if (v.node()->id == x.low) {
        if (!x.outer) return r;
        if (r.modulus == 0) {  // of the low bits alone
          if (size % r.divisor != 0) return std::nullopt;
          r.modulus = size / r.divisor;
        } else if (!power_of_two(r.modulus) || !power_of_two(r.divisor) || r.modulus > size / r.divisor) {
          return std::nullopt;
        }
        return r;
      }
    }
    return std::nullopt;
  }

  Digit digit(const Term& t, std::size_t o) const {
    std::optional<Digit> found;
    std::vector<Expr> stride;
    for (const Expr& f : factors(t.atom)) {
      const Uses u = uses(f);
      if (!u.outer && !u.low) {
        stride.push_back(f);
        continue;
      }
      const auto d = found ? std::nullopt : as_digit(f);
      if (!d) throw Unreadable{"the term " + ir::text(t.atom) + " is neither a digit nor bit-linear"};
      found = d;
    }
    found->output = o;
    found->stride = ir::mul(product_of(std::move(stride)), ir::index(t.coef));
    return *found;
  }

  const Facts& facts_;
  std::vector<Expr> outputs_;
  std::vector<Variable> vars_;
};

}  // namespace

IndexMapRead index_map(std::span<const Id> vars, std::span<const Expr> outputs, const Facts& facts) {
  try {
    return Reader(vars, outputs, facts).read();
  } catch (const Unreadable& u) { return {std::nullopt, u.why}; } catch (const Overflow&) {
    return {std::nullopt, "a coefficient leaves 64 bits"};
  }
}

bool IndexMap::bit_linear() const {
  return digits.empty() &&
         std::all_of(offset.begin(), offset.end(), [](const Expr& e) { return ir::is_int(e, std::int64_t{0}); });
}

std::optional<std::vector<std::int64_t>> IndexMap::at(std::span<const std::int64_t> index, const Assignment& symbols) const {
  std::vector<std::int64_t> r = core(index);
  for (std::size_t o = 0; o < offset.size(); ++o) {
    const auto v = evaluate(offset[o], symbols);
    if (!v) return std::nullopt;
    r[o] += *v;
  }
  for (const Digit& d : digits) {
    const auto stride = evaluate(d.stride, symbols);
    if (!stride) return std::nullopt;
    std::int64_t v = floor_div(index[d.dim], d.divisor);
    if (d.modulus) v = floor_mod(v, d.modulus);
    r[d.output] += *stride * v;
  }
  return r;
}

}  // namespace ashlar::analysis
