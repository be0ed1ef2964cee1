// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <ashlar/ir/tile_build.h>

#include <ashlar/ir/build.h>
#include <ashlar/ir/refusal.h>

namespace ashlar::ir::tile {

Kernel Builder::kernel() && { return std::move(kernel_); }

Id Builder::parameter(std::string name, const Facts& facts) {
  const Id id = kernel_.fresh();
  kernel_.parameters.push_back({id, std::move(name), facts.type, facts.divisor, facts.not_negative});
  types_[id] = {facts.type, {}};
  return id;
}

Id Builder::tensor(std::string name, Type element, std::vector<Extent> extents, std::vector<Extent> strides, std::int64_t align,
                   bool written) {
  const Id id = kernel_.fresh();
  kernel_.tensors.push_back({id, std::move(name), element, std::move(extents), std::move(strides), align, written, nullptr});
  return id;
}

Id Builder::constant_tensor(std::string name, Type element, const std::vector<std::int64_t>& extents,
                            std::shared_ptr<const std::vector<std::byte>> data) {
  Tensor t{kernel_.fresh(), std::move(name), element, {}, {}, 16, false, std::move(data)};
  std::int64_t stride = 1;
  for (std::size_t d = extents.size(); d-- > 0;) {
    t.extents.insert(t.extents.begin(), Extent{0, extents[d]});
    t.strides.insert(t.strides.begin(), Extent{0, stride});
    stride *= extents[d];
  }
  kernel_.constants.push_back(std::move(t));
  return kernel_.constants.back().id;
}

Id Builder::view(Id tensor, std::vector<std::int64_t> tile, Outside outside, std::vector<View::Every> every,
                 std::vector<Extent> extents) {
  if (std::all_of(every.begin(), every.end(), [](const View::Every& e) { return e == View::Every{}; })) every.clear();
  int of_tensor = 0;
  for (const View& v : kernel_.views) {
    if (v.tensor == tensor && v.tile == tile && v.outside == outside && v.every == every && v.extents == extents) return v.id;
    of_tensor += v.tensor == tensor;
  }
  const Id id = kernel_.fresh();
  const std::string& name = kernel_.tensor(tensor).name;
  kernel_.views.push_back({id, name + "_tiles" + (of_tensor ? std::to_string(of_tensor + 1) : std::string()), tensor,
                           std::move(tile), outside, std::move(every), std::move(extents)});
  return id;
}

std::vector<Id> Builder::add_all(const std::vector<TileType>& types, Stmt::Node node) {
  Stmt s{{}, std::move(node), where_};
  std::vector<Id> ids;
  for (const TileType& type : types) {
    ids.push_back(kernel_.fresh());
    types_[ids.back()] = type;
    s.results.push_back({ids.back(), type});
  }
  bodies_.back()->push_back(std::move(s));
  return ids;
}
Id Builder::add(TileType type, Stmt::Node node) { return add_all({std::move(type)}, std::move(node)).front(); }

Id Builder::constant(Value value, std::vector<std::int64_t> extents) {
  return add({value.type, std::move(extents)}, Constant{value});
}
Id Builder::integer(Type type, std::int64_t value, std::vector<std::int64_t> extents) {
  return constant(int_value(type, value), std::move(extents));
}
Id Builder::iota(Type type, std::int64_t extent) { return add({type, {extent}}, Iota{}); }
Id Builder::block(int axis) { return add({i32, {}}, BlockIndex{axis}); }

Id Builder::apply(Op op, std::vector<Id> args) {
  TileType result = type(op == Op::select ? args.at(1) : args.at(0));
  if (is_comparison(op) || op == Op::isnan || op == Op::isinf) result.element = bool_;
  return add(std::move(result), Apply{op, std::move(args)});
}
Id Builder::cast(Type to, Id value, Op op) {
  if (type(value).element == to) return value;
  return add({to, type(value).extents}, Apply{op, {value}});
}
Id Builder::broadcast(Id value, std::vector<std::int64_t> extents) {
  if (type(value).extents == extents) return value;
  return add({type(value).element, std::move(extents)}, Broadcast{value});
}
Id Builder::reshape(Id value, std::vector<std::int64_t> extents) {
  if (type(value).extents == extents) return value;
  return add({type(value).element, std::move(extents)}, Reshape{value});
}
Id Builder::permute(Id value, std::vector<int> order) {
  bool changed = false;
  TileType result{type(value).element, {}};
  for (std::size_t d = 0; d < order.size(); ++d) {
    changed = changed || order[d] != static_cast<int>(d);
    result.extents.push_back(type(value).extents.at(static_cast<std::size_t>(order[d])));
  }
  return changed ? add(std::move(result), Permute{value, std::move(order)}) : value;
}
Id Builder::spread(Id value, const std::vector<std::int64_t>& extents) {
  if (type(value).extents.empty()) value = reshape(value, std::vector<std::int64_t>(extents.size(), 1));
  return broadcast(value, extents);
}

Region Builder::region(const std::vector<Id>& values, const Combine& combine) {
  Region made;
  std::vector<Id> so_far, next;
  for (const Id v : values)
    for (std::vector<Id>* list : {&so_far, &next}) {
      list->push_back(kernel_.fresh());
      types_[list->back()] = {type(v).element, {}};
      made.parameters.push_back({list->back(), types_[list->back()]});
    }
  bodies_.push_back(&made.body);
  made.yields = combine(*this, so_far, next);
  bodies_.pop_back();
  return made;
}

std::vector<Id> Builder::reduce(std::vector<Id> values, int dimension, std::vector<Value> identity, const Combine& combine) {
  std::vector<TileType> results;
  for (const Id v : values) {
    results.push_back(type(v));
    results.back().extents.erase(results.back().extents.begin() + dimension);
  }
  Region made = region(values, combine);
  return add_all(results, Reduce{std::move(values), dimension, std::move(identity), std::move(made)});
}
std::vector<Id> Builder::scan(std::vector<Id> values, int dimension, bool reverse, std::vector<Value> identity,
                              const Combine& combine) {
  std::vector<TileType> results;
  for (const Id v : values) results.push_back(type(v));
  Region made = region(values, combine);
  return add_all(results, Scan{std::move(values), dimension, reverse, std::move(identity), std::move(made)});
}

Id Builder::mma(Id a, Id b, Id sum, bool tf32) { return add(type(sum), Mma{a, b, sum, tf32}); }
Id Builder::load(Id view, std::vector<Id> at, Hints hints) {
  const View& v = kernel_.view(view);
  return add({kernel_.tensor(v.tensor).element, v.tile}, Load{view, std::move(at), std::move(hints)});
}
void Builder::store(Id view, std::vector<Id> at, Id value, Hints hints) {
  add_all({}, Store{view, std::move(at), value, std::move(hints)});
}
Id Builder::gather(Id tensor, Id offsets, Id mask, Id otherwise, Hints hints) {
  return add({kernel_.tensor(tensor).element, type(offsets).extents},
             Gather{tensor, offsets, mask, otherwise, std::move(hints)});
}
void Builder::scatter(Id tensor, Id offsets, Id value, Id mask, Hints hints) {
  add_all({}, Scatter{tensor, offsets, value, mask, std::move(hints)});
}
void Builder::atomic(Id tensor, Op op, Id offsets, Id value, Id mask) { add_all({}, Atomic{tensor, op, offsets, value, mask}); }

std::vector<Id> Builder::loop(Id begin, Id end, Id step, const std::vector<Id>& starts, const Step& body) {
  For made;
  made.var = kernel_.fresh();
  types_[made.var] = {i32, {}};
  made.begin = begin, made.end = end, made.step = step;
  std::vector<Id> carried;
  std::vector<TileType> results;
  for (const Id start : starts) {
    carried.push_back(kernel_.fresh());
    results.push_back(type(start));
    types_[carried.back()] = results.back();
    made.carried.push_back({{carried.back(), results.back()}, start});
  }
  bodies_.push_back(&made.body);
  made.yields = body(*this, made.var, carried);
  bodies_.pop_back();
  return add_all(results, std::move(made));
}

}  // namespace ashlar::ir::tile
