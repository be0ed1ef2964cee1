// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// LLVM's part: the passes, the machine code, the check of what it refers to.
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <ashlar/codegen/emit.h>

#include "codegen/llvm/unit.h"

namespace llvm {
class DataLayout;
class TargetMachine;
class Triple;
}  // namespace llvm

namespace ashlar::codegen {

void initialize_targets();  // what LLVM needs once, before any of its machines is asked for
std::unique_ptr<llvm::TargetMachine> target_machine(const Target&);
std::unique_ptr<llvm::TargetMachine> device_machine(const Target&);  // of a target that is a CUDA device: writes PTX
llvm::DataLayout data_layout_of(const llvm::Triple&);                // asked of a machine
enum class Passes { host, device };
void optimize(llvm::Module&, llvm::TargetMachine&, Passes = Passes::host);
void stores_of_one_lane(llvm::Module&);  // under a constant mask: they are not left to LLVM
void nans_apart(llvm::Module&);          // of minima and maxima that a loop accumulates
void mark_loops(llvm::Module&);          // for LLVM's unroller
bool lanes_alike(llvm::Module&);         // what lanes of a loop have in common is computed once; true: something was
void verify(const llvm::Module&);        // InternalError where the IR is malformed
std::string machine_code(llvm::Module&, llvm::TargetMachine&, bool assembly);  // consumes the module's IR
bool gathers_fast(const Target&);  // a gather takes less time than loads of its lanes, says LLVM of the processor tuned for
std::string archive(const std::string& object, const std::string& member, const Target&);
// What the object refers to beyond allowed_references(), as C names it.
std::vector<std::string> references_beyond(const std::string& object, const std::string& name, const Target&);
// InternalError beyond allowed_references() and what the texts of users' intrinsics call.
void check_references(const std::string& object, const std::string& name, const Target&, const std::set<std::string>& of_users);

}  // namespace ashlar::codegen
