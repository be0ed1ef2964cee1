// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What `--trace` prints of a schedule step: the step, and of the program only what it changed.
#include <string>

namespace ashlar::generator {

// Texts of programs (ir::text), one after each step. The first one is printed whole, of the others the definitions and the
// nests that were not there before, and by their heads those that are gone.
//
//   vectorize(i0i of y)                                           samples.h:30
//   nest y i0 [0, +N)
//     for i0o in (N + 7) / 8
//       for i0i in 8                              vectorized
//         block y
class TraceText {
 public:
  // `step` with what it changed since the program before.
  std::string add(const std::string& step, const std::string& program);
  // The program as it stands, whole, where less than that was printed of it; for the refusal of the next step.
  std::string whole() const { return parts_ ? last_ : std::string(); }

 private:
  std::string last_;
  bool parts_ = false;  // only parts of the last program were printed
};

}  // namespace ashlar::generator
