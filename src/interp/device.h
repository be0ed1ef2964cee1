// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Launches: what KernelRun hands over, and what it offers in return.
#include <map>

#include <ashlar/interp/interpreter.h>

#include <ashlar/interp/tape.h>

namespace ashlar::interp {

// Buffers that exist once: arguments and workspace. Every access is checked; a report speaks of Memory::where().
class GlobalMemory {
 public:
  virtual int global(Id buffer) = 0;  // a handle
  virtual Value read_global(int buffer, std::int64_t at, bool value_is_used) = 0;
  virtual void write_global(int buffer, std::int64_t at, const Value&) = 0;
  virtual void poison_global(int buffer, std::int64_t at) = 0;  // until it is written again
  virtual std::int64_t elements_of(int buffer) const = 0;

 protected:
  ~GlobalMemory() = default;
};

// Sets what speaks for the launch while it runs, so that GlobalMemory's reports name threads.
class Speaker {
 public:
  virtual void speak(const Memory*) = 0;

 protected:
  ~Speaker() = default;
};

void run_launch(const ir::Kernel&, const ir::KLaunch&, const Slots& host, GlobalMemory&, Speaker&, const Options&);

}  // namespace ashlar::interp
