// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What the Python modules of several kits have in common: the check of a call's shapes, which needs no memory, and words of
// docstrings. The module has beside it, as `library`, the functions that report what is wrong.
//
//   def _shapes(x, w):
//       library.expect("row_norm", "x", x, 2, "float32")
//       library.expect("row_norm", "w", w, 1, "float32")
//       M = x.shape[0]
//       N = x.shape[1]
//       library.extent("row_norm", "w", w, 0, N, "N")
//       library.fact("row_norm", "N", lambda: N >= 1, "at least 1")
//       return [(M,)]
#include <string>
#include <vector>

#include <ashlar/ir/kernel.h>

#include "generator/kits/interface.h"

namespace ashlar::generator {

std::string tuple_text(const std::vector<std::string>&);  // (a,)   (a, b)
std::string extents_text(const ir::Buffer&);              // [M, N + 1], for people
std::string in_docstring(std::string);                    // what a user wrote, without what would end a docstring
std::string dtype_name(Type);                             // as Python's frameworks have it: float32, float8_e4m3fn
const char* number_type(Type);                            // of a scalar in Python: float, bool or int
std::string inputs_text(const KitInterface&);             // the parameters: "x, beta, R"

// Of a kernel that --backward made: for each argument of the forward operator what the kernel's result for it is called, or
// None, for integers and scalars.
std::vector<std::string> gradients_of(const KitInterface&, const KitFacts&);

// `type` is how Python names a type of elements; `more` are lines between the checks of types and those of extents.
std::string shapes_function(const ir::Kernel&, const KitInterface&, std::string (*type)(Type), const std::string& more);

}  // namespace ashlar::generator
