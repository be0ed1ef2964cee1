// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Fragments: tiles distributed over the registers of a group of threads. A fragment maps a logical element to (thread,
// register), both computed from digits and bits of the index, as ir::IntrinsicOperand::map does for an instruction's operands.
//
//   mma.m16n8k16, accumulators:  (i, j) -> thread i % 8 * 4 + j / 2,  register j % 2 + i / 8 * 2
//
// `copies` masks the bits of the thread's number that do not matter: threads that differ only in these bits hold the same
// elements.
#include <ashlar/analysis/layout.h>
#include <ashlar/ir/device.h>

namespace ashlar::analysis {

struct Fragment {
  std::vector<ir::Id> vars;
  std::vector<std::int64_t> shape;
  Expr thread, reg;  // over vars; the copy whose copied bits are 0
  int threads = 32, registers = 0;
  int copies = 0;                          // mask over the thread's number
  IndexMap map;                            // outputs: thread, register
  std::vector<std::int64_t> element_slot;  // by element, row-major: thread * registers + register
};

struct FragmentRead {
  std::optional<Fragment> fragment;
  std::string why;
};
// Refused: a thread outside the group or with a copied bit, a negative register, two elements in one register.
FragmentRead fragment(std::span<const ir::Id> vars, std::span<const std::int64_t> shape, const Expr& thread, const Expr& reg,
                      int threads, int copies = 0);
// The same, where lanes that differ only in bits that never occur in the map are copies.
FragmentRead held_by_lanes(std::span<const ir::Id> vars, std::span<const std::int64_t> shape, const Expr& thread,
                           const Expr& reg, int threads);
// The fragment of an operand in registers, executed by `group` threads.
FragmentRead fragment(const ir::IntrinsicOperand&, int group);

// The fragment of one value for each row (or other group of elements) of a fragment. Each value is held by all lanes that hold
// an element of its group, as `copies`. `at`: the first element of a group, by dimension of `whole`, over the variables of the
// part; `own`: the group of each element of `whole`, row-major.
//
//   accumulators of m16n8k16, groups of one row i:   thread i % 8 * 4, copies 3,  register i / 8
FragmentRead part_of_fragment(const Fragment& whole, std::span<const ir::Id> vars, std::span<const std::int64_t> shape,
                              std::span<const Expr> at, std::span<const std::vector<std::int64_t>> own);

// The element that a thread holds in a register; empty if it holds none.
std::optional<std::vector<std::int64_t>> element_of(const Fragment&, int thread, int reg);
// The same as index arithmetic over thread and register, correct wherever there is an element. Empty, with the reason, if the
// digits of the fragment cannot be separated.
struct FragmentInverse {
  std::vector<Expr> index;  // one for each dimension
  std::string why;
};
FragmentInverse inverse(const Fragment&, const Expr& thread, const Expr& reg);

// Whether two fragments of the same shape are equal up to a renaming of registers (and of threads, if asked). If so,
// registers[r] is the register of b that holds the same element as register r of a in every thread, or -1 if r holds nothing.
struct FragmentMatch {
  bool equal = false;
  std::vector<int> registers, threads;
  std::string why;                    // if they are not: an element, and which threads hold it
  std::vector<std::int64_t> witness;  // that element
};
FragmentMatch fragments_equal(const Fragment& a, const Fragment& b, bool rename_threads = false);

}  // namespace ashlar::analysis
