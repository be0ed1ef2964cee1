// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The tile form: one function that every block of a grid runs, over values that are whole tiles. docs/tiles.md defines it.
//
//   kernel product(A: bf16 [M, K] in rows of A_stride0, ...)     a tensor: the elements that a pointer of the caller's leads to
//   view Ak = tiles of 128x64 of A, zero outside                 cuts a tensor into a grid of tiles
//   %20 = load Ak at (%11, %17) : bf16 128x64                    a value: elements of one type, constant extents
//   %22 = mma %20, %21, %18 : f32 128x256
//
// A value is defined once, by a statement, and has no address: a program of tiles has no memory but its tensors. A statement
// is a node, one struct for each kind, with the values that it defines. Nothing is said of threads, registers or copies: the
// assembler of a device chooses them.
//
//   Apply{Op::add, {x, y}}     elementwise, with the meaning that docs/ir.md gives the operator
//   For                        a loop; what it carries from one iteration to the next are tiles too
//   Reduce, Scan               along one dimension, by a region: a combiner as a list of statements over scalars
//   Load, Store                through a view, at the number of a tile
//   Gather, Scatter            at offsets of elements, under a mask
//
// Invariant: a tensor is read or written, never both, and two blocks never write one element. So neither the order of memory
// operations nor that of blocks is seen.
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <ashlar/ir/expr.h>
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

// ---- what the caller passes -------------------------------------------------------------------------------------------------
// A number: an extent, a stride, a scalar of the program. Facts are promises of whoever launches, who has checked them.
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
};

struct Tensor {
  Id id = 0;
  std::string name;
  Type element;  // as it lies in memory, so never bool
  std::vector<Extent> extents;
  std::vector<Extent> strides;  // in elements, one for each dimension
  std::int64_t align = 1;       // bytes: a power of two that the address of the first element is a multiple of
  bool written = false;
};

// What a load gives for elements outside of the tensor.
enum class Outside {
  unspecified,  // anything: nobody uses them
  zero,
};

// The grid of tiles of `tile` elements each that covers a tensor from its first element on. Tile (i, j) holds the elements from
// (i * tile[0], j * tile[1]) on; its number lies in the grid. Elements outside of the tensor are not read and not written.
struct View {
  Id id = 0;
  std::string name;
  Id tensor = 0;
  std::vector<std::int64_t> tile;  // powers of two
  Outside outside = Outside::unspecified;
};

// ---- statements -------------------------------------------------------------------------------------------------------------
struct Stmt;
using Body = std::vector<Stmt>;  // in the order of execution

struct Result {
  Id id = 0;
  TileType type;
};

struct Constant {  // every element is it
  Value value;
};
struct Iota {};      // 0, 1, 2, …; a tile of one dimension, of i32 or i64
struct BlockIndex {  // of the block that runs; i32
  int axis = 0;      // 0, 1, 2: x, y, z
};
struct Apply {  // elementwise; the operands have the extents of the result. The type of the result tells what a cast makes
  Op op = Op::add;
  std::vector<Id> args;
};
struct Broadcast {  // of the same rank: dimensions of extent 1 are repeated
  Id value = 0;
};
struct Reshape {  // the same elements in the same order (row-major)
  Id value = 0;
};
struct Permute {  // dimension d of the result is dimension order[d] of the value
  Id value = 0;
  std::vector<int> order;
};
// Combines scalars: parameters are, for each component, what is combined so far and what comes next. `yields`: the new ones.
struct Region {
  std::vector<Result> parameters;
  Body body;
  std::vector<Id> yields;
};
// Along one dimension, which the results lack; in any grouping, so the region associates, or may be regrouped. `identity` may
// be combined in any number of times.
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
// sum + a b: a is m x k, b is k x n, the sum m x n. Products are exact in the type of the sum, order and rounding are those of
// docs/tiles.md, "mma".
struct Mma {
  Id a = 0, b = 0, sum = 0;
};
struct Load {
  Id view = 0;
  std::vector<Id> at;  // the number of the tile, i32 scalars
};
struct Store {
  Id view = 0;
  std::vector<Id> at;
  Id value = 0;
};
struct Gather {  // elements of the tensor at offsets from its first, i64; where the mask is false: those of `otherwise`
  Id tensor = 0;
  Id offsets = 0, mask = 0, otherwise = 0;
};
struct Scatter {  // no two elements of it, of all blocks, at one offset
  Id tensor = 0;
  Id offsets = 0, value = 0, mask = 0;
};
struct Carried {
  Result parameter;  // its value in an iteration
  Id start = 0;      // in the first
};
// var = begin, begin + step, … below end, i32 scalars, step > 0. The results are what the last iteration yields; without an
// iteration, what the carried tiles start as.
struct For {
  Id var = 0;
  Id begin = 0, end = 0, step = 0;
  std::vector<Carried> carried;
  Body body;
  std::vector<Id> yields;  // one for each carried tile
};

struct Stmt {
  using Node = std::variant<Constant, Iota, BlockIndex, Apply, Broadcast, Reshape, Permute, Reduce, Scan, Mma, Load, Store,
                            Gather, Scatter, For>;
  std::vector<Result> results;
  Node node;
  Where where = {};

  template <class T>
  const T* as() const {  // null: another kind
    return std::get_if<T>(&node);
  }
  // Calls the function for its kind; without one for each kind it does not compile.
  template <class... F>
  decltype(auto) visit(F&&... f) const {
    return std::visit(Overloaded<std::decay_t<F>...>{std::forward<F>(f)...}, node);
  }
};

struct Kernel {
  std::string name;
  // How many warps compute: 4, 8, or the assembler's choice (0). It changes no value: a hint, for sums that are more than the
  // registers of 4 hold.
  int worker_warps = 0;
  std::vector<Tensor> tensors;        // pointers, in the order of the entry's first arguments
  std::vector<Parameter> parameters;  // the arguments behind them
  std::vector<View> views;
  Body body;
  Id next_id = 1;  // larger than every id
  Id fresh() { return next_id++; }

  const Tensor& tensor(Id) const;
  const View& view(Id) const;
};

// Does the tile form have the operator, on operands of this type? All others are expanded first (ir/spelling.h).
bool has_operator(Op, Type operand);

// Throws an InternalError that says what is wrong, and in which statement: values are defined before their uses, types agree,
// extents are powers of two, a tensor is read or written. The rules stand in src/ir/tile/verify.cpp.
void verify(const Kernel&);

std::string text(const Kernel&);  // one line a statement, as in docs/tiles.md

}  // namespace ashlar::ir::tile
