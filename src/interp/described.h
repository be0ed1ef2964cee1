// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What an intrinsic computes, by its description: one value for each element of the tile that it writes, sums in the order of
// their terms and by fma where the term is a product (docs/ir.md, "The numeric contract").
//
//   Described f(intrinsic);
//   f.size(k) = 16;  f.parameter(k) = zero;             by operand
//   f.tile(k, extents);  f.element(k, at) = value;      what is read, and the old elements of what is accumulated
//   f.run();                                            f.element(f.result(), at) now holds what is written
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include <ashlar/ir/device.h>

#include <ashlar/interp/tape.h>

namespace ashlar::interp {

class Described final : public Memory {
 public:
  explicit Described(const ir::Intrinsic&);
  const ir::Intrinsic& intrinsic() const { return f_; }
  std::size_t result() const { return result_; }

  // Of a parameter or a size; before `shape` is asked for what depends on it.
  void set(std::size_t operand, const Value&);
  std::vector<std::int64_t> shape(std::size_t tile);  // its extents now
  // Fills a tile with what `element` gives for each of its indices, the last one running fastest.
  void fill(std::size_t tile, const std::function<Value(std::span<const std::int64_t>)>& element);
  void run();  // the tile that is written, if it accumulates, was filled
  void take(const std::function<void(std::span<const std::int64_t>, const Value&)>& store) const;
  std::int64_t evaluations() const { return evaluations_; }  // of the value, in the latest run

  int resolve(Id buffer, const char* name) override;
  Value read(int operand, const std::int64_t* index, int rank) override;
  std::string where() const override { return "intrinsic " + f_.name; }

 private:
  struct Tile {
    std::vector<std::int64_t> shape;
    std::vector<Value> elements;
  };
  std::int64_t flat(const Tile&, std::span<const std::int64_t>) const;

  const ir::Intrinsic& f_;
  Slots slots_;
  std::size_t result_ = 0;
  std::vector<Tile> tiles_;                 // by operand
  std::vector<std::vector<Tape>> extents_;  // by operand
  std::vector<Tape> spatial_, reduce_;      // extents
  std::vector<int> spatial_slots_, reduce_slots_;
  bool fused_ = false;
  Tape value_, left_, right_;
  std::int64_t evaluations_ = 0;
};

}  // namespace ashlar::interp
