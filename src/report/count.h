// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Counts what a lowered kernel does at given sizes, in the middle block: operations, bytes, barriers, and where it accesses
// each buffer. A condition on threads is weighted by the share of threads for which it holds. A loop is visited once, in its
// middle iteration, unless a condition or the extent of an inner loop depends on its variable. Then every iteration is
// visited; of a long loop, those at both ends, where the conditions of a pipeline or a tail change, and the middle one for
// the rest. Every visit adds to operations and bytes, but an access is listed as a site only once.
//
//   Counter c(kernel, sizes);
//   Counted n = c.count(launch.body, &launch);     n.operations(), n.traffic[{x, false}].bytes, ...
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include <ashlar/analysis/facts.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/kernel.h>

namespace ashlar::report {

struct Site {  // one access of a statement
  Expr address;
  std::vector<const ir::KFor*> loops;  // around it, inside the launch
  std::vector<Expr> when;              // conditions around it that are the same for all threads
  int elements = 1;                    // neighbors that one thread accesses at once
  bool spread = false;                 // several that are not adjacent
};

struct Traffic {  // of one buffer, by loads or by stores
  std::vector<Site> sites;
  double bytes = 0;  // asked for, by all threads together
};

struct Operations {     // of one kind
  Type type;            // of what is computed; of an instruction: of what it reads, the narrowest
  bool matrix = false;  // by intrinsics of the user's, which may use the matrix units
  double count = 0;     // an fma counting as two; comparisons, choices and indices do not count
};

struct Counted {
  std::vector<Operations> kinds;  // on data
  double operations() const {
    double n = 0;
    for (const Operations& o : kinds) n += o.count;
    return n;
  }
  void operations(Type, bool matrix, double count);
  void entered(const ir::KFor& loop, std::int64_t iterations, double times);  // one over workers
  double global_bytes = 0;
  std::map<std::pair<ir::Id, bool>, Traffic> traffic;               // by buffer; true: stores
  std::vector<ir::Id> order;                                        // of first use
  double barriers = 0, warp_barriers = 0, waits = 0, shuffles = 0;  // that a thread executes, on average
  std::int64_t registers = 0;  // 32-bit words of Scope::registers alive at once, of one thread
  struct Parallel {            // a loop over workers, entered so many times, each time with this many iterations
    const ir::KFor* loop;
    std::int64_t least, most;
    double times;
  };
  std::vector<Parallel> parallel;
};

class Counter {
 public:
  // `symbols`: their values; strides of arguments are those of dense ones.
  Counter(const ir::Kernel& k, ir::Substitution symbols);
  Counted count(const std::vector<ir::KStmt>& body, const ir::Launch* launch);
  std::int64_t value(const Expr&, std::int64_t otherwise = 0) const;  // over symbols
  Expr known(const Expr& e) const;                                    // with symbols and strides replaced
  double argument_bytes() const;                                      // of all arguments, each once

 private:
  void visit(const std::vector<ir::KStmt>& list, double times);
  void loop(const ir::KFor&, double times);
  void branch(const ir::KIf&, double times);
  void call(const ir::KCall&, double times);
  void expression(const Expr&, double times);
  void access(ir::Id buffer, bool store, const Expr& address, double times);
  void registers(const std::vector<ir::KStmt>& list);
  double share(const Expr& condition) const;  // of threads for which it holds
  Expr placed(const Expr&) const;             // in a thread in the middle
  bool decided_by(const std::vector<ir::KStmt>& list, ir::Id variable) const;

  const ir::Kernel& k_;
  ir::Substitution symbols_, place_;  // place_: where block and loops stand, and what lets say over the thread
  double threads_ = 1;                // of the launch, in all blocks
  std::int64_t visits_ = 1;           // of a statement, so far, by loops around it
  const ir::Launch* launch_ = nullptr;
  Counted counted_;
  std::vector<const ir::KFor*> loops_;
  std::vector<Expr> when_;
  struct Life {
    std::map<std::int64_t, bool> words;
    std::size_t first = 0, last = 0;
    bool packed = false;  // elements of less than 32 bits share registers
  };
  std::map<ir::Id, Life> lives_;
  struct Access {  // identifies a site: further visits of its statement do not add another
    ir::Id buffer;
    bool store;
    Expr address;
    std::vector<const ir::KFor*> loops;
    bool operator==(const Access& o) const {
      return buffer == o.buffer && store == o.store && loops == o.loops && ir::same(address, o.address);
    }
  };
  struct AccessHash {
    std::size_t operator()(const Access& a) const { return ir::hash_of(a.address) * 31 + a.buffer * 2 + a.store; }
  };
  std::unordered_set<Access, AccessHash> seen_;
  std::size_t position_ = 0;
};

}  // namespace ashlar::report
