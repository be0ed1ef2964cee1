// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// From a lowered kernel to a file of C99: for compilers that LLVM does not reach, and for people who want to read what a
// schedule became. It needs no LLVM.
//
//   std::string text = codegen::c::source(kernel, Target::host());
//   std::string text = codegen::c::source(kernel, target, {.header = "blur.h"});      // beside the generated header
//
// The file defines what an object of codegen/emit.h does: f, f_with, f_run and f_workspace_bytes, with no operating system the
// last two; and it computes the same bits. It includes <ashlar/runtime/desc.h> (with no operating system, where `header` is
// given, only that), and holds the helper functions that it calls. Invariant: the text is a function of the kernel, the target
// and the options alone. docs/codegen.md, "C", says what the compiler of the file must be told.
#include <string>

#include <ashlar/ir/kernel.h>
#include <ashlar/target/target.h>

namespace ashlar::codegen::c {

struct Options {
  std::string header;  // the generated header, included by this name; empty: the file declares f_args and the entries itself
  // Directives (#line) that have the C compiler map the code to the lines of the algorithm and the schedule. What has no line
  // there keeps those of the file, which is called `file`; empty: by the kernel's name, f.c.
  bool line_tables = false;
  std::string file;
};

// Refused (RefusalError): a target that is a GPU, vectors whose length only the machine knows, a user's intrinsic without a
// text for Backend::c (at its description), names that would meet a helper's.
std::string source(const ir::Kernel&, const Target&, const Options& = {});

}  // namespace ashlar::codegen::c
