// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What a device holds, and a launch while it runs.
#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/ptx/executor/image.h"
#include "tests/ptx/executor/races.h"
#include "tests/ptx/executor/warp.h"

namespace ashlar::ptx {

struct Allocation {
  u64 begin = 0, size = 0;
  u8* data = nullptr;
  std::vector<u8> written;  // of each byte
  std::unique_ptr<u8[]> owned;
  bool readonly = false, internal = false;  // internal: of a module
  Space space = Space::kGlobal;
  std::string name;
  std::unique_ptr<GlobalRaces> races;
  void mark(u64 offset, u64 bytes) { std::fill_n(written.begin() + static_cast<std::ptrdiff_t>(offset), bytes, u8(1)); }
};

struct Loaded {  // a module on the device
  std::shared_ptr<const Image> image;
  std::vector<std::array<u64, 32>> pool;
  std::vector<u64> variables;     // addresses; of shared ones and those of frames: offsets
  std::vector<u64> counts;        // of each instruction
  std::map<u32, u64> parameters;  // of kernels, by number of the function
};

struct Device::State {
  std::map<u64, std::unique_ptr<Allocation>> allocations;
  Checks checks;
  Coverage coverage;
  std::map<const Image*, std::unique_ptr<Loaded>> modules;
  u32 time = 1;
  u32 launches = 0;
  std::vector<std::unique_ptr<Races>> races;  // kept between launches

  Allocation* find(u64 address) const;
  Allocation& hold(u64 address, u64 bytes, const char* what) const;
  Allocation& make(u64 bytes, u64 align);
  Loaded& load(const std::shared_ptr<const Image>& image);
};

struct Barrier {
  u32 arrived = 0, expected = 0;  // threads; expected 0: all that live
  u32 count = 0;                  // of bar.red
  bool all = true, any = false;
  std::vector<u32> clock;
};

struct MbarrierNote {              // what an mbarrier passes on beside its 64 bits
  std::vector<u32> clock, passed;  // of the phase that goes on, of the one before
  i64 bytes = 0;
  u32 arrivals = 0, expected = 0, phase = 0;  // arrivals: that are still to come in this phase
};

struct Block {
  Run* run = nullptr;
  std::array<u32, 3> id = {};
  u32 rank = 0;   // in its cluster
  u32 begin = 0;  // the time; what is noted from before is of other blocks
  std::vector<u8> shared, written;
  std::vector<u16> pending;  // of each byte of shared memory: one more than the thread that copies to it
  u64 pending_bytes = 0;
  Races* races = nullptr;
  std::vector<std::unique_ptr<Warp>> warps;
  std::array<Barrier, 16> barriers;
  std::map<u32, MbarrierNote> mbarriers;  // by offset
  std::map<u32, std::vector<u32>> flags;  // by offset: what atomic and volatile accesses pass on
  u32 live = 0;                           // threads
};

struct Cluster {
  std::vector<std::unique_ptr<Block>> blocks;
  u32 warps = 0;
  std::vector<BulkCopy> copies;  // that have not arrived
  u64 progress = 0;              // grows with what may end a wait
  Barrier barrier;               // barrier.cluster
  u32 arrived_phase = 0;
  std::vector<u32> passed;
  bool done() const;
  const Warp* warp(u32 rank) const;
};

struct Run {
  Device::State& state;
  const Image& image;
  Loaded& loaded;
  const Function& function;
  Grid grid;
  std::array<u32, 3> cluster;
  u64 parameters = 0;
  Report report;
  Cluster* current = nullptr;
  u32& time;
  u64 spin = 0;

  void go();
  std::unique_ptr<Cluster> start(u64 number);
  bool step(Cluster& c, u64 rounds);  // true: all of it is done
  u64 run_warp(Warp& w, u64 most);
  void execute(Warp& w, Group& g);
  void finish(Warp& w, u32 mask);
  void deadlock(Cluster& c);
  Group* choose(Warp& w);
  void select(Warp& w, const Group& g);
  void merge(Warp& w);
  bool retry(Warp& w);
  void branch(Warp& w, std::size_t group, u32 taken, u32 target);
  void branch_indexed(Warp& w, std::size_t group, const Instr& i, u32 mask);
  void call(Warp& w, std::size_t group, const Instr& i, u32 mask);
  void enter(Warp& w, std::size_t group, const Instr& i, const Function& f, u32 mask);
  void leave(Warp& w, std::size_t group, const Instr& i, u32 mask);
  void arrive(Warp& w, std::size_t group, const Instr& i, u32 mask);
  void release(Block& b, u32 barrier);
  void check_barriers(Block& b);
};

// Where an access lands: the bytes and their shadow.
struct Place {
  u8 *data = nullptr, *written = nullptr;
  Allocation* allocation = nullptr;  // of global memory
  Block* block = nullptr;            // of shared memory
  u32 offset = 0;                    // in shared memory
};
// Checks bounds, alignment, and that a store may be made.
Place locate(Warp& w, const Instr& i, int lane, Space space, u64 address, u32 bytes, bool store, u32 align);
// Tells of the access to what looks for races and pending copies. value: what is stored, to tell what is not a race.
void accessed(Warp& w, const Instr& i, int lane, const Place& p, u32 bytes, bool store, bool atomic, const u8* value);
// An atomic or strong access of shared memory orders what came before it in one warp before what follows in another. Whether
// the program has the fences for that is not looked at.
void synchronize(Warp& w, const Place& p, bool takes, bool leaves);
void join(std::vector<u32>& into, const std::vector<u32>& from);
void print(Warp& w, const Instr& i, int lane, u64 format, u64 arguments);

}  // namespace ashlar::ptx
