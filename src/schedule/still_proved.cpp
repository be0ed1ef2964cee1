// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedule/still_proved.h"

#include <algorithm>

#include <ashlar/analysis/reads.h>

namespace ashlar::schedule {

StillProved::StillProved(const Program* before, const Program& now) : p_(now) {
  if (!before) return;
  kept_.emplace(*before, now);
  if (!kept_->arguments())
    kept_.reset();
  else
    note(now.body, nullptr);
}

void StillProved::note(const std::vector<Stmt>& body, const Stmt* nest) {
  const auto add = [](std::vector<const Stmt*>& list, const Stmt* s) {
    if (list.empty() || list.back() != s) list.push_back(s);
  };
  for (const Stmt& s : body) {
    if (const ir::AllocStmt* alloc = s.as<ir::AllocStmt>()) add(allocs_[alloc->buffer], &s);
    if (const ir::BlockStmt* block = s.as<ir::BlockStmt>(); block && nest) {
      const ir::Stage& stage = p_.stage(block->stage);
      for (Id b : stage.buffers) add(writers_[b], nest);
      for (Id b : analysis::buffers_read(stage)) add(readers_[b], nest);
    }
    note(s.body(), s.is<ir::NestStmt>() ? &s : nest);
  }
}

bool StillProved::apart(const Stmt& loop) const {
  if (!inside(loop)) return false;
  bool ring = false;
  ir::walk(loop.body(), [&](const Stmt& s) {
    if (const ir::NestStmt* nest = s.as<ir::NestStmt>())
      for (Id b : p_.stage(nest->stage).buffers) ring = ring || !p_.buffer(b).layout.map.empty();
  });
  return !ring;
}

// Windows of nests that slide follow from those of their readers.
bool StillProved::needs(const Stmt& own) const {
  const NestStmt& own_nest = own.get<NestStmt>();
  if (!reads(own)) return false;
  if (const auto at = needs_.find(own.id); at != needs_.end()) return at->second;
  bool same = needs_[own.id] = true;
  const auto& left = kept_->left();
  for (Id b : p_.stage(own_nest.stage).buffers)
    if (const auto at = readers_.find(b); at != readers_.end())
      for (const Stmt* reader : at->second)
        if (reader->id != own.id) same = same && (reader->get<NestStmt>().slides.empty() ? reads(*reader) : needs(*reader));
  for (Id gone : left)
    for (Id b : p_.stage(own_nest.stage).buffers) {
      const auto at = p_.stages.find(gone);
      same = same && at != p_.stages.end() && !analysis::buffers_read(at->second).count(b);
    }
  return needs_[own.id] = same;
}

bool StillProved::window(const Stmt& own) const {
  if (!kept_ || !kept_->formulas() || !needs(own)) return false;
  for (Id b : p_.stage(own.get<NestStmt>().stage).buffers)
    if (const auto at = allocs_.find(b); at != allocs_.end())
      for (const Stmt* alloc : at->second)
        if (!place(*alloc)) return false;
  return true;
}

bool StillProved::storage(const Stmt& alloc) const {
  const AllocStmt& a = alloc.get<AllocStmt>();
  if (!kept_ || !kept_->formulas() || !kept_->storage(a.buffer) || !place(alloc)) return false;
  const auto all = [](const auto& map, Id buffer, const auto& holds) {
    const auto at = map.find(buffer);
    return at == map.end() || std::all_of(at->second.begin(), at->second.end(), holds);
  };
  return all(writers_, a.buffer, [&](const Stmt* s) { return window(*s); }) &&
         all(readers_, a.buffer, [&](const Stmt* s) { return reads(*s); });
}

}  // namespace ashlar::schedule
