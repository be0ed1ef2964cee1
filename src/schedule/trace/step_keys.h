// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What a step is about, apart from ids: stages by name and which of that name, loops by where their axis comes from, "the inner
// part of j of C". A loop is called so whatever the factor that split it, so that schedules that differ in a number differ in
// one step.
#include <map>
#include <string>

#include <ashlar/schedule/step.h>

namespace ashlar::schedule {

class StepKeys {
 public:
  explicit StepKeys(const ir::Program& algorithm);
  std::string key(const Scheduled& before, const Step&);
  void made(const ir::Program& after);  // stages that the step made
  bool of_algorithm(ir::Id stage) const { return users_.count(stage) != 0; }

 private:
  void name(const ir::Stage&);
  std::string axis(const ir::Program&, ir::Id) const;
  std::string loop(const ir::Program&, ir::Id) const;
  std::string arg(const ir::Program&, const Arg&) const;
  std::map<ir::Id, std::string> stages_, users_;
  std::map<std::string, int> count_;
};

}  // namespace ashlar::schedule
