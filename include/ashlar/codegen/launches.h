// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The launches of a kernel's host body, in the order in which they stand there: the order in which a device's code lists its
// entry points and the host's code counts its launches; and what each must be given from outside.
#include <cstdint>
#include <vector>

#include <ashlar/ir/kernel.h>

namespace ashlar::codegen {

std::vector<const ir::KStmt*> launches_of(const ir::Kernel&);

// What a host passes to a launch: addresses of buffers by id, then variables by id. Each travels in 8 bytes.
struct LaunchParameter {
  enum class Kind { address, variable } kind = Kind::address;
  ir::Id id = 0;            // of the argument or workspace buffer, or of the symbol, stride, scalar, let or loop outside
  Type type;                // variables
  std::int64_t offset = 0;  // in the parameters
};

// Of a launch; `prefetches`: with what only prefetches use, which a shader does not have. Tensor maps are not parameters here:
// the host makes them.
std::vector<LaunchParameter> parameters_of(const ir::Kernel&, const ir::KLaunch&, bool prefetches);

// Whether a grid may have more blocks along dimension d than every device takes in one launch: 65535 along y and z. The host
// then splits the launch, and tells each part where its blocks begin.
bool may_be_split(const ir::Kernel&, const ir::KLaunch&, int d);

}  // namespace ashlar::codegen
