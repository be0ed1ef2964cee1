// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Fragments: a tile distributed over the registers of a group of threads. Logical element -> (thread, register), both from
// digits and bits of the index, as ir::IntrinsicOperand::map states them for an instruction's operands.
//
//   mma.m16n8k16, accumulators:  (i, j) -> thread i % 8 * 4 + j / 2,  register j % 2 + i / 8 * 2
//
// `copies` are the bits of the thread's number that do not matter: every thread that differs only in them holds the same
// element.
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
// Refused: a thread outside of the group or with a copied bit, a negative register, two elements in one register.
FragmentRead fragment(std::span<const ir::Id> vars, std::span<const std::int64_t> shape, const Expr& thread, const Expr& reg,
                      int threads, int copies = 0);
// Of an operand in registers, executed by `group` threads.
FragmentRead fragment(const ir::IntrinsicOperand&, int group);

// The element that a thread holds in a register; empty where it holds none.
std::optional<std::vector<std::int64_t>> element_of(const Fragment&, int thread, int reg);
// The same as index arithmetic over thread and register, right wherever there is an element. Empty, with the reason, where the
// digits of the fragment cannot be told apart.
struct FragmentInverse {
  std::vector<Expr> index;  // one a dimension
  std::string why;
};
FragmentInverse inverse(const Fragment&, const Expr& thread, const Expr& reg);

// Are two fragments of one shape equal up to the names of registers (and of threads, where asked)? Then registers[r] is the
// register of b that holds what register r of a does, in every thread; -1 for one that holds nothing.
struct FragmentMatch {
  bool equal = false;
  std::vector<int> registers, threads;
  std::string why;                    // where they are not: an element, and who holds it
  std::vector<std::int64_t> witness;  // that element
};
FragmentMatch fragments_equal(const Fragment& a, const Fragment& b, bool rename_threads = false);

// A tile of tiles: the same instruction's fragment `counts[d]` times along each dimension, registers of one tile after those of
// the tile before, tiles in row-major order.
FragmentRead tiled(const Fragment&, std::span<const std::int64_t> counts);

// May what one product accumulates be an operand of the next without leaving the registers (attention: P = softmax(Q K^T), then
// P V)? The operand's tile repeats over the accumulators' shape; tile t reads in its register s what registers[t][s] holds.
struct FragmentReuse {
  bool possible = false;
  std::vector<std::int64_t> counts;         // tiles along each dimension
  std::vector<std::vector<int>> registers;  // [tile][register of the operand] -> register of the accumulators
  std::string why;
};
FragmentReuse reuse(const Fragment& accumulators, const Fragment& operand);

}  // namespace ashlar::analysis
