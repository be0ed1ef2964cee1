// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What a file was read into: types, constants, globals, functions of operations.
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/tileir/executor/bytes.h"
#include "tests/tileir/executor/executor.h"
#include "tests/tileir/executor/opcodes.h"

namespace ashlar::tileir {

constexpr i64 kDynamic = std::numeric_limits<i64>::min();

enum class Padding : u8 { kZero, kNegativeZero, kNan, kInfinity, kNegativeInfinity, kNone = 255 };

// Equal types are one object.
struct Type {
  Kind kind = Kind::kI1;
  const Type* of = nullptr;  // the element of a tile, pointer, tensor view; the tensor view of another view
  std::vector<i64> shape;    // of a tile, a tensor view (kDynamic: known when it runs), the tile of another view
  std::vector<i64> strides;  // of a tensor view; between tiles of a strided view
  std::vector<i64> dim_map;  // of partition and strided views
  i64 sparse_dim = 0;        // of a gather/scatter view
  Padding padding = Padding::kNone;
  std::vector<const Type*> parameters, results;  // of a function
  std::string text;

  i64 elements() const;  // of shape
  bool is_tile() const { return kind == Kind::kTile; }
  bool is_scalar(Kind k) const { return is_tile() && shape.empty() && of->kind == k; }
  bool is_view() const { return kind >= Kind::kPartitionView && kind <= Kind::kGatherScatterView; }
  Kind element() const { return of->kind; }
};

// In the order of the bytecode's tags, from 1.
struct Attribute {
  enum Tag : u8 {
    kNone,
    kInteger,
    kFloat,
    kBool,
    kType,
    kString,
    kArray,
    kDense,
    kDivBy,
    kSameElements,
    kDictionary,
    kHints,
    kBounded
  };
  Tag tag = kNone;
  u64 value = 0;  // integer, float (bits), bool, enumeration; the divisor; place in the constants
  const Type* type = nullptr;
  std::string text;
  std::vector<i64> numbers;          // dense arrays; same_elements
  std::vector<Attribute> items;      // array, dictionary
  std::vector<std::string> keys;     // dictionary
  std::optional<i64> first, second;  // every and along; the lower and the upper bound
};

struct Op;

struct Block {
  bool present = false;
  u32 first_argument = 0;
  std::vector<const Type*> arguments;
  std::vector<Op> ops;
  bool counts = false;    // a for's: the first argument is the counter
  bool lanewise = false;  // only operations that can be done for many scalars at once
};

struct Op {
  const OpInfo* info = nullptr;
  std::size_t offset = 0;
  u64 flags = 0;
  u32 first_result = 0;
  std::vector<const Type*> results;
  std::vector<Attribute> attributes;       // as info->attributes
  std::vector<std::vector<u32>> operands;  // as info->operands; values by number
  std::vector<std::vector<const Type*>> operand_types;
  std::vector<Block> regions;
  u32 location = 0;  // in Image::locations; 0: unknown
  u64 number(int attribute) const { return attributes[static_cast<std::size_t>(attribute)].value; }
  bool flag(int bit) const { return (flags >> bit & 1) != 0; }
  bool has(int operand) const { return !operands[static_cast<std::size_t>(operand)].empty(); }
  const Type& type(int operand, int n = 0) const {
    return *operand_types[static_cast<std::size_t>(operand)][static_cast<std::size_t>(n)];
  }
};

struct Location {
  std::string file;
  int line = 0;
};

struct Function {
  std::string name;
  const Type* type = nullptr;
  bool entry = false, hidden = false;
  Attribute hints;
  Block body;
  u32 values = 0;  // numbers 0 to values - 1 are used
  u32 location = 0;
};

struct Global {
  std::string name;
  const Type* type = nullptr;
  std::vector<u64> elements;
  u64 alignment = 0;
  bool constant = false;
};

struct Image {
  Version version = {};
  std::vector<std::string> strings;
  std::vector<std::vector<u8>> constants;
  std::vector<std::unique_ptr<Type>> owned;
  std::vector<const Type*> types;  // by number
  std::vector<Global> globals;
  std::vector<Function> functions;
  std::vector<Location> locations;  // by number of the debug attribute
  std::vector<Kernel> kernels;
  const Global* global(std::string_view name) const;
};

// The elements of a dense constant of that tile type. Throws Error.
std::vector<u64> elements_of(const std::vector<u8>& constant, const Type& tile, std::size_t offset);

std::string text_of(const Attribute&);
std::string text_of(const Op&, const Image&, int depth);

// Reading, by section.
std::vector<const Type*> read_types(Image&, Cursor section);
const Type* intern(Image&, Type);
std::vector<std::vector<u32>> read_debug(Image&,
                                         Cursor section);  // for each function, its own location and then each operation's
Attribute read_tagged(const Image&, Cursor&, int depth = 0);
Attribute read_attribute(const Image&, Cursor&, const std::string& kind, int depth = 0);
void read_body(const Image&, Cursor, Function&, const std::vector<u32>& locations);
void check_hints(const Attribute&, bool of_entry, const Version&, std::size_t offset);
void verify(const Image&, const Function&, const Op&, const Block* loop);  // one operation, its regions not

}  // namespace ashlar::tileir
