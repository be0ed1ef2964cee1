// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Lowering: from a scheduled program to one flat kernel that a back end translates one to one. Passes run in the order of a
// table (src/lower/lower.cpp):
//
//   dropped     components that lack a dimension are stored by a block of their own     Program -> Program
//   parts       a reduction over threads gets parts and their combination               Program -> Program
//   inits       the init of every reduction becomes a nest of its own                   Program -> Program
//   flatten     boxes become storage, blocks become guarded stores to flat addresses    Program -> Kernel
//   launches    nests with loops bound to blocks and threads become launches
//   pipeline    the loads of a pipelined loop run ahead, into a ring
//   synchronize warp and block barriers, where threads may access the same elements
//   idle blocks blocks that would store nothing end at once
//   tables      unrolled loops that pick indices from a constant become their iterations
//   interior    vectors whose lanes are all active and in bounds get a version without masks and clamps
//   whole tiles steps of a product that uses collective calls get a version without conditions
//   guards      a condition is tested at the outermost loop where it is known, or becomes a bound of its loop
//   remainders  a remainder of a value that lies within a period of its range becomes a select
//   strides     nests over rows of an argument that may have gaps get a version for rows without gaps
//   conversions a float that becomes an integer and is clamped is converted once
//   math        functions become polynomials, narrow floats compute in f32
//   vectorize   a vectorized loop becomes vector expressions; conditions on lanes become masks
//   unroll      an unrolled loop becomes copies of its body
//   constants   elements of constants at known addresses become numbers
//   tidy        loops of one iteration, decided conditions and empty bodies disappear
//   spare lanes vectors of a temporary that reach past the end of a row lose their masks
//   registers   the contract of Scope::registers: constant addresses that fit the register file
//   counters    slots of a ring are counted instead of computed by a remainder
//   first steps the first steps of a recurrence get a loop of their own
//   carry       what later steps of a recurrence read stays in registers
//   scans       steps that combine by an operator that associates are computed a vector at a time
//   merge loops loops over the same vectors become one, so that what one stores and the other reads stays in registers
//   unread      stores to a temporary that nothing loads any more disappear
//
// From `flatten` on, the kernel carries facts about its buffers, loops and stores (ir/lowering.h); none of them remain after
// the last pass. A program with variants is lowered once for each, and their kernels become the arms of one `if`.
// A program that a Schedule accepted is refused only for what depends on the target or shows in the flat form, at the line
// that asked for it: a buffer that does not fit its scope, or asynchronous copies of loads that are not plain copies.
//
//   ir::Program p = ...;  analysis::derive_regions(p);
//   ir::Kernel k = lower(p, {.vector_bits = 512, .vector_registers = 32});
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <ashlar/ir/kernel.h>
#include <ashlar/ir/program.h>
#include <ashlar/target/target.h>

namespace ashlar {

struct PassTime {
  std::string pass;
  double cpu_ms = 0;  // of the thread that lowers
};

struct LowerOptions {
  int vector_bits = 256;                  // of one vector register
  int vector_registers = 16;              // in the file
  int masked_bits = 8;                    // of the narrowest element that a vector is loaded and stored of under a mask
  int cache_line = 64;                    // bytes, of what a prefetch brings
  std::int64_t stack_limit = 256 * 1024;  // bytes of one buffer in Scope::stack
  bool launches = false;                  // for a device: every nest becomes a launch, whether its loops are bound or not
  int warp = 1;                           // lanes of a warp of the device
  int thread_registers = 255;             // of 32 bits, of one of its threads
  std::int64_t registers = 0;             // that all threads of a block share; 0: not told
  bool async_copies = false;              // the device copies from global to shared memory asynchronously (cp.async)
  bool matrix_loads = false;              // its warps load matrices of 8 x 8 from shared memory (ldmatrix)
  bool stages_apart = false;              // loops of two stages do not become one: what each costs is recorded
  // Called after every pass with its name and the text of its result. The text is only made if this is set.
  std::function<void(std::string_view pass, const std::string& text)> observe = {};
  std::vector<PassTime>* times = nullptr;  // one entry a pass is added
};

LowerOptions options_for(const Target&);  // the properties of a target that lowering needs

// The regions of the program must have been derived (analysis::derive_regions).
ir::Kernel lower(const ir::Program&, const LowerOptions& = {});

}  // namespace ashlar
