#pragma once
// Refusals are checked as well: a step that was refused is applied without its proof, and the interpreter runs what comes out,
// looking for what the refusal speaks of: an element that nothing wrote, one outside of its box, two iterations that meet in
// one, another value than the algorithm's.
//
//   confirmed     the conflict was seen
//   unconfirmed   nothing was: the proof may be too weak for what it refuses
//   moot          nothing was, and nothing could: a loop of one iteration, a stage that no call computes, a tail where there is
//   none impossible    no program comes out of the step, proved or not: its loop was taken apart, its stage has no storage, ...
#include <deque>
#include <string>

#include <ashlar/interp/interpreter.h>
#include <ashlar/schedule/step.h>

#include "arguments.h"

namespace fuzz {

// Arguments of several shapes for a program, and what it makes of them; computed when they are asked for.
class Runs {
 public:
  Runs(ashlar::ir::Program algorithm, const Values& values) : algorithm_(std::move(algorithm)), values_(values) {}
  struct Run {
    ashlar::interp::Arguments start, expected;
    std::string shape;
  };
  std::size_t count() const { return algorithm_.symbols.empty() ? 4 : 16; }
  const Run& at(std::size_t);
  Run of(const Sizes&, std::uint64_t seed) const;
  const ashlar::ir::Program& algorithm() const { return algorithm_; }

 private:
  const ashlar::ir::Program algorithm_;
  const Values values_;
  std::deque<Run> runs_;
};

struct Finding {
  enum class Kind { confirmed, unconfirmed, moot, impossible } kind = Kind::impossible;
  std::string owed;  // "DISJOINT"; empty where the step owes nothing that could be left out
  std::string refusal, why;
};

// `regrouped`: steps before have taken sums in another order, which are exact.
Finding force(Runs& runs, const ashlar::schedule::Scheduled&, const ashlar::schedule::Step&, const ashlar::Target&,
              bool regrouped);

// "" or the first output that differs.
std::string compare(const ashlar::ir::Program&, ashlar::interp::Arguments& found, const ashlar::interp::Arguments& expected,
                    bool regrouped, bool loose_zeros = false);

}  // namespace fuzz
