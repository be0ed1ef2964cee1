// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The launches in a kernel's host body, in source order, and the parameters of each. Device code lists its entry points, and
// host code numbers its launches, in this order.
#include <cstdint>
#include <vector>

#include <ashlar/ir/kernel.h>

namespace ashlar::codegen {

std::vector<const ir::KStmt*> launches_of(const ir::Kernel&);

// A value that the host passes to a launch: first addresses of buffers by id, then variables by id. Each takes 8 bytes.
struct LaunchParameter {
  enum class Kind { address, variable } kind = Kind::address;
  ir::Id id = 0;            // of the argument or workspace buffer, or of the symbol, stride, scalar, let or loop outside
  Type type;                // variables
  std::int64_t offset = 0;  // in the parameters
};

// The parameters of a launch. `prefetches`: include those that only prefetches use, which shaders do not have. Tensor maps are
// not among them; the host makes these.
std::vector<LaunchParameter> parameters_of(const ir::Kernel&, const ir::KLaunch&, bool prefetches);

// Whether a grid may have more blocks along dimension d than every device supports in one launch: 65535 along y and z. The host
// then splits the launch, and tells each part where its blocks begin.
bool may_be_split(const ir::Kernel&, const ir::KLaunch&, int d);

}  // namespace ashlar::codegen
