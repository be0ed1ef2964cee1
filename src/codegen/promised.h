// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What the conditions around a launch promise to it about addresses. The host tests them:
//
//   if A_begin == 0 && N % 4 == 0          A_begin: bytes that A begins past a multiple of 16 (ir::AlignmentArg)
//     launch …                             A lies at a multiple of 16, N is a multiple of 4
#include <cstdint>
#include <map>

#include <ashlar/ir/kernel.h>

namespace ashlar::codegen {

struct Promised {
  std::map<ir::Id, std::int64_t> aligned;    // arguments: bytes
  std::map<ir::Id, std::int64_t> multiples;  // variables of the host
};
Promised promised_to(const ir::Kernel&, const ir::KLaunch&);

}  // namespace ashlar::codegen
