// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What an object holds, whatever its format: for the check of what it refers to, and for tests.
//
//   read_object(bytes, "blur").format == "Mach-O arm64";   .defined == {"blur", "blur_run", …}
#include <string>
#include <vector>

namespace ashlar::codegen {

struct ObjectFacts {
  std::string format;                           // "elf64-x86-64", "COFF-x86-64", "Mach-O arm64", "WASM"
  std::vector<std::string> defined, undefined;  // symbols of functions and data that others can see, as C names them
};
ObjectFacts read_object(const std::string& object, const std::string& name);  // InternalError: not an object

}  // namespace ashlar::codegen
