// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Scopes: the memory that a temporary lies in. This is a class and not an enum, so that users can add their own scratchpads.
//
//   global     the workspace or the context's allocator; of any size, which may depend on the call
//   stack      the stack of the computing thread; needs a constant bound of at most 256 KiB
//   registers  after unrolling and vectorizing, all indices must be constant and the values must fit the register file
//   shared, fragment, tile   memories of devices
#include <cstdint>
#include <string_view>

namespace ashlar {

struct Scope {
  struct Limits {
    std::int64_t bytes = 0;
    int align = 1;
    int address_space = 0;
    const char* c_qualifier = "";
  };
  const char* name;
  Limits limits = {};
  static const Scope global, stack, shared, registers, fragment, tile;
  friend bool operator==(const Scope& a, const Scope& b) { return std::string_view(a.name) == b.name; }
};

}  // namespace ashlar
