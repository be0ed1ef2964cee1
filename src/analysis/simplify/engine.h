// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The machine behind simplify, prove and bounds_over: one Engine answers many questions under one set of facts and remembers
// what it has simplified. It never outlives the Facts it was given.
//
//   Engine e(facts);  Expr s = e.simplify(x);  bool yes = e.nonneg(e.linear(sub(n, x)));
//
// Invariant: what simplify returns is a fixed point: simplify(simplify(e)) is the same tree.
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include <ashlar/analysis/simplify.h>

#include "analysis/simplify/linear.h"

namespace ashlar::analysis {

struct Rule;
struct MemoTable;

struct Range {  // constant bounds, inclusive; INT64_MIN and INT64_MAX stand for "none"
  std::int64_t lo = INT64_MIN, hi = INT64_MAX;
  bool has_lo() const { return lo != INT64_MIN; }
  bool has_hi() const { return hi != INT64_MAX; }
  bool is_constant() const { return lo == hi && has_lo() && has_hi(); }
};

// Bounds of a data integer, inclusive: those of its type, or narrower. 128 bits hold every end, and sums and products of two.
struct DataRange {
  __extension__ __int128 lo = 0, hi = 0;
};

enum class Truth { yes, no, open };  // always true, always false, neither shown

enum class Direction { flat, up, down, mixed };  // how an expression moves as one variable grows

class Engine {
 public:
  explicit Engine(const Facts& facts) : facts_(facts) {}
  explicit Engine(MemoTable&);  // the one that a table keeps
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  Expr simplify(const Expr&);
  Linear linear(const Expr&);  // simplifies first
  Truth decide(const Expr& simplified_condition);

  Range range(const Expr& canonical);
  Range range(const Linear&);
  Congruence congruence(const Expr& canonical);
  Congruence congruence(const Linear&);
  Congruence congruence_of_remainders(const Linear&);

  // Questions take data for what it is in mathematics, where it cannot wrap (lift.cpp); a simplification leaves it in its type.
  void lift_data() { lift_ = true; }
  bool met_data() const { return met_data_; }  // in this question
  bool may_wrap(const Expr& data);
  Expr lifted(const Expr& cast);  // one step of it: empty where there is none

  bool nonneg(const Linear&);  // within the budget of one question
  bool runs_over_multiple(const Expr& quotient_or_rest, const Expr& last, Linear* count);
  bool positive(const Expr& canonical);
  void set_budget(int steps) { budget_ = steps; }
  Direction direction(const Expr& canonical, ir::Id var);
  Direction direction(const Linear&, ir::Id var);
  const Facts& facts() const { return facts_; }
  std::size_t size() const { return ranges_.size() + ranged_.size(); }
  // Before another question. What was simplified is forgotten, since a node that was a result is not looked at again and the
  // answer would depend on what was asked before; ranges and hypotheses stay.
  void begin() {
    done_[0].clear(), done_[1].clear(), keep_.clear();
    budget_ = 0;
    lift_ = met_data_ = false;
  }

 private:
  friend class RuleMatch;
  // simplify.cpp
  Expr visit(const Expr&);
  Expr visit_data(const Expr&);
  Expr visit_select(const Expr&);
  Expr visit_compare(const Expr&);
  Expr compare_linear(const Linear& slack);  // slack >= 0
  Expr equal_linear(const Linear& difference, bool equal);
  bool lies_far(const Expr&, bool above, int depth);
  const Term* far_term(const Linear&);
  void gather(const Expr&, std::int64_t factor, Linear& out);
  void normalize(Linear&);
  bool normalize_terms(Linear&);
  bool normalize_pairs(Linear&);
  bool normalize_remainders(Linear&);
  bool normalize_digits(Linear&);
  bool push_into_minmax(Linear&);
  Expr minmax(ir::Op, const Expr&, const Expr&);
  // match.cpp
  std::optional<Expr> rewrite(const Expr&);  // the first rule of the table that applies
  // range.cpp
  Congruence congruence_of(const Expr&);
  Range var_range(const Expr& var);
  Range atom_range(const Expr&);
  Congruence var_congruence(const Expr& var);
  // data_range.cpp
  DataRange data_range(const Expr&);
  DataRange data_range_of(const Expr&);
  std::optional<DataRange> exact_range(const Expr&);  // of what is computed without wrapping; empty where it may wrap
  DataRange bits_range(const Expr&, const DataRange& all);
  DataRange within_conditions(const Expr&, DataRange);
  // float_range.cpp
  DataRange converted_range(const Expr& value, const DataRange& all, bool rounded);
  // lift.cpp
  Expr index_of(const Expr& data);
  Expr lifted_arithmetic(const Expr& data);
  Expr lifted_bits(const Expr& data);
  bool is_index_value(const Expr& data);
  // decide.cpp
  Direction direction_of(const Expr&, ir::Id var);
  bool ask(const Linear&, int budget);  // as nonneg, once for the same facts and budget
  bool search(const Linear&, std::uint64_t hypotheses_used, int depth);
  bool search_minmax(const Linear&, std::uint64_t used, int depth, bool* decided);
  bool search_variables(const Linear&, std::uint64_t used, int depth);
  bool search_quotients(const Linear&, std::uint64_t used, int depth);
  bool search_quotient_by_symbol(const Linear&, std::size_t term, std::uint64_t used, int depth);  // quotients.cpp
  bool search_known_remainder(const Linear&, std::size_t term, std::uint64_t used, int depth);
  bool search_promises(const Linear&, std::uint64_t used, int depth);
  bool search_hypotheses(const Linear&, std::uint64_t used, int depth);
  void tighten(Linear&);
  void need_hypotheses();
  void load_hypotheses();
  std::optional<Linear> one_sided(const Expr& differ);
  Truth decide_linear(const Linear& slack);

  const Facts& facts_;
  MemoTable* memo_ = nullptr;                                      // of these facts; found when it is first asked
  std::shared_ptr<MemoTable> held_;                                // unless it keeps this engine
  std::array<std::unordered_map<const ir::Node*, Expr>, 2> done_;  // [1]: inside a proof, where fewer steps are spent
  std::unordered_map<const ir::Node*, Range> ranges_;
  std::array<std::unordered_map<const ir::Node*, Range>, 9>
      ranges_below_;  // of shared nodes, in the ranges of variables; by depth
  std::array<std::unordered_map<const ir::Node*, DataRange>, 9> data_ranges_;  // by depth
  std::unordered_map<const ir::Node*, Congruence> congruences_;                // of shared nodes
  std::map<std::pair<const ir::Node*, ir::Id>, Direction> directions_;         // of shared nodes
  std::vector<Expr> keep_, ranged_;                                            // keep the keys of the maps alive
  std::vector<Linear> hypotheses_;                                             // each is >= 0
  struct Tried {  // a question inside of the proof that runs: different orders of the same replacements come to the same ones
    Linear sum;
    int given = 0, depth = 0, spent = 0;  // steps, proofs around it, steps
    bool answer = false;
  };
  std::vector<Tried> tried_;
  bool hypotheses_loaded_ = false;
  bool hypotheses_lifted_ = false, hypotheses_of_data_ = false;
  bool lift_ = false, met_data_ = false;
  std::unordered_map<const ir::Node*, Expr> index_of_;  // casts of data: one node each
  bool use_conditions_ = true;
  int proof_depth_ = 0;  // > 0 while a proof runs inside a simplification
  int rewrite_depth_ = 0;
  int range_depth_ = 0;
  int budget_ = 0;
};

}  // namespace ashlar::analysis
