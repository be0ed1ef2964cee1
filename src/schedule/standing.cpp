// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedule/standing.h"

#include <algorithm>

#include <ashlar/analysis/reads.h>

namespace ashlar::schedule {

Standing::Standing(const Program* before, const Program& now) : p_(now) {
  if (!before) return;
  kept_.emplace(*before, now);
  if (!kept_->arguments())
    kept_.reset();
  else
    note(now.body, nullptr);
}

void Standing::note(const std::vector<Stmt>& body, const Stmt* nest) {
  const auto add = [](std::vector<const Stmt*>& list, const Stmt* s) {
    if (list.empty() || list.back() != s) list.push_back(s);
  };
  for (const Stmt& s : body) {
    if (s.kind == Stmt::Kind::alloc) add(allocs_[s.buffer], &s);
    if (s.kind == Stmt::Kind::block && nest) {
      const ir::Stage& stage = p_.stage(s.stage);
      for (Id b : stage.buffers) add(writers_[b], nest);
      for (Id b : analysis::buffers_read(stage)) add(readers_[b], nest);
    }
    note(s.body, s.kind == Stmt::Kind::nest ? &s : nest);
  }
}

bool Standing::apart(const Stmt& loop) const {
  if (!inside(loop)) return false;
  bool ring = false;
  ir::walk(loop.body, [&](const Stmt& s) {
    if (s.kind == Stmt::Kind::nest)
      for (Id b : p_.stage(s.stage).buffers) ring = ring || !p_.buffer(b).layout.map.empty();
  });
  return !ring;
}

// Windows of nests that slide follow from those of their readers.
bool Standing::needs(const Stmt& own) const {
  if (!reads(own)) return false;
  if (const auto at = needs_.find(own.id); at != needs_.end()) return at->second;
  bool same = needs_[own.id] = true;
  const auto& left = kept_->left();
  for (Id b : p_.stage(own.stage).buffers)
    if (const auto at = readers_.find(b); at != readers_.end())
      for (const Stmt* reader : at->second)
        if (reader->id != own.id) same = same && (reader->slides.empty() ? reads(*reader) : needs(*reader));
  for (Id gone : left)
    for (Id b : p_.stage(own.stage).buffers) {
      const auto at = p_.stages.find(gone);
      same = same && at != p_.stages.end() && !analysis::buffers_read(at->second).count(b);
    }
  return needs_[own.id] = same;
}

bool Standing::window(const Stmt& own) const {
  if (!kept_ || !kept_->formulas() || !needs(own)) return false;
  for (Id b : p_.stage(own.stage).buffers)
    if (const auto at = allocs_.find(b); at != allocs_.end())
      for (const Stmt* alloc : at->second)
        if (!place(*alloc)) return false;
  return true;
}

bool Standing::storage(const Stmt& alloc) const {
  if (!kept_ || !kept_->formulas() || !kept_->storage(alloc.buffer) || !place(alloc)) return false;
  const auto all = [](const auto& map, Id buffer, const auto& holds) {
    const auto at = map.find(buffer);
    return at == map.end() || std::all_of(at->second.begin(), at->second.end(), holds);
  };
  return all(writers_, alloc.buffer, [&](const Stmt* s) { return window(*s); }) &&
         all(readers_, alloc.buffer, [&](const Stmt* s) { return reads(*s); });
}

}  // namespace ashlar::schedule
