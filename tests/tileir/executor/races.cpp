// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/tileir/executor/races.h"

#include <algorithm>

namespace ashlar::tileir {

namespace {
void join(Clock& into, const Clock& from) {
  for (const auto& [block, epoch] : from) into[block] = std::max(into[block], epoch);
}
}  // namespace

void Races::block_begins(u32 block) {
  block_ = block, epoch_ = 0;
  acquired_.clear();
}

u32 Races::node(const Op* op, Strength strength, std::vector<u32> before) {
  nodes_.push_back({block_, epoch_, strength, op, std::move(before)});
  return static_cast<u32>(nodes_.size() - 1);
}

bool Races::reaches(u32 from, u32 to) {
  if (from == from_ && to == to_) return reached_;  // bytes of one tile ask the same
  from_ = from, to_ = to;
  return reached_ = search(from, to);
}

bool Races::search(u32 from, u32 to) {
  seen_.resize(nodes_.size(), 0);
  ++searches_;
  std::vector<u32> open = {from};
  while (!open.empty()) {
    const u32 n = open.back();
    open.pop_back();
    for (const u32 b : nodes_[n].before) {
      if (b == to) return true;
      if (b > to && seen_[b] != searches_) seen_[b] = searches_, open.push_back(b);  // what is before it has a lower number
    }
  }
  return false;
}

std::optional<Conflict> Races::conflict(u32 other, u32 node, bool other_wrote, bool blocks, bool tokens) {
  if (other == 0 || other == node || (other == fine_other_ && node == fine_node_)) return std::nullopt;
  const Node &a = nodes_[other], &b = nodes_[node];
  bool fine = true;
  if (a.block != b.block) {
    fine = !blocks || (a.strength == kOnDevice && b.strength == kOnDevice) || synchronized(other, node);
  } else {
    fine = !tokens || (a.strength != kWeak && b.strength != kWeak) || reaches(node, other);
  }
  if (!fine) return Conflict{other, a.block != b.block, other_wrote};
  fine_other_ = other, fine_node_ = node;
  return std::nullopt;
}

std::optional<Conflict> Races::touch(Touched& t, u32 node, bool reads, bool writes, bool blocks, bool tokens) {
  if (auto c = conflict(t.write, node, true, blocks, tokens)) return c;
  if (writes) {
    if (auto c = conflict(t.read, node, false, blocks, tokens)) return c;
    if (auto c = conflict(t.read_again, node, false, blocks, tokens)) return c;
    t = {node, 0, 0};
  }
  if (!reads || t.read == node || t.read_again == node) return std::nullopt;
  if (t.read == 0 || (nodes_[t.read].block == block_ && reaches(node, t.read)))
    t.read = node;
  else
    t.read_again = node;
  return std::nullopt;
}

bool Races::synchronized(u32 other, u32 node) {
  const u32 block = nodes_[other].block, epoch = nodes_[other].epoch;
  for (const Acquired& a : acquired_) {
    const auto known = a.clock.find(block);
    if (known == a.clock.end() || known->second <= epoch || (a.node != node && !reaches(node, a.node))) continue;
    for (u32 e = epoch; e < known->second; ++e)
      if (const u32 r = releases_[block][e]; r == other || reaches(r, other)) return true;
  }
  return false;
}

void Races::release(u64 address, u32 node, bool keeps) {
  Clock& at = released_[address];
  if (!keeps) at.clear();
  releases_[block_].push_back(node);
  at[block_] = ++epoch_;
  for (const Acquired& a : acquired_)
    if (a.node == node || reaches(node, a.node)) join(at, a.clock);
}

void Races::acquire(u64 address, u32 node) {
  const auto at = released_.find(address);
  if (at == released_.end()) return;
  if (acquired_.empty() || acquired_.back().node != node) acquired_.push_back({node, {}});
  join(acquired_.back().clock, at->second);
}

void Races::overwrite(u64 address) {
  if (!released_.empty()) released_.erase(address);
}

}  // namespace ashlar::tileir
