// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Remembered answers. A schedule asks the same questions after every step, since regions are derived anew; the answers for one
// set of facts are kept in one table. Facts are found by a fingerprint and then compared, so a collision costs time, never
// truth. Only index and bool expressions are remembered: their source lines tell nobody anything. Names do: ids are dense in
// every Program, so two Programs of one process use the same id for different variables, and canonical order goes by names. So
// the names belong to the key. One memo a thread; a full one starts afresh.
#include <memory>
#include <unordered_map>
#include <vector>

#include <ashlar/analysis/interval.h>

namespace ashlar::analysis {

struct SameWithNames {
  bool operator()(const Expr& a, const Expr& b) const;
};

class Engine;

struct MemoTable {
  explicit MemoTable(Facts);
  ~MemoTable();
  MemoTable(const MemoTable&) = delete;
  MemoTable& operator=(const MemoTable&) = delete;

  // An engine that remembers the ranges it found for earlier questions; not two at a time. One that threw is forgotten.
  template <class F>
  auto ask(F&& question) {
    Engine& e = ready();
    try {
      return question(e);
    } catch (...) {
      engine.reset();
      throw;
    }
  }

  Facts facts;
  std::unique_ptr<Engine> engine;
  std::unordered_map<Expr, Expr, ir::ExprHash, SameWithNames> simplified;
  std::unordered_map<Expr, bool, ir::ExprHash, SameWithNames> decided;
  std::unordered_map<Expr, std::vector<std::pair<int, bool>>, ir::ExprHash, SameWithNames>
      nonneg;  // by the steps that were allowed, and how data is taken
  struct Bounds {
    std::vector<VarRange> eliminated;
    Interval interval;
  };
  std::unordered_map<Expr, std::vector<Bounds>, ir::ExprHash, SameWithNames> bounds;

 private:
  Engine& ready();
};

// The table of the facts that bear on an expression; most loops around it do not.
std::shared_ptr<MemoTable> memo_for(const Expr&, const Facts&);
std::shared_ptr<MemoTable> memo_for(const Facts&);
bool memorable(const Expr&);

}  // namespace ashlar::analysis
