// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Facts about the buffers and loops of a kernel that one lowering pass finds in the program and a later one needs. They are
// attached to the buffer or loop that they are about, so they are copied, renamed and dropped with it. The verifier checks them
// between passes; a finished kernel has none.
//
//   flatten     writes all of them except slots, which `pipeline` adds
//   launches    reads nests, points, parts and combinations       (KStmt::nest, BufferFacts)
//   pipeline    reads rings                                       (KFor::ring)
//   synchronize reads rings, slots, groups and shared places      (KStore::group)
//   registers   reads fragments, and the lines of allocs
//   carry       and the other passes over recurrences read which buffers hold their values
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <ashlar/ir/program.h>

namespace ashlar::ir {

// One T or none, on the heap: a node that has none only pays for a pointer. Copies are deep.
template <class T>
class Boxed {
 public:
  Boxed() = default;
  Boxed(T value) : value_(std::make_unique<T>(std::move(value))) {}
  Boxed(const Boxed& other) : value_(other ? std::make_unique<T>(*other) : nullptr) {}
  Boxed(Boxed&&) noexcept = default;
  Boxed& operator=(Boxed other) noexcept {
    value_ = std::move(other.value_);
    return *this;
  }
  ~Boxed() = default;

  explicit operator bool() const { return value_ != nullptr; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return value_.get(); }
  const T* operator->() const { return value_.get(); }
  T& made() {  // makes one if there is none
    if (!value_) value_ = std::make_unique<T>();
    return *value_;
  }
  void reset() { value_.reset(); }

 private:
  std::unique_ptr<T> value_;
};

// For a pipelined loop: the buffers that its loads write become rings of `stages` copies.
struct Ring {
  int stages = 2;
  std::map<Id, std::int64_t> buffers;  // what the loads write, with the elements of one copy
  bool async_copy = false;             // by asynchronous copies, where the device has them
  bool any_alignment = false;          // where an asynchronous copy cannot be, an ordinary one
  Where where = {};
};

// For a buffer in which every thread accumulates its part of a reduction.
struct PartFacts {
  Expr start;         // what a part starts from
  std::set<Id> over;  // variables of the loops over threads that share out the terms
};

// For the buffer of the first result of a reduction over threads. A store all[k] = part[k] to it means: every thread gets, in
// every result, the combination of the parts of all threads.
struct Combination {
  std::string name;              // of the stage
  Reducer reducer;               // how parts combine; never fused
  std::vector<Id> part, all;     // one a component
  std::vector<ThreadAxis> axes;  // over whose threads, one after another
};

struct BufferFacts {
  Where placed = {};           // of an alloc: the user's line that placed it
  bool recurrent = false;      // holds the values of a recurrence
  bool shares_places = false;  // several points lie at one place: rings, and what the steps of a scatter choose
  bool fragment = false;       // the lanes of a warp hold it
  // If a scatter or an atomic stage stores to it: the variables of the loops over its points. Each iteration is a separate
  // step, whether or not its element moves with the variable.
  std::set<Id> points;
  std::optional<PartFacts> part;
  std::optional<Combination> combination;
  // For a ring: maps an address to the copy that it lies in.
  std::unordered_map<Expr, Expr, ExprHash, ExprSame> slots;
};

}  // namespace ashlar::ir
