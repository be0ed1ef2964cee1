// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Profiles: the sites of a kernel, around which its code calls the runtime (docs/profiling.md).
//
//   call     the body                        worker   what one thread does of a parallel loop
//   stage    a loop that stands in no other  inside   one of several statements with loops, of different stages, in a loop
//
// Bytes are counted in two variables of each function, to which every access to memory adds what it names; LLVM turns the sums
// of a loop into products.
#include <string>
#include <vector>

#include <llvm/IR/IRBuilder.h>

#include <ashlar/runtime/profile.h>

#include "codegen/llvm/unit.h"
#include "codegen/places.h"

namespace ashlar::codegen {

class Profile {  // of a unit
 public:
  explicit Profile(const Unit& unit) : places_(unit.kernel) {}

  // A constant of the object: an ashlar_abi1_site.
  llvm::Constant* site(Unit&, int kind, const std::string& name, Where line, Where loop) const;
  Where whole() const { return places_.kernel(); }

 private:
  std::string text(Where) const;  // "blur.cpp:12"; empty where it is not a place of the user's

  const Places places_;
};

// The stage that a statement computes, and the line of its definition. Stages that it needs stand in front of it in its loops,
// so it is the one that is stored last, outside of registers if there is one.
struct Computed {
  std::string name;
  Where where;
};
Computed computed_last(const ir::Kernel&, const ir::KStmt&);

// Whether the statement of this list, in a loop, is a site.
bool is_inside_site(const ir::Kernel&, const std::vector<ir::KStmt>& list, const ir::KStmt&);

}  // namespace ashlar::codegen
