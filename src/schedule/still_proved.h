// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Obligations of earlier steps that stand: all that they follow from is as it was in the program before the step, in which they
// were proved. Each question is about an obligation's grounds; without a program before, nothing stands.
#include <map>
#include <optional>

#include <ashlar/analysis/unchanged.h>
#include "schedule/edit.h"

namespace ashlar::schedule {

class StillProved {
 public:
  StillProved(const Program* before, const Program& now);

  bool definitions() const { return kept_ && kept_->definitions(); }
  bool place(const Stmt& s) const { return kept_ && kept_->place(s.id); }    // it and what is around it
  bool inside(const Stmt& s) const { return kept_ && kept_->inside(s.id); }  // and what is in it
  bool nest(const Stmt& s) const { return kept_ && kept_->nest(s.id) && kept_->stage(s.get<NestStmt>().stage); }
  // What the iterations of a loop store, and where: no stage in it is stored in a ring outside, which follows from all readers.
  bool apart(const Stmt& loop) const;
  // What a nest's readers need of it, and where it is stored.
  bool window(const Stmt& nest) const;
  // Where a temporary is stored, and all that stores to it and reads it.
  bool storage(const Stmt& alloc) const;

 private:
  void note(const std::vector<Stmt>&, const Stmt* nest);
  bool reads(const Stmt& nest) const { return kept_ && kept_->nest(nest.id) && kept_->formula(nest.get<NestStmt>().stage); }
  bool needs(const Stmt& nest) const;

  const Program& p_;
  std::optional<analysis::Unchanged> kept_;
  std::map<Id, std::vector<const Stmt*>> readers_, writers_, allocs_;  // by buffer: nests, and the statements of storage
  mutable std::map<Id, bool> needs_;                                   // by nest
};

}  // namespace ashlar::schedule
