// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// One launch, cluster after cluster: threads run in turn until each waits, a collective runs when its whole group is there, and
// operations in flight are completed by the waits that cover them.
//
//   device_run.cpp        compiling, the scheduler, plain statements
//   device_memory.cpp     registers, shared and global memory; races
//   device_sync.cpp       barriers, groups, fences
//   device_report.cpp     where, who, deadlocks
//   device_calls.cpp      operands, intrinsics with a description, operations in flight
//   device_native.cpp     intrinsics without one
#include <string>
#include <utility>
#include <vector>

#include <ashlar/interp/interpreter.h>

#include "interp/device.h"
#include "interp/device_state.h"
#include "interp/order.h"

namespace ashlar::interp::device {

class DeviceRun final : public Memory {
 public:
  DeviceRun(const ir::Kernel&, const ir::KLaunch&, const Slots& host, GlobalMemory&, const Options&);
  void run();

  // Memory
  int resolve(Id buffer, const char* name) override;
  Value read(int buffer, const std::int64_t* index, int rank) override;
  std::string where() const override;

 private:
  friend class OperandView;
  friend struct Native;

  // ---- device_run.cpp
  std::vector<Code> compile(const std::vector<KStmt>&);
  void compile_sync(const Sync&, Code&);
  void compile_call(const ir::KCall&, Code&);
  void add_intrinsic(const ir::Intrinsic&);
  Tape tape(const Expr& e) { return e.empty() ? Tape() : Tape(e, slots_, *this, Select::strict); }
  std::int64_t host_value(const Expr&, std::int64_t otherwise);
  void start_cluster(std::int64_t number, const std::int64_t (&first)[3]);
  void run_cluster();
  void end_cluster();
  void enter(Thread&);
  void leave();
  bool runnable(Thread&);
  void advance(Thread&);
  void end_thread(Thread&);
  bool next_statement(Thread&, Code&);  // false: the thread waits
  bool collective(Thread&, Code&);      // false: the thread waits
  void store(const ir::KStore&, Code&);
  void next(Thread& t) { ++t.stack.back().at, t.state = Thread::State::ready; }

  // ---- device_memory.cpp
  Thread& thread(int number) { return threads_[static_cast<std::size_t>(number)]; }
  Block& block(int number) { return blocks_[static_cast<std::size_t>(number)]; }
  const BufferInfo& buffer(int b) const { return buffers_[static_cast<std::size_t>(b)]; }
  const BufferInfo& inside(int buffer, std::int64_t at, const char* verb) const;  // or an error
  Register& reg(Thread&, int buffer, std::int64_t at, const char* verb);
  Value read_register(Thread&, int buffer, std::int64_t at);
  void write_register(Thread&, int buffer, std::int64_t at, const Value&);
  // Bytes of an element of a shared buffer, in the block's shared memory.
  std::size_t shared_at(int buffer, std::int64_t at, const char* verb) const;
  Value read_shared(Block&, int buffer, std::int64_t at, bool used = true);
  void write_shared(Block&, int buffer, std::int64_t at, const Value&);
  void write(int buffer, std::int64_t at, const Value&);  // by the current thread
  Accessor generic(Thread&, const Code&) const;
  void update(int buffer, std::int64_t at, ir::Op, const Value&);  // an atomic store by the current thread
  void race_shared(Block&, int buffer, std::int64_t at, Touch, const Accessor&);
  void race_global(int buffer, std::int64_t at, Touch, const Accessor&);
  [[noreturn]] void report_race(const Conflict&, int buffer, std::int64_t at, Touch, const Accessor&) const;

  // ---- device_sync.cpp
  bool sync(Thread&, Code&);  // of width 1; false: the thread waits
  void group_sync(int first, Code&);
  MBarrier& mbarrier(Thread&, Code&, int* number = nullptr);
  void use(MBarrier&, Thread&, const Code&);
  bool passed(int block, int number, std::int64_t parity);
  void complete_phase(int block, int number);
  void arrive(int block, int number, Thread&, Code&);
  bool named(int first, Code&);
  void wait_groups(Groups&, std::int64_t pending, bool reads_only, std::uint32_t agent, std::uint32_t read_agent, int first,
                   int n);
  void commit(Groups&);
  void tick(Thread& t) { ++t.clocks.all[static_cast<std::size_t>(t.number)]; }
  std::uint32_t copy_agent(const Thread& t) const { return static_cast<std::uint32_t>(n_ + t.number); }
  std::uint32_t bulk_read_agent(const Thread& t) const { return static_cast<std::uint32_t>(2 * n_ + t.number); }
  std::uint32_t bulk_write_agent(const Thread& t) const { return static_cast<std::uint32_t>(3 * n_ + t.number); }
  std::uint32_t product_agent(int first) const { return static_cast<std::uint32_t>(4 * n_ + first / warpgroup_); }
  std::uint32_t barrier_agent(int block, int number) const {
    return static_cast<std::uint32_t>(4 * n_ + product_agents_ + block * barriers_ + number);
  }

  // ---- device_report.cpp
  [[noreturn]] void fail(RunError::Kind, const std::string&, const std::vector<int>& codes = {},
                         std::vector<std::string> buffers = {}) const;
  void add_lines(RunError&, const std::vector<int>& codes) const;
  std::string line(int code) const;  // "reduce_test.cpp:40"
  std::string who(int thread) const;
  static std::string block_text(const Block&);
  std::string barrier_text(int number) const;  // "full[2]"
  std::string state_of(const Thread&) const;
  [[noreturn]] void report_deadlock() const;

  // ---- device_calls.cpp
  void call(int first, Code&);
  void locate(Operation&, int operand);
  Value load(Operation&, int operand, std::int64_t element, bool issue);
  void access_at_issue(Operation&, int operand, std::int64_t element, bool write, const Accessor&);
  void describe(Operation&, bool issue);  // computes the result; at issue only what is read is looked at
  void put(Operation&, int operand, std::int64_t element, const Value&);
  void issue(const OperationPtr&);
  void take_registers(Operation&, int operand);
  void sample(Operation&);
  void land(Operation&);
  const ir::Intrinsic& intrinsic(const Operation& o) const {
    return *intrinsics_[static_cast<std::size_t>(o.code->intrinsic)].f;
  }
  Accessor issuer(Operation&, const ir::IntrinsicOperand&, Clocks& scratch);

  const ir::Kernel& kernel_;
  const ir::KLaunch& launch_;
  GlobalMemory& global_;
  const Options& options_;
  Slots slots_;
  std::vector<BufferInfo> buffers_;
  std::vector<MapInfo> maps_;
  std::vector<IntrinsicInfo> intrinsics_;
  std::map<Id, int> buffer_of_, intrinsic_of_, map_of_;
  std::vector<std::int64_t> register_files_;  // elements of each
  std::vector<std::string> barrier_names_;    // of each mbarrier of a block
  std::vector<Code> code_;
  std::vector<const Code*> codes_;
  std::vector<Value> initial_;  // of a thread
  std::map<int, Shadow> global_shadows_;

  std::int64_t grid_[3] = {1, 1, 1}, cluster_[3] = {1, 1, 1};
  int n_ = 0, barriers_ = 0, product_agents_ = 0, agents_ = 0, warpgroup_ = 1;  // threads, barriers a block, … of a cluster
  std::uint32_t base_ = 0;                                                      // agents of the clusters before this one
  std::vector<Thread> threads_;
  std::vector<Block> blocks_;
  std::vector<Groups> products_;
  ClusterBarrier cluster_barrier_;
  std::vector<OperationPtr> operations_;
  std::vector<OperationPtr> unwritten_;  // bulk copies whose sources were read
  Thread* current_ = nullptr;
  const Code* code_now_ = nullptr;
  bool lane_idle_ = false;
  std::vector<std::pair<std::int64_t, Value>> pending_;
};

// Functions of the interpreter that stand for intrinsics without a description.
struct Native {
  void (*locate)(DeviceRun&, Operation&);  // fills Operation::at for operands without a map
  void (*sample)(DeviceRun&, Operation&);
  void (*land)(DeviceRun&, Operation&);  // null: the result goes where its operand lies
  static const Native* find(ir::DeviceOp);

  static void locate_box(DeviceRun&, Operation&);
  static void sample_load(DeviceRun&, Operation&);
  static void sample_store(DeviceRun&, Operation&);
  static void land_store(DeviceRun&, Operation&);
  static void locate_product(DeviceRun&, Operation&);
  static void sample_product(DeviceRun&, Operation&);
};

}  // namespace ashlar::interp::device
