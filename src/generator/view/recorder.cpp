// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/view/recorder.h"

#include <algorithm>
#include <limits>

namespace ashlar::generator::view {

namespace {
constexpr std::size_t most_reads = 16, most_writes = 7;  // of one event
}

Recorder::Recorder(const ir::Program& p, std::size_t most_events) : program_(p), most_(most_events) { index(p.body, 0); }

void Recorder::index(const std::vector<ir::Stmt>& body, ir::Id loop) {
  for (const ir::Stmt& s : body) {
    const auto position = static_cast<std::int64_t>(positions_.size());
    positions_[s.id] = position;
    if (const auto* block = s.as<ir::BlockStmt>()) of_stage_.try_emplace({block->stage, loop}, position);
    if (const auto* nest = s.as<ir::NestStmt>())
      of_stage_.try_emplace({nest->stage, loop}, position);  // computed by a function
    if (const auto* alloc = s.as<ir::AllocStmt>()) of_alloc_.try_emplace(alloc->buffer, position);
    if (s.has_body()) index(s.body(), s.is<ir::LoopStmt>() ? s.id : loop);
  }
}

void Recorder::iterates(const ir::Stmt& s, std::int64_t value) {
  if (!around_.empty() && around_.back().loop == s.id) {
    around_.back().value = value;
    return;
  }
  const auto& loop = s.get<ir::LoopStmt>();
  const auto at = positions_.find(s.id);
  Around a{s.id, at == positions_.end() ? 0 : at->second, value, false, Around::As::loop};
  if (loop.kind == ir::LoopKind::parallel) a.as = Around::As::worker;
  if (loop.kind == ir::LoopKind::bound) a.as = ir::is_block(loop.bound_to) ? Around::As::block : Around::As::thread;
  a.together = a.as == Around::As::thread || loop.kind == ir::LoopKind::vectorized || loop.kind == ir::LoopKind::tile;
  around_.push_back(a);
}

void Recorder::leaves(const ir::Stmt& s) {
  if (!around_.empty() && around_.back().loop == s.id) around_.pop_back();
}

Moment Recorder::now() const {
  Moment m;
  for (const Around& a : around_) m.push_back(a.position), m.push_back(a.together ? 0 : a.value);
  return m;
}

Access Recorder::access(ir::Id id, std::span<const std::int64_t> index, std::int64_t place) const {
  Access a{id, {}};
  const auto lives = alive_.find(id);
  if (lives == alive_.end() || lives->second.empty()) {  // an argument or a constant
    a.at.assign(index.begin(), index.end());
    return a;
  }
  const Life& life = lives_[lives->second.back()];
  a.at.resize(life.extent.size());
  for (std::size_t d = life.extent.size(); d-- > 0;) {
    a.at[d] = life.begin[d] + place % std::max<std::int64_t>(1, life.extent[d]);
    place /= std::max<std::int64_t>(1, life.extent[d]);
  }
  return a;
}

void Recorder::allocates(ir::Id buffer, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent,
                         std::int64_t bytes) {
  Life life{buffer, {begin.begin(), begin.end()}, {extent.begin(), extent.end()}, bytes, now(), {}};
  if (const auto at = of_alloc_.find(buffer); at != of_alloc_.end()) life.from.push_back(at->second);
  alive_[buffer].push_back(lives_.size());
  lives_.push_back(std::move(life));
}

void Recorder::frees(ir::Id buffer) {
  std::vector<std::size_t>& alive = alive_[buffer];
  if (alive.empty()) return;
  lives_[alive.back()].to = now();
  lives_[alive.back()].to.push_back(std::numeric_limits<std::int64_t>::max());  // behind all that stands in the same body
  alive.pop_back();
}

void Recorder::computes(ir::Id stage, std::span<const std::int64_t> point) {
  if (events_.size() == most_) throw Enough();
  Event e{stage, {point.begin(), point.end()}, now(), -1, {}, {}, {}, {}};
  const auto at = of_stage_.find({stage, around_.empty() ? 0 : around_.back().loop});
  e.moment.push_back(at == of_stage_.end() ? 0 : at->second);
  for (const Around& a : around_) {
    if (a.as == Around::As::worker && e.worker < 0) e.worker = a.value;
    if (a.as == Around::As::block) e.block.push_back(a.value);
    if (a.as == Around::As::thread) e.thread.push_back(a.value);
  }
  events_.push_back(std::move(e));
}

void Recorder::reads(ir::Id buffer, std::span<const std::int64_t> index, std::int64_t place) {
  if (events_.empty() || events_.back().reads.size() == most_reads) return;
  const std::vector<ir::Id>& own = program_.stage(events_.back().stage).buffers;
  if (!program_.stage(events_.back().stage).is_recurrence() && std::find(own.begin(), own.end(), buffer) != own.end()) return;
  events_.back().reads.push_back(access(buffer, index, place));
}

void Recorder::writes(ir::Id buffer, std::span<const std::int64_t> index, std::int64_t place) {
  if (events_.empty()) return;
  const std::vector<ir::Id>& own = program_.stage(events_.back().stage).buffers;
  // What a reduction starts from is stored before its first step, behind the last one of another point.
  if (std::find(own.begin(), own.end(), buffer) == own.end()) return;
  if (events_.back().writes.size() == std::min(own.size(), most_writes)) return;
  events_.back().writes.push_back(access(buffer, index, place));
}

void Recorder::sort() {
  std::stable_sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) { return a.moment < b.moment; });
  std::stable_sort(lives_.begin(), lives_.end(), [](const Life& a, const Life& b) { return a.from < b.from; });
}

}  // namespace ashlar::generator::view
