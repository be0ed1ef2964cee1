// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Translates a lowered kernel to a C99 file, for compilers that LLVM does not cover and for people who want to read the code of
// a schedule. It does not need LLVM.
//
//   std::string text = codegen::c::source(kernel, Target::host());
//   std::string text = codegen::c::source(kernel, target, {.header = "blur.h"});      // beside the generated header
//
// The file defines the same functions as an object from codegen/emit.h: f, f_with, f_run and f_workspace_bytes; without an
// operating system, only the last two. It computes the same bits. It includes <ashlar/runtime/desc.h> (without an operating
// system, only the generated header if `header` is given) and contains the helper functions that it calls. Invariant: the text
// is a function of the kernel, the target and the options alone. docs/codegen.md, "C", lists the compiler options that the file
// needs.
#include <string>

#include <ashlar/ir/kernel.h>
#include <ashlar/target/target.h>

namespace ashlar::codegen::c {

struct Options {
  std::string header;  // the generated header, included by this name; empty: the file declares f_args and the entries itself
  // Write #line directives, so that the C compiler maps the code to the lines of the algorithm and the schedule. Code without
  // such a line is mapped to the file itself, under the name `file`; by default that is the kernel's name, f.c.
  bool line_tables = false;
  std::string file;
};

// Refused (RefusalError): a GPU target, scalable vectors, a user's intrinsic without a text for Backend::c (at its
// description), names that clash with a helper's.
std::string source(const ir::Kernel&, const Target&, const Options& = {});

}  // namespace ashlar::codegen::c
