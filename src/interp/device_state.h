// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The state of a running cluster: compiled statements, threads as explicit machines, blocks, barriers, operations in flight.
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <ashlar/ir/kernel.h>

#include "interp/clocks.h"
#include <ashlar/interp/tape.h>

namespace ashlar::interp::device {

using ir::KStmt;
using ir::Sync;

// ---- code --------------------------------------------------------------------------------------------------------------
struct ActualCode {
  int buffer = -1;      // in DeviceRun::buffers_
  int tensor_map = -1;  // in DeviceRun::maps_
  Tape address;
  std::vector<Tape> positions;
};

struct Code {
  const KStmt* stmt = nullptr;
  const ir::KFor* loop = nullptr;  // of a loop
  int number = 0;                  // in DeviceRun::codes_
  std::vector<Code> body, otherwise;
  Tape begin, extent, value, address, mask;  // for_, if_, let, store
  Tape index, count, bytes, parity, rank;    // sync
  std::vector<ActualCode> actuals;           // call
  int slot = -1, lanes = 1, buffer = -1, intrinsic = -1;
  std::int64_t width = 1;  // threads that execute it together
};

// ---- memory ------------------------------------------------------------------------------------------------------------
struct BufferInfo {
  const ir::KBuffer* info = nullptr;
  std::int64_t elements = 0, offset = 0, size = 1;  // offset in shared memory and size of an element, in bytes
  int index = 0;                                    // registers: which file. barriers: the first. global: the handle
};

struct Register {
  Value value;
  bool defined = false;
  bool touched = true;  // accessed since the last fence of products
  int product = -1;     // the intrinsic that used it as accumulator since then
  int writers = 0;      // products in flight that will write it
  int readers = 0;      // products in flight that will read it
  int operation = -1;   // the latest of them
};

// ---- operations in flight ------------------------------------------------------------------------------------------------
struct Location {
  int thread = 0;  // registers: whose. Memory: who gave the address
  std::int64_t at = 0;
};

struct ActualValue {
  std::vector<std::int64_t> addresses;  // one, or one a thread of the group
  Value value;
  std::vector<std::int64_t> positions;
};

struct Operation {
  int number = 0;
  const Code* code = nullptr;
  int first = 0, block = 0;  // the first thread of the group
  int barrier = -1;          // the mbarrier that counts its bytes
  std::vector<ActualValue> actuals;
  std::vector<std::vector<Location>> at;  // of tiles, by logical element
  std::vector<Value> result;
  bool sampled = false;
  std::int64_t bytes = 0;
};
using OperationPtr = std::shared_ptr<Operation>;

struct Groups {  // of one kind, of one thread or warpgroup
  std::vector<OperationPtr> open;
  std::deque<std::vector<OperationPtr>> closed;  // those that have not been waited for
  std::uint32_t commits = 0;
};

// ---- synchronization -----------------------------------------------------------------------------------------------------
struct MBarrier {
  bool initialized = false, fenced = false;
  std::int64_t count = 0, pending = 0, bytes = 0, queued = 0, phase = 0;
  std::vector<OperationPtr> queue;
  std::vector<int> touched_by;  // statements that expected bytes or issued copies in this phase
  Epoch init;
  Clocks arriving, done;
};

struct Named {
  std::int64_t count = 0, arrived = 0;
  std::vector<int> waiting;
  std::set<std::int64_t> warps;
  Clocks clocks;
  int code = -1;
};

struct ClusterBarrier {
  std::int64_t arrived = 0, generation = 0;
  Clocks arriving, done;
};

// ---- threads and blocks ----------------------------------------------------------------------------------------------------
struct Frame {
  std::vector<Code>* list = nullptr;
  std::size_t at = 0;
  Code* loop = nullptr;
  std::int64_t x = 0, end = 0;
};

struct Thread {
  enum class State { ready, collective, mbarrier, named, cluster, done };
  int number = 0, block = 0;  // in the cluster
  std::int64_t in_block = 0;
  std::vector<Value> slots;
  std::vector<Frame> stack;
  State state = State::ready;
  Code* at = nullptr;       // where it waits
  int barrier = -1;         // mbarrier: of its block
  std::int64_t parity = 0;  // mbarrier
  std::int64_t named = 0;   // the number of the barrier
  std::int64_t cluster_phase = 0;
  bool cluster_arrived = false;
  std::vector<std::vector<Register>> registers;
  Groups copies, bulk;
  Clocks clocks;
};

struct Block {
  std::int64_t number[3] = {0, 0, 0};
  std::vector<std::byte> bytes;
  std::vector<std::uint32_t> owner;  // 0: nobody. in_flight | operation. Else 1 + buffer
  Shadow shadow;                     // by byte; race mode only
  std::vector<MBarrier> barriers;
  std::map<std::int64_t, Named> named;
};
inline constexpr std::uint32_t in_flight = 0x80000000u;

struct MapInfo {
  const ir::TensorMap* map = nullptr;
  int buffer = -1;
  std::vector<std::int64_t> extents, strides;
};

// Where each logical element of a tile lies, from its map: {thread or -1, register or distance}.
struct TileInfo {
  std::vector<Location> elements;
  std::int64_t count = 1;
  int copies = 0;  // mask: threads that differ in these bits hold the same elements
};

struct Description;

struct IntrinsicInfo {
  const ir::Intrinsic* f = nullptr;
  std::vector<TileInfo> tiles;
  int result = -1;  // the operand that is written
  bool asynchronous = false;
  ir::Completion completion = ir::Completion::call;  // of the result
  std::shared_ptr<Description> description;          // compiled when it is first called
};

}  // namespace ashlar::interp::device
