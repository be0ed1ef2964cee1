// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// A trace as C++ code that makes the same steps: one statement for each step, with handles named after their axes and stages.
//
//   void schedule(ashlar::Schedule& s, const ashlar::Tensor& B, const ashlar::Tensor& C) {
//     using namespace ashlar;
//     auto [i, j] = s[C].spatial<2>();
//     auto [io, ii] = s[C].split(i, 32);
//     s[C].parallel(io);
//     s.cache_read(B, {C}, Scope::stack);
//   }
//
// Invariant: applied to the algorithm, the function makes the same steps with the same ids. Names are made unique. A loop that
// no step returned is found by spatial, reduction, copy, or its position among loops(). A step that no single call makes is
// written as a replay of its JSON.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <ashlar/schedule/step.h>

namespace ashlar::schedule {

struct CppText {
  enum class Kind { tensor, symbol, intrinsic };
  struct Parameter {
    Kind kind = Kind::tensor;
    ir::Id id = 0;  // of the buffer or symbol
    const ir::Intrinsic* intrinsic = nullptr;
    std::string name;
  };
  std::string text;                   // a file
  std::vector<Parameter> parameters;  // of the function, after the schedule
  // One for each step, "auto [io, ii] = s[C].split(i, 32);". Empty if the previous statement makes this step too, as
  // vectorize(x, 8) makes a split and a vectorize.
  std::vector<std::string> statements;
  // One for each step: what it does, in words that do not depend on ids, chosen names or numbers in earlier steps, "split(j of
  // C, 8, guard)". Equal steps of two schedules have equal keys.
  std::vector<std::string> keys;
};

// `algorithm`: the program before the first step. The steps are applied again to find the names they need.
CppText cpp_text(const ir::Program& algorithm, const std::vector<Step>&, const Target&, std::string_view function);

std::uint64_t trace_hash(const std::vector<Step>&);  // of the steps, their arguments and results, but not their source lines

}  // namespace ashlar::schedule
