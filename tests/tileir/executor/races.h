// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Who touched what, and what orders it. Every memory operation that runs is a node; tokens are edges to nodes before it.
// Between blocks, releases and acquires at one address hand clocks on: what a release reaches is before what reaches the
// acquire.
//
//   store a (node 3) -> token 3 -> load a (node 4): ordered, 4 reaches 3.
//   A load of a (node 5) and a store to it (node 6) that has no token: 6 does not reach 5, a race.
//   Block 0: store a (3) -> release f (4); block 1: acquire f (5) -> load a (6): ordered. Without one of the arrows, a race.
#include <map>
#include <optional>
#include <vector>

#include "tests/tileir/executor/numbers.h"

namespace ashlar::tileir {

struct Op;

// Of one byte: the last write, the first and the last that read it since. 0: none.
struct Touched {
  u32 write = 0, read = 0, read_again = 0;
};

using Clock = std::map<u32, u32>;  // by block: how many of its releases are known

struct Conflict {
  u32 node;
  bool between_blocks, other_wrote;
};

class Races {
 public:
  enum Strength : u8 { kWeak, kInBlock, kOnDevice };
  struct Node {
    u32 block = 0, epoch = 0;
    Strength strength = kWeak;
    const Op* op = nullptr;
    std::vector<u32> before;
  };

  Races() { nodes_.emplace_back(); }
  void block_begins(u32 block);
  u32 node(const Op*, Strength, std::vector<u32> before);
  const Node& operator[](u32 n) const { return nodes_[n]; }

  // Notes an access by the newest node; returns what it races with.
  std::optional<Conflict> touch(Touched&, u32 node, bool reads, bool writes, bool blocks, bool tokens);

  // keeps: a read-modify-write goes on with what was released before
  void release(u64 address, u32 node, bool keeps);
  void acquire(u64 address, u32 node);
  void overwrite(u64 address);  // a store that does not release

 private:
  std::optional<Conflict> conflict(u32 other, u32 node, bool other_wrote, bool blocks, bool tokens);
  bool synchronized(u32 other, u32 node);
  bool reaches(u32 from, u32 to);
  bool search(u32 from, u32 to);

  std::vector<Node> nodes_;
  std::vector<u32> seen_;  // by node, the search that saw it
  u32 searches_ = 0, block_ = 0, epoch_ = 0;
  u32 fine_other_ = 0, fine_node_ = 0;  // the last pair that was found to be ordered
  u32 from_ = 0, to_ = 0;               // of the last search
  bool reached_ = false;
  struct Acquired {
    u32 node;
    Clock clock;
  };
  std::vector<Acquired> acquired_;            // by the block that runs
  std::map<u32, std::vector<u32>> releases_;  // nodes, by block and epoch
  std::map<u64, Clock> released_;             // by address
};

}  // namespace ashlar::tileir
