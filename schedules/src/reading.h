// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The reads of stages in terms of their iteration variables: how an index moves with each of them, which stages read which, and
// how large everything is if Symbols are replaced by assumed numbers.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <ashlar/analysis/regions.h>
#include <ashlar/ir/program.h>

namespace ashlar::schedules {

using ir::Id;

// An index as a sum of multiples of iteration variables, a constant, and a rest.
//   2 i + r - 1       coefficients {i: 2, r: 1}, constant -1
//   clamp(i - 1, 0, H - 1)     the same as i - 1, bent
//   table(i)          from_data, uses {i}
struct Index {
  std::map<Id, std::int64_t> coefficients;  // of the iteration variables in which it is linear
  std::vector<Id> uses;                     // all iteration variables in it
  std::int64_t constant = 0;
  bool bent = false;               // clamped, divided, chosen: not the sum alone
  bool symbolic = false;           // Symbols in it
  bool from_data = false;          // read from data
  bool plain(Id variable) const {  // the variable itself
    return !bent && !symbolic && !from_data && constant == 0 && coefficients.size() == 1 &&
           coefficients.begin()->first == variable && coefficients.begin()->second == 1;
  }
  bool moves_with(Id variable) const;
};
Index index_of(const Expr&, const ir::Stage&);

struct Reading {
  Id buffer = 0, producer = 0;  // 0: an input
  std::vector<Index> at;
  bool chosen = false;   // inside of an arm of a select
  bool of_init = false;  // read where a reduction starts
};
std::vector<Reading> readings_of(const ir::Program&, const ir::Stage&);

// Numeric values of expressions over Symbols and outer loops.
class Sizes {
 public:
  Sizes(const ir::Program& p, std::int64_t symbol) : p_(p), symbol_(symbol) {}
  double of(const Expr&) const;  // an expression over symbols; loops around count as 0
  double extent(const ir::Stage&, Id variable) const;
  bool from_data(const ir::Stage&, Id variable) const;  // its bounds are read from tables
  double points(const ir::Stage&) const;                // of the spatial variables
  double terms(const ir::Stage&) const;                 // of the reduction variables
  std::optional<std::int64_t> constant_extent(const ir::Stage&, Id variable) const;

 private:
  const ir::Program& p_;
  std::int64_t symbol_;
};

// The cost of a point (for reductions, of a term), in additions.
double cost_of(const ir::Stage&);
double cost_of(ir::Op);  // of one operation: 1 for an addition, 6 for a division, 16 for a function

std::vector<Id> readers_of(const ir::Program&, const ir::Stage&);
bool is_output(const ir::Program&, const ir::Stage&);
std::vector<ir::IterVar> spatial_of(const ir::Stage&);
std::vector<ir::IterVar> reduce_of(const ir::Stage&);
// Whether the variable bounds the terms, k in [0, i + 1), so that rows have different terms.
bool bounds_terms(const ir::Stage&, Id variable);

}  // namespace ashlar::schedules
