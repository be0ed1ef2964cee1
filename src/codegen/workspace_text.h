// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The stages whose values lie in the workspace of a kernel, for sentences about memory that cannot be had.
#include <string>

#include <ashlar/ir/kernel.h>

namespace ashlar::codegen {

// "t", "t and u", "t, u and 4 more"; empty where the kernel needs no workspace.
std::string workspace_stages(const ir::Kernel&);

// `sentence`, and what the workspace is for: "no memory for a workspace of {expected} bytes, which is for t and u".
std::string about_workspace(const ir::Kernel&, const std::string& sentence);

}  // namespace ashlar::codegen
