// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Loops of a scheduled program whose iterations run at once (parallel, vectorized, bound, virtual threads): do two of them
// touch one element, one of them to change it?
//
// The tree is fork and join. An access stands at a node: the iteration of the innermost loop around, whose parent is the
// iteration of the next one. Two accesses run at once where the paths to them part at two iterations of one execution of such a
// loop; otherwise one comes before the other.
//
//   for i in 8   parallel            i = 0 -- k = 3        reads t[3]: runs at once with what i = 1 does, before k = 4 of its
//   own
//     for k in 4                     i = 1 -- k = 0
//
// Not conflicts: steps of an atomic stage, which memory combines; parts that are combined over threads; and, of tiles that
// overlap by Tail::shift, a value that is stored again where it is already, but in one store of a vector, or by blocks and
// threads.
#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <ashlar/ir/program.h>

namespace ashlar::interp {

class Concurrency {
 public:
  explicit Concurrency(const ir::Program&);

  struct Node {  // an iteration
    const Node* parent = nullptr;
    const ir::Stmt* loop = nullptr;
    std::uint64_t run = 0;  // which execution of the loop
    std::int64_t iteration = 0;
    int depth = 0;
  };
  // The elements of one buffer, or of one life of a temporary.
  struct Element {
    std::vector<std::pair<const Node*, bool>> writers, readers;  // of the value that it holds; is the access atomic?
  };
  using Elements = std::vector<Element>;

  // A loop starts, with these bounds; its iterations come and go. The lanes of a vector run the same loops, which leave() finds
  // out: "lanes i = 0 and i = 1 run other iterations", or empty.
  std::uint64_t start(const ir::Stmt& loop, std::int64_t begin, std::int64_t end);
  void enter(const ir::Stmt& loop, std::uint64_t run, std::int64_t iteration);
  std::string leave();

  // The iteration here and the one that it conflicts with, as text: "k = 1, while k = 0, which runs at the same time, touches
  // it"; empty where there is none. `same`: the element holds this value already.
  std::string read(Element&, bool atomic);
  std::string write(Element&, bool atomic, bool same);

 private:
  using Fork = std::pair<const Node*, const Node*>;  // two iterations that run at once; null if one comes before the other
  static Fork fork(const Node* a, const Node* b);
  std::string conflict(const Fork&) const;

  struct Lane {
    std::uint64_t run, loops;  // of the vectorized loop; what ran in the lane
    std::int64_t iteration;
  };
  bool harmless(const Fork&, const Node* other) const;  // the same value again

  const ir::Program& program_;
  std::set<ir::Id> shifted_;  // root axes with a split by Tail::shift
  std::deque<Node> nodes_;
  const Node* at_ = nullptr;
  std::uint64_t runs_ = 0;
  std::vector<Lane> lanes_;  // those around
  Lane lane_before_{};       // the last that ended
};

}  // namespace ashlar::interp
