// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// A call of a function that computes a box of a stage: its regions as dense arrays, filled before and taken after.
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <ashlar/ir/function.h>
#include <ashlar/ir/program.h>

#include "interp/storage.h"
#include <ashlar/interp/tape.h>

namespace ashlar::interp {

// One call: regions are added in the order of the declaration, what is read before what is written.
class ExternalCall {
 public:
  // RunError where the function is not in this process; `where`: who calls it.
  ExternalCall(const ir::Function&, const std::string& where);
  using Read = std::function<ir::Value(std::span<const std::int64_t> at)>;
  using Write = std::function<void(std::span<const std::int64_t> at, const ir::Value&)>;
  void reads(Type, const IndexBox&, const Read&);
  void writes(Type, const IndexBox&, Write);
  // Runs it, and gives every element that it was to write to the writers. RunError where it returns anything but 0.
  void run();

 private:
  struct Region {
    Type type;
    IndexBox box;
    std::vector<std::byte> bytes;
    std::vector<std::int64_t> strides;
    Write write;
  };
  Region& add(Type, const IndexBox&);

  const ir::Function& function_;
  std::string where_;
  std::vector<Region> regions_;
};

// A stage that a function computes, over a box of it.
class ExternalStage {
 public:
  ExternalStage(const ir::Stage&, Slots&, Memory&);
  using Write = std::function<void(std::size_t component, std::span<const std::int64_t> at, const ir::Value&)>;
  void run(const IndexBox&, Slots&, Memory&, const Write&);

 private:
  struct Read {
    int place;
    Type type;
    Tape condition;  // empty: always
    std::vector<Tape> first, last;
  };
  const ir::Function& function_;
  std::vector<Type> types_;  // of the components
  std::vector<int> iters_;   // slots
  std::vector<Read> reads_;
};

}  // namespace ashlar::interp
