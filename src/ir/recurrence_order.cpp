// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is wrong with a read of a recurrence that does not lie before its reader, in words and in numbers.
#include <algorithm>

#include <ashlar/ir/print.h>
#include <ashlar/ir/recurrence.h>

namespace ashlar::ir {
namespace {

std::string element(const std::string& name, const std::vector<std::int64_t>& at) {
  std::string s = name + "[";
  for (std::size_t d = 0; d < at.size(); ++d) s += (d ? ", " : "") + std::to_string(at[d]);
  return s + "]";
}

// As the definition calls it, which may be computed in an output of another name.
std::string name_of(const Stage& stage, const SelfRead& r) {
  return stage.buffers.size() > 1 ? r.load.node()->name : stage.name;
}
std::string text_of(const Stage& stage, const SelfRead& r) {
  std::string s = name_of(stage, r) + "[";
  for (std::size_t d = 0; d < args_of(r.load).size(); ++d) s += (d ? ", " : "") + text(args_of(r.load)[d]);
  return s + "]";
}

// Small values of the variables at which all conditions hold that numbers decide, and the read does not lie before its reader.
class Search {
 public:
  Search(const Stage& stage, const SelfRead& read) : stage_(stage), read_(read) {
    const auto note = [&](const Expr& e) {
      for (Id id : free_vars(e))
        if (std::find(variables_.begin(), variables_.end(), id) == variables_.end()) variables_.push_back(id);
    };
    for (const IterVar& v : stage.iters) variables_.push_back(v.id);
    for (const Expr& index : args_of(read.computed)) note(index);
    for (const Expr& c : read.known) note(c);
  }

  std::string find() {
    std::vector<Expr> indices(args_of(read_.computed).begin(), args_of(read_.computed).end());
    return next(0, read_.known, indices) ? found_ : "";
  }

 private:
  static constexpr std::int64_t lowest = -1, highest = 4;

  bool next(std::size_t k, const std::vector<Expr>& conditions, const std::vector<Expr>& indices) {
    if (k == variables_.size()) return disordered(indices);
    for (std::int64_t v = 0; v <= highest - lowest; ++v) {
      const std::int64_t value = v <= highest ? v : highest - v;  // 0, 1, ..., -1
      if (--steps_ < 0) return false;
      const Substitution at{{variables_[k], index(value)}};
      std::vector<Expr> left;
      bool holds = true;
      for (const Expr& c : conditions) {
        const Expr now = substitute(c, at);
        holds = holds && !is_int(now, std::int64_t{0});
        if (!is_int(now)) left.push_back(now);
      }
      if (!holds) continue;
      std::vector<Expr> there;
      for (const Expr& e : indices) there.push_back(substitute(e, at));
      if (k < stage_.iters.size()) here_.push_back(value);
      if (next(k + 1, left, there)) return true;
      if (k < stage_.iters.size()) here_.pop_back();
    }
    return false;
  }

  bool disordered(const std::vector<Expr>& indices) {
    std::vector<std::int64_t> there;
    for (const Expr& e : indices) {
      std::int64_t v = 0;
      if (!is_int(e, &v)) return false;
      there.push_back(v);
    }
    bool later = false;
    for (std::size_t d : stage_.along) {
      const std::int64_t back = stage_.iters[d].descending ? there[d] - here_[d] : here_[d] - there[d];
      if (back > 0) return false;
      later = back < 0;
      if (later) break;
    }
    found_ = element(stage_.name, here_) + " reads " + element(name_of(stage_, read_), there) + ", of " +
             (later ? "a later step" : "the same step");
    return true;
  }

  const Stage& stage_;
  const SelfRead& read_;
  std::vector<Id> variables_;  // those of the stage first
  std::vector<std::int64_t> here_;
  std::string found_;
  int steps_ = 20000;
};

}  // namespace

std::optional<Unordered> unordered(const Stage& stage, const SelfRead& r) {
  if (lies_before(r, stage.along)) return std::nullopt;
  std::string names;
  for (std::size_t d : stage.along) names += (names.empty() ? "" : ", ") + stage.iters[d].name;
  const std::string reading = text_of(stage, r), expected = "elements of steps before, along " + names;
  for (std::size_t d : stage.along) {
    const IterVar& v = stage.iters[d];
    const std::string index = text(args_of(r.load)[d]);
    if (r.back[d] && *r.back[d] < 0)
      return Unordered{expected, reading + ", of a later step", v.name + " = " + index + " is computed after " + v.name};
    if (r.least[d] && *r.least[d] >= 0) continue;
    const std::string before = v.descending ? v.name + " + 1" : v.name + " - 1",
                      axis = v.descending ? "Axis k{\"k\", " + v.name + " + 1, ...}" : "Axis k{\"k\", " + v.name + "}";
    return Unordered{"an earlier step along " + v.name + ", as " + before + " or k of " + axis,
                     index + " in " + reading + ", which is not known to be one", Search(stage, r).find()};
  }
  const bool exact = std::all_of(stage.along.begin(), stage.along.end(), [&](std::size_t d) { return r.back[d].has_value(); });
  return Unordered{expected, reading + (exact ? ", of the same step" : ", which may be of the same step"),
                   exact ? "" : Search(stage, r).find()};
}

}  // namespace ashlar::ir
