// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// A kernel as bytes, for keys of caches: two kernels with the same bytes are compiled to the same code.
//
// Everything that a kernel holds is written, in an order of its own making: names as well as formulas, since names stand in
// descriptors and symbols. Places in the user's files are written only where line tables are made of them. An expression that
// stands at several places is written once, and referred to by number; so the bytes grow with the kernel, not with its text.
//
// Invariant: a member that is added to one of the structures does not compile here until it is written too.
#include <string>

#include <ashlar/ir/kernel.h>

namespace ashlar::codegen {

std::string kernel_bytes(const ir::Kernel&, bool with_places);

}  // namespace ashlar::codegen
