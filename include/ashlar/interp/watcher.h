// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// A Watcher is told what a run of a scheduled program does, in the order in which the interpreter does it: iterations of loops,
// the life of temporaries, and each point that is computed with the elements that it reads and writes. Pictures of iteration
// orders and of memory are made from it.
//
//   struct Count final : interp::Watcher {
//     std::map<ir::Id, int> points;
//     void computes(ir::Id stage, std::span<const std::int64_t>) override { ++points[stage]; }
//   } count;
//   interp::run(program, arguments, {}, count);
//
// All calls have empty defaults. A run without a watcher does not pay for it. Ids are those of the program
// that runs, which is a variant's if the call takes one.
#include <cstdint>
#include <span>

#include <ashlar/interp/interpreter.h>

namespace ashlar::interp {

class Watcher {
 public:
  virtual ~Watcher() = default;
  // The next iteration of a loop, and the end of the loop. Loops inside of a call of an intrinsic do not run.
  virtual void iterates(const ir::Stmt& loop, std::int64_t value) { (void)loop, (void)value; }
  virtual void leaves(const ir::Stmt& loop) { (void)loop; }
  // A temporary comes to life with the box that it stores, [begin, begin + extent) in each physical dimension; it dies.
  virtual void allocates(ir::Id buffer, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent,
                         std::int64_t bytes) {
    (void)buffer, (void)begin, (void)extent, (void)bytes;
  }
  virtual void frees(ir::Id buffer) { (void)buffer; }
  // A point of a stage: all its iteration variables in their order, the reduced ones too. Reads and writes that follow are of
  // it. A call of an intrinsic reports the point at which its tile begins.
  virtual void computes(ir::Id stage, std::span<const std::int64_t> point) { (void)stage, (void)point; }
  // An element by its logical index; `place` is where it is stored in the buffer, counted in elements, row-major.
  virtual void reads(ir::Id buffer, std::span<const std::int64_t> index, std::int64_t place) {
    (void)buffer, (void)index, (void)place;
  }
  virtual void writes(ir::Id buffer, std::span<const std::int64_t> index, std::int64_t place) {
    (void)buffer, (void)index, (void)place;
  }
};

Counters run(const ir::Program&, Arguments&, const Options&, Watcher&);

}  // namespace ashlar::interp
