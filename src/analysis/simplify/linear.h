// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The canonical form of an index expression: a constant plus constant multiples of atoms. An atom is a variable, a product of
// variables, or anything else that is not a sum (div, mod, min, max, select, load, a cast, ...), itself in canonical form.
//
//   read(io*64 + ii - 3)   is   {64 * [io], 1 * [ii]} - 3
//   emit({-1 * [j], 1 * [N]} + 2)   is   N - j + 2
//
// Invariant: no two terms have the same atom, no coefficient is 0, and the terms stand in an order that depends on degrees,
// coefficients, names and structure only (ties: order of first appearance), so equal sums give equal trees.
#include <cstdint>
#include <vector>

#include <ashlar/ir/build.h>

namespace ashlar::analysis {

struct Overflow {};  // thrown when a coefficient leaves 64 bits; caught where the analysis is entered

std::int64_t checked_add(std::int64_t, std::int64_t);
std::int64_t checked_mul(std::int64_t, std::int64_t);
std::int64_t floor_div(std::int64_t a, std::int64_t b);  // b != 0
std::int64_t floor_mod(std::int64_t a, std::int64_t b);

struct Term {
  Expr atom;
  std::int64_t coef = 0;
};

struct Linear {
  std::vector<Term> terms;
  std::int64_t constant = 0;
  bool is_constant() const { return terms.empty(); }
};

const std::int64_t* coefficient(const Linear&, const Expr& atom);  // null: it is not a term of the sum
void add_variables(const Expr&, std::vector<ir::Id>& to);          // each once
bool mentions(const Expr&, ir::Id variable);
inline bool is_scalar_index(const Expr& e) { return e.node()->type.is_index() && e.node()->type.lanes == 1; }

int compare(const Expr&, const Expr&);  // by structure and names; 0 does not imply the same
void add_term(Linear&, const Expr& atom, std::int64_t coef);
void add_scaled(Linear&, const Linear&, std::int64_t factor);
Linear difference(const Linear& a, const Linear& b);  // a - b
Linear product(const Linear&, const Linear&);         // multiplied out
void order(Linear&);
Linear read(const Expr& canonical);  // of an expression that emit made, or of an atom
void read_into(const Expr& canonical, std::int64_t factor, Linear& out);
Expr emit(const Linear&);  // a tree; orders its terms first
bool same(const Linear&, const Linear&);

std::vector<Expr> factors(const Expr& atom);  // of a product, else the atom alone
Expr product_of(std::vector<Expr> factors);   // canonical; index(1) if there are none
int degree(const Expr& atom);

// The largest part of `dividend` that is exactly a multiple of `divisor`: dividend == quotient * divisor + rest. The constant
// of the dividend is split with a rest in [0, |divisor|) if the divisor is a constant. A quotient without terms is possible.
struct Division {
  Linear quotient, rest;
};
Division divide(const Linear& dividend, const Linear& divisor);

// gcd of the coefficients (not the constant); 0 for a constant.
std::int64_t content(const Linear&);

}  // namespace ashlar::analysis
