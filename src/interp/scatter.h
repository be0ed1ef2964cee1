// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Steps of a scatter: whether one combines anything, and into which element.
#include <array>
#include <optional>
#include <span>

#include <ashlar/ir/program.h>

#include <ashlar/interp/tape.h>

namespace ashlar::interp {

class ScatterStep {
 public:
  ScatterStep() = default;
  ScatterStep(const ir::Stage&, Slots&, Memory&);  // over iteration variables
  bool keeps() { return keep_.empty() || keep_.run().i != 0; }
  std::span<const std::int64_t> target();  // of a step that is kept

 private:
  Tape keep_;
  std::vector<Tape> at_;
  std::array<std::int64_t, 8> target_{};
};

[[noreturn]] void puts_outside(const std::string& where, const std::string& name, std::span<const std::int64_t> at);

// The steps of a nest. Those whose target lies outside of the nest's box are dropped, and none is taken where the box is empty;
// targets lie in the domain, where one is declared.
class ScatterCode {
 public:
  ScatterCode(const ir::Program&, const ir::NestStmt&, Slots&, Memory&);
  std::optional<std::span<const std::int64_t>> target();  // nothing: the step is dropped

 private:
  const ir::Stage& stage_;
  Memory& memory_;
  ScatterStep step_;
  std::vector<Tape> begin_, extent_, domain_begin_, domain_end_;
};

}  // namespace ashlar::interp
