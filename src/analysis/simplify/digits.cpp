// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/analysis/digits.h>

#include <algorithm>

#include "analysis/simplify/engine.h"

namespace ashlar::analysis {

namespace {

constexpr int steps_of_a_bound = 100;

// What a factor is multiplied by, in all terms that hold it once: the stride N + 4 of i*N + 4*i.
Linear stride_of(const Linear& l, const Expr& factor) {
  Linear stride;
  for (const Term& t : l.terms) {
    std::vector<Expr> rest;
    std::size_t found = 0;
    for (const Expr& f : factors(t.atom)) {
      if (ir::same(f, factor))
        ++found;
      else
        rest.push_back(f);
    }
    if (found != 1) continue;
    if (rest.empty())
      stride.constant = checked_add(stride.constant, t.coef);
    else
      add_term(stride, product_of(std::move(rest)), t.coef);
  }
  return stride;
}

bool is_digit(const Linear& l, const Linear& stride, Engine& engine) {
  const auto holds = [&](const Linear& sum) {
    engine.set_budget(steps_of_a_bound);
    return engine.nonneg(sum);
  };
  Linear below = difference(stride, l);
  below.constant = checked_add(below.constant, -1);
  return holds(l) && holds(below);
}

using Pairs = std::vector<std::pair<Expr, Expr>>;

Pairs separate(const Expr& a, const Expr& b, Engine& engine) {
  const Linear first = engine.linear(a), second = engine.linear(b);
  for (const Linear* l : {&first, &second}) {
    for (const Term& t : l->terms) {
      const std::vector<Expr> product = factors(t.atom);
      if (product.size() < 2) continue;
      for (const Expr& factor : product) {
        const Linear stride = stride_of(*l, factor);
        const Division x = divide(first, stride), y = divide(second, stride);
        if (!is_digit(x.rest, stride, engine) || !is_digit(y.rest, stride, engine)) continue;
        Pairs result = separate(emit(x.quotient), emit(y.quotient), engine);
        for (auto& lower : separate(emit(x.rest), emit(y.rest), engine)) result.push_back(std::move(lower));
        return result;
      }
    }
  }
  return {{a, b}};
}

bool uses_any(const Linear& l, std::span<const ir::Id> vars) {
  return std::any_of(vars.begin(), vars.end(), [&](ir::Id id) {
    return std::any_of(l.terms.begin(), l.terms.end(), [&](const Term& t) { return ir::uses_var(t.atom, id); });
  });
}

}  // namespace

Pairs digits_of_equal(const Expr& a, const Expr& b, const Facts& facts) {
  try {
    Engine engine(facts);
    return separate(a, b, engine);
  } catch (const Overflow&) { return {{a, b}}; }
}

Pairs digits_of_equal(const Expr& a, const Expr& b, std::span<const ir::Id> strides) {
  try {
    const Facts none;
    Engine engine(none);
    Linear first = engine.linear(a), second = engine.linear(b);
    Pairs result;
    for (const ir::Id id : strides) {
      Linear stride;
      add_term(stride, ir::var(id, "stride"), 1);
      Division x = divide(first, stride), y = divide(second, stride);
      if (uses_any(x.quotient, strides) || uses_any(y.quotient, strides)) return {{a, b}};
      result.emplace_back(emit(x.quotient), emit(y.quotient));
      first = std::move(x.rest);
      second = std::move(y.rest);
    }
    if (uses_any(first, strides) || uses_any(second, strides)) return {{a, b}};
    result.emplace_back(emit(first), emit(second));
    return result;
  } catch (const Overflow&) { return {{a, b}}; }
}

}  // namespace ashlar::analysis
