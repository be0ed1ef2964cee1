// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What a layout costs when the lanes of a warp, a vector load or the tensor copy engine go through it. Each is a function of
// the element address and of who reads which logical index; nothing is measured.
//
//   bank_conflicts({r, c}, 64 r + (c ^ (r % 8 * 8)), {lane, at = {lane % 8, lane / 8 * 8}, 8 elements along c}, 2 bytes)      1
//   the same without the xor                                                                                              8
#include <ashlar/analysis/layout.h>

namespace ashlar::analysis {

// A layout as these functions see it: the element address over the logical indices, which lie in the ranges of the facts.
struct Addressing {
  std::vector<ir::Id> vars;
  Expr address;
  std::int64_t element_bytes = 4;
};

// One access by the lanes of a warp: lane l reads `elements` elements at once, the first at the logical index `at`, the others
// behind it along dimension `along`. `at` is over the lane's variable, 0 to lanes - 1, and over others (a base: where in the
// tile the warp is) with ranges in the facts; what is returned holds for every base.
struct WarpAccess {
  ir::Id lane = 0;
  std::vector<Expr> at;
  int elements = 1;
  std::size_t along = 0;
  int lanes = 32;
};

// Shared memory: 32 banks of 4 bytes, neighbouring words in neighbouring banks; lanes that read one word are served together.
// An access of 8 bytes a lane is served half a warp at a time, one of 16 a quarter (CUDA C++ Programming Guide, "Shared Memory"
// of each compute capability, and "Global Memory" for the division of wide requests).
struct BankConflicts {
  Answer answer = Answer::unknown;
  int degree = 0;                   // the most words that one bank has to serve in one phase; 1: no conflict
  int wavefronts = 0;               // of the whole access: the sum of the phases' degrees
  std::string why;                  // unknown: what is not known
  std::vector<std::int64_t> worst;  // the lanes' element addresses where it is reached
};
BankConflicts bank_conflicts(const Addressing&, const WarpAccess&, const Facts&);

// Global memory: 32-byte sectors that an access touches, and how few its different bytes would fill. `base_align`: bytes to
// which the buffer's start is known to be aligned.
struct Sectors {
  Answer answer = Answer::unknown;
  int sectors = 0, minimum = 0;  // of the worst base
  std::string why;
};
Sectors sectors(const Addressing&, const WarpAccess&, std::int64_t base_align, const Facts&);

// The largest power of two w, at most `most`, such that from every index of dimension `dim` that is a multiple of w, w elements
// lie one behind the other, at an address that is a multiple of w.
std::int64_t vector_width(const Addressing&, std::size_t dim, const Facts&, std::int64_t most = 64);

// ---- the tensor copy engine (TMA) ----------------------------------------------------------------------------------------
// What a tensor map can carry (CUDA driver API, cuTensorMapEncodeTiled): up to 5 dimensions, strides that are multiples of 16
// bytes, boxes of up to 256 a dimension whose rows are multiples of 16 bytes, stored densely in shared memory or with the
// 16-byte granules of 32, 64 or 128 bytes exchanged by the address bits from 128 on.
struct TmaTensor {
  std::vector<Expr> extents, strides;  // in elements, slowest first
  std::vector<std::int64_t> box;       // slowest first
  std::int64_t base_align = 16;        // bytes
};
struct TmaPlan {
  int swizzle = 0;            // 0, 32, 64 or 128 bytes
  std::int64_t shared_align;  // bytes after which the pattern repeats: where the box may start
};
struct TmaVerdict {
  std::optional<TmaPlan> plan;
  std::string why;  // where there is none
};
TmaVerdict tma_compatible(const TmaTensor&, const Addressing& shared, const Facts&);
// The address that a mode gives to what would lie at `dense`.
Expr tma_address(const Expr& dense, int swizzle, std::int64_t element_bytes);

}  // namespace ashlar::analysis
