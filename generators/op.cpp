// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generators/op.h"

#include <algorithm>

#include <ashlar/schedule/step.h>
#include <ashlar/schedules/by_default.h>

namespace ashlar::generators {

Tensor Op::input(const std::string& name, Type type, const std::vector<Extent>& shape) {
  names_.push_back(name);
  return inputs_.emplace_back(name.c_str(), type, Shape::of(shape));
}

Expr Op::scalar(const std::string& name, Type type) {
  names_.push_back(name);
  return scalars_.emplace_back(name.c_str(), type);
}

std::string Op::free_name(const std::string& name) const {
  const auto taken = [&](const std::string& n) { return std::find(names_.begin(), names_.end(), n) != names_.end(); };
  std::string free = name;
  for (int number = 2; taken(free); ++number) free = name + std::to_string(number);
  return free;
}

void Op::output(const char* name, const Tensor& value) {
  outputs_.emplace_back(name, value.type(), value.shape());
  values_.push_back(value);
}

void Op::algorithm() {
  for (std::size_t k = 0; k < outputs_.size(); ++k) outputs_[k] = values_[k];
}

namespace {

// Why the default schedule gave a program no launches.
std::string reason(const schedules::Choices& chosen, const Refusal& otherwise) {
  const std::string none = "no launches";
  for (const schedules::Choice& c : chosen.stages)
    for (const std::string& why : c.why)
      if (why.compare(0, none.size(), none) == 0) return why;
  return otherwise.found;
}

}  // namespace

// On a device every stage must be part of a launch, and not all operators have a default schedule that gives them one.
void Op::schedule(Schedule& s) {
  schedules::Choices chosen;
  if (*scheduled != Scheduled::none) chosen = schedule_by_default(s, {.regroup = *scheduled == Scheduled::by_default});
  if (!s.target().is_gpu()) return;
  try {
    schedule::finish(s.scheduled(), s.target());
  } catch (const RefusalError& e) {
    const char* value = *scheduled == Scheduled::none ? "none" : *scheduled == Scheduled::exact ? "exact" : "default";
    refuse(std::string("parameter schedule=") + value,
           "a schedule that has launches on " + std::string(s.target().text()) + " for all stages", reason(chosen, e.refusal),
           e.refusal.where);
  }
}

}  // namespace ashlar::generators
