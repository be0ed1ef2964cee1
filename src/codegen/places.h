// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Which line of the user's text a statement or an expression of a kernel stands for.
//
// Invariant: what is said depends on the generator's sources alone. A file is named as the compiler of the generator was told
// to (ashlar_add_generator: relative to the project), but without steps to folders above, and by its last part where the name
// is absolute, so that no folder of a machine gets into what is written. Expressions that the compiler made carry lines of its
// own sources: a place counts where its file is one that a statement or an argument of the kernel names.
//
//   Places places(kernel);
//   if (const std::string* file = places.file(s.where)) ...     // "matmul.cpp", line s.where.line()
#include <map>
#include <memory>
#include <string>

#include <ashlar/ir/kernel.h>

namespace ashlar::codegen {

class Places {
 public:
  explicit Places(const ir::Kernel&);
  const std::string* file(Where) const;    // null: not a place of the user's
  Where kernel() const { return whole_; }  // the first argument that has a place; where none has, the first statement

 private:
  void add(Where);
  void add(const std::vector<ir::KStmt>&);
  // by the address of the name: places of one file in one unit share it
  mutable std::map<const char*, const std::string*> known_;
  std::map<std::string, std::string, std::less<>> names_;  // as the compiler has it; as it is written
  Where whole_ = {};
};

// The name of what a statement computes: the first buffer that is stored to in it, the intrinsic or function that is called.
// Empty where it has none.
std::string computed_by(const ir::Kernel&, const ir::KStmt&);
bool has_loop(const ir::KStmt&);

}  // namespace ashlar::codegen
