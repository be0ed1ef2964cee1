// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The cost of accesses by the lanes of a warp through a layout, computed from the element address and the logical index of each
// lane; nothing is measured.
//
//   bank_conflicts({r, c}, 64 r + (c ^ (r % 8 * 8)), {lane, at = {lane % 8, lane / 8 * 8}, 8 elements along c}, 2 bytes)      1
//   the same without the xor                                                                                              8
#include <ashlar/analysis/layout.h>

namespace ashlar::analysis {

// A layout, as the element address over the logical indices. The ranges of the indices are in the facts.
struct Addressing {
  std::vector<ir::Id> vars;
  Expr address;
  std::int64_t element_bytes = 4;
};

// One access by the lanes of a warp: each lane reads `elements` elements at once, the first at the logical index `at`, the
// others after it along dimension `along`. `at` is over the lane's variable, 0 to lanes - 1, and over other variables (the
// base: the position of the warp in the tile) with ranges in the facts. The result holds for every base.
struct WarpAccess {
  ir::Id lane = 0;
  std::vector<Expr> at;
  int elements = 1;
  std::size_t along = 0;
  int lanes = 32;
};

// Shared memory: 32 banks of 4 bytes, with neighboring words in neighboring banks; lanes that read the same word are served
// together. Accesses of 8 bytes for each lane are served half a warp at a time, those of 16 bytes a quarter warp at a time
// (CUDA C++ Programming Guide, "Shared Memory" of each compute capability, and "Global Memory" for the division of wide
// requests).
struct BankConflicts {
  Answer answer = Answer::unknown;
  int degree = 0;                   // the most words that one bank must serve in one phase; 1: no conflict
  int wavefronts = 0;               // of the whole access: the sum of the phases' degrees
  std::string why;                  // unknown: the reason
  std::vector<std::int64_t> worst;  // the lanes' element addresses in the worst case
};
BankConflicts bank_conflicts(const Addressing&, const WarpAccess&, const Facts&);

// Global memory: how many 32-byte sectors an access touches, and how few would hold its bytes. `base_align`: the known
// alignment of the buffer's start in bytes.
struct Sectors {
  Answer answer = Answer::unknown;
  int sectors = 0, minimum = 0;  // for the worst base
  std::string why;
};
Sectors sectors(const Addressing&, const WarpAccess&, std::int64_t base_align, const Facts&);

}  // namespace ashlar::analysis
