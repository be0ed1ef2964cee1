// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The tile form: one function that every block of a grid runs, over values that are whole tiles. docs/tiles.md defines it.
//
//   kernel product(A: bf16 [M, K] in rows of A_stride0, ...)     a tensor: elements at a pointer that the caller passes
//   view Ak = tiles of 128x64 of A, zero outside                 cuts a tensor into a grid of tiles
//   %20 = load Ak at (%11, %17) : bf16 128x64                    a value: elements of one type, constant extents
//   %22 = mma %20, %21, %18 : f32 128x256
//
// A value is defined once, by a statement, and has no address: the tensors are the only memory of a tile program. A statement
// is a node, with one struct for each kind, and the values that it defines. Threads, registers and copies do not occur: the
// assembler of a device chooses them.
//
//   Apply{Op::add, {x, y}}     elementwise, with the meaning that docs/ir.md gives the operator
//   For                        a loop; it carries tiles from one iteration to the next
//   Reduce, Scan               along one dimension, by a region: a combiner as a list of statements over scalars
//   Load, Store                through a view, at the number of a tile
//   Gather, Scatter            at offsets of elements, under a mask
//   Atomic                     combines with the elements at any offsets, which may be equal
//
// Invariant: a tensor is read, written or combined into: one of these in a kernel. Two blocks never write the same element,
// and may combine into one by the same operator. So neither the order of memory operations nor the order of blocks is
// observable, except that sums of floats are rounded in an order of their own.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <ashlar/ir/expr.h>
#include <ashlar/ir/hint.h>
#include <ashlar/ir/numeric.h>
#include <ashlar/ir/statement.h>

namespace ashlar::ir::tile {

struct TileType {
  Type element;                       // one lane: bool, an integer of 8 bits or more, a float
  std::vector<std::int64_t> extents;  // powers of two; none: a scalar
  friend bool operator==(const TileType&, const TileType&) = default;
  std::int64_t elements() const {
    std::int64_t n = 1;
    for (const std::int64_t e : extents) n *= e;
    return n;
  }
};
std::string text(const TileType&);  // "bf16 128x64", "i32"

// ---- arguments of a kernel -------------------------------------------------------------------------------------------------
// A number: an extent, a stride, a scalar of the program. The launcher has checked the facts.
struct Parameter {
  Id id = 0;  // of the value
  std::string name;
  Type type = i32;
  std::int64_t divisor = 1;   // integers: a multiple of this power of two
  bool not_negative = false;  // integers
};

// An extent or a stride: the value of a parameter of type i32, or a constant.
struct Extent {
  Id parameter = 0;
  std::int64_t constant = 0;
  friend bool operator==(const Extent&, const Extent&) = default;
};

// The largest extent or stride. Sums and rounded quotients of two such numbers fit in 32 bits too.
inline constexpr std::int64_t largest_extent = (std::int64_t{1} << 31) - (std::int64_t{1} << 24);

struct Tensor {
  Id id = 0;
  std::string name;
  Type element;  // as it lies in memory, so never bool
  std::vector<Extent> extents;
  std::vector<Extent> strides;  // in elements, one for each dimension
  std::int64_t align = 1;       // bytes: a power of two; the address of the first element is a multiple of it
  bool written = false;         // or combined into
  // A constant that the kernel holds: its elements, row-major. Extents and strides are constants, and it is not written.
  std::shared_ptr<const std::vector<std::byte>> data = {};
};

// The values that a load gives for elements outside the tensor.
enum class Outside {
  unspecified,  // any value: nothing uses them
  zero,
};

// A grid of tiles of `tile` elements each that covers a tensor, starting at its first element. Tile (i, j) starts at element (i
// * tile[0], j * tile[1]); its number must lie in the grid. Elements outside the tensor are neither read nor written.
struct View {
  Id id = 0;
  std::string name;
  Id tensor = 0;
  std::vector<std::int64_t> tile;  // powers of two
  Outside outside = Outside::unspecified;
  // Along each dimension: tiles consist of the elements first, first + step, ... only. Empty: all elements.
  struct Every {
    std::int64_t step = 1, first = 0;
    friend bool operator==(const Every&, const Every&) = default;
  };
  std::vector<Every> every = {};
  // In place of the tensor's extents; empty: those. Elements of the tensor from a smaller extent on are outside. A larger one
  // takes in what lies between two rows, never memory behind the last element; these elements have unspecified values. Such a
  // view is only loaded.
  std::vector<Extent> extents = {};
};

// ---- statements -------------------------------------------------------------------------------------------------------------
struct Stmt;
using Body = std::vector<Stmt>;  // in the order of execution

struct Result {
  Id id = 0;
  TileType type;
};

struct Constant {  // every element has this value
  Value value;
};
struct Iota {};      // 0, 1, 2, …; a tile of one dimension, of i32 or i64
struct BlockIndex {  // the number of the running block along an axis; i32
  int axis = 0;      // 0, 1, 2: x, y, z
};
struct Apply {  // elementwise; the operands have the extents of the result. A cast converts to the type of the result
  Op op = Op::add;
  std::vector<Id> args;
};
struct Broadcast {  // repeats dimensions of extent 1; the rank stays the same
  Id value = 0;
};
struct Reshape {  // the same elements in the same order (row-major)
  Id value = 0;
};
struct Permute {  // dimension d of the result is dimension order[d] of the value
  Id value = 0;
  std::vector<int> order;
};
// Combines scalars. The parameters are, for each component, the value so far and the next value; `yields` are the new values.
struct Region {
  std::vector<Result> parameters;
  Body body;
  std::vector<Id> yields;
};
// Reduces along one dimension, which the results lack, in any grouping: the region must be associative or allow regrouping.
// `identity` may be combined in any number of times.
struct Reduce {
  std::vector<Id> values;  // the components, of equal extents
  int dimension = 0;
  std::vector<Value> identity;
  Region combine;
};
struct Scan {  // element i of the results combines the elements up to i; `reverse`: from i on
  std::vector<Id> values;
  int dimension = 0;
  bool reverse = false;
  std::vector<Value> identity;
  Region combine;
};
// sum + a b: a is m x k, b is k x n, and the sum m x n. Products are exact in the type of the sum; docs/tiles.md, "mma",
// describes order and rounding.
struct Mma {
  Id a = 0, b = 0, sum = 0;
  bool tf32 = false;  // factors of f32, whose elements are numbers of tf32: 8 bits of exponent, 10 of fraction
};
struct Load {
  Id view = 0;
  std::vector<Id> at;  // the number of the tile, i32 scalars
  std::vector<Hint> hints = {};
};
struct Store {
  Id view = 0;
  std::vector<Id> at;
  Id value = 0;
  std::vector<Hint> hints = {};
};
struct Gather {  // elements at offsets (i64) from the tensor's first one; where the mask is false, those of `otherwise`
  Id tensor = 0;
  Id offsets = 0, mask = 0, otherwise = 0;
  std::vector<Hint> hints = {};  // no tma
};
struct Scatter {  // no two elements, in all blocks, may have the same offset
  Id tensor = 0;
  Id offsets = 0, value = 0, mask = 0;
  std::vector<Hint> hints = {};  // no tma
};
// The element at each offset becomes op(element, value), indivisibly and in any order; several may have the same offset.
// Integers of 32 and 64 bits: add, min, max, bit_and, bit_or, bit_xor. f32, f64: add.
struct Atomic {
  Id tensor = 0;
  Op op = Op::add;
  Id offsets = 0, value = 0, mask = 0;
};
struct Carried {
  Result parameter;  // its value in an iteration
  Id start = 0;      // in the first
};
// var = begin, begin + step, … below end; i32 scalars, step > 0. The results are the yields of the last iteration, or the start
// values of the carried tiles if there is no iteration.
struct For {
  Id var = 0;
  Id begin = 0, end = 0, step = 0;
  std::vector<Carried> carried;
  Body body;
  std::vector<Id> yields;  // one for each carried tile
};

struct Stmt {
  using Node = std::variant<Constant, Iota, BlockIndex, Apply, Broadcast, Reshape, Permute, Reduce, Scan, Mma, Load, Store,
                            Gather, Scatter, Atomic, For>;
  std::vector<Result> results;
  Node node;
  Where where = {};

  template <class T>
  const T* as() const {  // null: another kind
    return std::get_if<T>(&node);
  }
  // Calls the function for its kind. Does not compile unless there is one for each kind.
  template <class... F>
  decltype(auto) visit(F&&... f) const {
    return std::visit(Overloaded<std::decay_t<F>...>{std::forward<F>(f)...}, node);
  }
};

struct Kernel {
  std::string name;
  std::vector<Hint> hints;            // about the launch; none changes a value
  std::vector<Tensor> tensors;        // pointers, in the order of the entry's first arguments
  std::vector<Tensor> constants;      // that the kernel holds
  std::vector<Parameter> parameters;  // the arguments after them
  std::vector<View> views;
  Body body;
  Id next_id = 1;  // larger than every id
  Id fresh() { return next_id++; }

  const Tensor& tensor(Id) const;
  const View& view(Id) const;
};

// Whether the tile form has the operator, for operands of this type. All others are expanded first (ir/spelling.h).
bool has_operator(Op, Type operand);

// Checks that values are defined before their uses, types agree, extents are powers of two, and a tensor is either read or
// written. Throws an InternalError that says what is wrong and in which statement. The rules are in src/ir/tile/verify.cpp.
void verify(const Kernel&);

std::string text(const Kernel&);  // one line for each statement, as in docs/tiles.md

}  // namespace ashlar::ir::tile
