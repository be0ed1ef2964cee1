// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// One step of a reduction, as the numeric contract defines it: a `sum` whose term is a product accumulates by fma.
#include <array>
#include <vector>

#include <ashlar/ir/program.h>

#include <ashlar/interp/tape.h>

namespace ashlar::interp {

class Combiner {
 public:
  Combiner() = default;
  Combiner(const ir::Stage&, Slots&, Memory&);
  // Evaluates the stage's values at the iteration variables bound in the slots.
  void values(std::vector<Value>& out);
  // accumulated = combine(accumulated, values at this iteration).
  void step(std::vector<Value>& accumulated);

 private:
  struct Component {
    Tape value;        // the term, or
    Tape left, right;  // the factors of a fused product
    Tape combine;      // custom reducers
    Type type;
    bool fused = false;
  };
  ir::ReducerKind kind_ = ir::ReducerKind::none;
  std::vector<Component> components_;
  std::vector<int> left_slots_, right_slots_;
  Slots* slots_ = nullptr;
  std::vector<Value> term_;
};

}  // namespace ashlar::interp
