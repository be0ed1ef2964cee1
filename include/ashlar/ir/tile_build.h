// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Builds the tile form statement by statement. The types of values follow from those of their operands; the verifier checks the
// result.
//
//   tile::Builder b("twice");
//   const Id n = b.parameter("n", {.divisor = 16});
//   const Id x = b.tensor("x", f32, {b.extent(n)}, {1});
//   const Id at = b.block(0);
//   const Id v = b.load(b.view(x, {1024}), {at});
//   b.store(b.view(y, {1024}), {at}, b.apply(Op::add, {v, v}));
//   tile::Kernel k = std::move(b).kernel();
#include <functional>
#include <map>

#include <ashlar/ir/tile.h>

namespace ashlar::ir::tile {

class Builder {
 public:
  explicit Builder(std::string name) { kernel_.name = std::move(name), bodies_.push_back(&kernel_.body); }
  Kernel kernel() &&;

  struct Facts {
    Type type = i32;
    std::int64_t divisor = 1;
    bool not_negative = true;
  };
  Id parameter(std::string name, const Facts&);
  static Extent constant_extent(std::int64_t n) { return {0, n}; }
  static Extent extent(Id parameter) { return {parameter, 0}; }
  Id tensor(std::string name, Type element, std::vector<Extent> extents, std::vector<Extent> strides, std::int64_t align,
            bool written);
  Id constant_tensor(std::string name, Type element, const std::vector<std::int64_t>& extents,
                     std::shared_ptr<const std::vector<std::byte>>);
  Id view(Id tensor, std::vector<std::int64_t> tile, Outside = Outside::unspecified, std::vector<View::Every> = {},
          std::vector<Extent> extents = {});  // equal views get the same id

  Id constant(Value, std::vector<std::int64_t> extents = {});
  Id integer(Type, std::int64_t, std::vector<std::int64_t> extents = {});
  Id iota(Type, std::int64_t extent);
  Id block(int axis);
  Id apply(Op, std::vector<Id> args);      // of the type that the operator gives
  Id cast(Type, Id value, Op = Op::cast);  // cast, bitcast
  Id broadcast(Id value, std::vector<std::int64_t> extents);
  Id reshape(Id value, std::vector<std::int64_t> extents);
  Id permute(Id value, std::vector<int> order);
  using Combine = std::function<std::vector<Id>(Builder&, const std::vector<Id>& so_far, const std::vector<Id>& next)>;
  std::vector<Id> reduce(std::vector<Id> values, int dimension, std::vector<Value> identity, const Combine&);
  std::vector<Id> scan(std::vector<Id> values, int dimension, bool reverse, std::vector<Value> identity, const Combine&);
  using Hints = std::vector<Hint>;
  Id mma(Id a, Id b, Id sum, bool tf32 = false);
  Id load(Id view, std::vector<Id> at, Hints = {});
  void store(Id view, std::vector<Id> at, Id value, Hints = {});
  Id gather(Id tensor, Id offsets, Id mask, Id otherwise, Hints = {});
  void scatter(Id tensor, Id offsets, Id value, Id mask, Hints = {});
  void atomic(Id tensor, Op, Id offsets, Id value, Id mask);
  using Step = std::function<std::vector<Id>(Builder&, Id var, const std::vector<Id>& carried)>;
  std::vector<Id> loop(Id begin, Id end, Id step, const std::vector<Id>& starts, const Step&);

  // A value as a tile with these extents; it must be a scalar or of the same rank.
  Id spread(Id value, const std::vector<std::int64_t>& extents);
  const TileType& type(Id value) const { return types_.at(value); }
  void at(Where where) { where_ = where; }  // the line of the statements that follow

 private:
  Id add(TileType, Stmt::Node);
  std::vector<Id> add_all(const std::vector<TileType>&, Stmt::Node);
  Region region(const std::vector<Id>& values, const Combine&);

  Kernel kernel_;
  std::vector<Body*> bodies_;  // statements go to the last one
  std::map<Id, TileType> types_;
  Where where_ = {};
};

}  // namespace ashlar::ir::tile
