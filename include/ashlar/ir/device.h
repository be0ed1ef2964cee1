// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The inside of a launch: the lowered form of a parallel program, one body that every thread runs.
//
//   Launch      a grid of blocks, in clusters, with a number of threads in each. The body has their numbers as vars.
//   Sync        one synchronization operation. Schedules produce barriers of blocks and warps, and groups of copies. So far,
//               only hand-written kernels have mbarriers, clusters, named barriers, fences and budgets of registers.
//   Intrinsic   what a call means: its operands (type, shape, which thread holds what, by which path, when complete) and a
//               formula over them, like that of a stage. Without one, a native function of the interpreter.
//   Call        an intrinsic with its operands: a buffer and an address in it, a value, a tensor map or an mbarrier.
//
// Invariant: a sync or a call is *collective* over a group of aligned threads, whose number is its width. All threads of the
// group reach it together, so the control flow around it is uniform over the group: conditions and bounds depend on the thread
// number only through floor(thread / n), where n is a multiple of the width. The verifier proves this; docs/parallel.md defines
// the meaning.
//
// Example: the sum over a warp.
//
//   launch sum<<<n /^ 256, 256>>>
//     let s = x[block * 256 + thread]
//     r[0] = s
//     call shuffle_xor t[0], r[0], 16
//     r[0] = r[0] + t[0]
//     ...
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <ashlar/ir/expr.h>
#include <ashlar/ir/scope.h>

namespace ashlar::ir {

// The grid is over symbols; the cluster and the number of threads are constants. A block or thread number that the body does
// not use has id 0. Threads are numbered linearly: if warps have 32 lanes, the warp of a thread is thread / 32.
struct Launch {
  std::string name;
  Expr grid[3];     // blocks along x, y and z. Where one is 0, no block runs
  Expr cluster[3];  // blocks of a cluster; 1 each where the target has no clusters
  std::int64_t threads = 1;
  int warp = 32;  // lanes of the warp (subgroup) that collectives rely on; 1 if there is none
  Id block[3] = {0, 0, 0}, thread = 0;
  std::int64_t shared_bytes = 0;
  std::int64_t registers = 0;  // registers of a thread at the start; 0: the assembler chooses
};

// The path of an access to memory. Only a proxy fence orders accesses to one location by different proxies.
enum class Proxy { generic, async };

// When a call has finished with an operand: a source may then be overwritten, and a result may be read.
enum class Completion {
  call,           // when the call returns
  copy_group,     // per thread: after a wait that covers the copy group it was committed to (cp.async)
  bulk_group,     // per thread: after a wait that covers the bulk group it was committed to (TMA stores)
  product_group,  // per warpgroup: after a wait that covers the product group it was committed to (wgmma)
  barrier,        // when the mbarrier of the call has counted its bytes and a wait for that phase has returned
};

struct Sync {
  enum class Kind {
    block,         // all threads of the block wait for each other, and their accesses to memory are ordered
    named,         // `count` threads wait at barrier number `index`
    named_arrive,  // arrives there without waiting
    warp,          // the lanes of a warp
    cluster_arrive,
    cluster_wait,
    mbarrier_init,    // `count` arrivals a phase
    mbarrier_arrive,  // one arrival
    mbarrier_expect,  // one arrival, and `bytes` more for asynchronous copies to deliver in this phase
    mbarrier_wait,    // waits until the phase of parity `parity` has completed
    commit,           // closes the current group of kind `group`
    wait,             // waits until at most the latest `count` groups are pending
    wait_read,        // bulk groups: waits until their sources have been read
    fence_init,       // the asynchronous proxy and the cluster see mbarriers that were initialized before
    fence_proxy,      // this thread's accesses by the generic proxy come before later ones by the asynchronous proxy
    fence_product,    // wgmma: accesses to registers come before those of the products that follow
    fence_device,     // this thread's writes to global memory come before its later ones, for all blocks
    registers,        // gives each thread of the warpgroup `count` registers
  };
  Kind kind = Kind::block;
  Id buffer = 0;                              // mbarrier_*: the barrier buffer
  Expr index;                                 // mbarrier_*: which of its barriers. named: the barrier's number
  Expr count;                                 // of arrivals, threads, pending groups or registers
  Expr bytes;                                 // mbarrier_expect
  Expr parity;                                // mbarrier_wait: 0 or 1
  Expr rank;                                  // mbarrier_arrive: the block of the cluster that has the barrier; empty: this one
  Completion group = Completion::copy_group;  // commit, wait
};

// One operand of an intrinsic.
//
// A user's intrinsic has tiles in any scope. Their extents may be over sizes: vars whose values the call supplies. The call
// also supplies the strides of such a tile. In `value`, all operands except tiles are vars.
struct IntrinsicOperand {
  enum class Kind { tile, value, tensor_map, barrier, size };
  enum class Access { read, write, accumulate };
  enum class Place { registers, shared, global };
  std::string name;
  Kind kind = Kind::tile;
  Access access = Access::read;
  Place place = Place::registers;
  Proxy proxy = Proxy::generic;
  Completion completion = Completion::call;
  Type type;                        // tile: of an element. value: of the value
  std::vector<std::int64_t> shape;  // tile: its logical extents, where they are constants
  Id id = 0;                        // tile: the buffer that `value` loads or writes. value, size: the var in it
  Scope scope = Scope::global;      // a user's tile: where it lies
  std::vector<Expr> extents;        // a user's tile: its logical extents, over sizes
  std::int64_t min = 0, max = INT64_MAX, multiple_of = 1;  // size: what the implementation takes
  // Where logical element (vars…) lies. In registers: {thread of the group that holds it, register}, counted from the operand's
  // address. In memory: its distance from the operand's address in elements, or {thread, distance} from the address that this
  // thread of the group passes (ldmatrix: one row for each lane). Empty: only a native function knows.
  std::vector<Id> vars;
  std::vector<Expr> map;  // over vars alone
};

// Identifies an intrinsic of the compiler (ir/intrinsics.h makes them). Back ends and the interpreter test this, never the
// name. A user's intrinsic has `none`.
enum class DeviceOp : std::uint8_t {
  none,
  shuffle_xor,
  shuffle_idx,
  shuffle_up,
  shuffle_down,
  ldmatrix,
  ldmatrix_transposed,
  stmatrix,
  stmatrix_transposed,
  mma_m16n8k16,
  copy_async,
  // These have no description; the interpreter has a function for each. Only hand-written kernels have them so far, and
  // stmatrix, mma_m16n8k16 (schedules describe their own) and the shuffles other than shuffle_xor.
  tma_load,
  tma_store,
  wgmma,
};

struct Intrinsic {
  Id id = 0;
  std::string name;
  int group = 1;  // aligned threads that execute one call together
  std::vector<IntrinsicOperand> operands;
  // The meaning: the element at `spatial` of the one operand that is written. With reduce variables, `value` is a term of its
  // sum (by fma if the term is a product, as in a stage), which starts from 0 or from the old element. `value` loads tiles by
  // their logical indices. Empty: the interpreter has a function for `device`.
  std::vector<Id> spatial;
  std::vector<Id> reduce;
  std::vector<std::int64_t> reduce_extents;
  Expr value;
  bool accumulates = false;    // starts from the old element
  bool rounds_freely = false;  // a sum of floats whose order and rounding the hardware chooses
  DeviceOp device = DeviceOp::none;
  std::map<std::string, std::string> emit;  // by back end: text in which {name} stands for an operand
  std::map<std::string, std::string> wait;  // by back end, where it is asynchronous: text that waits for {token}
  std::string needs;                        // a target or features, separated by spaces
  // User's intrinsics: extents over sizes, and the line of the description. The compiler's own have neither.
  std::vector<Expr> spatial_extents, reduce_sizes;
  Where where = {};
  bool is_users() const { return !spatial_extents.empty(); }
};

// Describes boxes of a tensor in global memory for the asynchronous copy engine. The host builds it and passes it to the
// launch.
struct TensorMap {
  Id id = 0;
  std::string name;
  Id buffer = 0;  // argument or workspace
  Type type;
  std::vector<Expr> extents, strides;  // of the tensor, slowest first; strides in elements, the last one is 1
  std::vector<std::int64_t> box;       // slowest first
  int swizzle = 0;                     // bytes of the permutation of 16-byte granules in shared memory: 0, 32, 64 or 128
};

struct Call {
  struct Actual {
    Id buffer = 0;  // tile: where it lies. barrier: the barrier buffer. tensor_map: its id
    Expr
        address;  // tile: the element address (registers: a constant, the first register). barrier: which one. value: the value
    std::vector<Expr> positions;  // tensor_map: where the box starts, slowest first. Of a function: the first element's index
    std::vector<Expr> strides;    // a user's tile in memory: from one element to the next along each dimension, in elements
    std::vector<Expr> extents;    // of a function: of the region, each dimension
  };
  Id intrinsic = 0;             // 0: a function in C that computes a box of a stage
  Id function = 0;              // which (ir/function.h)
  std::vector<Actual> actuals;  // as the intrinsic's operands; of a function: what it reads, then what it writes
  std::size_t results = 0;      // of a function: how many of them it writes
};

}  // namespace ashlar::ir
