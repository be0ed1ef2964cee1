// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Happens-before by vector clocks and epochs, after C. Flanagan and S. N. Freund, "FastTrack: Efficient and Precise Dynamic
// Race Detection", PLDI 2009, with agents that are more than threads.
//
// An agent is whatever does accesses in an order of its own: a thread; the copy groups, the reads and the writes of the bulk
// groups of a thread; the products of a warpgroup; the phases of an mbarrier. An epoch is an agent and its clock. A thread
// holds two clocks: `all`, by agent, what its own accesses come after; `proxy`, by thread, which generic writes the
// asynchronous operations it issues come after.
//
// Invariant of a Shadow cell: the last write came after all accesses before it; `reads` and `updates` are those since, none
// ordered before another of its kind that is kept. Atomic updates need no order among one another, and one with reads and
// writes.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace ashlar::interp {

using Clock = std::vector<std::uint32_t>;

inline void join(Clock& into, const Clock& from) {
  for (std::size_t k = 0; k < into.size(); ++k) into[k] = std::max(into[k], from[k]);
}
inline void meet(Clock& into, const Clock& from) {
  for (std::size_t k = 0; k < into.size(); ++k) into[k] = std::min(into[k], from[k]);
}

struct Clocks {
  Clock all, proxy;
  void join_with(const Clocks& other) {
    join(all, other.all);
    join(proxy, other.proxy);
  }
  void meet_with(const Clocks& other) {
    meet(all, other.all);
    meet(proxy, other.proxy);
  }
};

struct Epoch {
  std::uint32_t agent = 0, clock = 0;  // clock 0: nobody
  int code = -1;                       // which statement, for reports
  int thread = -1;
};

// Who accesses, and what that comes after.
struct Accessor {
  Epoch epoch;
  const Clocks* clocks = nullptr;
  bool async = false;      // by the asynchronous proxy
  std::uint32_t base = 0;  // agents of this cluster are numbered from here
};

enum class Touch { read, write, update };  // update: an atomic read-modify-write

struct Conflict {
  Epoch earlier;
  Touch how = Touch::read;  // the earlier access
  bool fence_missing = false;
};

class Shadow {
 public:
  void reset(std::size_t n) {
    cells_.assign(n, {});
    lists_.clear();
    free_.clear();
  }
  bool empty() const { return cells_.empty(); }

  std::optional<Conflict> access(std::size_t at, Touch how, const Accessor& by) {
    Cell& c = cells_[at];
    if (!ordered(c.write, true, by)) return Conflict{c.write, Touch::write, by.async && known(c.write, by)};
    if (how != Touch::update && c.updates >= 0)
      for (const Epoch& e : lists_[static_cast<std::size_t>(c.updates)])
        if (!ordered(e, true, by)) return Conflict{e, Touch::update, by.async && known(e, by)};
    if (how == Touch::read) {
      add_read(c, by);
      return {};
    }
    if (!ordered(c.read, false, by)) return Conflict{c.read, Touch::read, false};
    if (c.more >= 0)
      for (const Epoch& e : lists_[static_cast<std::size_t>(c.more)])
        if (!ordered(e, false, by)) return Conflict{e, Touch::read, false};
    release(c.more);
    c.read = {};
    if (how == Touch::update) {
      if (c.updates < 0) c.updates = take();
      add(lists_[static_cast<std::size_t>(c.updates)], by);
      return {};
    }
    release(c.updates);
    c.write = by.epoch;
    return {};
  }

 private:
  struct Cell {
    Epoch write, read;
    int more = -1;     // further reads: a list
    int updates = -1;  // atomic ones: a list
  };
  static bool known(const Epoch& e, const Accessor& by) {
    const std::size_t k = e.agent - by.base;  // agents of other clusters wrap far beyond the end
    return e.agent >= by.base && k < by.clocks->all.size() && e.clock <= by.clocks->all[k];
  }
  static bool ordered(const Epoch& e, bool write, const Accessor& by) {
    if (e.clock == 0) return true;
    const std::size_t k = e.agent - by.base;
    if (by.async && write && e.agent >= by.base && k < by.clocks->proxy.size()) return e.clock <= by.clocks->proxy[k];
    return known(e, by);
  }
  void add_read(Cell& c, const Accessor& by) {
    if (c.more < 0 && (c.read.agent == by.epoch.agent || ordered(c.read, false, by))) {
      c.read = by.epoch;
      return;
    }
    if (c.more < 0) c.more = take();
    if (c.read.agent == by.epoch.agent) {
      c.read = by.epoch;
      return;
    }
    add(lists_[static_cast<std::size_t>(c.more)], by);
  }

  // ---- lists of epochs, one an agent
  int take() {
    if (free_.empty()) {
      lists_.emplace_back();
      return static_cast<int>(lists_.size()) - 1;
    }
    const int list = free_.back();
    free_.pop_back();
    return list;
  }
  void release(int& list) {
    if (list < 0) return;
    lists_[static_cast<std::size_t>(list)].clear();
    free_.push_back(list);
    list = -1;
  }
  static void add(std::vector<Epoch>& list, const Accessor& by) {
    for (Epoch& e : list)
      if (e.agent == by.epoch.agent) {
        e = by.epoch;
        return;
      }
    list.push_back(by.epoch);
  }

  std::vector<Cell> cells_;
  std::vector<std::vector<Epoch>> lists_;
  std::vector<int> free_;
};

}  // namespace ashlar::interp
