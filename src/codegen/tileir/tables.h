// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What instructions refer to by number: strings, types, constants. Each table holds an entry once, in the order of first use,
// and a type comes after those that it is made of.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <ashlar/ir/tile.h>

#include "codegen/tileir/bytes.h"

namespace ashlar::codegen::tileir {

#ifdef ASHLAR_TILEIR_PLANT
std::string planted(std::string entry);  // as in code.h, of a type or a constant
#endif

class Table {
 public:
#ifdef ASHLAR_TILEIR_PLANT
  std::uint64_t operator()(const std::string& as_meant) {
    const std::string entry = planted(as_meant);
#else
  std::uint64_t operator()(const std::string& entry) {
#endif
    const auto [it, made] = numbers_.emplace(entry, entries_.size());
    if (made) entries_.push_back(entry);
    return it->second;
  }
  bool empty() const { return entries_.empty(); }
  Bytes section(int bytes_of_offset) const;  // how many, where each begins, and all of them

 private:
  std::map<std::string, std::uint64_t> numbers_;
  std::vector<std::string> entries_;
};

// The numbers of types.
class Types {
 public:
  explicit Types(int of_minor) : minor(of_minor) {}
  const int minor;  // of version 13 of the format, which decides how some are written

  std::uint64_t element(Type);
  std::uint64_t token();
  std::uint64_t tile(Type element, const std::vector<std::int64_t>& extents);
  std::uint64_t tile(const ir::tile::TileType& t) { return tile(t.element, t.extents); }
  std::uint64_t tile_of_tf32(const std::vector<std::int64_t>& extents);
  std::uint64_t pointers(Type element, const std::vector<std::int64_t>& extents);  // a tile of pointers to elements
  std::uint64_t tensor(const ir::tile::Tensor&, const ir::tile::View&);            // of what the view has of it
  std::uint64_t partition(const ir::tile::Tensor&, const ir::tile::View&);
  std::uint64_t function(const std::vector<std::uint64_t>& arguments);  // without results
  const Table& table() const { return table_; }

 private:
  std::uint64_t tile_of(std::uint64_t element, const std::vector<std::int64_t>& extents);
  Table table_;
};

// The bits of a number as the format holds elements of its type: whole bytes, the least significant first.
std::string element_bytes(const ir::Value&);

}  // namespace ashlar::codegen::tileir
