#pragma once
// Remembered answers. A schedule asks the same questions after every step, since regions are derived anew; the answers for one
// set of facts are kept in one table. Facts are found by a fingerprint and then compared, so a collision costs time, never truth.
// Only index and bool expressions are remembered: their source lines tell nobody anything. One memo a thread; a full one starts
// afresh.
#include <unordered_map>
#include <vector>

#include <ashlar/analysis/interval.h>

namespace ashlar::analysis {

struct MemoTable {
  Facts facts;
  std::unordered_map<Expr, Expr, ir::ExprHash, ir::ExprSame> simplified;
  std::unordered_map<Expr, bool, ir::ExprHash, ir::ExprSame> decided;
  struct Bounds { std::vector<ir::Id> eliminated; Interval interval; };
  std::unordered_map<Expr, std::vector<Bounds>, ir::ExprHash, ir::ExprSame> bounds;
};

MemoTable& memo_for(const Facts&);  // valid until the next call
bool memorable(const Expr&);

}  // namespace ashlar::analysis
