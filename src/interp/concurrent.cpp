// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "interp/concurrent.h"

#include <algorithm>

namespace ashlar::interp {
namespace {

using ir::LoopKind;
using Node = Concurrency::Node;

bool at_once(const ir::Stmt& loop) {
  const ir::LoopStmt& l = loop.get<ir::LoopStmt>();
  if (l.combines) return false;  // each thread has a part of its own
  return l.kind == LoopKind::parallel || l.kind == LoopKind::vectorized || l.kind == LoopKind::bound ||
         l.kind == LoopKind::vthread;
}

// Below two lanes of a vector: one store, or two that come one after the other?
bool one_store(const Node* a, const Node* b, const Node* lane) {
  for (; a->depth > lane->depth && b->depth > lane->depth; a = a->parent, b = b->parent)
    if (a->loop != b->loop || a->iteration != b->iteration) return false;
  return a->depth == b->depth;
}

}  // namespace

Concurrency::Concurrency(const ir::Program& p) : program_(p) {
  for (const auto& [id, a] : p.axes)
    if (a.origin == ir::Axis::Origin::split_outer && a.tail == ir::Tail::shift)
      for (const ir::Id root : ir::roots_of(p, id)) shifted_.insert(root);
}

std::uint64_t Concurrency::start(const ir::Stmt& loop, std::int64_t begin, std::int64_t end) {
  for (Lane& lane : lanes_)
    for (const std::uint64_t x :
         {static_cast<std::uint64_t>(loop.id), static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end)})
      lane.loops = (lane.loops ^ x) * 0xD6E8FEB86659FD93u, lane.loops ^= lane.loops >> 29;
  return ++runs_;
}

void Concurrency::enter(const ir::Stmt& loop, std::uint64_t run, std::int64_t iteration) {
  nodes_.push_back({at_, &loop, run, iteration, at_ ? at_->depth + 1 : 0});
  at_ = &nodes_.back();
  if (loop.get<ir::LoopStmt>().kind == LoopKind::vectorized) lanes_.push_back({run, 0, iteration});
}

std::string Concurrency::leave() {
  const Node& left = *at_;
  at_ = at_->parent;
  if (left.loop->get<ir::LoopStmt>().kind != LoopKind::vectorized) return "";
  const Lane before = std::exchange(lane_before_, lanes_.back());
  lanes_.pop_back();
  if (before.run != left.run || before.loops == lane_before_.loops) return "";
  const std::string name = program_.axis(left.loop->get<ir::LoopStmt>().axis).name;
  return "lanes " + name + " = " + std::to_string(before.iteration) + " and " + name + " = " + std::to_string(left.iteration) +
         " run other iterations of the loops inside";
}

Concurrency::Fork Concurrency::fork(const Node* a, const Node* b) {
  if (!a || !b) return {};
  while (a->depth > b->depth) a = a->parent;
  while (b->depth > a->depth) b = b->parent;
  if (a == b) return {};
  while (a->parent != b->parent) a = a->parent, b = b->parent;
  if (a->run == b->run && at_once(*a->loop)) return {a, b};
  return {};
}

std::string Concurrency::conflict(const Fork& f) const {
  const std::string name = program_.axis(f.first->loop->get<ir::LoopStmt>().axis).name;
  return name + " = " + std::to_string(f.second->iteration) + ", while " + name + " = " + std::to_string(f.first->iteration) +
         ", which runs at the same time, touches it";
}

bool Concurrency::harmless(const Fork& f, const Node* other) const {
  const ir::Stmt& loop = *f.first->loop;
  const ir::LoopStmt& l = loop.get<ir::LoopStmt>();
  const auto roots = ir::roots_of(program_, l.axis);
  if (std::none_of(roots.begin(), roots.end(), [&](ir::Id root) { return shifted_.count(root); })) return false;
  if (l.kind == LoopKind::vectorized) return !one_store(other, at_, f.first);
  return l.kind == LoopKind::parallel;
}

std::string Concurrency::read(Element& e, bool atomic) {
  Fork found{};
  bool before = e.writers.empty();  // one that wrote the value comes first
  for (const auto& [node, was_atomic] : e.writers) {
    const Fork f = was_atomic && atomic ? Fork{} : fork(node, at_);
    if (!f.first)
      before = true;
    else
      found = f;
  }
  if (!before) return conflict(found);
  if (e.readers.empty() || e.readers.back() != std::pair(at_, atomic)) e.readers.emplace_back(at_, atomic);
  return "";
}

std::string Concurrency::write(Element& e, bool atomic, bool same) {
  const auto concurrent = [&](const std::pair<const Node*, bool>& other) {
    return other.second && atomic ? Fork{} : fork(other.first, at_);
  };
  for (const auto& other : e.writers)
    if (const Fork f = concurrent(other); f.first && !(same && harmless(f, other.first))) return conflict(f);
  for (const auto& other : e.readers)
    if (const Fork f = concurrent(other); f.first && !(same && harmless(f, other.first))) return conflict(f);
  const auto ordered = [&](const auto& other) { return !concurrent(other).first; };
  std::erase_if(e.writers, ordered);
  std::erase_if(e.readers, ordered);
  e.writers.emplace_back(at_, atomic);
  return "";
}

}  // namespace ashlar::interp
