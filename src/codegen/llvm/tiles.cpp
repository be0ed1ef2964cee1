// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiles that the texts of users' intrinsics take by value: all elements of a tile in row-major order, as one vector.
//
//   {A.value}      loaded before the call: from memory in runs of neighbors, whatever their order, else one by one
//   {A.result}     stored behind it
//
//   <8 x i8> of rows of 4 that lie 64 apart:  two loads of <4 x i8>, joined
//   <2 x i16> of neighbors, the last first:  one load, its lanes exchanged
#include <algorithm>
#include <numeric>

#include <ashlar/ir/refusal.h>

#include "codegen/llvm/emitter.h"

namespace ashlar::codegen {

using llvm::Value;

namespace {

// The tile as runs of neighbors in memory, all of one length that divides the number of elements. `order`: for each element,
// where it is among the elements of all runs.
struct Runs {
  std::vector<std::int64_t> first;  // of each run: the distance of its lowest element
  std::size_t length = 1;
  std::vector<int> order;
  bool in_order() const { return std::is_sorted(order.begin(), order.end()); }
};

Runs runs_of(const std::vector<std::int64_t>& offsets) {
  const std::size_t n = offsets.size();
  std::vector<std::size_t> by_place(n);
  std::iota(by_place.begin(), by_place.end(), std::size_t{0});
  std::stable_sort(by_place.begin(), by_place.end(), [&](std::size_t x, std::size_t y) { return offsets[x] < offsets[y]; });
  const auto place = [&](std::size_t k) { return offsets[by_place[k]]; };
  std::size_t length = n;  // the greatest common divisor of the lengths of all runs
  for (std::size_t k = 0, run = 1; k < n; ++k, ++run)
    if (k + 1 == n || place(k + 1) != place(k) + 1) length = std::gcd(length, run), run = 0;
  Runs r;
  r.length = length;
  for (std::size_t k = 0; k < n; k += length) r.first.push_back(place(k));
  r.order.resize(n);
  for (std::size_t k = 0; k < n; ++k) r.order[by_place[k]] = static_cast<int>(k);
  return r;
}

std::vector<int> counted(std::size_t from, std::size_t count) {
  std::vector<int> list(count);
  std::iota(list.begin(), list.end(), static_cast<int>(from));
  return list;
}

}  // namespace

Value* Emitter::tile(const ir::KBuffer& buffer, const Expr& address, const std::vector<std::int64_t>& offsets) {
  const Runs runs = runs_of(offsets);
  llvm::Type* element_type = math.memory_type(buffer.type.element());
  Value* first = this->address(address);
  std::vector<Value*> parts;
  for (const std::int64_t at : runs.first) {
    const Expr place = ir::add(address, ir::index(at));
    Value* where = element(buffer, b.CreateAdd(first, llvm::ConstantInt::getSigned(first->getType(), at)));
    auto* part = b.CreateAlignedLoad(llvm::FixedVectorType::get(element_type, static_cast<unsigned>(runs.length)), where,
                                     alignment(buffer, place));
    unit.tag_access(part, buffer.id);
    parts.push_back(part);
  }
  std::size_t length = runs.length;
  while (parts.size() > 1 && parts.size() % 2 == 0) {  // joined in pairs
    std::vector<Value*> joined;
    for (std::size_t k = 0; k < parts.size(); k += 2)
      joined.push_back(b.CreateShuffleVector(parts[k], parts[k + 1], counted(0, 2 * length)));
    parts = std::move(joined), length *= 2;
  }
  Value* all = parts.front();
  if (parts.size() > 1) {
    all = llvm::PoisonValue::get(llvm::FixedVectorType::get(element_type, static_cast<unsigned>(offsets.size())));
    for (std::size_t k = 0; k < offsets.size(); ++k)
      all = b.CreateInsertElement(all, b.CreateExtractElement(parts[k / length], static_cast<std::uint64_t>(k % length)),
                                  static_cast<std::uint64_t>(k));
  }
  return runs.in_order() ? all : b.CreateShuffleVector(all, runs.order);
}

void Emitter::set_tile(const ir::KBuffer& buffer, const Expr& address, const std::vector<std::int64_t>& offsets, Value* v) {
  const Runs runs = runs_of(offsets);
  if (!runs.in_order()) {
    std::vector<int> lanes(offsets.size());
    for (std::size_t k = 0; k < offsets.size(); ++k) lanes[static_cast<std::size_t>(runs.order[k])] = static_cast<int>(k);
    v = b.CreateShuffleVector(v, lanes);
  }
  Value* first = this->address(address);
  for (std::size_t k = 0; k < runs.first.size(); ++k) {
    const Expr place = ir::add(address, ir::index(runs.first[k]));
    Value* where = element(buffer, b.CreateAdd(first, llvm::ConstantInt::getSigned(first->getType(), runs.first[k])));
    Value* part = runs.first.size() == 1 ? v : b.CreateShuffleVector(v, counted(k * runs.length, runs.length));
    unit.tag_access(b.CreateAlignedStore(part, where, alignment(buffer, place)), buffer.id);
  }
}

}  // namespace ashlar::codegen
