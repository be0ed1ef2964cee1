// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What a run does, recorded for a picture: points, accesses and allocations, each with the moment at which it happens.
//
// A moment is a path through the loop tree: for each enclosing loop, its position in the tree and its iteration; then the
// position of the statement. Iterations that run at the same time (lanes of a vector, threads of a block, a dimension of a
// tile) all count as iteration 0, so whatever happens together has the same moment. The interpreter runs such iterations one
// after another; sorting by moments brings them together.
#include <cstdint>
#include <exception>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <ashlar/interp/watcher.h>
#include <ashlar/ir/program.h>

namespace ashlar::generator::view {

using Moment = std::vector<std::int64_t>;

struct Access {
  ir::Id buffer = 0;
  std::vector<std::int64_t> at;  // where it is stored: physical coordinates of a temporary, the index of an argument
};

struct Event {
  ir::Id stage = 0;
  std::vector<std::int64_t> point;
  Moment moment;
  std::int64_t worker = -1;                 // iteration of the outermost parallel loop; -1: there is none
  std::vector<std::int64_t> block, thread;  // of a device: values of the loops that are bound to them
  std::vector<Access> reads, writes;
};

struct Life {  // of a temporary
  ir::Id buffer = 0;
  std::vector<std::int64_t> begin, extent;
  std::int64_t bytes = 0;
  Moment from, to;
};

class Enough : public std::exception {};  // thrown into the run at the limit of events

class Recorder final : public interp::Watcher {
 public:
  Recorder(const ir::Program&, std::size_t most_events);

  void iterates(const ir::Stmt& loop, std::int64_t value) override;
  void leaves(const ir::Stmt& loop) override;
  void allocates(ir::Id buffer, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent,
                 std::int64_t bytes) override;
  void frees(ir::Id buffer) override;
  void computes(ir::Id stage, std::span<const std::int64_t> point) override;
  void reads(ir::Id buffer, std::span<const std::int64_t> index, std::int64_t place) override;
  void writes(ir::Id buffer, std::span<const std::int64_t> index, std::int64_t place) override;

  const std::vector<Event>& events() const { return events_; }
  const std::vector<Life>& lives() const { return lives_; }  // a life without an end ends with the last moment
  void sort();                                               // by moments

 private:
  struct Around {  // a loop that runs
    ir::Id loop = 0;
    std::int64_t position = 0, value = 0;
    bool together = false;  // its iterations run at the same time
    enum class As { loop, worker, block, thread } as = As::loop;
  };
  void index(const std::vector<ir::Stmt>&, ir::Id loop);
  Moment now() const;
  Access access(ir::Id buffer, std::span<const std::int64_t> index, std::int64_t place) const;

  const ir::Program& program_;
  const std::size_t most_;
  std::map<ir::Id, std::int64_t> positions_;                    // of statements in the tree
  std::map<std::pair<ir::Id, ir::Id>, std::int64_t> of_stage_;  // {stage, innermost loop around}: of its block
  std::map<ir::Id, std::int64_t> of_alloc_;                     // by buffer
  std::vector<Around> around_;
  std::vector<Event> events_;
  std::vector<Life> lives_;
  std::map<ir::Id, std::vector<std::size_t>> alive_;  // by buffer
};

}  // namespace ashlar::generator::view
