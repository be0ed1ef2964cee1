// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Line tables of an object: which line of the user's text an instruction stands for, and what the variables of loops are
// (DWARF).
//
// Every function of the object has a subprogram of its name. Loops stand in it, at the line of the schedule step that made
// them, or of the definition. What computes a stage stands in a scope named as the stage, as if it were a function inlined
// where the innermost loop around is, so that debuggers show both:
//
//   #0  C () at matmul.cpp:10              the expression
//   #1  matmul_worker () at matmul.cpp:31  the step that made the loop: s[C].tile(...)
//
// Invariant: instructions are the same with and without.
#include <map>
#include <string>
#include <tuple>

#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/DebugLoc.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "codegen/places.h"

namespace ashlar::codegen {

class Lines {
 public:
  Lines(llvm::Module&, const ir::Kernel&);
  void finish() { builder_.finalize(); }  // once, after the last function

  // Gives a function its subprogram, at a place, or at the kernel's where that is none of the user's; where its instructions
  // stand as long as nothing else is said.
  llvm::DebugLoc begin(llvm::Function*, Where);
  // Of a loop, in the function itself; of other statements in their stage, under `loop`. Empty: no place of the user's.
  llvm::DebugLoc of(const ir::KStmt&, llvm::Function*, const llvm::DebugLoc& loop);
  // Of an expression inside what stands at `around`; `around` where the place is not the user's.
  llvm::DebugLoc inside(const llvm::DebugLoc& around, Where);
  // A loop's variable, from the builder's place on: what it counts is shown among the locals of the function, under its name.
  // `loop`: where the loop stands, in the function itself.
  void variable(llvm::IRBuilderBase&, const std::string& name, llvm::Value*, const llvm::DebugLoc& loop);

 private:
  llvm::DIFile* file(const std::string& name);
  llvm::DISubprogram* subprogram(const std::string& name, llvm::DIFile*, unsigned line);
  llvm::DILocation* location(llvm::DIScope*, llvm::DIFile*, unsigned line, llvm::DILocation* inlined_at);

  const ir::Kernel& kernel_;
  const Places places_;
  llvm::DIBuilder builder_;
  std::map<std::string, llvm::DIFile*> files_;
  std::map<std::tuple<std::string, llvm::DIFile*, unsigned>, llvm::DISubprogram*> stages_;
  std::map<std::tuple<std::string, llvm::DIScope*, unsigned>, llvm::DILocalVariable*> variables_;
  std::map<std::pair<llvm::DIScope*, llvm::DIFile*>, llvm::DIScope*> other_files_;  // a scope, as far as it is another file's
};

}  // namespace ashlar::codegen
