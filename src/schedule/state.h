// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What a Schedule and its handles point to. A variant (specialize) has a state of its own, which mirrors what the general
// schedule's `scheduled` holds of it: steps go there, and come back into all mirrors.
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

#include "schedule/undo.h"

namespace ashlar::detail {

class Transaction;

struct ScheduleState {
  schedule::Scheduled scheduled;  // of a variant: its program and what was consumed there
  Target target;
  std::map<ir::Id, ir::Id> buffer_of;                   // tensors of the language -> buffers of the program
  std::map<std::pair<ir::Id, ir::Id>, ir::Id> iter_of;  // {stage, Axis of the language} -> iteration variable
  std::map<ir::Id, ir::Id> variable_of;                 // symbols and scalars of the language -> those of the program
  std::shared_ptr<const ir::Program> algorithm = {};    // before any step
  void (*observer)(void*, const std::string&, const std::string&) = nullptr;
  void* observer_data = nullptr;
  ScheduleState* general = nullptr;                           // of a variant: the state of the general schedule
  bool gone = false;                                          // a variant whose step was taken back
  std::size_t number = 0;                                     // of a variant
  Where made_at = {};                                         // of a variant: the line of its specialize
  std::vector<std::unique_ptr<Schedule>> variants = {};       // the general one's: by number, from 1
  std::vector<std::unique_ptr<Schedule>> variants_gone = {};  // whose step was taken back; handles to them refuse
  std::vector<ScheduleState*> mirrors = {};                   // the states of `variants`
  // Of the general one: what choices take instead of the usual value, and how those are drawn that are not among them.
  std::vector<Decision> decisions = {};
  std::optional<std::uint64_t> seed = {};
  Transaction* transaction = nullptr;  // the innermost steps that count as one

  ScheduleState& whole() { return general ? *general : *this; }
  const ScheduleState& whole() const { return general ? *general : *this; }
  ScheduleState& of(std::size_t variant) { return variant ? *whole().mirrors[variant - 1] : whole(); }

  static ScheduleState& of(Schedule& s) { return *s.state_; }
  void require_here(const char* what, Where) const;  // refused where it is gone
  const char* called(const char* spelling) const;    // what the user typed that makes a step of this spelling now
  const std::vector<ir::Id>& apply(schedule::Step);
  const std::vector<ir::Id>& made(schedule::Step, std::size_t variant);
  void restore(schedule::Scheduled before);                                 // of the whole schedule
  void mirror();                                                            // after what the whole schedule holds has changed
  const std::vector<ir::Id>& replayed(schedule::Step, std::size_t before);  // saved where there were no other variants
  ScheduleState* copied() const;                                            // with all its variants
  // The variant for a condition over the program's symbols, made where there is none.
  ScheduleState& specialized(const Expr& condition, Where);
};

// Does a handle of `from` mean the same here? In its own schedule, and in variants that began after what it names was made.
bool serves(const ScheduleState* from, ir::Id, const ScheduleState& here);

// Several steps that count as one: undone together. What stood before the first of them is what that one leaves behind; it is
// copied beforehand only where there are variants, whose steps change the programs around them.
class Transaction {
 public:
  // `call`: what the user typed that makes them; null: nothing of its own (attempt, replay).
  explicit Transaction(ScheduleState& s, const char* call = nullptr)
      : state_(s.whole()), around_(state_.transaction), call_(call), steps_(state_.scheduled.trace.size()) {
    if (!state_.scheduled.variants.empty()) all_ = state_.scheduled;
    state_.transaction = this;
  }
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void keep() { done_ = true; }
  const char* call() const {  // the outermost
    const char* outer = around_ ? around_->call() : nullptr;
    return outer ? outer : call_;
  }
  // A step of the general schedule, or several, were applied, of whom this is the first to hear.
  void applied(std::shared_ptr<schedule::Undo>);

 private:
  ScheduleState& state_;
  Transaction* const around_;
  const char* const call_;
  const std::size_t steps_;
  std::optional<schedule::Scheduled> all_;
  std::shared_ptr<schedule::Undo> before_;  // the first step's; those around that saw none before have the same
  bool done_ = false;
};

}  // namespace ashlar::detail
