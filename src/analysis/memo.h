#pragma once
// Remembered answers. A schedule asks the same questions after every step, since regions are derived anew; the answers for one
// set of facts are kept in one table. Facts are found by a fingerprint and then compared, so a collision costs time, never
// truth. Only index and bool expressions are remembered: their source lines tell nobody anything. Names do: ids are dense in
// every Program, so two Programs of one process use the same id for different variables, and canonical order goes by names. So
// the names belong to the key. One memo a thread; a full one starts afresh.
#include <unordered_map>
#include <vector>

#include <ashlar/analysis/interval.h>

namespace ashlar::analysis {

struct SameWithNames {
  bool operator()(const Expr& a, const Expr& b) const;
};

struct MemoTable {
  Facts facts;
  std::unordered_map<Expr, Expr, ir::ExprHash, SameWithNames> simplified;
  std::unordered_map<Expr, bool, ir::ExprHash, SameWithNames> decided;
  struct Bounds {
    std::vector<VarRange> eliminated;
    Interval interval;
  };
  std::unordered_map<Expr, std::vector<Bounds>, ir::ExprHash, SameWithNames> bounds;
};

MemoTable& memo_for(const Facts&);  // valid until the next call
bool memorable(const Expr&);

}  // namespace ashlar::analysis
